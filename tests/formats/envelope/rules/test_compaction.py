"""Compactions and summaries: ENV064 to ENV071."""

from __future__ import annotations

import pytest

from tests.formats.envelope.rules.examples import rule_findings
from tests.formats.envelope.rules.tables import expect

C, S = "compaction-1", "summary-1"
MASKED = f'{C}.source_item_refs = ["item-old-1", "item-note"]'
RAW_TOO = 'assembly-model.ordered_blocks[0].item_refs = ["summary-1", "item-old-1"]'
RAW_APART = 'assembly-tool.target = "model" ¶ assembly-tool.ordered_blocks[0].item_refs = ["item-old-1"]'
RAW_INJECTED = 'injection-tool.target = "model"'

CASES = [
    (64, f"{C}.source_item_refs = []", "warning", "names no sources", "source_item_refs"),
    (64, "item-old-1 (absent)", "warning", "item-old-1, which compaction-1 compacted", "source_item_refs/0"),
    (65, f"{C}.summary_ref = (absent)", "warning", "names no summary", ""),
    (65, f"{C}.summary_ref = null", "warning", "names no summary", "summary_ref"),
    (65, f"{S} (absent)", "warning", "summary-1, the summary of compaction-1, does not exist", "summary_ref"),
    (65, f'{S}.content = " "', "warning", "has no content", "content"),
    (65, f"{S}.content = (absent)", "warning", "has no content", ""),
    (66, f"{C}.loss_notes = (absent)", "warning", "has no loss_notes", ""),
    (66, f'{C}.trigger = "" ¶ {C}.coverage = {{}}', "warning", "has no trigger, coverage", ""),
    (66, f"{S}.refresh_policy = (absent)", "warning", "has no refresh_policy", ""),
    (67, f"{C}.coverage.items_covered = 3", "warning", "3 items covered", "coverage/items_covered"),
    (66, f'{C}.summary_ref = "item-extra"', "warning", "the summary item-extra of compaction-1 has no", ""),
    (
        67,
        f"{S}.coverage.items_covered = 1",
        "warning",
        "1 item covered, but summary-1",
        "coverage/items_covered",
    ),
    (
        67,
        f"{C}.coverage.estimated_tokens_after = 2001",
        "warning",
        "made 2000 tokens into 2001",
        "coverage/estimated_tokens_after",
    ),
    (
        68,
        f'{S}.source_item_refs = ["item-old-1", "item-extra"]',
        "warning",
        "only compaction-1 names item-old-2; only summary-1 names item-extra",
        "source_item_refs",
    ),
    (69, RAW_TOO, "info", "item-old-1 was injected beside the summary", "source_item_refs"),
    (69, f"{RAW_APART} ¶ {RAW_INJECTED}", "info", "item-old-1 was injected beside", "source_item_refs"),
    (70, MASKED, "warning", "made of item-note, where something was redacted", "redaction_state"),
    (70, f"{MASKED} ¶ {S}.redaction_state = (absent)", "warning", "its redaction_state is absent", ""),
    (
        70,
        f'{MASKED} ¶ {S}.redaction_state = "unknown"',
        "warning",
        "its redaction_state is unknown",
        "redaction_state",
    ),
    (
        70,
        f'item-old-1.sensitivity = "Private" ¶ {S}.redaction_state = (absent)',
        "warning",
        "made of item-old-1, which is sensitive",
        "",
    ),
]
NEAR_MISSES = [
    (64, "item-extra (absent)"),
    (64, f"{C}.source_item_refs = (absent)"),
    (64, f'{C}.source_item_refs = ["item-old-1", {{"uri": "thread:turn-7"}}]'),
    (65, f'{C}.summary_ref = {{"uri": "store:1"}}'),
    (65, f'{C}.summary_ref = {{"id": "gone", "content": "They agreed."}}'),
    (65, f'{S}.content = (absent) ¶ {S}.redaction_state = "removed"'),
    (65, f'{C}.summary_ref = "item-old-1"'),
    (66, f"{C}.loss_notes = []"),
    (66, f'{C}.summary_ref = "item-extra" ¶ item-extra.refresh_policy = "weekly"'),
    (66, f'{C}.summary_ref = "item-extra" ¶ item-extra.metadata.refresh_policy = "weekly"'),
    (66, f"{S} (absent)"),
    (67, f"{C}.coverage = {{}} ¶ {S}.coverage = (absent)"),
    (67, f"{C}.coverage.estimated_tokens_after = 2000"),
    (67, f'{C}.coverage.items_covered = "many"'),
    (67, f"{C}.source_item_refs = (absent)"),
    (68, f"{S}.source_item_refs = (absent)"),
    (68, f'{S}.source_item_refs = [{{"item_id": "item-old-2"}}, "item-old-1"]'),
    (69, 'assembly-tool.ordered_blocks[0].item_refs = ["item-old-1"]'),
    (69, f"{RAW_TOO} ¶ injection-model (absent)"),
    (69, f'{RAW_APART} ¶ {RAW_INJECTED} ¶ injection-tool.created_at = "2026-05-11T09:00:02Z"'),
    (69, f'{RAW_APART} ¶ {RAW_INJECTED} ¶ injection-tool.created_at = "then"'),
    (70, f'{MASKED} ¶ {S}.redaction_state = "masked"'),
    (70, 'item-old-1.sensitivity = "private"'),
    (70, f"{S}.redaction_state = (absent)"),
    (70, f"{MASKED} ¶ {S} (absent)"),
    (71, f'{S}.content = "The answer is yes." ¶ {S}.summary_kind = "final_answer"'),
]


@pytest.mark.parametrize(("rule", "changes", "severity", "words", "member"), CASES)
def test_the_rule_has_a_finding(rule: int, changes: str, severity: str, words: str, member: str):
    expect(rule, changes, severity, words, member)


@pytest.mark.parametrize(("rule", "changes"), NEAR_MISSES)
def test_the_rule_has_no_finding(rule: int, changes: str):
    assert rule_findings(rule, changes) == []
