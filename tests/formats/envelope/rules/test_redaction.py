"""Redaction: ENV077 to ENV081."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Effect
from tests.formats.envelope.rules.examples import findings_of, rule_findings
from tests.formats.envelope.rules.tables import expect
from tests.formats.envelope.sound_records import digest

N = "item-note"
REMOVED = f'{N}.redaction_state = "removed"'
NOTE_BLOCK = "assembly-model.ordered_blocks[3]"
SECRET = "Ada, 12 Orchard Row"
RAW = f'{N}.metadata.raw = "{SECRET}"'

CASES = [
    (77, f"{N}.policy_refs = []", "warning", "item-note is masked, but the record does not state the policy"),
    (
        77,
        f"{N}.redacted_by = (absent) ¶ {N}.redaction_reason = ' '".replace("'", '"'),
        "warning",
        "who did it, reason",
    ),
    (
        77,
        'item-goal.redacted_fields = ["content"]',
        "warning",
        "item-goal names redacted fields, but its redaction_state is none",
    ),
    (77, 'item-goal.redaction_state = "summarized"', "warning", "method, policy, who did it, reason"),
    (78, REMOVED, "error", "item-note: content still holds the text behind the redaction (removed)"),
    (
        78,
        f'{N}.redaction_state = "encrypted_ref" ¶ {N}.content = {{"text": "plain"}}',
        "error",
        "encrypted_ref",
    ),
    (78, RAW, "error", "metadata.raw still holds the text behind the redaction (masked)"),
    (78, f'{N}.original_content = "{SECRET}"', "error", "original_content still holds"),
    (78, 'summary-1.redaction_state = "policy_blocked"', "error", "summary-1: content still holds"),
    (
        78,
        f'{NOTE_BLOCK}.redaction_state = "removed" ¶ {NOTE_BLOCK}.content = "{SECRET}"',
        "error",
        "ordered_blocks.3.content still holds the text behind the redaction (removed)",
    ),
    (79, f"{N}.original_ref = (absent) ¶ {N}.digest = (absent)", "warning", "and no digest instead"),
    (
        79,
        f"{N}.original_ref = (absent) ¶ {N}.digest = (absent) ¶ {N}.redaction_reason = (absent)",
        "warning",
        "and no digest and no reason instead",
    ),
    (
        80,
        f'{NOTE_BLOCK}.redaction_state = "none"',
        "error",
        "block-4 of assembly-model is marked none, but holds item-note",
    ),
    (
        80,
        f"{NOTE_BLOCK}.redaction_state = (absent) ¶ assembly-model.redaction_state = (absent)",
        "error",
        "is marked with nothing, but holds item-note, which is masked",
    ),
    (
        80,
        f'{N}.redaction_state = "policy_blocked"',
        "error",
        "blocked by policy, but is in the block block-4",
    ),
    (
        80,
        f'{N}.redaction_state = "policy_blocked" ¶ {NOTE_BLOCK}.item_refs = []',
        "error",
        "blocked by policy, but is a source of assembly-model",
    ),
]
NEAR_MISSES = [
    (77, f'{N}.policy_refs = (absent) ¶ {N}.redaction = {{"policy_refs": ["policy-7"]}}'),
    (77, f'{N}.redacted_by = (absent) ¶ {N}.actor_ref = "policy-service"'),
    (77, 'item-goal.redaction_state = "unknown"'),
    (78, f'{REMOVED} ¶ {N}.content = "[removed by policy-7]"'),
    (78, f'{REMOVED} ¶ {N}.content = "*****"'),
    (78, f'{REMOVED} ¶ {N}.content = ""'),
    (78, f'item-goal.metadata.raw = "{SECRET}"'),
    (78, f"{N}.metadata.raw = []"),
    (79, f"{N}.original_ref = (absent)"),
    (79, f"{N}.digest = (absent) ¶ {N}.redaction_reason = (absent)"),
    (
        79,
        f'{N}.redaction_state = "encrypted_ref" ¶ {N}.content_ref = "v:1" ¶ {N}.original_ref = (absent) ¶ '
        f"{N}.digest = (absent)",
    ),
    (80, f"{NOTE_BLOCK}.redaction_state = (absent)"),
    (80, f'{NOTE_BLOCK}.redaction_state = "removed"'),
    (80, f'{N}.redaction_state = "none" ¶ {NOTE_BLOCK}.redaction_state = "none"'),
]


@pytest.mark.parametrize(("rule", "changes", "severity", "words"), CASES)
def test_the_rule_has_a_finding(rule: int, changes: str, severity: str, words: str):
    found = rule_findings(rule, changes)
    assert any(each.severity.value == severity and words in each.message for each in found), found


@pytest.mark.parametrize(("rule", "changes"), NEAR_MISSES)
def test_the_rule_has_no_finding(rule: int, changes: str):
    assert rule_findings(rule, changes) == []


def test_content_that_should_be_removed_is_reported_at_its_origin():
    expect(78, REMOVED, "error", "content still holds the text", "content")
    expect(78, RAW, "error", "metadata.raw still holds the text", "metadata/raw")
    assert rule_findings(78, REMOVED)[0].effect is Effect.LEAKED


@pytest.mark.parametrize(
    ("changes", "member"),
    [
        (f'{RAW} ¶ summary-1.content = "They agreed: MAIL  ada,  12 orchard ROW, soon."', "content"),
        (f'{RAW} ¶ event-7.data = {{"was": ["{SECRET}"]}}', "data/was/0"),
        (f'{RAW} ¶ {N}.title = "{SECRET}"', "title"),
        (f'{RAW} ¶ missing-1.question = "{SECRET}?"', "question"),
        (f'{REMOVED} ¶ {N}.content = "{SECRET}" ¶ ctx-1.metadata.log = "- {SECRET} -"', "metadata/log"),
        (
            f'{N}.digest = "{digest(SECRET)}" ¶ assembly-model.metadata = {{"seen": "{SECRET}"}}',
            "metadata/seen",
        ),
        (
            f'{N}.original_ref = "item-log" ¶ item-log.content = "{SECRET}" ¶ summary-1.content = "{SECRET}"',
            "content",
        ),
        (
            f'item-goal.redaction_state = "masked" ¶ item-goal.raw = "{SECRET}" ¶ {N}.content = "{SECRET}"',
            "content",
        ),
    ],
)
def test_a_hidden_text_that_returns_is_reported_and_never_quoted(changes: str, member: str):
    expect(81, changes, "warning", "is readable here", member)
    for finding in findings_of(changes.replace(" ¶ ", "\n")):
        assert "orchard" not in finding.message.casefold()


@pytest.mark.parametrize(
    "changes",
    [
        RAW,
        f'{N}.metadata.raw = "Ada" ¶ summary-1.content = "Ada agreed."',
        f'{RAW} ¶ summary-1.content = "Mail Ada at her office."',
        f'item-goal.metadata.raw = "{SECRET}" ¶ summary-1.content = "{SECRET}"',
        f'{REMOVED} ¶ {N}.content = "[removed by policy-7]" ¶ {NOTE_BLOCK}.wrapper = "[removed by policy-7]"',
        f'{N}.original_ref = "item-log"',
    ],
)
def test_a_text_that_stays_hidden_or_is_not_secret_is_not_reported(changes: str):
    assert rule_findings(81, changes) == []


def test_an_embedded_record_is_not_a_copy_of_itself():
    note = f'{{"item_id": "item-in", "redaction_state": "masked", "raw": "{SECRET}"}}'
    assert rule_findings(81, f"ctx-1.item_refs[0] = {note}") == []
    assert len(rule_findings(81, f'ctx-1.item_refs[0] = {note} ¶ summary-1.content = "{SECRET}"')) == 1
