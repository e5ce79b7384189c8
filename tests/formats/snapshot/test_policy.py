"""Allowed and refused edits: fields, paths, parents, moves, raw text, repeated keys."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.core.edits import DeleteValue, Edit, EditRefused, InsertItem, MoveItem, SetValue
from ctxview.formats.snapshot.forms import LOCKED_BLOCK_FIELDS
from ctxview.formats.snapshot.model import SYSTEM_FIELDS, TIERS
from ctxview.formats.snapshot.policy import SnapshotPolicy
from tests.formats.snapshot.builders import block, full_log_value, reply_bytes, snapshot_value, to_bytes

POLICY = SnapshotPolicy("file")
CURSOR = {"v": 1, "phase": "doing", "next": "none", "targetId": None}
VALUE = snapshot_value(
    core=[block("a"), block("cold", content_state="tag_ref", tag_id="tag:x", tag_summary="s")],
    working=[block("w", status="done", task_id="t-1", closed_at=5)],
    cursor=CURSOR,
    active_task="one",
    active_task_meta={"id": "t-1"},
    project={"x": 1},
)
BARE = to_bytes(VALUE, indent=2)


def applied(edit: Edit, data: bytes = BARE) -> Any:
    return json.loads(POLICY.apply(data, edit))


def refusal(edit: Edit, data: bytes = BARE) -> str:
    with pytest.raises(EditRefused) as caught:
        POLICY.apply(data, edit)
    return str(caught.value)


def changed(value: Any, *path: str | int, to: Any = ...) -> Any:
    """A copy of `value` with one member replaced or removed."""
    copy = json.loads(json.dumps(value))
    parent = copy
    for step in path[:-1]:
        parent = parent[step]
    if to is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = to
    return copy


# -- allowed edits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/memory/core/0/decay", 0.3),
        ("/memory/core/0/content", "other words"),
        ("/memory/core/0/tags", ["x", "y"]),
        ("/memory/core/0/tags/0", "x"),
        ("/memory/core/0/id", "renamed"),
        ("/memory/core/1/id", "renamed-cold"),
        ("/memory/core/0/mood", "calm"),
        ("/memory/working/0/status", "failed"),
        ("/todo/cursor", None),
        ("/todo/cursor/phase", "blocked"),
        ("/todo/cursor/note", "soon"),
        ("/active_task", "two"),
        ("/active_task", None),
        ("/capabilities", [{"name": "memory"}]),
    ],
)
def test_fields_of_the_model_can_be_set(pointer: str, value: Any) -> None:
    result: Any = applied(SetValue(pointer, value))
    for step in pointer.split("/")[1:]:
        result = result[int(step) if isinstance(result, list) else step]
    assert result == value


def test_only_the_edited_bytes_change() -> None:
    data = BARE.replace(b'"version": 3,', b'"version": 3.0,').replace(b'"decay": 0.1', b'"decay": 1e-1', 1)
    new = POLICY.apply(data, SetValue("/memory/core/0/confidence", 0.5))
    assert new == data.replace(b'"confidence": 0.9', b'"confidence": 0.5', 1)


@pytest.mark.parametrize("tier", TIERS)
def test_blocks_can_be_added_and_removed_in_every_tier(tier: str) -> None:
    with_new = POLICY.apply(BARE, InsertItem(f"/memory/{tier}/-", block("new")))
    blocks = json.loads(with_new)["memory"][tier]
    assert blocks[-1] == block("new")
    assert POLICY.apply(with_new, DeleteValue(f"/memory/{tier}/{len(blocks) - 1}")) == BARE


def test_a_missing_tier_is_added_with_its_first_block() -> None:
    assert applied(InsertItem("/memory/core/-", block("n")), to_bytes(snapshot_value(memory={})))[
        "memory"
    ] == {"core": [block("n")]}
    assert applied(InsertItem("/memory/core/-", block("n")), to_bytes(snapshot_value(memory=...)))[
        "memory"
    ] == {"core": [block("n")]}


def test_a_block_moves_with_all_its_fields() -> None:
    result = applied(MoveItem("/memory/core/1", "/memory/longterm/-"))
    assert result["memory"]["longterm"] == [VALUE["memory"]["core"][1]]
    assert result["memory"]["core"] == VALUE["memory"]["core"][:1]


def test_a_block_moves_into_a_missing_tier() -> None:
    data = to_bytes(snapshot_value(memory={"core": [block("a")]}))
    assert applied(MoveItem("/memory/core/0", "/memory/working/-"), data)["memory"] == {
        "core": [],
        "working": [block("a")],
    }


def test_blocks_in_an_unknown_tier_can_be_moved_or_removed_but_not_written() -> None:
    data = to_bytes(snapshot_value(memory={"core": [], "odd": [block("x")]}))
    assert applied(MoveItem("/memory/odd/0", "/memory/core/-"), data)["memory"] == {
        "core": [block("x")],
        "odd": [],
    }
    assert applied(DeleteValue("/memory/odd/0"), data)["memory"]["odd"] == []
    assert "The tier odd is unknown" in refusal(SetValue("/memory/odd/0/decay", 0), data)
    assert "The tier odd is unknown" in refusal(InsertItem("/memory/odd/-", block("y")), data)


def test_a_cursor_can_be_added_and_removed() -> None:
    data = to_bytes(snapshot_value())
    with_cursor = POLICY.apply(data, SetValue("/todo/cursor", CURSOR))
    assert json.loads(with_cursor)["todo"]["cursor"] == CURSOR
    assert "cursor" not in json.loads(POLICY.apply(with_cursor, DeleteValue("/todo/cursor")))["todo"]


def test_in_a_reply_only_the_payload_changes() -> None:
    data = reply_bytes(VALUE, "Prose with {braces}.")
    new = POLICY.apply(data, SetValue("/memory/core/0/decay", 0.2))
    start = data.index(b"<<<CONTEXT>>>")
    assert new[:start] == data[:start]


@pytest.mark.parametrize("base", ["/context", "/data", "/data/context"])
def test_inside_envelopes_the_stored_snapshot_can_be_written(base: str) -> None:
    inner = full_log_value(VALUE) if base.endswith("context") else VALUE
    data = to_bytes({"ok": True, "data": inner} if base.startswith("/data") else inner)
    new = POLICY.apply(data, SetValue(f"{base}/memory/core/0/decay", 0.2))
    assert POLICY.tampering(data, new) is None


# -- refused edits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/".join(("", *path)) for path in SYSTEM_FIELDS])
def test_system_fields_are_refused_with_their_owner(path: str) -> None:
    for edit in (SetValue(path, 1), DeleteValue(path)):
        assert "system" in refusal(edit)


@pytest.mark.parametrize(
    "edit",
    [
        SetValue("", {}),
        SetValue("/runtime", {}),
        SetValue("/runtime/extra", 1),
        SetValue("/todo", {"cursor": None}),
        SetValue("/memory", {}),
        SetValue("/memory/core", []),
        SetValue("/memory/core/-", block("x")),
        SetValue("/active_task_meta", None),
        SetValue("/active_task_meta/id", "t-2"),
        SetValue("/last_task", {}),
        SetValue("/task_checkpoint", {}),
        SetValue("/project", 2),
        SetValue("/project/x", 2),
        SetValue("/new_key", 2),
        SetValue("/memory/semantic", []),
        SetValue("/memory/core/1/tag_id", "tag:y"),
        SetValue("/memory/core/0/tag_id", "tag:y"),
        SetValue("/memory/core/0/persistent_score", 1),
        SetValue("/memory/core/1", block("cold")),
        SetValue("/memory/core/0", block("a", content_state="tag_ref")),
        SetValue("not a pointer", 1),
        SetValue("/memory/core/99/decay", 0.1),
        DeleteValue("/memory"),
        DeleteValue("/memory/core"),
        DeleteValue("/todo"),
        DeleteValue("/project"),
        DeleteValue("/active_task_meta"),
        DeleteValue("/memory/core/1/tag_id"),
        DeleteValue("/memory/working/0/closed_at"),
        InsertItem("/memory/core/-", block("x", tag_id="tag:x")),
        InsertItem("/memory/core/-", 7),
        InsertItem("/memory/semantic/-", block("x")),
        InsertItem("/project/-", 1),
        MoveItem("/memory/core/0", "/memory/semantic/-"),
        MoveItem("/memory/core/0", "/capabilities/-"),
        MoveItem("/memory/core", "/memory/working/-"),
        MoveItem("/runtime/round", "/memory/core/-"),
        MoveItem("/todo/cursor", "/memory/core/-"),
    ],
    ids=str,
)
def test_nothing_else_can_be_written(edit: Edit) -> None:
    assert refusal(edit)


def test_the_envelope_around_a_snapshot_cannot_be_changed() -> None:
    data = to_bytes(full_log_value(VALUE))
    for pointer in (
        "/saved_at",
        "/projectionDebug/round",
        "/injectedContext/memory/core/0/decay",
        "/memory/core",
    ):
        assert "not the envelope around it" in refusal(SetValue(pointer, 1), data)


@pytest.mark.parametrize(
    "data",
    [
        to_bytes({"modelContext": VALUE, "meta": {}}),
        b"<context>\nversion: 3\nmemory:\n  core[0]:\n</context>",
        b'{"version": 3, "memory": {',
        reply_bytes(VALUE, after=" end"),
        b"only text",
    ],
)
def test_derived_and_broken_files_cannot_be_changed(data: bytes) -> None:
    assert refusal(SetValue("/memory/core/0/decay", 0.5), data)
    assert POLICY.tampering(data, data + b" ") is not None


def test_an_object_with_a_repeated_key_cannot_be_changed() -> None:
    data = BARE.replace(b'"version": 3,', b'"version": 3, "version": 3,')
    assert "the document has a duplicate key" in refusal(SetValue("/active_task", "x"), data)
    inner = BARE.replace(b'"id": "a",', b'"id": "b", "id": "a",')
    assert refusal(SetValue("/memory/core/0/decay", 0.5), inner)
    assert POLICY.apply(inner, SetValue("/memory/working/0/decay", 0.5))
    assert POLICY.apply(inner, DeleteValue("/memory/core/0"))


# -- tampering by any means --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "after",
    [
        changed(VALUE, "version", to=4),
        changed(VALUE, "version", to="3"),
        changed(VALUE, "version", to=True),
        changed(VALUE, "version"),
        changed(VALUE, "runtime", "round", to=2),
        changed(VALUE, "runtime", "budget", to={}),
        changed(VALUE, "runtime", "datetime"),
        changed(VALUE, "todo", "total", to=1),
        changed(VALUE, "todo", "extra", to=1),
        changed(VALUE, "todo"),
        changed(VALUE, "todo", to=None),
        changed(VALUE, "project", "x", to=2),
        changed(VALUE, "project"),
        changed(VALUE, "invented", to=1),
        changed(VALUE, "active_task_meta", to=None),
        changed(VALUE, "memory"),
        changed(VALUE, "memory", to=[]),
        changed(VALUE, "memory", "core"),
        changed(VALUE, "memory", "core", to={}),
        changed(VALUE, "memory", "semantic", to=[]),
        changed(VALUE, "memory", "core", 1, "tag_id", to="tag:y"),
        changed(VALUE, "memory", "core", 1, "content_state"),
        changed(VALUE, "memory", "core", 0, "rehydrated_at", to=1),
        changed(VALUE, "memory", "working", 0, "closed_at", to=6),
        changed(VALUE, "memory", "ephemeral", to=[block("x", tag_id="tag:x")]),
        changed(VALUE, "memory", "longterm", to=[VALUE["memory"]["core"][1]]),
    ],
)
def test_a_raw_edit_of_a_locked_field_is_tampering(after: Any) -> None:
    assert POLICY.tampering(BARE, to_bytes(after)) is not None


@pytest.mark.parametrize(
    "after",
    [
        VALUE,
        changed(VALUE, "version", to=3.0),
        changed(VALUE, "memory", "core", to=[]),
        changed(VALUE, "memory", "core", 0, "content", to="x"),
        changed(VALUE, "memory", "core", 1, "id", to="renamed"),
        changed(VALUE, "memory", "ephemeral", to=[block("x"), block("x")]),
        changed(VALUE, "todo", "cursor"),
        changed(VALUE, "active_task"),
        changed(VALUE, "capabilities", to=[]),
    ],
)
def test_a_raw_edit_of_a_writable_field_is_allowed(after: Any) -> None:
    assert POLICY.tampering(BARE, to_bytes(after)) is None


def test_the_prose_of_a_reply_cannot_be_changed() -> None:
    data = reply_bytes(VALUE, "I did it.")
    assert POLICY.tampering(data, reply_bytes(VALUE, "I did not.")) is not None
    assert POLICY.tampering(data, reply_bytes(VALUE, "I did it.", after="\n")) is None
    assert POLICY.tampering(data, to_bytes(VALUE)) is not None
    assert POLICY.tampering(data, data.replace(b"<<<CONTEXT>>>", b"<<<CONTEXT>>><<<CONTEXT>>>")) is not None


def test_the_siblings_of_a_logged_snapshot_cannot_be_changed() -> None:
    envelope = full_log_value(VALUE)
    for path in (("saved_at",), ("injectedContext", "memory", "core"), ("projectionDebug", "round")):
        assert POLICY.tampering(to_bytes(envelope), to_bytes(changed(envelope, *path, to=0))) is not None
    assert POLICY.tampering(to_bytes(envelope), to_bytes(changed(envelope, "new", to=0))) is not None


def test_hiding_a_change_behind_a_repeated_key_is_tampering() -> None:
    for sneaky in (b'"version": 9, "version": 3,', b'"version": 3, "version": 3,'):
        assert POLICY.tampering(BARE, BARE.replace(b'"version": 3,', sneaky)) is not None


def test_an_unreadable_result_is_refused_with_the_place() -> None:
    assert "line 1" in (POLICY.tampering(BARE, b'{"version": 3,}') or "")


# -- no sequence of accepted edits touches the system's fields ----------------------------------------------

POINTERS = st.sampled_from(
    [
        *(f"/memory/{tier}/{index}" for tier in (*TIERS, "odd") for index in ("0", "1", "-")),
        *(
            f"/memory/core/{index}/{name}"
            for index in (0, 1)
            for name in (*LOCKED_BLOCK_FIELDS, "decay", "id")
        ),
        *("/".join(("", *path)) for path in SYSTEM_FIELDS),
        *(
            "",
            "/runtime",
            "/todo",
            "/todo/cursor",
            "/memory",
            "/memory/core",
            "/active_task",
            "/project",
            "/x",
        ),
        *("/capabilities", "/capabilities/-", "/active_task_meta/id", "/memory/~0", "/memory~1core"),
    ]
)
VALUES = st.one_of(
    st.none(),
    st.integers(-1, 5),
    st.text(max_size=5),
    st.sampled_from([block("a"), block("z", tag_id="forged"), [], {}, {"core": []}, VALUE]),
)
EDITS = st.one_of(
    st.builds(SetValue, POINTERS, VALUES),
    st.builds(InsertItem, POINTERS, VALUES),
    st.builds(DeleteValue, POINTERS),
    st.builds(MoveItem, POINTERS, POINTERS),
)


def system_part(value: Any) -> Any:
    rest = {key: item for key, item in value.items() if key not in ("memory", "active_task", "capabilities")}
    rest["todo"] = {key: item for key, item in value["todo"].items() if key != "cursor"}
    return rest


@settings(deadline=None, max_examples=15)
@given(st.lists(EDITS, max_size=6))
def test_no_accepted_edit_changes_a_system_field(edits: list[Edit]) -> None:
    data = reply_bytes(VALUE)
    start = data.index(b"<<<CONTEXT>>>") + 13
    for edit in edits:
        try:
            data = POLICY.apply(data, edit)
        except EditRefused:
            continue
    after = json.loads(data[start:])
    assert data[:start] == reply_bytes(VALUE)[:start]
    assert system_part(after) == system_part(VALUE)
    known = {each["id"]: each for each in (*VALUE["memory"]["core"], *VALUE["memory"]["working"])}
    allowed = [{key: each.get(key) for key in LOCKED_BLOCK_FIELDS} for each in known.values()]
    for tier in after["memory"].values():
        for each in tier:
            if isinstance(each, dict):
                assert {key: each.get(key) for key in LOCKED_BLOCK_FIELDS} in allowed
