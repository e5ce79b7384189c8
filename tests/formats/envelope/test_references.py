"""How references resolve."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxview.formats.envelope.references import RefResolution, resolve_reference
from tests.formats.envelope.bundles import changed, good, named, records


def resolution(entry: Any, field: str = "source_refs") -> RefResolution:
    found = records(json.loads(json.dumps(changed("item-plan", **{field: [entry]}))))
    item = next(each for each in found.records if each.id == "item-plan")
    return resolve_reference(item.refs(field)[0], found)


@pytest.mark.parametrize(
    "entry",
    ["source-plan", {"source_id": "source-plan"}, {"id": "source-plan", "uri": "https://example.org"}],
)
def test_a_reference_to_a_record_of_the_bundle_is_resolved(entry: Any):
    assert resolution(entry) is RefResolution.RESOLVED


def test_a_record_in_place_of_a_reference_is_embedded():
    assert resolution(named(good(), "source-plan") | {"source_id": "source-new"}) is RefResolution.EMBEDDED


@pytest.mark.parametrize(
    "entry",
    [
        "https://example.org/a",
        "URN:example:a",
        {"uri": "a.md"},
        {"id": "a", "external": True},
        {"id": "mcp://a/b"},
    ],
)
def test_a_reference_by_address_is_external(entry: Any):
    assert resolution(entry) is RefResolution.EXTERNAL


def test_a_reference_to_another_standard_is_external():
    assert resolution("policy-99", "policy_refs") is RefResolution.EXTERNAL


@pytest.mark.parametrize("entry", ["source-9", "item:plan", {"id": "source-9"}, {"title": "x"}, {}, 7, None])
def test_a_reference_to_an_absent_record_is_broken(entry: Any):
    assert resolution(entry) is RefResolution.BROKEN
