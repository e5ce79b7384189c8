"""The state of a snapshot: blocks with reasons, fields with owners, figures with their estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.fields import ChoiceShape, Field, JsonShape, NumberShape, Owner, TagsShape, TextShape
from ctxview.core.state import Block, Budget, ContextState, RefStatus
from ctxview.formats import Lens, open_source
from ctxview.formats.snapshot.model import AgentStore, MemoryEntry, TodoRow
from ctxview.formats.snapshot.parser import parse_file
from ctxview.formats.snapshot.profile import load_profile
from ctxview.formats.snapshot.state import SnapshotStateOptions, build_state
from tests.formats.snapshot.builders import block, full_log_value, reply_bytes, snapshot_value, to_bytes

COUNTER = ESTIMATES["bytes/4"]
RECORDED = "whole input, recorded by the runtime"


def state_of(data: bytes, store: AgentStore | None = None, profile: str | None = None) -> ContextState:
    options = SnapshotStateOptions("title", "source", "revision", load_profile(profile), COUNTER, store)
    return build_state(parse_file("file", data), options)


def state(value: Any, store: AgentStore | None = None, profile: str | None = None) -> ContextState:
    return state_of(to_bytes(value), store, profile)


def found(state: ContextState, name: str) -> Block:
    return next(each for each in state.blocks() if each.id == name)


def field(block: Block, name: str) -> Field:
    assert block.form is not None
    return next(each for each in block.form.fields if each.name == name)


def budget(state: ContextState, target: str) -> Budget:
    return next(each for each in state.budgets if each.target == target)


# -- tiers -------------------------------------------------------------------------------------------------


def test_each_block_has_its_visibility_and_the_reason() -> None:
    shown = state(snapshot_value(core=[block("a")], working=[block("w", decay=0.7, round=18)], round=20))
    assert (found(shown, "a").visible, found(shown, "a").rank, found(shown, "a").age) == (True, 0, 19)
    hidden = found(shown, "w")
    assert (hidden.visible, hidden.rank, hidden.why) == (False, None, "decay 0.70 > 0.65")
    assert hidden.figure("quality") == pytest.approx(0.6)
    assert (shown.counts.blocks, shown.counts.visible, shown.counts.hidden) == (2, 1, 1)


def test_all_four_tiers_are_there_even_when_empty() -> None:
    assert [tier.name for tier in state(snapshot_value()).tiers] == [
        "core",
        "working",
        "ephemeral",
        "longterm",
    ]


def test_an_old_version_has_only_its_own_tiers() -> None:
    old = state({"version": "1.2", "round": 2, "memory": {"core": [block("a", confidence=..., content=...)]}})
    assert [tier.name for tier in old.tiers] == ["core", "working", "ephemeral"]
    assert found(old, "a").why == "invalid: no content"


def test_every_element_under_memory_is_shown() -> None:
    odd = snapshot_value(
        memory={"core": [3, block("a")], "extra": [block("x")], "working": {"not": "a list"}}
    )
    shown = state(odd)
    assert [each.id for each in shown.blocks()] == ["core[0]", "a", "x"]
    assert found(shown, "x").why == "the tier extra is unknown"
    assert {(gap.id, gap.severity) for gap in shown.missing} == {
        ("core[0]", "error"),
        ("extra", "error"),
        ("working", "error"),
    }


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({}, "open"),
        ({"status": "done"}, "done"),
        ({"content_state": "tag_ref", "tag_id": "t"}, "tag_ref"),
        ({"content_state": "active", "rehydrated_at": 5}, "rehydrated"),
    ],
)
def test_a_block_has_one_word_for_its_state(fields: dict[str, object], word: str) -> None:
    assert found(state(snapshot_value(working=[block("a", **fields)])), "a").state == word


def test_the_record_of_a_log_decides_which_blocks_are_visible() -> None:
    value = snapshot_value(core=[block("kept"), block("lost"), block("weak", decay=0.5)])
    envelope = full_log_value(value)
    memory = envelope["injectedContext"]["memory"]
    memory["core"] = [block("weak", decay=0.5), block("kept"), block("ghost")]
    shown = state(envelope)
    assert (found(shown, "kept").visible, found(shown, "kept").rank) == (True, 1)
    assert found(shown, "weak").visible
    assert found(shown, "weak").why == "shown, although atom-0.17 hides it: decay 0.50 > 0.35"
    assert found(shown, "lost").why == "not in the injected snapshot, although atom-0.17 would show it"
    assert found(shown, "ghost").why == "only in the injected snapshot, not in the stored one"


def test_all_blocks_of_an_injected_view_are_visible() -> None:
    shown = state({"modelContext": snapshot_value(core=[block("a"), block("b", decay=0.9)]), "meta": {}})
    assert all(each.visible for each in shown.blocks())
    assert found(shown, "b").why == "shown, although atom-0.17 would hide it: decay 0.90 > 0.35"


def test_the_blocks_of_a_refused_reply_are_hidden() -> None:
    shown = state_of(reply_bytes(snapshot_value(core=[block("a")]), after=" and done."))
    assert found(shown, "a").why == "the runtime refuses the whole file: it is not strict JSON"
    assert shown.extra["salvaged"]
    assert shown.missing[0].severity == "error"


def test_a_profile_changes_the_visible_blocks() -> None:
    value = snapshot_value(longterm=[block("a", decay=0.5, confidence=0.8)])
    assert not found(state(value), "a").visible
    assert found(state(value, profile="atom-context-log-save"), "a").visible


def test_the_prose_of_a_reply_is_the_text_of_its_state() -> None:
    assert state_of(reply_bytes(snapshot_value(), "The answer.")).text == "The answer.\n"


def test_an_unreadable_file_has_a_state() -> None:
    broken = state_of(b'{"version": 3, "memory": {')
    assert broken.tiers == ()
    assert (broken.missing[0].status, broken.missing[0].severity) == ("unreadable", "error")
    assert broken.text == '{"version": 3, "memory": {'


# -- forms -------------------------------------------------------------------------------------------------


def test_fields_of_the_model_are_typed() -> None:
    shown = found(state(snapshot_value(working=[block("a")], round=7)), "a")
    assert field(shown, "decay").shape == NumberShape(0, 1)
    assert field(shown, "round").shape == NumberShape(1, 7, integer=True)
    assert field(shown, "tags").shape == TagsShape(8, 32)
    assert field(shown, "content").shape == TextShape(512, multiline=True)
    assert isinstance(field(shown, "status").shape, ChoiceShape)
    assert not field(shown, "status").present
    assert shown.form is not None
    assert shown.form.removable


def test_a_value_of_the_wrong_kind_is_edited_as_json() -> None:
    shown = found(state(snapshot_value(core=[block("a", decay="0.1", tags="t", mood=[1])])), "a")
    assert field(shown, "decay").shape == JsonShape()
    assert field(shown, "tags").shape == JsonShape()
    assert field(shown, "mood").shape == JsonShape()


@pytest.mark.parametrize(
    "name",
    [
        "task_id",
        "closed_at",
        "content_state",
        "tag_id",
        "tag_summary",
        "rehydrated_at",
        "persistent_block_id",
        "persistent_score",
    ],
)
def test_fields_of_the_system_on_a_block_are_locked_with_a_reason(name: str) -> None:
    locked = field(found(state(snapshot_value(core=[block("a", **{name: "x"})])), "a"), name)
    assert (locked.owner, locked.shape) == (Owner.SYSTEM, None)
    assert locked.why.endswith(".")


def test_the_snapshot_has_fields_and_every_locked_one_has_a_reason() -> None:
    value = snapshot_value(
        active_task="t",
        active_task_meta={},
        last_task={},
        task_checkpoint=None,
        project=1,
        capabilities=[],
    )
    value["runtime"]["budget"] = {}
    form = state(value).form
    assert form is not None
    editable = {each.name for each in form.fields if each.shape is not None}
    assert editable == {"active_task", "capabilities"}
    assert all(each.why for each in form.fields if each.shape is None)
    names = {each.name for each in form.fields}
    assert names >= {"version", "runtime.round", "runtime.budget", "todo.summary", "last_task", "project"}


def test_a_new_block_starts_with_valid_values() -> None:
    shown = state(snapshot_value(working=[block("work-003"), block("other")], round=9))
    new = {tier.name: tier.new for tier in shown.tiers}["working"]
    assert new is not None
    values = {each.name: each.value for each in new.fields}
    assert (values["id"], values["round"]) == ("work-004", 9)
    assert (new.pointer, new.exists) == ("/memory/working/-", False)
    for tier in shown.tiers:
        assert tier.new is not None
        filled = {each.name: each.value for each in tier.new.fields} | {"content": "words"}
        again = state(snapshot_value(**{tier.name: [filled]}, round=9))
        assert found(again, str(filled["id"])).visible


def test_the_cursor_has_a_form_even_before_it_exists() -> None:
    todo = state(snapshot_value()).todo
    assert todo is not None
    assert todo.form is not None
    assert (todo.cursor, todo.form.exists) == (None, False)
    assert {each.name: each.value for each in todo.form.fields}["v"] == 1


def test_a_derived_view_cannot_be_edited() -> None:
    shown = state({"modelContext": snapshot_value(core=[block("a")]), "meta": {}})
    assert not any(each.form and (each.form.editable or each.form.removable) for each in shown.blocks())
    assert all(tier.new is None for tier in shown.tiers)
    assert shown.form is not None
    assert not shown.form.editable


# -- todo, budget, references ------------------------------------------------------------------------------


def test_the_cursor_and_the_items_of_the_store_are_shown() -> None:
    cursor = {"v": 1, "phase": "doing", "next": "todo_complete", "targetId": 2, "note": "n"}
    rows = (TodoRow(1, "one", "", "done"), TodoRow(2, "two", "", "open"), TodoRow(3, "three", "", "open"))
    todo = state(snapshot_value(cursor=cursor), AgentStore("f", todo_database="todo.db", todo_rows=rows)).todo
    assert todo is not None
    assert todo.cursor is not None
    assert (todo.cursor.phase, todo.cursor.next, todo.cursor.target) == ("doing", "todo_complete", 2)
    assert [(item.title, item.current) for item in todo.items] == [
        ("one", False),
        ("two", True),
        ("three", False),
    ]


def test_the_tokens_of_a_tier_are_those_of_its_visible_texts() -> None:
    value = snapshot_value(core=[block("a", content="x" * 40), block("b", content="y" * 400, decay=0.9)])
    tokens = budget(state(value), "snapshot in the prompt")
    core = next(segment for segment in tokens.segments if segment.name == "core")
    text = "x" * 40
    # As it stands in the prompt, with the name of the field.
    assert abs(core.used - COUNTER.count(f"      content: {text}\n")) <= 1
    assert (core.estimator, core.exact) == ("bytes/4", False)
    assert tokens.limit == load_profile().budget.input_budget
    assert tokens.used == sum(segment.used for segment in tokens.segments)


def test_recorded_figures_name_their_estimator() -> None:
    value = snapshot_value()
    value["runtime"]["budget"] = {
        "estimated_input_tokens": 9000,
        "input_budget": 8000,
        "reserve_output_tokens": 500,
        "safety_margin_tokens": 600,
    }
    value["runtime"]["token_usage"] = {
        "input_tokens": 7,
        "output_tokens": 3,
        "total_tokens": 10,
        "source": "ai-sdk",
    }
    shown = state(value)
    recorded = budget(shown, RECORDED)
    assert (recorded.used, recorded.limit, recorded.over, recorded.reserved) == (9000, 8000, 1000, 1100)
    assert {each.estimator for each in recorded.segments} == {"UTF-8 bytes / 3"}
    usage = budget(shown, "counted by the provider")
    assert [(each.name, each.used, each.exact) for each in usage.segments] == [
        ("input", 7, True),
        ("output", 3, True),
    ]
    assert budget(shown, "snapshot in the prompt").limit is None


def recorded_value(used: int, limit: int, stage: str = "none", **tiers: Any) -> Any:
    value = snapshot_value(**tiers)
    value["runtime"]["budget"] = {
        "estimated_input_tokens": used,
        "input_budget": limit,
        "degrade_stage": stage,
    }
    return value


def test_the_recorded_figure_is_the_headline_and_its_parts_add_up() -> None:
    value = recorded_value(24655, 24720, "trim_memory_ephemeral", core=[block("a", content="x" * 300)])
    first = state(value).budgets[0]
    assert (first.target, first.used, first.limit, first.percent) == (RECORDED, 24655, 24720, "99%")
    assert first.stage == "degrade stage trim_memory_ephemeral"
    parts = {each.name: each.used for each in first.segments}
    # The text as it is written, which has the name of the field before it.
    assert 100 <= parts["core"] <= 107
    assert sum(parts.values()) == 24655
    assert not any(each.exact for each in first.segments if each.used)


@pytest.mark.parametrize("stage", ["none", "disabled"])
def test_an_ordinary_stage_is_not_noted(stage: str) -> None:
    assert state(recorded_value(100, 24720, stage)).budgets[0].stage is None


def test_a_figure_that_is_too_small_for_the_snapshot_has_no_parts() -> None:
    first = state(recorded_value(3, 24720, core=[block("a", content="x" * 300)])).budgets[0]
    assert [(each.name, each.used) for each in first.segments] == [("whole input", 3)]


def test_a_limit_that_no_file_states_is_called_assumed() -> None:
    first = state(snapshot_value(core=[block("a")])).budgets[0]
    assert (first.target, first.limit) == ("snapshot in the prompt", 113295)
    assert (first.limit_from, first.partial) == ("assumed by atom-0.17", True)


def test_a_reply_has_the_limit_of_the_snapshot_it_answers(tmp_path: Path) -> None:
    received = recorded_value(20000, 24720, core=[block("a")])
    (tmp_path / "round-01.received.json").write_bytes(to_bytes(received))
    del received["runtime"]["budget"]
    (tmp_path / "round-01.reply.txt").write_bytes(reply_bytes(received))
    source = open_source(tmp_path)
    first = source.reading(1, Lens(COUNTER)).state.budgets[0]
    assert (first.limit, first.limit_from) == (24720, "of round-01.received.json")


@pytest.mark.parametrize(
    ("used", "limit", "text"),
    [
        (0, 100, "0%"),
        (1, 2900, "<1%"),
        (28, 2900, "<1%"),
        (29, 2900, "1%"),
        (1411, 1600, "88%"),
        (24655, 24720, "99%"),
        (24720, 24720, "100%"),
        (4929, 1600, "308%"),
        (1, None, ""),
        (1, 0, ""),
    ],
)
def test_a_share_is_never_rounded_up_to_full(used: int, limit: int | None, text: str) -> None:
    assert Budget("", "tokens", limit, used, None, ()).percent == text


def test_blocks_are_counted_against_the_visible_and_stored_caps() -> None:
    shown = state(snapshot_value(core=[block("a"), block("b", decay=0.9)]))
    assert [(s.name, s.used, s.limit) for s in budget(shown, "shown to the model").segments][:1] == [
        ("core", 1, 24)
    ]
    assert [(s.name, s.used, s.limit) for s in budget(shown, "stored").segments][:1] == [("core", 2, 200)]


def entry(name: str, tag: str | None, state: str = "active") -> MemoryEntry:
    return MemoryEntry(
        1, name, "core", "note", "", f"text of {name}", state, tag, None, 0.9, 0.1, "", "", 1, 1, 0, None
    )


def test_references_are_resolved_dangling_or_orphaned() -> None:
    value = snapshot_value(
        longterm=[
            block("good", content_state="tag_ref", tag_id="t-good"),
            block("bad", content_state="tag_ref", tag_id="t-bad"),
            block("back", content_state="active", tag_id="t-back", rehydrated_at=1),
        ],
        ephemeral=[block("persistent:core:x", persistent_block_id="x")],
    )
    store = AgentStore(
        ".agent",
        database="memory.db",
        entries=(entry("x", None), entry("cold", "t-cold", "tag_ref")),
        payloads={"t-good": "all of it", "t-back": "also", "t-left": "unused"},
    )
    refs = {ref.id: ref for ref in state(value, store).refs}
    assert {name: (ref.kind, ref.status) for name, ref in refs.items()} == {
        "t-good": ("tag_ref", RefStatus.RESOLVED),
        "t-bad": ("tag_ref", RefStatus.DANGLING),
        "t-back": ("rehydrated", RefStatus.RESOLVED),
        "t-cold": ("stored tag_ref", RefStatus.DANGLING),
        "x": ("recall", RefStatus.RESOLVED),
        "t-left": ("payload", RefStatus.ORPHAN),
    }
    assert (refs["t-good"].text, refs["t-good"].bytes, refs["t-good"].used_by) == ("all of it", 9, ("good",))
    gaps = [gap.id for gap in state(value, store).missing if gap.status == "dangling"]
    assert gaps == ["t-bad", "t-cold"]


def test_without_a_store_the_status_of_a_reference_is_unknown() -> None:
    value = snapshot_value(longterm=[block("a", content_state="tag_ref", tag_id="t")])
    (ref,) = state(value).refs
    assert ref.status is RefStatus.UNKNOWN


def test_deep_nesting_and_extreme_numbers_are_read() -> None:
    deep = b"[" * 5000 + b"]" * 5000
    data = to_bytes(snapshot_value(core=[block("a", decay=0.2)])).replace(b'"round": 1}', b'"round": 1e400}')
    shown = state_of(data[:-1] + b', "deep": ' + deep + b"}")
    assert shown.counts.blocks == 1


def test_an_unused_payload_is_a_gap() -> None:
    store = AgentStore(".agent", database="memory.db", entries=(), payloads={"t-left": "unused"})
    gaps = [(gap.id, gap.status, gap.severity) for gap in state(snapshot_value(), store).missing]
    assert gaps == [("t-left", "orphan", "info")]


@pytest.mark.parametrize(("decay", "confidence", "quality"), [(-3, 7, 1.0), (9, -1, 0.0), (0.5, 0.5, 0.5)])
def test_quality_is_that_of_clamped_figures(decay: float, confidence: float, quality: float) -> None:
    value = snapshot_value(core=[block("a", decay=decay, confidence=confidence)])
    assert found(state(value), "a").figure("quality") == quality


def test_the_prompt_has_only_the_beginning_of_a_long_content() -> None:
    value = snapshot_value(core=[block("a", content="  " + "word " * 1000)])
    shown = COUNTER.count(("word " * 1000)[:512])
    assert found(state(value), "a").tokens == shown
    core = budget(state(value), "snapshot in the prompt").segments[0]
    assert core.name == "core"
    assert shown <= core.used <= shown + 10


def test_the_content_of_an_injected_copy_is_counted_as_recorded() -> None:
    value = {"modelContext": snapshot_value(core=[block("a", content="word " * 200)]), "meta": {}}
    assert found(state(value), "a").tokens == COUNTER.count("word " * 200)
