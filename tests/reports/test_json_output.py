"""`show --json` and `check --format json` have the documented keys."""

from __future__ import annotations

import json
import math
from typing import Any

from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.origin import Origin
from ctxview.core.state import Tier
from ctxview.reports.json_output import finding_as_json, state_as_json
from tests.reports.states import PLACE, block, budget, state

ORIGIN_KEYS = ["file", "pointer", "line", "column", "start", "end"]


def state_json(**changes: Any) -> dict[str, Any]:
    return json.loads(json.dumps(state_as_json(state(**changes))))


def test_the_top_level_has_the_documented_keys() -> None:
    assert list(state_json()) == [
        "format",
        "title",
        "source",
        "revision",
        "tiers",
        "todo",
        "budget",
        "refs",
        "missing",
        "timeline",
        "counts",
        "assembly",
        "transcript",
    ]


def test_a_block_has_the_documented_keys_and_its_origin() -> None:
    found = state_json()["tiers"][0]["blocks"][0]

    assert list(found) == [
        "id",
        "tier",
        "type",
        "text",
        "decay",
        "confidence",
        "quality",
        "round",
        "age",
        "tags",
        "tokens",
        "visible",
        "rank",
        "reason",
        "state",
        "origin",
    ]
    assert list(found["origin"]) == ORIGIN_KEYS
    assert found["origin"] == {
        "file": "round.json",
        "pointer": "/memory/core/0",
        "line": 3,
        "column": 5,
        "start": 10,
        "end": 20,
    }


def test_the_other_parts_have_the_documented_keys() -> None:
    found = state_json()

    assert list(found["tiers"][0]) == ["name", "blocks"]
    assert list(found["todo"]) == ["summary", "total", "step", "cursor", "items"]
    budget = "target unit limit used reserved over segments limit_from partial note stage"
    assert list(found["budget"]) == budget.split()
    assert list(found["budget"]["segments"][0]) == ["name", "used", "limit", "exact", "estimator"]
    assert list(found["refs"][0]) == [
        "id",
        "kind",
        "target",
        "status",
        "tokens",
        "bytes",
        "used_by",
        "origin",
    ]
    assert list(found["missing"][0]) == ["id", "question", "severity", "status", "blocks", "why", "origin"]


def test_one_budget_is_an_object_several_are_a_list_and_none_is_null() -> None:
    assert state_json()["budget"]["over"] == 20
    assert [each["target"] for each in state_json(budgets=(budget(), budget(target="small")))["budget"]] == [
        "model",
        "small",
    ]
    assert state_json(budgets=())["budget"] is None


def test_a_value_that_a_format_does_not_have_is_null() -> None:
    bare = block(
        type=None, decay=None, confidence=None, quality=None, round=None, age=None, tokens=None, visible=None
    )
    found = state_json(todo=None, tiers=(Tier("notes", (bare,)),))

    assert found["todo"] is None
    assert found["tiers"][0]["blocks"][0]["decay"] is None
    assert found["tiers"][0]["blocks"][0]["visible"] is None


def test_a_number_json_cannot_write_is_null() -> None:
    endless = block(decay=math.inf, confidence=math.nan)
    found = state_json(tiers=(Tier("core", (endless,)),))

    assert found["tiers"][0]["blocks"][0]["decay"] is None
    assert found["tiers"][0]["blocks"][0]["confidence"] is None


def test_a_finding_has_the_documented_keys() -> None:
    finding = Finding("SNP021", Severity.WARNING, Effect.HIDDEN, "core-001 is hidden", PLACE)

    assert finding_as_json(finding) == {
        "rule": "SNP021",
        "severity": "warning",
        "effect": "hidden",
        "message": "core-001 is hidden",
        "file": "round.json",
        "line": 3,
        "column": 5,
        "pointer": "/memory/core/0",
    }


def test_a_finding_without_a_place_keeps_its_keys() -> None:
    finding = Finding("SNP063", Severity.WARNING, Effect.NONE, "rows differ", Origin("memory.db"))

    found = finding_as_json(finding)

    assert (found["line"], found["column"], found["pointer"]) == (None, None, None)
