"""Single references: ENV012, ENV013 and ENV018."""

from __future__ import annotations

import json

import pytest

from ctxview.core.findings import Severity
from tests.formats.envelope.bundles import good, named
from tests.formats.envelope.rules.examples import rule_findings

BIG = json.dumps("x" * 1100)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("surface-1 (absent)", 'names "surface-1", but no context_surface'),
        ("item-extra (absent)", "no context_item or context_summary"),
        ('item-plan.source_refs = ["source-9"]', 'item-plan: source_refs names "source-9"'),
        ('item-plan.source_refs = [{"source_id": "source-9"}]', '"source-9"'),
        ('assembly-model.ordered_blocks[0].item_refs = ["item-9"]', "assembly-model: item_refs"),
        ('budget-model.window_segments[0].item_refs = ["item-9"]', "budget-model: item_refs"),
        ('selection-1.surface_id = "surface-9"', "surface_id"),
        ('selection-1.budget_ref = "item-plan"', "no context_budget of that id"),
    ],
)
def test_a_reference_that_leads_nowhere_is_a_warning(change: str, words: str):
    found = rule_findings(12, change)
    assert any(words in each.message for each in found)
    assert {each.severity for each in found} == {Severity.WARNING}


@pytest.mark.parametrize(
    "change",
    [
        'ctx-1.policy_refs = ["policy-99"]',
        'item-plan.content_ref = "store:nowhere"',
        'item-plan.source_refs = ["https://example.org/plan"]',
        'item-plan.source_refs = ["urn:example:plan"]',
        'item-plan.source_refs = [{"uri": "plan.md"}]',
        'item-plan.source_refs = [{"id": "plan", "external": true}]',
        "item-plan.source_refs = [7]",
        'item-plan.source_refs = [{"title": "x"}]',
    ],
)
def test_an_external_or_nameless_reference_is_not_unresolved(change: str):
    assert rule_findings(12, change) == []


@pytest.mark.parametrize(
    "change",
    [
        'injection-model.assembly_id = "assembly-9"',
        'compaction-1.source_item_refs = ["item-9", "item-old-2"]',
        'compaction-1.summary_ref = "summary-9"',
    ],
)
def test_references_with_their_own_rule_are_not_reported_twice(change: str):
    assert rule_findings(12, change) == []


def test_an_embedded_record_is_what_its_reference_leads_to():
    item = named(good(), "item-extra")
    assert rule_findings(12, f"item-extra (absent) ¶ ctx-1.item_refs[0] = {json.dumps(item)}") == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ('ctx-1.item_refs[0] = {"title": "x"}', "item_refs has no id of any kind (it has title)"),
        ("ctx-1.item_refs[0] = {}", "has no id of any kind"),
        ('ctx-1.policy_refs = [{"kind": "policy"}]', "policy_refs"),
        ('missing-1.requested_from = {"role": "user"}', "requested_from"),
        ('ctx-1.item_refs[0] = " "', "blank"),
        ('ctx-1.item_refs[0] = {"id": ""}', "no id"),
    ],
)
def test_a_reference_without_a_name_is_a_warning(change: str, words: str):
    (finding,) = rule_findings(13, change)
    assert words in finding.message


@pytest.mark.parametrize(
    "change",
    [
        'ctx-1.policy_refs = [{"policy_id": "p-7"}]',
        'ctx-1.telemetry_refs = [{"trace_id": "4bf9"}]',
        'ctx-1.artifact_refs = [{"url": "https://example.org"}]',
        'ctx-1.item_refs[0] = {"item_ref": {"item_id": "item-goal"}}',
        "ctx-1.item_refs[0] = 3",
    ],
)
def test_any_id_will_do(change: str):
    assert rule_findings(13, change) == []


def test_whole_records_in_an_envelope_are_one_finding_with_their_ids():
    values = good()
    whole = json.dumps([named(values, "item-goal"), named(values, "item-plan"), "item-note"])
    (finding,) = rule_findings(18, f"ctx-1.item_refs = {whole}")
    assert finding.message == "ctx-1 holds 2 whole records in place of references: item-goal, item-plan"
    assert finding.origin.pointer == "/0/item_refs/0"


def test_whole_sources_in_an_item_are_allowed():
    assert rule_findings(18, f"item-plan.source_refs = [{json.dumps(named(good(), 'source-plan'))}]") == []


@pytest.mark.parametrize(
    "change",
    [
        'ctx-1.policy_refs = [{"id": "policy-7", "rules": [{"deny": "*"}]}]',
        'ctx-1.tool_refs = [{"id": "t", "input": {"path": "x"}}]',
        f'ctx-1.telemetry_refs = [{{"id": "t", "note": {BIG}}}]',
        f'item-plan.content_ref = {{"id": "t", "content": {BIG}}}',
        'ctx-1.metadata.evidence_pack = {"records": [{"id": 1}]}',
        'event-1.data = {"runtime_events": [{"payload": {"a": 1}}]}',
    ],
)
def test_a_copy_of_a_foreign_object_is_a_warning(change: str):
    (finding,) = rule_findings(18, change)
    assert "write a reference instead" in finding.message
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    "change",
    [
        'ctx-1.policy_refs = [{"id": "policy-7", "title": "no address", "version": 3, "digest": "a"}]',
        'ctx-1.tool_refs = [{"id": "t", "output": "short"}]',
        'ctx-1.tool_refs = [{"id": "t", "output": []}]',
        f'item-plan.metadata = {{"note": {BIG}}}',
        'ctx-1.metadata.evidence_pack = "pack-1"',
    ],
)
def test_a_small_reference_is_not_a_copy(change: str):
    assert rule_findings(18, change) == []
