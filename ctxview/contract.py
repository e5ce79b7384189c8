"""The state and findings as JSON: a contract with other programs, kept apart from the values themselves.

Names here change only together with the documentation. What a format does not have is null.
"""

from __future__ import annotations

import math
from dataclasses import fields

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


def state_as_json(state: ContextState) -> JsonObject:
    budgets: list[JsonValue] = [_budget(each) for each in state.budgets]
    return {
        "format": state.format,
        "title": state.title,
        "source": state.source,
        "revision": state.revision,
        "tiers": [_tier(each) for each in state.tiers],
        "todo": _todo(state.todo) if state.todo else None,
        "budget": budgets if len(budgets) > 1 else next(iter(budgets), None),
        "refs": [_ref(each) for each in state.refs],
        "missing": [_gap(each) for each in state.missing],
        "timeline": [_event(each) for each in state.timeline],
        "counts": _counts(state.counts),
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


def _tier(tier: Tier) -> JsonObject:
    return {"name": tier.name, "blocks": [_block(each) for each in tier.blocks]}


def _block(block: Block) -> JsonObject:
    return {
        "id": block.id,
        "tier": block.tier,
        "type": block.type,
        "text": block.text,
        "decay": _finite(block.decay),
        "confidence": _finite(block.confidence),
        "quality": _finite(block.quality),
        "round": block.round,
        "age": block.age,
        "tags": list(block.tags),
        "tokens": block.tokens,
        "visible": block.visible,
        "reason": block.reason,
        "state": block.state,
        "origin": origin_as_json(block.origin),
    }


def _todo(todo: Todo) -> JsonObject:
    return {
        "summary": todo.summary,
        "total": todo.total,
        "step": todo.step,
        "cursor": _cursor(todo.cursor) if todo.cursor else None,
        "items": [_todo_item(each) for each in todo.items],
    }


def _cursor(cursor: Cursor) -> JsonObject:
    return {
        "phase": cursor.phase,
        "next": cursor.next,
        "target": cursor.target,
        "note": cursor.note,
        "origin": origin_as_json(cursor.origin),
    }


def _todo_item(item: TodoItem) -> JsonObject:
    return {
        "id": item.id,
        "title": item.title,
        "status": item.status,
        "current": item.current,
        "origin": origin_as_json(item.origin),
    }


def _budget(budget: Budget) -> JsonObject:
    return {
        "target": budget.target,
        "unit": budget.unit,
        "limit": budget.limit,
        "used": budget.used,
        "reserved": budget.reserved,
        "over": budget.over,
        "segments": [_segment(each) for each in budget.segments],
    }


def _segment(segment: Segment) -> JsonObject:
    return {
        "name": segment.name,
        "used": segment.used,
        "limit": segment.limit,
        "exact": segment.exact,
        "estimator": segment.estimator,
    }


def _ref(ref: Ref) -> JsonObject:
    return {
        "id": ref.id,
        "kind": ref.kind,
        "target": ref.target,
        "status": ref.status.value,
        "tokens": ref.tokens,
        "bytes": ref.bytes,
        "used_by": list(ref.used_by),
        "origin": origin_as_json(ref.origin),
    }


def _gap(gap: Gap) -> JsonObject:
    return {
        "id": gap.id,
        "question": gap.question,
        "severity": gap.severity,
        "status": gap.status,
        "blocks": list(gap.blocks),
        "why": gap.why,
        "origin": origin_as_json(gap.origin),
    }


def _event(event: Event) -> JsonObject:
    return {
        "label": event.label,
        "kind": event.kind,
        "time": event.time,
        "revision": event.revision,
        "origin": origin_as_json(event.origin),
    }


def _counts(counts: Counts) -> JsonObject:
    return {each.name: getattr(counts, each.name) for each in fields(counts)}


def origin_as_json(origin: Origin | None) -> JsonValue:
    if origin is None:
        return None
    return {
        "file": origin.file,
        "pointer": origin.pointer,
        "line": origin.line,
        "column": origin.column,
        "start": origin.start,
        "end": origin.end,
    }


def _finite(value: float | None) -> float | None:
    """JSON has no infinity; `1e400` is one to every reader, and null is what they write for it."""
    return value if value is not None and math.isfinite(value) else None
