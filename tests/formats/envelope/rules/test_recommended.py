"""Listed fields, words and completeness: ENV009 to ENV011."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Severity
from tests.formats.envelope.rules.examples import rule_findings

REDACTION = (
    '{"redaction_state": "masked", "redaction_method": "m", "redacted_fields": ["content"], "policy_refs": []'
)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("injection-model.hash = (absent) ¶ injection-model.native_id = null", "has no native_id, hash"),
        ("summary-1.refresh_policy = (absent)", "summary-1 has no refresh_policy"),
        ("budget-model.window_segments[1].role = (absent)", "budget-model: segment segment-2 has no role"),
        ("window-1.window_segments[0].order = (absent)", "window-1: segment segment-4 has no order"),
        ("assembly-tool.ordered_blocks[0].block_id = (absent)", "block 1 has no block_id"),
        ("assembly-tool.ordered_blocks[0].hash = (absent)", "block block-5 has no hash"),
        (f"item-note.metadata.redaction = {REDACTION}}}", "no actor_ref, created_at, replacement_ref"),
        (f"event-7.data.redactions = [{REDACTION}}}]", "redaction record has no actor_ref"),
    ],
)
def test_a_listed_field_that_is_absent_is_a_warning(change: str, words: str):
    (finding,) = rule_findings(9, change)
    assert words in finding.message
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    "change",
    [
        "assembly-tool.ordered_blocks = []",
        'assembly-tool.ordered_blocks[0].content_ref = "store:5"',
        'budget-model.window_segments = ["x"]',
        "summary-1.loss_notes = []",
        'item-note.metadata.redaction = "none"',
        f'item-note.redaction = {REDACTION}, "actor_ref": "a", "created_at": "x", "replacement_ref": "b"}}',
    ],
)
def test_an_absent_part_lacks_no_fields(change: str):
    assert rule_findings(9, change) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ('ctx-1.lifecycle = "done"', 'ctx-1: lifecycle "done" is not one of the 9 known words'),
        ('item-plan.visibility = ["model", "modell"]', "did you mean model?"),
        ('item-plan.content_mode = "Inline"', "did you mean inline?"),
        ('item-plan.redaction_state = "gone"', "redaction_state"),
        ('surface-1.surface_kind = "screen"', "surface_kind"),
        ('budget-model.target = "llm"', "target"),
        ('budget-model.overflow_strategy = "drop"', "overflow_strategy"),
        ('injection-model.injection_point = "prefix"', "injection_point"),
        ('compaction-1.method = "magic"', "method"),
        ('compaction-1.trigger = "mood"', "trigger"),
        ('missing-1.severity = "huge"', "severity"),
        ('missing-1.status = "lost"', "status"),
        ('event-1.event_type = "context.changed"', "event_type"),
        ('source-plan.selector = {"type": "lines"}', 'the selector type "lines"'),
        ('source-plan.selector = [{"type": "xpath"}, {"type": "lines"}]', 'the selector type "lines"'),
        ('selection-1.ranking_signals.item-plan = {"charm": 1}', 'the ranking signal "charm"'),
        ('selection-1.omitted_item_refs[0].reason = "boring"', 'the omission reason "boring"'),
        ('assembly-model.ordered_blocks[1].visibility = ["eyes"]', "block block-2: visibility"),
        ('budget-model.window_segments[0].target = "eyes"', "segment segment-1: target"),
    ],
)
def test_an_unknown_word_is_mentioned(change: str, words: str):
    (finding,) = rule_findings(10, change)
    assert words in finding.message
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize(
    "change",
    [
        'ctx-1.scope = "conversation"',
        'event-1.event_type = "turn.completed"',
        'ctx-1.lifecycle = "custom"',
        'item-plan.context_kind = "custom:memo"',
        'surface-1.scope = "anything"',
        'item-plan.trust_level = "whatever"',
        'source-plan.source_kind = "whatever"',
        'source-plan.selector = "L1"',
        "item-plan.context_kind = 4",
    ],
)
def test_free_fields_custom_words_and_findings_of_other_rules_are_not_reported(change: str):
    assert rule_findings(10, change) == []


def test_an_unknown_signal_is_mentioned_once_for_all_items():
    changes = [f"selection-1.ranking_signals.{name}.charm = 1" for name in ("item-plan", "item-goal")]
    assert len(rule_findings(10, " ¶ ".join(changes))) == 1


def test_an_incomplete_record_gets_one_score():
    changes = " ¶ ".join(f"item-plan.{name} = (absent)" for name in ("title", "language", "freshness"))
    (finding,) = rule_findings(11, changes)
    assert finding.severity is Severity.INFO
    assert finding.message == "item-plan: 10 of 13 recommended fields; missing title, language, freshness"


def test_a_null_counts_as_absent():
    assert len(rule_findings(11, "source-plan.license = null")) == 1


def test_optional_fields_and_kinds_without_schema_have_no_score():
    assert rule_findings(11, "ctx-1.compaction_refs = (absent) ¶ summary-1.validation = (absent)") == []
