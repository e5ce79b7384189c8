"""The state and findings as JSON: a contract with other programs.

`docs/json.md` lists every name; names may be added, but not changed. What a format does not have is null.
"""

from __future__ import annotations

import json
import math
import sys
from enum import Enum
from typing import cast

from ctxview.analysis.secrets import mask_secrets
from ctxview.core.findings import Finding
from ctxview.core.origin import JsonValue, Origin
from ctxview.core.state import (
    Block,
    Budget,
    ContextState,
    Counts,
    Cursor,
    Event,
    Gap,
    LogSummary,
    PromptAssembly,
    PromptComponent,
    Ref,
    Segment,
    SummedCompaction,
    Tier,
    Todo,
    TodoItem,
)
from ctxview.files.visible_text import is_safe
from ctxview.reports.console import is_utf8, without_log_commands

JsonObject = dict[str, JsonValue]

_BLOCK = "id tier type text decay confidence quality round age tags tokens visible rank reason state origin"
_COMPONENT = "name source limit tokens whole_tokens state lines reason"
_LOG = (
    "dialect calls last_sent peak_sent output_tokens output_known compactions live_rows dead_rows "
    "calls_without_result results_without_call children window window_from models versions"
)
_BUDGET = "target unit limit used reserved over segments limit_from partial note stage"
JSON_NAMES: dict[type, list[str]] = {
    Tier: ["name", "blocks"],
    Block: _BLOCK.split(),
    Todo: ["summary", "total", "step", "cursor", "items"],
    Cursor: ["phase", "next", "target", "note", "origin"],
    TodoItem: ["id", "title", "status", "current", "origin"],
    Budget: _BUDGET.split(),
    Segment: ["name", "used", "limit", "exact", "estimator"],
    Ref: ["id", "kind", "target", "status", "tokens", "bytes", "used_by", "origin"],
    Gap: ["id", "question", "severity", "status", "blocks", "why", "origin"],
    Event: ["label", "kind", "time", "revision", "origin"],
    Counts: ["blocks", "visible", "hidden", "tokens", "tokens_exact", "estimator"],
    PromptAssembly: ["era", "window", "mode", "cap", "tokens", "components"],
    PromptComponent: _COMPONENT.split(),
    LogSummary: _LOG.split(),
    SummedCompaction: ["trigger", "before", "after"],
    Origin: ["file", "pointer", "line", "column", "start", "end"],
}
"""The attributes of each type that are written, in order."""


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
        "assembly": as_json(state.assembly),
        "transcript": as_json(state.log),
    }


def finding_as_json(finding: Finding) -> JsonObject:
    """One element of the list that `ctxview check --format json` prints."""
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
    """Convert a part of a state, or a tuple of parts, by `JSON_NAMES`."""
    if isinstance(value, Block):
        return _block_as_json(value)
    if (names := JSON_NAMES.get(type(value))) is not None:
        return {name: as_json(getattr(value, name)) for name in names}
    if isinstance(value, tuple):
        return [as_json(each) for each in value]
    if isinstance(value, Enum):
        return cast(str, value.value)
    if isinstance(value, float) and not math.isfinite(value):
        # JSON has no infinity. Readers take `1e400` as infinity and write it as null.
        return None
    assert value is None or isinstance(value, bool | int | float | str), "a state has no other types"
    return value


def _block_as_json(block: Block) -> JsonObject:
    """The members of a block; the figures that the contract names stand among them."""
    figures = {name: block.figure(name) for name in ("decay", "confidence", "quality")}
    others = {"reason": block.why or None} | figures
    return {
        name: as_json(others[name] if name in others else getattr(block, name)) for name in JSON_NAMES[Block]
    }


def masked_values(value: JsonValue) -> JsonValue:
    """Return the value with every secret in a text or a key masked."""
    match value:
        case str():
            return mask_secrets(value)
        case list():
            return [masked_values(each) for each in value]
        case dict():
            return {mask_secrets(key): masked_values(each) for key, each in value.items()}
    return value


def dumps(value: JsonValue) -> str:
    """Return indented JSON. Characters that act on a terminal or are invisible are written as `\\uXXXX`.

    So are characters that the encoding of stdout may lack, and those that make a command for a CI service.
    """
    text = json.dumps(value, ensure_ascii=not is_utf8(sys.stdout), indent=2, allow_nan=False)
    text = without_log_commands(text, "\\u{:04x}")
    if is_safe(text.replace("\n", "")):
        return text
    return "".join(char if char == "\n" or is_safe(char) else json.dumps(char)[1:-1] for char in text)
