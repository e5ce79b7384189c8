"""Events and links to the runtime: ENV082 to ENV086."""

from __future__ import annotations

import pytest

from tests.formats.envelope.bundles import good, named
from tests.formats.envelope.rules.examples import rule_findings
from tests.formats.envelope.rules.tables import expect

NO_EVENTS = " ¶ ".join(f"event-{number} (absent)" for number in range(1, 13))
GOAL = named(good(), "item-goal")["content"]
RESOLVED = 'missing-1.status = "resolved" ¶ missing-1.resolution_refs = ["item-plan"]'

CASES = [
    (82, "event-5 (absent)", "the selection of selection-1 is completed by event-6, but never", "event_type"),
    (82, "event-2 (absent)", "the compaction of compaction-1", "event_type"),
    (82, 'event-5.subject = "selection-2"', "never started", "event_type"),
    (82, 'event-5.time = "2026-05-11T09:00:06Z"', "before event-5 says that it started", "time"),
    (83, "event-7 (absent)", "item-note is masked, but no event says", "redaction_state"),
    (83, 'event-7.subject = "item-goal"', "event-7 says that item-goal was redacted", "subject"),
    (
        83,
        'event-7.subject = "item-goal" ¶ item-goal.redaction_state = (absent)',
        "event-7 says that item-goal was redacted, but its redaction_state is absent",
        "subject",
    ),
    (
        83,
        'event-9.event_type = "context.missing.resolved" ¶ missing-1.status = (absent)',
        "event-9 says that the gap missing-1 is resolved, but its status is absent",
        "subject",
    ),
    (83, RESOLVED, "the gap missing-1 is resolved, but no event says so", "status"),
    (
        83,
        'event-9.event_type = "context.missing.resolved"',
        "event-9 says that the gap missing-1 is resolved, but its status is requested",
        "subject",
    ),
    (
        84,
        'event-6.session_id = "s-2"',
        "event-6 belongs to the session s-2, its envelope ctx-1 to session-1",
        "session_id",
    ),
    (84, 'event-6.attempt_id = "attempt-9"', "the attempt attempt-9", "attempt_id"),
    (84, 'event-6.context_id = (absent) ¶ event-6.turn_id = "t-9"', "the turn t-9", "turn_id"),
    (85, 'ctx-1.runtime_refs = [{"kind": "turn", "id": "t"}]', "its session, thread", "runtime_refs"),
    (85, "ctx-1.runtime_refs = (absent)", "does not name its session, thread, turn", ""),
    (85, "selection-1.attempt_id = (absent)", "does not name its attempt", ""),
    (85, 'selection-1.run_id = "" ¶ selection-1.task_id = (absent)', "does not name its task, run", ""),
    (
        86,
        f'ctx-1.evidence_refs = [{{"id": "e", "note": "{GOAL}"}}]',
        "the text of item-goal",
        "evidence_refs/0",
    ),
    (
        86,
        f'ctx-1.evidence_refs = ["{GOAL[5:60]}"]',
        "in ctx-1 copies the text of item-goal",
        "evidence_refs/0",
    ),
    (
        86,
        'event-6.evidence_refs = [{"id": "e", "payload": {"a": 1}}]',
        "in event-6 carries a payload",
        "evidence_refs/0/payload",
    ),
    (
        86,
        f'event-12.event_type = "context.exported" ¶ event-12.data = {{"report": "> {GOAL.upper()}"}}',
        "in event-12 copies the text of item-goal",
        "data",
    ),
]
NEAR_MISSES = [
    (82, 'event-5.time = "2026-05-11T09:00:05Z"'),
    (82, 'event-5.time = "yesterday"'),
    (82, "event-5.subject = (absent)"),
    (82, "event-6 (absent)"),
    (83, NO_EVENTS),
    (83, "event-7.subject = (absent)"),
    (83, 'event-7.subject = (absent) ¶ event-7.data = {"items": ["item-note"]}'),
    (83, f'{RESOLVED} ¶ event-9.event_type = "context.missing.resolved"'),
    (84, "event-6.session_id = (absent)"),
    (84, 'event-6.step_id = "step-1"'),
    (84, 'event-6.context_id = "ctx-0" ¶ event-6.session_id = "session-2"'),
    (
        84,
        'event-6.run_id = "r2" ¶ ctx-1.runtime_refs[4] = {"run_id": "r2"} ¶ ctx-1.run_id = "run-1"',
    ),
    (85, 'ctx-1.runtime_refs = ["session:s", {"type": "thread", "ref": "t"}, {"turn_id": "u"}]'),
    (85, 'ctx-1.runtime_refs = [] ¶ ctx-1.scope = "session"'),
    (
        85,
        "selection-1.task_id = (absent) ¶ selection-1.run_id = (absent) ¶ selection-1.attempt_id = (absent)",
    ),
    (85, 'selection-1.attempt_id = (absent) ¶ selection-1.metadata.attempt_id = "attempt-1"'),
    (86, 'ctx-1.evidence_refs = [{"id": "e", "content": "short", "cites": ["item-goal"]}]'),
    (86, f'ctx-1.telemetry_refs = ["{GOAL}"]'),
    (86, f'event-12.data = {{"report": "{GOAL}"}}'),
]


@pytest.mark.parametrize(("rule", "changes", "words", "member"), CASES)
def test_the_rule_has_a_finding(rule: int, changes: str, words: str, member: str):
    expect(rule, changes, "warning", words, member)


@pytest.mark.parametrize(("rule", "changes"), NEAR_MISSES)
def test_the_rule_has_no_finding(rule: int, changes: str):
    assert rule_findings(rule, changes) == []
