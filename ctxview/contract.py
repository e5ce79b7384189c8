"""The state and findings as JSON: a contract with other programs, kept apart from the values themselves.

Names here change only together with the documentation. What a format does not have is null.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import cast

from ctxview.findings import Finding
from ctxview.state import (
    Block,
    Budget,
    ContextState,
    Counts,
    Cursor,
    Event,
    Gap,
    JsonValue,
    Origin,
    Ref,
    Segment,
    Tier,
    Todo,
    TodoItem,
)

JsonObject = dict[str, JsonValue]

_BLOCK = "id tier type text decay confidence quality round age tags tokens visible reason state origin"
NAMES = {
    Tier: ["name", "blocks"],
    Block: _BLOCK.split(),
    Todo: ["summary", "total", "step", "cursor", "items"],
    Cursor: ["phase", "next", "target", "note", "origin"],
    TodoItem: ["id", "title", "status", "current", "origin"],
    Budget: ["target", "unit", "limit", "used", "reserved", "over", "segments"],
    Segment: ["name", "used", "limit", "exact", "estimator"],
    Ref: ["id", "kind", "target", "status", "tokens", "bytes", "used_by", "origin"],
    Gap: ["id", "question", "severity", "status", "blocks", "why", "origin"],
    Event: ["label", "kind", "time", "revision", "origin"],
    Counts: ["blocks", "visible", "hidden", "tokens", "tokens_exact", "estimator"],
    Origin: ["file", "pointer", "line", "column", "start", "end"],
}
"""What is told of each part, in this order."""


def state_as_json(state: ContextState) -> JsonObject:
    budgets = as_json(state.budgets)
    return {
        "format": state.format,
        "title": state.title,
        "source": state.source,
        "revision": state.revision,
        "tiers": as_json(state.tiers),
        "todo": as_json(state.todo),
        "budget": budgets if len(state.budgets) > 1 else as_json(next(iter(state.budgets), None)),
        "refs": as_json(state.refs),
        "missing": as_json(state.missing),
        "timeline": as_json(state.timeline),
        "counts": as_json(state.counts),
    }


def finding_as_json(finding: Finding) -> JsonObject:
    """One element of what `ctxview check --format json` prints."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "effect": finding.effect.value,
        "message": finding.message,
        "file": finding.origin.file,
        "line": finding.origin.line,
        "column": finding.origin.column,
        "pointer": finding.origin.pointer,
    }


def as_json(value: object) -> JsonValue:
    """A part of a state, or many of them, by the names in `NAMES`."""
    if (names := NAMES.get(type(value))) is not None:
        return {name: as_json(getattr(value, name)) for name in names}
    if isinstance(value, tuple):
        return [as_json(each) for each in value]
    if isinstance(value, Enum):
        return cast(str, value.value)
    if isinstance(value, float) and not math.isfinite(value):
        # JSON has no infinity; `1e400` is one to every reader, and null is what they write for it.
        return None
    assert value is None or isinstance(value, bool | int | float | str), "the vocabulary holds nothing else"
    return value
