"""The outcome of an item follows from the records, step by step, in every layout."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.core.state import Reach
from ctxview.formats.envelope.bundle import Bundle
from ctxview.formats.envelope.model import EnvelopeRecords
from ctxview.formats.envelope.outcomes import Outcome, flags, outcome_word, outcomes, reach_of
from tests.formats.envelope import builders as b


def outcome_ids(records: EnvelopeRecords) -> dict[str, object]:
    """The outcomes by ids alone, so that layouts can be compared."""
    return {
        outcome.id: (
            outcome.item is not None,
            {each.id for each in outcome.surfaces},
            {each.id for each in outcome.candidates_in},
            {each.id for each in outcome.selected_by},
            {(each.selection.id, each.reason) for each in outcome.omitted},
            {(each.assembly.id, each.block_index, each.target) for each in outcome.assembled},
            {
                (each.injection.id, each.assembly.id, each.block_index, each.target)
                for each in outcome.injected
            },
            {each.id for each in outcome.compacted_into},
            outcome.redaction,
            outcome_word(outcome),
            set(flags(outcome)),
        )
        for outcome in outcomes(records).values()
    }


def outcome(name: str, *records: b.Members) -> Outcome:
    return outcomes(b.records(records))[name]


def test_the_turn_has_the_expected_outcomes() -> None:
    found = outcomes(b.records(b.turn()))
    assert {name: outcome_word(each) for name, each in found.items()} == {
        "old-1": "compacted",
        "old-2": "compacted",
        "talk": "injected",
        "key": "injected",
        "tool": "injected",
        "wiki": "omitted",
        "chart": "omitted",
        "sum-1": "injected",
    }
    assert flags(found["key"]) == ("injected@model", "masked")
    assert flags(found["old-1"]) == ("omitted", "compacted")


def test_being_selected_is_not_being_injected() -> None:
    chosen = outcome(
        "a", b.item("a"), b.selection(["a"], {}), b.envelope(lifecycle="injected", item_refs=["a"])
    )
    assert outcome_word(chosen) == "selected"
    assert reach_of(chosen, "model") is Reach.ALLOWED


def test_an_assembly_without_an_injection_is_not_shown() -> None:
    placed = outcome("a", b.item("a"), b.assembly([["a"]]))
    assert outcome_word(placed) == "assembled"
    assert reach_of(placed, "model") is Reach.ASSEMBLED


def test_only_blocks_put_an_item_into_an_assembly() -> None:
    listed = outcome("a", b.item("a"), b.assembly([], source_item_refs=["a"]), b.injection())
    assert outcome_word(listed) == "available"


def test_an_injection_of_an_unknown_assembly_injects_nothing() -> None:
    assert (
        outcome_word(outcome("a", b.item("a"), b.assembly([["a"]]), b.injection(of="asm-9"))) == "assembled"
    )


def test_an_item_injected_for_a_tool_is_not_shown_to_the_model() -> None:
    result = outcome(
        "a", b.item("a", visibility=["tool"]), b.assembly([["a"]], target="tool"), b.injection(target="tool")
    )
    assert {target: reach_of(result, target) for target in ("tool", "model")} == {
        "tool": Reach.INJECTED,
        "model": Reach.DENIED,
    }


def test_an_absent_visibility_is_unknown() -> None:
    assert reach_of(outcome("a", {"item_id": "a", "title": "x"}), "model") is Reach.UNKNOWN
    assert reach_of(outcome("a", b.surface(["a"])), "model") is Reach.UNKNOWN


def test_an_item_that_is_only_named_has_an_outcome_and_no_record() -> None:
    lost = outcome("ghost", b.selection([], {"ghost": "stale"}))
    assert lost.item is None
    assert outcome_word(lost) == "omitted"
    assert lost.omitted[0].reason == "stale"


@pytest.mark.parametrize("visibility", [["model", "user"], ["user"]], ids=str)
def test_everyone_in_the_visibility_of_an_injection_is_shown_its_items(visibility: list[str]) -> None:
    shown = outcome(
        "a", b.item("a", visibility=["model"]), b.assembly([["a"]]), b.injection(visibility=visibility)
    )
    assert [reach_of(shown, target) for target in ("model", "user", "tool")] == [
        Reach.INJECTED,
        Reach.VIOLATION,
        Reach.DENIED,
    ]
    assert flags(shown) == ("injected@model", "injected@user")


def test_everyone_in_the_visibility_of_an_assembly_or_a_block_is_assembled_for() -> None:
    made = b.assembly([["a"]], visibility=["ui"])
    made["ordered_blocks"] = [{"block_id": "1", "item_refs": ["a"], "visibility": ["reviewer"]}]
    shown = outcome("a", b.item("a", visibility=["model"]), made)
    assert [reach_of(shown, target) for target in ("model", "ui", "reviewer", "user")] == [
        *(Reach.ASSEMBLED,) * 3,
        Reach.DENIED,
    ]


def test_an_injection_without_a_visibility_is_seen_by_its_target_alone() -> None:
    shown = outcome(
        "a", b.item("a", visibility=["model"]), b.assembly([["a"]], visibility=["ui"]), b.injection()
    )
    assert flags(shown) == ("injected@model", "assembled@ui")


@pytest.mark.parametrize("state", ["removed", "policy_blocked", "encrypted_ref"])
def test_a_removed_item_is_redacted_unless_it_was_used(state: str) -> None:
    gone = b.item("a", None, redaction_state=state)
    assert outcome_word(outcome("a", gone, b.selection([], {"a": "policy_blocked"}))) == "redacted"
    assert outcome_word(outcome("a", gone, b.selection(["a"], {}))) == "selected"


@pytest.mark.parametrize("layout", [*b.LAYOUTS])
def test_the_turn_has_the_same_outcomes_in_every_layout(layout: str) -> None:
    files = b.read_all(b.LAYOUTS[layout](b.turn()))
    assert outcome_ids(Bundle(files).groups[0]) == outcome_ids(b.records(b.turn()))


ITEMS = ("a", "b", "c", "d")
SOME = st.lists(st.sampled_from((*ITEMS, "t")), max_size=4, unique=True)


@settings(max_examples=15, deadline=None)
@given(
    SOME,
    SOME,
    SOME,
    SOME,
    SOME,
    st.lists(SOME, max_size=3),
    st.sampled_from(["model", "tool"]),
    st.sampled_from([*b.LAYOUTS]),
)
def test_any_turn_has_the_same_outcomes_in_every_layout(
    offered: list[str],
    chosen: list[str],
    omitted: list[str],
    compacted: list[str],
    listed: list[str],
    blocks: list[list[str]],
    target: str,
    layout: str,
) -> None:
    records = [
        b.envelope(
            item_refs=[*listed], selection_refs=["sel-1"], assembly_refs=["asm-1"], compaction_refs=["cmp-1"]
        ),
        b.surface(offered),
        b.selection(chosen, dict.fromkeys(omitted, "stale")),
        b.assembly(blocks, target=target),
        b.injection(target=target),
        b.compaction(compacted, "t"),
        {"summary_id": "t", "content": "short", "source_item_refs": [*compacted]},
        *(b.item(name) for name in ITEMS),
        *(b.source(f"src-{name}") for name in ITEMS),
    ]
    files = b.read_all(b.LAYOUTS[layout](records))
    assert outcome_ids(Bundle(files).groups[0]) == outcome_ids(b.records(records))
