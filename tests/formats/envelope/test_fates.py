"""What became of an item is what the records say, step by step, and the same in every layout."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.formats.envelope.bundle import Bundle
from ctxview.formats.envelope.fates import Fate, fates, flags, sight, word
from ctxview.formats.envelope.model import Dossier
from ctxview.state import Sight
from tests.formats.envelope import builders as b


def told(dossier: Dossier) -> dict[str, object]:
    """The fates by names alone, so that layouts can be compared."""
    return {
        fate.id: (
            fate.item is not None,
            {each.id for each in fate.surfaces},
            {each.id for each in fate.candidates_in},
            {each.id for each in fate.selected_by},
            {(each.selection.id, each.reason) for each in fate.omitted},
            {(each.assembly.id, each.block_index, each.target) for each in fate.assembled},
            {(each.injection.id, each.assembly.id, each.block_index, each.target) for each in fate.injected},
            {each.id for each in fate.compacted_into},
            fate.redaction,
            word(fate),
            set(flags(fate)),
        )
        for fate in fates(dossier).values()
    }


def fate(name: str, *records: b.Members) -> Fate:
    return fates(b.dossier(records))[name]


def test_the_turn_is_told_as_it_happened() -> None:
    found = fates(b.dossier(b.turn()))
    assert {name: word(each) for name, each in found.items()} == {
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
    chosen = fate("a", b.item("a"), b.selection(["a"], {}), b.envelope(lifecycle="injected", item_refs=["a"]))
    assert word(chosen) == "selected"
    assert sight(chosen, "model") is Sight.ALLOWED


def test_an_assembly_without_an_injection_shows_nobody_anything() -> None:
    placed = fate("a", b.item("a"), b.assembly([["a"]]))
    assert word(placed) == "assembled"
    assert sight(placed, "model") is Sight.ASSEMBLED


def test_only_blocks_put_an_item_into_an_assembly() -> None:
    listed = fate("a", b.item("a"), b.assembly([], source_item_refs=["a"]), b.injection())
    assert word(listed) == "available"


def test_an_injection_of_an_unknown_assembly_injects_nothing() -> None:
    assert word(fate("a", b.item("a"), b.assembly([["a"]]), b.injection(of="asm-9"))) == "assembled"


def test_what_is_injected_for_a_tool_is_not_seen_by_the_model() -> None:
    shown = fate(
        "a", b.item("a", visibility=["tool"]), b.assembly([["a"]], target="tool"), b.injection(target="tool")
    )
    assert {target: sight(shown, target) for target in ("tool", "model")} == {
        "tool": Sight.INJECTED,
        "model": Sight.DENIED,
    }


def test_visibility_that_is_not_told_is_unknown() -> None:
    assert sight(fate("a", {"item_id": "a", "title": "x"}), "model") is Sight.UNKNOWN
    assert sight(fate("a", b.surface(["a"])), "model") is Sight.UNKNOWN


def test_an_item_that_is_only_named_has_a_fate_and_no_record() -> None:
    lost = fate("ghost", b.selection([], {"ghost": "stale"}))
    assert lost.item is None
    assert word(lost) == "omitted"
    assert lost.omitted[0].reason == "stale"


@pytest.mark.parametrize("state", ["removed", "policy_blocked", "encrypted_ref"])
def test_what_a_redaction_took_away_is_redacted_unless_it_was_used(state: str) -> None:
    gone = b.item("a", None, redaction_state=state)
    assert word(fate("a", gone, b.selection([], {"a": "policy_blocked"}))) == "redacted"
    assert word(fate("a", gone, b.selection(["a"], {}))) == "selected"


@pytest.mark.parametrize("layout", [*b.LAYOUTS])
def test_the_turn_has_the_same_fates_in_every_layout(layout: str) -> None:
    files = b.read_all(b.LAYOUTS[layout](b.turn()))
    assert told(Bundle(files).dossiers[0]) == told(b.dossier(b.turn()))


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
def test_any_turn_has_the_same_fates_in_every_layout(
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
    assert told(Bundle(files).dossiers[0]) == told(b.dossier(records))
