"""The effects of merging a reply: kept, updated, added, cut, reopened, wiped, tampered with."""

from __future__ import annotations

from typing import Any

import pytest

from ctxview.formats.snapshot.model import SnapshotRole
from ctxview.formats.snapshot.profile import load_profile
from ctxview.formats.snapshot.runtime.merge import MergeResult, merge
from ctxview.formats.snapshot.runtime.merge_fields import MergeEffect
from tests.formats.snapshot.builders import Json, block, snapshot, snapshot_of, snapshot_value

CURSOR = {"v": 1, "phase": "doing", "next": "todo_complete", "targetId": 2, "note": "soon"}


def merged(received: Json, emitted: Json) -> MergeResult:
    given = snapshot_of(received, file="received.json")
    return merge(given, snapshot_of(emitted, SnapshotRole.EMITTED, "reply.txt"), load_profile())


def patch(**tiers: Any) -> Json:
    """A reply that sends only these tiers."""
    return {**snapshot_value(memory=tiers)}


def tier(result: MergeResult, name: str) -> list[Json]:
    memory = result.value["memory"]
    assert isinstance(memory, dict)
    found = memory[name]
    assert isinstance(found, list)
    return [each for each in found if isinstance(each, dict)]


def names(result: MergeResult, kind: MergeEffect) -> list[str]:
    return [change.name for change in result.of(kind)]


def test_a_block_left_out_is_kept() -> None:
    result = merged(snapshot_value(core=[block("a"), block("b")]), patch(core=[block("a")]))
    assert names(result, MergeEffect.KEPT) == ["b"]
    assert names(result, MergeEffect.UNCHANGED) == ["a"]
    assert [each["id"] for each in tier(result, "core")] == ["a", "b"]


def test_a_tier_left_out_is_kept() -> None:
    result = merged(snapshot_value(core=[block("a")], longterm=[block("l")]), patch(longterm=[block("l")]))
    assert names(result, MergeEffect.KEPT) == ["a"]


def test_sent_fields_override_and_absent_ones_are_kept() -> None:
    old = block("a", task_id="t-1", mood="calm")
    result = merged(snapshot_value(core=[old]), patch(core=[block("a", content="new words")]))
    assert tier(result, "core") == [{**old, "content": "new words"}]
    assert [change.message for change in result.of(MergeEffect.UPDATED)] == ["a is updated: content"]


def test_an_unknown_id_is_added() -> None:
    result = merged(snapshot_value(core=[block("a")]), patch(core=[block("n")]))
    assert names(result, MergeEffect.ADDED) == ["n"]
    assert names(result, MergeEffect.KEPT) == ["a"]


@pytest.mark.parametrize("sent", [[], [7], [block("x", decay=...)]])
def test_an_empty_or_all_invalid_tier_erases_it(sent: list[object]) -> None:
    result = merged(snapshot_value(core=[block("a"), block("b")]), patch(core=sent))
    assert names(result, MergeEffect.WIPED) == ["core"]
    assert tier(result, "core") == []


def test_a_partly_valid_tier_deletes_nothing() -> None:
    result = merged(snapshot_value(core=[block("a")]), patch(core=[block("n"), 7]))
    assert not result.of(MergeEffect.WIPED)
    assert names(result, MergeEffect.DROPPED) == ["core[1]"]
    assert [each["id"] for each in tier(result, "core")] == ["a", "n"]


def test_an_empty_tier_wipes_nothing_if_it_was_empty() -> None:
    assert not merged(snapshot_value(), patch(core=[])).of(MergeEffect.WIPED)


def test_a_finished_block_sent_without_status_is_open_again() -> None:
    done = block("w", status="done", closed_at=5)
    result = merged(snapshot_value(working=[done]), patch(working=[block("w")]))
    assert names(result, MergeEffect.REOPENED) == ["w"]
    assert tier(result, "working")[0]["status"] == "open"
    assert tier(result, "working")[0]["closed_at"] == 5


def test_a_finished_block_sent_with_its_status_stays_finished() -> None:
    done = block("w", status="done")
    result = merged(snapshot_value(working=[done]), patch(working=[done]))
    assert not result.of(MergeEffect.REOPENED)


