"""Kinds, required fields, types, times, versions and ids: ENV001 to ENV007."""

from __future__ import annotations

import json

import pytest

from ctxview.core.findings import Severity
from tests.formats.envelope.bundles import good
from tests.formats.envelope.rules.examples import findings_of, rule_findings


@pytest.mark.parametrize("value", ["{}", '{"title": "x"}', "[]", "3", "null", '"item-plan"'])
def test_a_value_without_an_id_field_is_not_a_record(value: str):
    (finding,) = rule_findings(1, f"+ {value}")
    assert finding.severity is Severity.ERROR
    assert finding.origin.line is not None


def test_a_stray_object_is_reported_with_its_fields():
    (finding,) = rule_findings(1, '+ {"title": "x", "body": "y"}')
    assert "title, body" in finding.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("ctx-1.lifecycle = (absent)", "no lifecycle"),
        ("selection-1.surface_id = (absent)", "no surface_id"),
        ("item-goal.schema_version = (absent)", "item-goal has no schema_version"),
        ("compaction-1.method = (absent) ¶ compaction-1.scope = (absent)", "no scope and no method"),
        ("injection-tool.assembly_id = (absent)", "injection-tool has no assembly_id"),
    ],
)
def test_an_absent_required_field_is_an_error(change: str, words: str):
    (finding,) = rule_findings(2, change)
    assert words in finding.message
    assert finding.severity is Severity.ERROR


def test_a_null_is_present_but_of_the_wrong_type():
    assert rule_findings(2, "ctx-1.lifecycle = null") == []
    assert rule_findings(3, "ctx-1.lifecycle = null") != []


def test_a_blank_id_is_a_warning():
    (finding,) = rule_findings(
        2, '+ {"schema_version": "0.1.1", "source_id": " ", "uri": "a:b", "source_kind": "file"}'
    )
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("item-plan.byte_size = -1", "byte_size is -1, not a whole number from 0"),
        ("item-plan.byte_size = 1.5", "byte_size is 1.5"),
        ("item-plan.byte_size = true", "byte_size is true"),
        ('item-plan.visibility = "model"', 'visibility is "model", not a list of texts'),
        ("item-plan.visibility = [1]", "visibility[0] is 1, not a text"),
        ('item-plan.priority = "high"', "not a number"),
        ("ctx-1.item_refs[1] = 7", "item_refs[1] is 7, not a reference"),
        ("ctx-1.budget_ref = []", "budget_ref is an array of 0"),
        ("ctx-1.created_at = 1", "created_at is 1, not a date and time"),
        ("source-plan.selector = 5", "not a text, an object or a list"),
        ("selection-1.ranking_signals = []", "not an object"),
        ("budget-model.window_segments[0] = 1", "window_segments[0] is 1, not an object"),
        ('budget-model.window_segments[0].actual_tokens = "9"', "window_segments[0].actual_tokens"),
        ('assembly-model.ordered_blocks[1].position = "2"', "ordered_blocks[1].position"),
        ("compaction-1.validation = 1", "not a text or an object"),
    ],
)
def test_a_value_of_another_type_is_an_error_with_its_place(change: str, words: str):
    (finding,) = rule_findings(3, change)
    assert words in finding.message
    assert finding.origin.pointer


@pytest.mark.parametrize(
    "change",
    [
        "item-plan.byte_size = 3.0",
        "item-plan.content = {}",
        "item-plan.priority = -0.5",
        'source-plan.selector = "L1-L12"',
        'source-plan.selector = [{"type": "xpath"}]',
        'ctx-1.item_refs[0] = {"item_id": "item-goal"}',
        'ctx-1.producer = "assembler"',
        "item-plan.x_vendor = 7",
    ],
)
def test_values_that_only_look_odd_have_their_type(change: str):
    assert rule_findings(3, change) == []


@pytest.mark.parametrize(
    ("scope", "is_known"), [("turn", True), ("Turn", False), ("", False), ("custom", True)]
)
def test_the_scope_of_an_envelope_is_closed(scope: str, is_known: bool):
    assert (rule_findings(4, f'ctx-1.scope = "{scope}"') == []) is is_known


def test_other_scopes_are_free():
    assert rule_findings(4, 'surface-1.scope = "anything"') == []


@pytest.mark.parametrize(
    "time",
    [
        "2026-05-11T09:00:02Z",
        "2026-05-11t09:00:02z",
        "2026-05-11T09:00:02.123456789012+14:00",
        "2026-05-11T09:00:02-00:00",
        "0000-02-29T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "2016-12-31T23:59:60Z",
        "2017-01-01T08:59:60.5+09:00",
        "2016-12-31T15:59:60-08:00",
        "2024-02-29T00:00:00Z",
    ],
)
def test_times_of_rfc_3339_are_fine(time: str):
    assert rule_findings(5, f'surface-1.created_at = "{time}"') == []


@pytest.mark.parametrize(
    "time",
    [
        "",
        "yesterday",
        "2026-05-11",
        "2026-05-11T09:00:02",
        "2026-05-11 09:00:02Z",
        "2026-05-11T09:00Z",
        "2026-05-11T09:00:02.Z",
        "2026-05-11T09:00:02+2:00",
        "2026-05-11T09:00:02+0200",
        "2026-05-11T24:00:00Z",
        "2026-05-11T09:60:00Z",
        "2026-05-11T09:00:61Z",
        "2026-05-11T09:00:60Z",
        "2016-12-31T23:59:60+01:00",
        "2016-12-30T23:59:60Z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-05-00T00:00:00Z",
        "2026-05-11T09:00:02+24:00",
        "2026-05-11T09:00:02Z ",
        "٢٠٢٦-05-11T09:00:02Z",
    ],
)
def test_other_times_are_errors(time: str):
    (finding,) = rule_findings(5, f'surface-1.created_at = "{time}"')
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    "field",
    ["surface-1.expires_at", "source-plan.retrieved_at", "source-plan.modified_at", "event-1.time"],
)
def test_every_time_field_is_checked(field: str):
    assert len(rule_findings(5, f'{field} = "soon"')) == 1


@pytest.mark.parametrize("version", ["0.1.0", "0.1.1"])
def test_published_versions_are_known(version: str):
    assert rule_findings(6, f'item-plan.schema_version = "{version}"') == []


@pytest.mark.parametrize("version", ["0.1", "0.2.0", "v0.1.1", ""])
def test_other_versions_are_errors(version: str):
    (finding,) = rule_findings(6, f'item-plan.schema_version = "{version}"')
    assert finding.severity is Severity.ERROR


def test_an_absent_version_is_reported_by_only_one_rule():
    assert rule_findings(6, "item-plan.schema_version = (absent)") == []
    (finding,) = rule_findings(6, "summary-1.schema_version = (absent)")
    assert finding.severity is Severity.WARNING


def test_two_different_records_of_one_id_are_an_error():
    (finding,) = rule_findings(7, 'item-plan += {"title": "another"}')
    assert finding.severity is Severity.ERROR
    assert "item-plan already exists in bundle-1.json at /5" in finding.message
    assert finding.origin.pointer == f"/{len(good())}/item_id"


def test_a_copy_is_a_warning():
    (finding,) = rule_findings(7, "item-plan += {}")
    assert finding.severity is Severity.WARNING


def test_equal_ids_of_different_kinds_are_fine():
    twin = {"schema_version": "0.1.1", "source_id": "item-plan", "uri": "a:b", "source_kind": "file"}
    assert rule_findings(7, f"+ {json.dumps(twin)}") == []


def test_unknown_fields_are_not_reported():
    assert findings_of('item-plan.x_vendor = {"a": [1]}') == []
