"""The system's fields in a reply: SNP042, 048, 049."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Effect, Severity
from ctxview.formats.snapshot.model import SnapshotRole
from tests.formats.snapshot.builders import block, snapshot, snapshot_of
from tests.formats.snapshot.rules.checking import changed, of_exchange, with_runtime, with_todo
from tests.formats.snapshot.rules.template import template

RECEIVED = snapshot_of(template())


def findings(rule: int, value):
    return of_exchange(rule, RECEIVED, snapshot_of(value, role=SnapshotRole.EMITTED))


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        (changed(version="3.0"), "/version"),
        (with_runtime(round=2), "/runtime/round"),
        (with_runtime(workspace="/elsewhere/"), "/runtime/workspace"),
        (with_runtime(datetime="2026-02-25T10:00:01.000Z"), "/runtime/datetime"),
        (with_runtime(startup_at=None), "/runtime/startup_at"),
        (with_todo(summary="done"), "/todo/summary"),
        (with_todo(total=4), "/todo/total"),
        (with_todo(step=True), "/todo/step"),
    ],
)
def test_a_changed_system_field_is_an_error_that_is_restored(value, pointer: str):
    (finding,) = findings(42, value)
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.RESTORED
    assert finding.origin.pointer == pointer


def test_another_spelling_of_the_same_number_is_not_a_change():
    assert findings(42, changed(version=3)) == []


def test_the_model_may_write_the_cursor():
    assert findings(42, with_todo(cursor=None)) == []


def test_fields_left_out_are_reported_together():
    (finding,) = findings(42, changed(runtime=..., todo=...))
    assert "runtime.round" in finding.message
    assert "todo.step" in finding.message


@pytest.mark.parametrize("name", ["active_task_meta", "last_task", "task_checkpoint"])
def test_a_model_that_edits_task_records_gets_a_warning(name: str):
    (finding,) = findings(48, changed(**{name: {"id": "t"}}))
    assert finding.severity is Severity.WARNING
    assert finding.effect is Effect.STORED
    assert finding.origin.pointer == f"/{name}"


def test_a_new_active_task_is_only_mentioned():
    (finding,) = findings(48, changed(active_task="something else"))
    assert finding.severity is Severity.INFO


def test_records_left_out_or_sent_back_are_fine():
    assert findings(48, changed(active_task=...)) == []
    assert findings(48, template()) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("content_state", "tag_ref"),
        ("tag_id", "tag:x"),
        ("tag_summary", "s"),
        ("rehydrated_at", 1),
        ("persistent_block_id", "x"),
        ("persistent_score", 0.5),
    ],
)
def test_a_model_that_writes_store_links_gets_a_warning(name: str, value):
    received, emitted = (
        snapshot(core=[block("a")]),
        snapshot(core=[block("a", **{name: value})], role=SnapshotRole.EMITTED),
    )
    (finding,) = of_exchange(49, received, emitted)
    assert finding.severity is Severity.WARNING
    assert finding.origin.pointer == f"/memory/core/0/{name}"


def test_a_new_block_with_forged_links_gets_a_warning():
    (finding,) = of_exchange(
        49, snapshot(), snapshot(core=[block("a", tag_id="tag:x")], role=SnapshotRole.EMITTED)
    )
    assert "a new block" in finding.message


def test_links_sent_back_or_left_out_are_fine():
    received = snapshot(core=[block("a", content_state="tag_ref", tag_id="tag:x")])
    same = snapshot(core=[block("a", content_state="tag_ref", tag_id="tag:x")], role=SnapshotRole.EMITTED)
    assert of_exchange(49, received, same) == []
    assert of_exchange(49, received, snapshot(core=[block("a")], role=SnapshotRole.EMITTED)) == []


def test_calling_an_ordinary_block_active_is_not_an_edit():
    emitted = snapshot(core=[block("a", content_state="active")], role=SnapshotRole.EMITTED)
    assert of_exchange(49, snapshot(core=[block("a")]), emitted) == []
    assert of_exchange(49, snapshot(), emitted) == []
