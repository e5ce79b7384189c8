"""Where references lead."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxview.formats.envelope.standing import Standing, standing
from tests.formats.envelope.bundles import changed, dossier, good, named


def led(entry: Any, field: str = "source_refs") -> Standing:
    found = dossier(json.loads(json.dumps(changed("item-plan", **{field: [entry]}))))
    item = next(each for each in found.records if each.id == "item-plan")
    return standing(item.refs(field)[0], found)


@pytest.mark.parametrize(
    "entry",
    ["source-plan", {"source_id": "source-plan"}, {"id": "source-plan", "uri": "https://example.org"}],
)
def test_to_a_record_of_the_bundle(entry: Any):
    assert led(entry) is Standing.RESOLVED


def test_to_the_record_in_its_own_place():
    assert led(named(good(), "source-plan") | {"source_id": "source-new"}) is Standing.EMBEDDED


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
def test_to_what_is_named_by_an_address(entry: Any):
    assert led(entry) is Standing.EXTERNAL


def test_to_what_other_standards_describe():
    assert led("policy-99", "policy_refs") is Standing.EXTERNAL


@pytest.mark.parametrize("entry", ["source-9", "item:plan", {"id": "source-9"}, {"title": "x"}, {}, 7, None])
def test_nowhere(entry: Any):
    assert led(entry) is Standing.BROKEN
