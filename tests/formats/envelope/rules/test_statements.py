"""Outcomes that only the runtime may state, and the order of times: ENV020 and ENV021."""

from __future__ import annotations

import json

import pytest

from ctxview.core.findings import Severity
from tests.formats.envelope.bundles import good, named
from tests.formats.envelope.rules.examples import rule_findings


@pytest.mark.parametrize(
    "kind",
    [
        "turn.completed",
        "task.failed",
        "tool.succeeded",
        "permission.granted",
        "Turn.x",
        "context.turn.completed",
        "Context.Tool_Call.Failed",
        "acme.context.permission.granted",
        "context.turn_completed",
        "context.run.completed",
        "context.item.approved",
    ],
)
def test_an_event_type_of_the_runtime_is_an_error(kind: str):
    (finding,) = rule_findings(20, f'event-1.event_type = "{kind}"')
    assert finding.severity is Severity.ERROR
    assert finding.origin.pointer
    assert finding.origin.pointer.endswith("/event_type")


@pytest.mark.parametrize(
    "kind",
    [
        "context.exported",
        "turning.point",
        "toolbox",
        "context.turn.shown",
        "context.summary.approved",
        "context.run.shown",
    ],
)
def test_other_event_types_are_not_reported(kind: str):
    assert rule_findings(20, f'event-1.event_type = "{kind}"') == []


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ('ctx-1.metadata.turn_status = "completed"', "turn_status"),
        ('ctx-1.metadata.deep = [{"toolSucceeded": true}]', "toolSucceeded"),
        ('event-1.data = {"task-state": "done"}', "task-state"),
        ("missing-1.permission_granted = false", "permission_granted"),
        ('item-plan.policy_decision = "allow"', "policy_decision"),
        ("selection-1.metadata.is_task_completed = true", "is_task_completed"),
        ('ctx-1.runtime_refs[2] = {"kind": "turn", "id": "turn-1", "status": "completed"}', "turn status"),
        ('ctx-1.metadata.call = {"type": "tool_call", "succeeded": true}', "tool_call succeeded"),
        ('ctx-1.metadata.turn = {"status": "completed"}', "turn status"),
        ('ctx-1.metadata.permission = {"granted": true}', "permission granted"),
        ('item-plan.policy = {"decision": "allow"}', "policy decision"),
        ('event-1.data = {"toolCalls": [{"name": "ls", "succeeded": true}]}', "toolCalls succeeded"),
        ('event-1.data = {"policies": [{"verdict": "allow"}]}', "policies verdict"),
        ('item-plan.metadata.rule = {"kind": "policy", "decision": "allow"}', "policy decision"),
        ("selection-1.approved = true", "approved"),
        ('ctx-1.metadata.tool = {"result": {"success": true}}', "tool success"),
        ('ctx-1.metadata.tool_result = {"status": "succeeded"}', "tool_result status"),
        ('ctx-1.metadata.tool = {"ok": true}', "tool ok"),
        ('ctx-1.metadata.policy = "allow"', "policy"),
        ("ctx-1.metadata.is_approved = true", "is_approved"),
        ('ctx-1.metadata.status = {"turn": "completed"}', "turn"),
        ('ctx-1.metadata.approval = "granted"', "approval"),
        ('ctx-1.metadata.authorization = "granted"', "authorization"),
        ('ctx-1.metadata.consent = {"status": "given"}', "consent status"),
        ('assembly-model.metadata = {"approvedBy": "coder"}', "approvedBy"),
    ],
)
def test_a_member_that_states_an_outcome_is_a_warning(change: str, name: str):
    (finding,) = rule_findings(20, change)
    assert finding.severity is Severity.WARNING
    assert f": {name} states an outcome" in finding.message


@pytest.mark.parametrize(
    "change",
    [
        "ctx-1.metadata.turn_status = null",
        'item-log.content = {"turn_status": "completed"}',
        'source-chat.external_mappings = [{"protocol": "a2a", "task_id": "t", "task_state": "x"}]',
        'missing-1.status = "resolved"',
        'compaction-1.validation = {"status": "approved"}',
        'missing-1.candidate_sources = [{"kind": "tool", "status": "offline"}]',
        "ctx-1.metadata.return_status = 1",
        'ctx-1.metadata.tool_result = "12 passed"',
        'ctx-1.metadata.turn = {"number": 3, "status": null}',
        'ctx-1.metadata.server = {"status": "up"}',
        "selection-1.approved = false",
        'ctx-1.metadata.tool = {"parameters": {"state": "CA"}}',
        'ctx-1.metadata.tool = {"result": {"lines": 12}}',
        'ctx-1.metadata.policy = "policy-7"',
        'ctx-1.metadata.task = "complete the parser"',
        "ctx-1.metadata.is_approved = false",
        'ctx-1.metadata.status = {"window": "completed"}',
        'ctx-1.metadata.approval = "needed"',
        'compaction-1.validation = {"status": "approved", "approved_by": "coder"}',
    ],
)
def test_quoted_content_and_the_states_of_the_draft_are_not_reported(change: str):
    assert rule_findings(20, change) == []


def test_the_statement_of_an_embedded_record_is_reported_once():
    item = {**named(good(), "item-goal"), "metadata": {"turn_status": "completed"}}
    (finding,) = rule_findings(20, f"ctx-1.item_refs[0] = {json.dumps(item)}")
    assert finding.message.startswith("item-goal: ")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("selection-1 01", "selection-1 (2026-05-11T09:00:01Z) chooses from surface-1, which is later"),
        ("injection-tool 06", "injection-tool (2026-05-11T09:00:06Z) injects assembly-tool"),
        (
            "assembly-tool 04",
            "assembly-tool (2026-05-11T09:00:04Z) was made before item-log had been selected",
        ),
    ],
)
def test_a_step_before_the_one_it_needs_is_a_warning(change: str, words: str):
    name, second = change.split()
    (finding,) = rule_findings(21, f'{name}.created_at = "2026-05-11T09:00:{second}Z"')
    assert words in finding.message


def test_time_zone_offsets_are_respected():
    assert rule_findings(21, 'selection-1.created_at = "2026-05-11T11:00:05+02:00"') == []
    assert rule_findings(21, 'selection-1.created_at = "2026-05-11T09:00:05+02:00"') != []


@pytest.mark.parametrize("ends", ["2026-05-11T09:00:02Z", "2026-05-11T08:00:00Z"])
def test_a_surface_that_ends_when_it_begins_is_a_warning(ends: str):
    (finding,) = rule_findings(21, f'surface-1.expires_at = "{ends}"')
    assert "not after it was made" in finding.message


@pytest.mark.parametrize(
    "change",
    [
        'selection-1.created_at = "2026-05-11T09:00:02Z"',
        'selection-1.created_at = "some day"',
        "selection-1.created_at = (absent)",
        'selection-1.surface_id = "surface-9" ¶ selection-1.created_at = "2026-05-11T09:00:00Z"',
        "surface-1.expires_at = (absent)",
    ],
)
def test_equal_and_unknown_times_are_in_order(change: str):
    assert rule_findings(21, change) == []


def test_an_item_that_an_earlier_attempt_selected_may_be_assembled_before_the_later_one():
    retry = 'selection-1 += {"selection_id": "selection-2", "created_at": "2026-05-11T10:00:00Z"}'
    assert rule_findings(21, retry) == []
