"""Surfaces and items: ENV022 to ENV029."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Severity
from tests.formats.envelope.rules.examples import rule_findings

ONLY = 'surface-1.available_source_refs = ["source-plan"] ¶ surface-1.available_item_refs'


def test_a_catalogue_is_mentioned_with_its_figures():
    (finding,) = rule_findings(22, "surface-1.available_item_refs = 199 refs")
    assert finding.severity is Severity.INFO
    assert "lists 201 items and sources" in finding.message


def test_two_hundred_entries_are_still_a_surface():
    assert rule_findings(22, "surface-1.available_item_refs = 198 refs") == []


def test_candidates_from_elsewhere_are_one_finding():
    (finding,) = rule_findings(23, f'{ONLY} = ["item-goal"]')
    assert finding.severity is Severity.WARNING
    assert "selection-1 considers item-note, summary-1, item-old-1, item-old-2" in finding.message
    assert "which surface-1 does not offer" in finding.message


@pytest.mark.parametrize(
    "change",
    [
        "surface-1.available_item_refs = (absent)",
        'selection-1.surface_id = "surface-9"',
        "selection-1.candidate_item_refs = (absent)",
        "selection-1.candidate_item_refs = [7]",
        'surface-1.available_item_refs = ["summary-1"]',
    ],
)
def test_an_unknown_surface_and_offered_sources_are_not_reported(change: str):
    assert rule_findings(23, change) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("item-plan.content = (absent)", "item-plan is inline, but has no content"),
        ("item-plan.content = null", "has no content"),
        (
            'item-extra.content_mode = "artifact_ref" ¶ item-extra.content_ref = ""',
            "has the mode artifact_ref",
        ),
        ('item-extra.content_mode = "tool_result_ref" ¶ item-extra.content_ref = {}', "no content_ref"),
        ('item-plan.content_mode = "resource_link"', "no content_ref"),
    ],
)
def test_a_content_mode_without_its_content_is_a_warning(change: str, words: str):
    (finding,) = rule_findings(24, change)
    assert words in finding.message


@pytest.mark.parametrize(
    "change",
    [
        'item-plan.content = ""',
        "item-plan.content = {}",
        'item-plan.content_mode = "opaque" ¶ item-plan.content = (absent)',
        'item-plan.content_mode = "whatever" ¶ item-plan.content = (absent)',
        'item-plan.content = (absent) ¶ item-plan.redaction_state = "policy_blocked"',
    ],
)
def test_other_modes_and_removed_content_need_no_content(change: str):
    assert rule_findings(24, change) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ('item-plan.content = "x" * 32769', "large (32,769 bytes)"),
        ('item-plan.content = "é" * 16385', "large (32,770 bytes)"),
        ('item-plan.sensitivity = "Secret"', "private (Secret)"),
        ('item-plan.freshness = "live"', "changing (live)"),
        ('item-plan.freshness = {"status": "volatile"}', "changing (volatile)"),
        ('item-plan.mime_type = "image/png"', "not text (image/png)"),
        ('item-plan.mime_type = "application/octet-stream"', "not text"),
        ('item-plan.mime_type = "image/png" ¶ item-plan.freshness = "live"', "changing (live) and not text"),
    ],
)
def test_inline_content_that_should_be_a_reference_is_a_warning(change: str, words: str):
    (finding,) = rule_findings(25, change)
    assert words in finding.message
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    "change",
    [
        'item-plan.content = "x" * 32768',
        'item-plan.mime_type = "application/vnd.api+json; charset=utf-8"',
        'item-plan.mime_type = "markdown"',
        'item-extra.sensitivity = "secret"',
        'item-plan.sensitivity = "secret" ¶ item-plan.redaction_state = "masked"',
        'item-plan.sensitivity = "public"',
        "item-plan.sensitivity = (absent)",
    ],
)
def test_small_shared_texts_may_be_inline(change: str):
    assert rule_findings(25, change) == []


def test_trust_without_any_link_is_a_warning():
    (finding,) = rule_findings(26, 'item-plan.trust_level = "High" ¶ item-plan.source_refs = (absent)')
    assert 'the trust_level "High"' in finding.message


def test_authority_comes_from_sources():
    assert len(rule_findings(26, 'item-plan.authority = "the team" ¶ item-plan.source_refs = []')) == 1
    assert rule_findings(26, 'item-plan.authority = "the team"') == []


@pytest.mark.parametrize(
    "change",
    [
        "item-plan.source_refs = []",
        'item-plan.trust_level = "high" ¶ item-plan.source_refs = [] ¶ item-plan.policy_refs = ["policy-7"]',
        'item-plan.trust_level = "high" ¶ item-plan.source_refs = [] ¶ item-plan.evidence_refs = ["e"]',
        "item-plan.trust_level = 5 ¶ item-plan.source_refs = []",
    ],
)
def test_modest_or_backed_trust_is_fine(change: str):
    assert rule_findings(26, change) == []


@pytest.mark.parametrize("name", ["item-plan", "surface-1", "assembly-model", "injection-model"])
def test_an_empty_visibility_is_a_warning(name: str):
    (finding,) = rule_findings(27, f"{name}.visibility = []")
    assert f"{name} is not visible to any target" in finding.message


@pytest.mark.parametrize("value", ["(absent)", '["model"]', "null"])
def test_an_absent_visibility_is_not_an_empty_one(value: str):
    assert rule_findings(27, f"item-plan.visibility = {value}") == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("item-plan.byte_size = 129", "byte_size is 129, but the text has 130 bytes"),
        ('item-plan.content = "é" ¶ item-plan.byte_size = 1', "the text has 2 bytes"),
        ("item-plan.token_estimate = 261", "token_estimate is 261 for a text of 130 bytes"),
        ("item-plan.token_estimate = 8", "token_estimate is 8"),
    ],
)
def test_a_wrong_size_is_mentioned(change: str, words: str):
    (finding,) = rule_findings(28, change)
    assert words in finding.message
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize(
    "change",
    [
        "item-plan.byte_size = 130.0",
        "item-plan.byte_size = (absent)",
        "item-plan.token_estimate = 260",
        "item-plan.token_estimate = 9",
        'item-plan.content = {"a": 1}',
        "item-extra.byte_size = 1",
        'item-plan.content = "short" ¶ item-plan.byte_size = 5 ¶ item-plan.token_estimate = 50',
        'item-plan.content = "\\ud83d" ¶ item-plan.byte_size = 3',
    ],
)
def test_correct_sizes_and_uncountable_content_are_fine(change: str):
    assert rule_findings(28, change) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ('item-plan.freshness = "Stale"', "selection-1 selected item-plan, which is Stale"),
        ('item-plan.freshness = {"status": "expired"}', "which is expired"),
        ('item-plan.freshness = {"expires_at": "2026-05-11T09:00:04Z"}', "expired at 2026-05-11T09:00:04Z"),
        ('item-plan.expires_at = "2026-05-11T09:00:04Z"', "expired at"),
        ('summary-1.freshness = "outdated"', "summary-1, which is outdated"),
    ],
)
def test_a_stale_item_that_was_selected_is_a_warning(change: str, words: str):
    (finding,) = rule_findings(29, change)
    assert words in finding.message


@pytest.mark.parametrize(
    "change",
    [
        'item-extra.freshness = "stale"',
        'item-plan.freshness = "stale" ¶ missing-1.candidate_sources = [{"kind": "item", "id": "item-plan"}]',
        'item-plan.freshness = "stale" ¶ missing-1.resolution_refs = ["source-plan"]',
        'item-plan.freshness = "stale" ¶ selection-1.omitted_item_refs[0] = {"item_ref": "item-plan"}',
        'item-plan.expires_at = "2026-05-11T09:00:06Z"',
        'item-plan.expires_at = "2026-05-11T09:00:04Z" ¶ selection-1.created_at = (absent)',
        'item-plan.freshness = {"status": "stale-while-revalidate"}',
    ],
)
def test_a_stale_item_that_was_asked_about_or_left_out_is_fine(change: str):
    assert rule_findings(29, change) == []
