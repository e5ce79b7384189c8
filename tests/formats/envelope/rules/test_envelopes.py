"""Envelopes as indexes and snapshots: ENV014 to ENV017, and ENV019."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Severity
from tests.formats.envelope.rules.examples import rule_findings

REVISION = '"context_id": "ctx-2", "metadata": {"ctxview": {"revision_of": "ctx-1"}}'


def test_an_omitted_item_on_the_envelope_is_reported_with_its_selection():
    (finding,) = rule_findings(14, 'ctx-1.item_refs = ["item-goal", "item-extra"]')
    assert "lists item-extra" in finding.message
    assert "selection-1 left it out" in finding.message
    assert finding.origin.pointer == "/0/item_refs/1"


@pytest.mark.parametrize(
    "change",
    [
        'ctx-1.item_refs = ["item-9"]',
        'ctx-1.item_refs = ["summary-1"]',
        'ctx-1.item_refs = ["item-extra"] ¶ item-extra.context_kind = "thread_summary"',
        'ctx-1.item_refs = ["item-extra"] ¶ item-extra.content_mode = "summary"',
        'ctx-1.item_refs = ["item-extra"] ¶ ctx-1.selection_refs = ["selection-9"]',
        'ctx-1.item_refs = ["item-extra"] ¶ assembly-tool.ordered_blocks[0].item_refs = ["item-extra"]',
    ],
)
def test_injected_items_summaries_and_unknown_items_are_not_reported(change: str):
    assert rule_findings(14, change) == []


def test_without_selections_and_injections_nothing_is_reported():
    gone = "selection-1 (absent) ¶ injection-model (absent) ¶ injection-tool (absent)"
    refs = "ctx-1.selection_refs = [] ¶ ctx-1.injection_refs = []"
    assert rule_findings(14, f'{gone} ¶ {refs} ¶ ctx-1.item_refs = ["item-extra"]') == []


@pytest.mark.parametrize(
    ("state", "records", "field"),
    [
        ("available", ["surface-1"], "surface_refs"),
        ("selected", ["selection-1"], "selection_refs"),
        ("assembled", ["assembly-model", "assembly-tool"], "assembly_refs"),
        ("injected", ["injection-model", "injection-tool"], "injection_refs"),
        ("compacted", ["compaction-1"], "compaction_refs"),
    ],
)
def test_a_state_without_its_record_is_a_warning(state: str, records: list[str], field: str):
    gone = " ¶ ".join(f"{name} (absent)" for name in records)
    claim = f'ctx-1.lifecycle = "{state}" ¶ {gone}'
    assert rule_findings(15, claim) == []
    (finding,) = rule_findings(15, f"{claim} ¶ ctx-1.{field} = []")
    assert f"ctx-1 is {state}" in finding.message


@pytest.mark.parametrize(("state", "field"), [("injected", "injection_refs"), ("selected", "selection_refs")])
def test_a_record_that_is_only_in_the_same_file_is_not_evidence(state: str, field: str):
    (finding,) = rule_findings(15, f'ctx-1.lifecycle = "{state}" ¶ ctx-1.{field} = []')
    assert f"{field} names no context_" in finding.message
    assert "nothing in the envelope leads to" in finding.message


def test_evidence_that_is_reached_through_another_record_counts():
    assert rule_findings(15, 'ctx-1.lifecycle = "available" ¶ ctx-1.surface_refs = []') == []


@pytest.mark.parametrize("state", ["draft", "expired", "archived", "redacted", "whatever"])
def test_other_states_need_no_evidence(state: str):
    assert rule_findings(15, f'ctx-1.lifecycle = "{state}" ¶ ctx-1.injection_refs = []') == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("ctx-1.surface_refs = (absent)", "surface-1 only through selection-1; it is not in surface_refs"),
        ('ctx-1.assembly_refs = ["assembly-model"]', "assembly-tool only through injection-tool"),
        ('ctx-1.item_refs = ["item-goal"]', "summary-1 only through compaction-1"),
    ],
)
def test_a_record_that_is_reached_only_indirectly_is_mentioned(change: str, words: str):
    (finding,) = rule_findings(16, change)
    assert words in finding.message
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize(
    ("change", "words", "member"),
    [
        (
            "ctx-1.injection_refs = []",
            "2 context_injections: injection-model, injection-tool",
            "injection_refs",
        ),
        (
            'selection-1 += {"selection_id": "selection-2"}',
            "1 context_selection: selection-2",
            "selection_refs",
        ),
        ('item-plan += {"item_id": "item-new"}', "1 context_item: item-new", "item_refs"),
        ('budget-tool += {"budget_id": "budget-new"}', "1 context_budget: budget-new", "budget_ref"),
    ],
)
def test_a_record_that_the_envelope_does_not_lead_to_is_mentioned(change: str, words: str, member: str):
    (finding,) = rule_findings(16, change)
    assert f"nothing in ctx-1 leads to {words}" in finding.message
    assert finding.severity is Severity.INFO
    assert finding.origin.pointer == f"/0/{member}"


@pytest.mark.parametrize(
    "change",
    [
        'item-plan += {"item_id": "item-new"} ¶ surface-1.available_item_refs = ["item-new", "item-old-1"]',
        'item-plan += {"title": "the same id again"}',
        'window-1 += {"window_id": "window-2"}',
        'event-1 += {"event_id": "event-20"}',
    ],
)
def test_records_that_are_reached_or_have_no_list_are_not_mentioned(change: str):
    assert rule_findings(16, change) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("ctx-1.compaction_refs = (absent)", "no compaction_refs, although there is compaction-1"),
        ("ctx-1.missing_context_refs = []", "no missing_context_refs, although there is missing-1"),
        ("ctx-1.policy_refs = []", "no policy_refs, although item-note is redacted (masked)"),
        ('event-12.event_type = "context.exported"', "event-12 says that it was exported"),
        ('ctx-1.scope = "review"', "its scope is a review"),
        ('missing-1 += {"missing_id": "missing-2"}', "missing_context_refs of ctx-1 does not name missing-2"),
        (
            'compaction-1 += {"compaction_id": "compaction-2"}',
            "compaction_refs of ctx-1 does not name compaction-2",
        ),
        ('injection-tool.target = "evidence_export"', "injected for evidence_export"),
    ],
)
def test_an_empty_list_that_should_name_something_is_a_warning(change: str, words: str):
    (finding,) = rule_findings(17, change)
    assert words in finding.message


@pytest.mark.parametrize(
    "change",
    [
        "ctx-1.compaction_refs = [] ¶ compaction-1 (absent)",
        'missing-1 += {"missing_id": "missing-2"} ¶ ctx-1.missing_context_refs = ["missing-2", "missing-1"]',
        'ctx-1.scope = "review" ¶ ctx-1.evidence_refs = ["evidence-1"]',
        'ctx-1.policy_refs = [] ¶ item-note.redaction_state = "none"'
        ' ¶ assembly-model.redaction_state = "none"',
    ],
)
def test_lists_for_steps_that_did_not_happen_may_be_empty(change: str):
    assert rule_findings(17, change) == []


@pytest.mark.parametrize("parting", [" ¶ ", " ¶ --- ¶ "], ids=["one file", "two files"])
def test_one_id_for_two_envelopes_is_an_error(parting: str):
    (finding,) = rule_findings(
        19, f'{parting}ctx-1 += {{"lifecycle": "archived", "x": 1}}'.removeprefix(" ¶ ")
    )
    assert finding.severity is Severity.ERROR
    assert "ctx-1 also exists in bundle-1.json at /0" in finding.message
    assert "they differ in lifecycle, x" in finding.message


def test_the_same_envelope_twice_is_not_a_conflict():
    assert rule_findings(19, "--- ¶ ctx-1 += {}") == []


def test_a_revision_without_an_event_is_a_warning():
    (finding,) = rule_findings(19, f"ctx-1 += {{{REVISION}}}")
    assert finding.severity is Severity.WARNING
    assert 'ctx-2 is a revision of "ctx-1"' in finding.message


def test_a_revision_with_an_event_is_fine():
    event = 'event-1 += {"event_id": "event-20", "context_id": "ctx-2"}'
    assert rule_findings(19, f"ctx-1 += {{{REVISION}}} ¶ {event}") == []


def test_without_recorded_events_none_is_missing():
    gone = " ¶ ".join(f"event-{number} (absent)" for number in range(1, 13))
    assert rule_findings(19, f"ctx-1 += {{{REVISION}}} ¶ {gone}") == []