def test_long_content_is_cut_and_shown_before_and_after() -> None:
    result = merged(snapshot_value(), patch(core=[block("a", content="x" * 600)]))
    (change,) = result.of(MergeEffect.TRUNCATED)
    assert change.message == "a is cut from 600 to 512 characters"
    assert change.after == "x" * 512


def test_irregular_fields_are_normalised_and_named() -> None:
    result = merged(snapshot_value(round=3), patch(core=[block("a", decay="0.2", round=9, tags=["t", "t"])]))
    (change,) = result.of(MergeEffect.NORMALISED)
    assert change.message == "a: decay, round, tags normalised"
    assert change.after == {"decay": 0.2, "round": 3, "tags": ["t"]}


def test_copies_in_a_reply_collapse_to_the_better_one() -> None:
    result = merged(snapshot_value(), patch(core=[block("a", decay=0.3), block("a", decay=0.1)]))
    assert names(result, MergeEffect.COLLAPSED) == ["a"]
    assert [each["decay"] for each in tier(result, "core")] == [0.1]
    assert names(result, MergeEffect.ADDED) == ["a"]


def test_of_two_working_copies_the_unfinished_one_is_stored() -> None:
    copies = [block("w", decay=0.0, status="done"), block("w", decay=0.6)]
    result = merged(snapshot_value(), patch(working=copies))
    assert [each["status"] for each in tier(result, "working")] == ["open"]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("version", {"version": 4}),
        ("runtime.round", {"runtime": {**snapshot_value()["runtime"], "round": 9}}),
        ("todo.total", {"todo": {"summary": "暂无TODO", "total": 3, "step": 0}}),
    ],
)
def test_changed_system_fields_are_put_back(name: str, change: Json) -> None:
    received = snapshot_value()
    result = merged(received, {**received, **change})
    assert names(result, MergeEffect.TAMPERED) == [name]
    assert result.value["version"] == 3
    assert result.value["runtime"] == received["runtime"]
    assert result.value["todo"] == received["todo"]


def test_3_and_3_0_are_the_same_version() -> None:
    received = snapshot_value()
    assert not merged(received, {**received, "version": 3.0}).of(MergeEffect.TAMPERED)
    assert merged(received, {**received, "version": True}).of(MergeEffect.TAMPERED)


def test_system_fields_left_out_are_restored() -> None:
    assert names(merged(snapshot_value(), {"memory": {}}), MergeEffect.RESTORED)[:2] == [
        "version",
        "runtime.round",
    ]


def test_a_valid_cursor_moves_and_keeps_the_old_note() -> None:
    sent = {"v": 1, "phase": "verifying", "next": "none", "targetId": None}
    result = merged(snapshot_value(cursor=CURSOR), snapshot_value(cursor=sent))
    todo = result.value["todo"]
    assert isinstance(todo, dict)
    assert todo["cursor"] == {**sent, "note": "soon"}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"v": 2}, "v must be 1"),
        ({"phase": "dreaming"}, "phase must be one of"),
        ({"next": "todo_eat"}, "next must be one of"),
        ({"targetId": None}, "targetId must be a positive integer for todo_complete"),
        ({"next": "none"}, "targetId must be null for none"),
        ({"note": "  "}, "note must be a non-blank text"),
        ({"extra": 1}, "'extra' is not one of its keys"),
    ],
)
def test_an_invalid_cursor_is_ignored_and_the_old_one_stays(fields: Json, why: str) -> None:
    result = merged(snapshot_value(cursor=CURSOR), snapshot_value(cursor={**CURSOR, **fields}))
    (change,) = result.of(MergeEffect.IGNORED)
    assert why in change.message
    assert result.value["todo"] == snapshot_value(cursor=CURSOR)["todo"]


def test_a_null_cursor_clears_it() -> None:
    result = merged(snapshot_value(cursor=CURSOR), snapshot_value(cursor=None))
    assert [change.message for change in result.of(MergeEffect.UPDATED)] == ["the cursor is cleared"]


def test_the_systems_task_records_can_be_overwritten() -> None:
    received = snapshot_value(active_task_meta={"id": "t", "status": "running"})
    result = merged(received, {**received, "active_task_meta": {"status": "done"}})
    assert names(result, MergeEffect.OVERWRITTEN) == ["active_task_meta"]
    assert result.value["active_task_meta"] == {"id": "t", "status": "done"}


