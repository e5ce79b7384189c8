"""Redaction: ENV077 to ENV081."""

from __future__ import annotations

import pytest

from ctxview.findings import Effect
from tests.formats.envelope.rules.examples import findings_of, said
from tests.formats.envelope.rules.tables import expect
from tests.formats.envelope.sound_records import digest

N = "item-note"
REMOVED = f'{N}.redaction_state = "removed"'
NOTE_BLOCK = "assembly-model.ordered_blocks[3]"
SECRET = "Ada, 12 Orchard Row"
RAW = f'{N}.metadata.raw = "{SECRET}"'

CASES = [
    (77, f"{N}.policy_refs = []", "warning", "item-note is masked, but the record does not tell the policy"),
    (
        77,
        f"{N}.redacted_by = (absent) ¶ {N}.redaction_reason = ' '".replace("'", '"'),
        "warning",
        "who did it, reason",
    ),
    (77, 'item-goal.redaction_state = "summarized"', "warning", "method, policy, who did it, reason"),
    (78, REMOVED, "error", "item-note still has in content what a redaction (removed) took away"),
    (
        78,
        f'{N}.redaction_state = "encrypted_ref" ¶ {N}.content = {{"text": "plain"}}',
        "error",
        "encrypted_ref",
    ),
    (78, RAW, "error", "still has in metadata.raw what a redaction (masked)"),
    (78, f'{N}.original_content = "{SECRET}"', "error", "in original_content"),
    (78, 'summary-1.redaction_state = "policy_blocked"', "error", "summary-1 still has in content"),
    (
        78,
        f'{NOTE_BLOCK}.redaction_state = "removed" ¶ {NOTE_BLOCK}.content = "{SECRET}"',
        "error",
        "in ordered_blocks.3.content what a redaction (removed)",
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
        "block-4 of assembly-model says none, but holds item-note",
    ),
    (
        80,
        f"{NOTE_BLOCK}.redaction_state = (absent) ¶ assembly-model.redaction_state = (absent)",
        "error",
        "says nothing, but holds item-note, which is masked",
    ),
    (
        80,
        f'{N}.redaction_state = "policy_blocked"',
        "error",
        "blocked by policy, but stands in the block block-4",
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
def test_it_is_told(rule: int, changes: str, severity: str, words: str):
    found = said(rule, changes)
    assert any(each.severity.value == severity and words in each.message for each in found), found


@pytest.mark.parametrize(("rule", "changes"), NEAR_MISSES)
def test_it_is_not_told(rule: int, changes: str):
    assert said(rule, changes) == []


def test_content_that_should_be_gone_is_told_where_it_stands():
    expect(78, REMOVED, "error", "still has in content", "content")
    expect(78, RAW, "error", "still has in metadata.raw", "metadata/raw")
    assert said(78, REMOVED)[0].effect is Effect.LEAKED


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
def test_a_hidden_text_that_comes_back_is_told_and_never_quoted(changes: str, member: str):
    expect(81, changes, "warning", "stands here in the open", member)
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
def test_what_stays_hidden_or_is_none_is_not_told_again(changes: str):
    assert said(81, changes) == []


def test_a_record_inside_another_is_not_its_own_echo():
    note = f'{{"item_id": "item-in", "redaction_state": "masked", "raw": "{SECRET}"}}'
    assert said(81, f"ctx-1.item_refs[0] = {note}") == []
    assert len(said(81, f'ctx-1.item_refs[0] = {note} ¶ summary-1.content = "{SECRET}"')) == 1
