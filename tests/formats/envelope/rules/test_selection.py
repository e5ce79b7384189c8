"""Selections: ENV034 to ENV042."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Severity
from tests.formats.envelope.bundles import good, named, read
from tests.formats.envelope.rules.examples import findings_in, rule_findings

OMITTED = "selection-1.omitted_item_refs"
RETRY = '"selection_id": "selection-2", "created_at": "2026-05-11T09:00:06Z"'


def test_a_selected_item_that_was_not_a_candidate_is_an_error():
    (finding,) = rule_findings(
        34, 'selection-1.selected_item_refs = ["item-goal", "item-never", {"id": "item-x"}]'
    )
    assert finding.severity is Severity.ERROR
    assert "selection-1 selected item-never, item-x, but had no such candidate" in finding.message


def test_an_omitted_item_that_was_not_a_candidate_is_an_error():
    (finding,) = rule_findings(35, f'{OMITTED}[0].item_ref = "item-never"')
    assert finding.severity is Severity.ERROR
    assert finding.origin.pointer
    assert finding.origin.pointer.endswith("/omitted_item_refs/0")


@pytest.mark.parametrize("rule", [34, 35, 37, 41])
@pytest.mark.parametrize("candidates", ["(absent)", "null", '"item-goal"'])
def test_without_recorded_candidates_nothing_is_reported(rule: int, candidates: str):
    change = f'selection-1.ranking_signals.item-never = {{"relevance": 1}} ¶ {OMITTED}[0].item_ref = "item-x"'
    assert rule_findings(rule, f"{change} ¶ selection-1.candidate_item_refs = {candidates}") == []


def test_candidates_and_selected_items_may_be_written_differently():
    assert rule_findings(34, 'selection-1.candidate_item_refs[0] = {"item_id": "item-goal"}') == []


def test_an_empty_list_of_candidates_is_a_record_of_them():
    assert len(rule_findings(34, "selection-1.candidate_item_refs = []")) == 1


def test_selected_and_omitted_at_once_is_an_error():
    (finding,) = rule_findings(36, f'{OMITTED}[1].item_ref = "item-plan"')
    assert finding.severity is Severity.ERROR
    assert "both selected and omitted item-plan" in finding.message


def test_selected_by_one_and_omitted_by_another_is_fine():
    other = '"selected_item_refs": ["item-extra"], "omitted_item_refs": []'
    assert rule_findings(36, f"selection-1 += {{{RETRY}, {other}}}") == []


def test_candidates_on_neither_list_are_one_finding():
    (finding,) = rule_findings(37, f"{OMITTED} = []")
    assert "item-old-1, item-old-2, item-extra were neither selected nor omitted" in finding.message


@pytest.mark.parametrize(
    ("change", "is_reported"),
    [
        (f"{OMITTED} = (absent)", True),
        ("selection-1.selected_item_refs = (absent)", False),
        ("selection-1.candidate_item_refs = []", False),
    ],
)
def test_only_recorded_choices_leave_candidates_unexplained(change: str, is_reported: bool):
    assert bool(rule_findings(37, change)) is is_reported


@pytest.mark.parametrize(
    "entry",
    [
        '"item-extra"',
        '{"item_ref": "item-extra"}',
        '{"item_ref": "item-extra", "reason": " "}',
        '{"reason": null}',
    ],
)
def test_an_omission_without_reason_is_a_warning(entry: str):
    (finding,) = rule_findings(38, f"{OMITTED}[2] = {entry}")
    assert "gives no reason for omitting" in finding.message


def test_any_reason_will_do():
    assert rule_findings(38, f'{OMITTED}[2].reason = "because"') == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("selection-1.budget_ref = (absent)", "omitted item-extra as budget_limit, but no budget_ref"),
        ('compaction-1.source_item_refs = ["item-old-2"] ¶ summary-1.source_item_refs = []', "covers it"),
        (f'{OMITTED}[2].reason = "policy_blocked"', "no policy and no gap says so"),
        (f'{OMITTED}[2].reason = "permission_missing"', "no policy and no gap says so"),
        (f'{OMITTED}[2].reason = "not_visible_to_target"', "it is visible to model"),
        (f'{OMITTED}[2].reason = "not_visible_to_target" ¶ {OMITTED}[2].target = "reviewer"', "to reviewer"),
        (f'{OMITTED}[2].reason = "stale"', "its freshness is fresh"),
        (f'{OMITTED}[2].reason = "stale" ¶ item-extra.freshness = (absent)', "freshness is not recorded"),
    ],
)
def test_a_reason_that_the_records_do_not_support_is_a_warning(change: str, words: str):
    (finding,) = rule_findings(39, change)
    assert words in finding.message
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    "change",
    [
        f'selection-1.budget_ref = (absent) ¶ {OMITTED}[2].budget_ref = "budget-model"',
        'compaction-1.source_item_refs = ["item-old-2"]',
        f'{OMITTED}[2].reason = "policy_blocked" ¶ item-extra.policy_refs = ["policy-7"]',
        f'{OMITTED}[2].reason = "policy_blocked" ¶ {OMITTED}[2].policy_ref = "policy-7"',
        f'{OMITTED}[2].reason = "permission_missing" ¶ missing-1.needed_for = "item-extra"',
        f'{OMITTED}[2].reason = "not_visible_to_target" ¶ item-extra.visibility = ["tool"]',
        f'{OMITTED}[2].reason = "not_visible_to_target" ¶ item-extra.visibility = (absent)',
        f'{OMITTED}[2].reason = "not_visible_to_target" ¶ selection-1.budget_ref = (absent)',
        f'{OMITTED}[2].reason = "stale" ¶ item-extra.freshness = {{"age": 9}}',
        f'{OMITTED}[2] = {{"item_ref": "item-unknown", "reason": "stale"}}',
        f'{OMITTED}[2].reason = "low_relevance"',
    ],
)
def test_a_reason_that_is_supported_or_cannot_be_checked_is_fine(change: str):
    assert rule_findings(39, change) == []


def test_an_omission_that_ranked_high_is_mentioned_with_its_figures():
    (finding,) = rule_findings(40, 'selection-1.ranking_signals.item-extra = {"relevance": 0.9}')
    assert finding.severity is Severity.INFO
    assert "omitted item-extra, although it scored 0.9" in finding.message


@pytest.mark.parametrize(
    "change",
    [
        'selection-1.ranking_signals.item-extra = {"relevance": 0.89}',
        'selection-1.ranking_signals.item-old-1 = {"relevance": 1}',
        f'selection-1.ranking_signals.item-extra = {{"relevance": 1}} ¶ {OMITTED}[2].high_impact = true',
        'selection-1.ranking_signals.item-extra = {"relevance": 1} ¶ missing-1.needed_for = "item-extra"',
        'selection-1.ranking_signals.item-extra = {"recency": 1}',
        "selection-1.ranking_signals = (absent)",
    ],
)
def test_low_flagged_and_unranked_omissions_are_fine(change: str):
    assert rule_findings(40, change) == []


def test_a_score_beyond_the_range_of_floats_is_still_a_score():
    assert (
        len(rule_findings(40, f'selection-1.ranking_signals.item-extra = {{"relevance": 1{"0" * 400}}}')) == 1
    )


def test_signals_of_an_item_that_is_not_a_candidate_are_a_warning():
    (finding,) = rule_findings(41, "selection-1.ranking_signals.item-never = {}")
    assert "selection-1 ranks item-never, which is not a candidate" in finding.message


@pytest.mark.parametrize("signals", ['{"relevance": {"item-goal": 1}}', "{}", "[]", "(absent)"])
def test_signals_in_another_order_or_none_are_fine(signals: str):
    assert rule_findings(41, f"selection-1.ranking_signals = {signals}") == []


@pytest.mark.parametrize("parting", ["", "--- ¶ "], ids=["one file", "two files"])
def test_one_selection_for_two_attempts_is_a_warning(parting: str):
    (finding,) = rule_findings(42, f'{parting}selection-1 += {{"attempt_id": "attempt-2"}}')
    assert "selection-1 belongs to attempt-2 and, in bundle-1.json, to attempt-1" in finding.message


def test_a_retry_beside_a_named_attempt_names_its_own():
    (finding,) = rule_findings(42, f'selection-1 += {{{RETRY}, "attempt_id": ""}}')
    assert (
        'selection-2 is one of 2 selections for "run-1" of "task-1" and names no attempt' in finding.message
    )


def test_two_nameless_selections_with_the_same_query_are_a_retry():
    nameless = "selection-1.attempt_id = (absent)"
    assert len(rule_findings(42, f"{nameless} ¶ selection-1 += {{{RETRY}}}")) == 2
    assert rule_findings(42, f'{nameless} ¶ selection-1 += {{{RETRY}, "intent": "review"}}') == []


@pytest.mark.parametrize(
    "change",
    [
        f'selection-1 += {{{RETRY}, "attempt_id": "attempt-2"}}',
        f"selection-1 += {{{RETRY}}}",
        f'selection-1 += {{{RETRY}, "attempt_id": "", "run_id": "run-2"}}',
        f'selection-1 += {{{RETRY}, "attempt_id": "", "task_id": null}}',
        "selection-1.attempt_id = (absent)",
    ],
)
def test_attempts_with_different_names_or_alone_are_fine(change: str):
    assert rule_findings(42, change) == []


@pytest.mark.parametrize("reason", ["superseded_by_summary", "budget_limit", "policy_blocked"])
def test_what_supports_the_reason_of_a_selection_by_itself_may_be_elsewhere(reason: str):
    # The shape of the draft's own example of a prefetched memory.
    selection = {
        "selection_id": "selection-7",
        "surface_id": "surface-7",
        "selected_item_refs": ["progress", "latest-compaction"],
        "omitted_item_refs": [{"item_ref": "old-log", "reason": reason}],
        "created_at": "2026-05-08T00:00:00Z",
    }
    assert "ENV039" not in {each.rule for each in findings_in(read([selection]))}


def test_the_reason_of_a_selection_by_itself_is_compared_with_an_item_beside_it():
    item = {**named(good(), "item-extra"), "freshness": "fresh"}
    selection = {
        **named(good(), "selection-1"),
        "omitted_item_refs": [{"item_ref": "item-extra", "reason": "stale"}],
    }
    assert "ENV039" in {each.rule for each in findings_in(read([selection, item]))}
