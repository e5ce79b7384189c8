"""Missing context: ENV072 to ENV076, and ENV087."""

from __future__ import annotations

import pytest

from tests.formats.envelope.rules.examples import rule_findings
from tests.formats.envelope.rules.tables import expect

G = "missing-1"
BLOCKING = f'{G}.severity = "blocking"'
NOTHING_INJECTED = 'injection-model (absent) ¶ injection-tool (absent) ¶ ctx-1.lifecycle = "selected"'

CASES = [
    (
        72,
        f"{G}.requested_from = (absent) ¶ {G}.candidate_sources = []",
        "warning",
        "names neither a person to ask nor a source to look in",
        "",
    ),
    (72, f"{BLOCKING} ¶ {G}.blocked_actions = []", "warning", "names no action", "blocked_actions"),
    (72, f"{BLOCKING} ¶ {G}.blocked_actions = (absent)", "warning", "names no action", ""),
    (73, f"{G}.requested_from = (absent)", "warning", "is requested, but does not say who", "status"),
    (73, f'{G}.status = "waiting" ¶ {G}.requested_from = ""', "warning", "is waiting", "status"),
    (74, f'{G}.status = "resolved"', "warning", "does not name what resolved it", "status"),
    (
        74,
        f'{G}.status = "resolved" ¶ {G}.resolution_refs = []',
        "warning",
        "does not name what resolved it",
        "status",
    ),
    (
        75,
        BLOCKING,
        "warning",
        "BLOCKING: the context was injected while the gap missing-1 is requested; it blocks: publish",
        "severity",
    ),
    (75, f"{BLOCKING} ¶ {G}.status = (absent)", "warning", "the gap missing-1 is open; it", "severity"),
    (75, f'{BLOCKING} ¶ {G}.status = "paused"', "warning", "the gap missing-1 is paused", "severity"),
    (75, f"{BLOCKING} ¶ {G}.status = 3", "warning", "the gap missing-1 is 3", "severity"),
    (75, f'{BLOCKING} ¶ {G}.status = "open" ¶ {G}.blocked_actions = []', "warning", "is open", "severity"),
    (
        75,
        f"{BLOCKING} ¶ injection-model (absent) ¶ injection-tool (absent)",
        "warning",
        "BLOCKING",
        "severity",
    ),
    (75, f'{BLOCKING} ¶ ctx-1.lifecycle = "archived"', "warning", "BLOCKING", "severity"),
    (76, f'{G}.status = "approved"', "warning", "status makes the gap missing-1 an approval", "status"),
    (76, f"{G}.approved = true", "warning", "an approval", "approved"),
    (76, f'{G}.metadata.permission = "Granted"', "warning", "permission makes", "metadata/permission"),
    (76, f'{G}.metadata.approved_by = "user-1"', "warning", "approved_by makes", "metadata/approved_by"),
    (
        76,
        f'{G}.resolution_refs = [{{"id": "a", "decision": "approved"}}]',
        "warning",
        "decision makes",
        "resolution_refs/0/decision",
    ),
    (87, f"{G}.owner = (absent)", "info", "names no owner", ""),
    (87, f'{G}.owner = (absent) ¶ {G}.status = "paused"', "info", "names no owner", ""),
    (
        87,
        f"{G}.requested_action = (absent) ¶ {G}.user_summary = (absent)",
        "info",
        "names no requested action, summary for users",
        "",
    ),
]
NEAR_MISSES = [
    (72, f"{G}.requested_from = (absent)"),
    (72, f"{G}.candidate_sources = (absent)"),
    (72, f"{G}.blocked_actions = []"),
    (73, f'{G}.status = "open" ¶ {G}.requested_from = (absent)'),
    (74, f'{G}.status = "declined"'),
    (74, f'{G}.status = "resolved" ¶ {G}.resolution_refs = ["item-plan"]'),
    (75, f"{BLOCKING} ¶ {NOTHING_INJECTED}"),
    (75, f'{BLOCKING} ¶ {G}.status = "resolved"'),
    (75, f'{BLOCKING} ¶ {G}.status = "expired"'),
    (76, f'{G}.metadata.approval = "required"'),
    (76, f"{G}.metadata.approved = false"),
    (76, f'{G}.question = "Is it approved?" ¶ {G}.candidate_sources = [{{"kind": "approval"}}]'),
    (87, f'{G}.owner = (absent) ¶ {G}.metadata.assignee = "user-1"'),
    (87, f'{G}.owner = (absent) ¶ {G}.status = "declined"'),
]


@pytest.mark.parametrize(("rule", "changes", "severity", "words", "member"), CASES)
def test_the_rule_has_a_finding(rule: int, changes: str, severity: str, words: str, member: str):
    expect(rule, changes, severity, words, member)


@pytest.mark.parametrize(("rule", "changes"), NEAR_MISSES)
def test_the_rule_has_no_finding(rule: int, changes: str):
    assert rule_findings(rule, changes) == []


def test_a_blocking_gap_in_another_spelling_is_blocking():
    assert rule_findings(75, f'{G}.severity = "Blocking"')
    assert rule_findings(75, f'{G}.severity = "Blocked"') == []