def test_forged_store_fields_on_a_block_are_accepted() -> None:
    forged = block("a", content_state="tag_ref", tag_id="tag:a")
    result = merged(snapshot_value(core=[block("a")]), patch(core=[forged]))
    assert [change.after for change in result.of(MergeEffect.OVERWRITTEN)] == [
        {"content_state": "tag_ref"},
        {"tag_id": "tag:a"},
    ]


def test_other_members_merge_deeply_and_arrays_replace() -> None:
    received = snapshot_value(project={"a": {"x": 1}, "list": [1, 2]}, capabilities=[1])
    result = merged(received, {**received, "project": {"a": {"y": 2}, "list": [3]}, "capabilities": [2]})
    assert result.value["project"] == {"a": {"x": 1, "y": 2}, "list": [3]}
    assert result.value["capabilities"] == [2]


def test_unknown_and_malformed_tiers_are_ignored() -> None:
    result = merged(snapshot_value(), snapshot_value(memory={"semantic": [block("a")], "core": {}}))
    assert names(result, MergeEffect.IGNORED) == ["semantic", "core"]


@pytest.mark.parametrize(
    ("kept", "name", "fields"),
    [
        (True, "ephemeral", {"round": 70}),
        (False, "ephemeral", {"round": 69}),
        (True, "working", {"round": 1}),
        (False, "working", {"round": 1, "status": "done"}),
        (True, "core", {"round": 1}),
    ],
)
def test_storage_deletes_only_expired_blocks(kept: bool, name: str, fields: Json) -> None:
    current = 100 if name == "ephemeral" else 122
    result = merged(snapshot_value(**{name: [block("a", **fields)]}, round=current), {"memory": {}})
    assert bool(tier(result, name)) is kept
    assert bool(result.of(MergeEffect.DELETED)) is not kept


def test_storage_keeps_newer_blocks_when_there_are_too_many() -> None:
    blocks = [block(f"b{index}", round=index + 1) for index in range(202)]
    result = merged(snapshot_value(core=blocks, round=300), {"memory": {}})
    assert sorted(names(result, MergeEffect.DELETED)) == ["b0", "b1"]


def test_storage_order_is_open_first_then_newest() -> None:
    blocks = [block("done", round=9, status="done"), block("old", round=1), block("new", round=5)]
    result = merged(snapshot_value(working=blocks, round=9), {"memory": {}})
    assert [each["id"] for each in tier(result, "working")] == ["new", "old", "done"]


def test_each_change_has_an_origin() -> None:
    result = merged(snapshot_value(core=[block("a"), block("b")]), patch(core=[block("a", decay=0.2)]))
    (updated,), (kept,) = result.of(MergeEffect.UPDATED), result.of(MergeEffect.KEPT)
    assert (updated.origin.file, updated.origin.pointer) == ("reply.txt", "/memory/core/0")
    assert (kept.origin.file, kept.origin.pointer) == ("received.json", "/memory/core/1")


def test_the_inputs_are_not_changed() -> None:
    received = snapshot(core=[block("a", tags=["x", "x"])])
    before = repr(received.value)
    merge(received, snapshot_of(patch(core=[block("a", decay=0.2)]), SnapshotRole.EMITTED), load_profile())
    assert repr(received.value) == before


@pytest.mark.parametrize("reply", [patch(), patch(ephemeral=[block("new", round=50)])])
def test_a_deleted_or_dropped_block_is_not_called_kept(reply: Json) -> None:
    received = snapshot_value(
        round=50, ephemeral=[block("old"), block("fresh", round=49), block("bad", content="")]
    )
    result = merged(received, reply)
    assert names(result, MergeEffect.KEPT) == ["fresh"]
    assert names(result, MergeEffect.DELETED) == ["old"]
    assert names(result, MergeEffect.DROPPED) == ["ephemeral"]


def test_a_block_whose_copy_in_the_reply_is_invalid_is_kept() -> None:
    result = merged(snapshot_value(core=[block("a")]), patch(core=[block("a", content=""), block("b")]))
    assert names(result, MergeEffect.KEPT) == ["a"]
