"""The object that the runtime writes between the `<context>` tags: which members, in which order.

The tiers come projected; everything that the model is not given is left out here.
"""

from __future__ import annotations

import math

from ctxview.core.origin import JsonValue
from ctxview.core.prompt import PromptError
from ctxview.formats.snapshot.model import Snapshot, number
from ctxview.formats.snapshot.runtime.projection import Projection

RUNTIME_FIELDS = ("round", "workspace", "datetime", "startup_at")


def prompt_payload(snapshot: Snapshot, projection: Projection) -> dict[str, JsonValue]:
    """Return the payload in the runtime's order. Raises `PromptError` where the runtime itself would fail."""
    value = snapshot.value
    if value.get("runtime") is None:
        raise PromptError("the snapshot has no `runtime`, with which the runtime would fail")
    payload: dict[str, JsonValue] = {
        "version": value.get("version"),
        "runtime": {name: snapshot.runtime.get(name) for name in RUNTIME_FIELDS},
        "memory": {tier.name: [shown.normal.value for shown in tier.shown] for tier in projection.tiers},
    }
    if (todo := _todo(value.get("todo"))) is not None:
        payload["todo"] = todo
    if "active_task" in value:
        payload["active_task"] = value["active_task"]
    meta = value.get("active_task_meta")
    if isinstance(meta, dict):
        payload["active_task_meta"] = _task(meta)
    elif "active_task_meta" in value and meta is None:
        payload["active_task_meta"] = None
    if "capabilities" in value:
        payload["capabilities"] = value["capabilities"]
    return payload


def _todo(todo: JsonValue) -> dict[str, JsonValue] | None:
    if not isinstance(todo, dict) or not isinstance(todo.get("summary"), str):
        return None
    total, step = _counter(todo.get("total")), _counter(todo.get("step"))
    if total is None or step is None:
        return None
    cursor: dict[str, JsonValue] = {"cursor": todo["cursor"]} if "cursor" in todo else {}
    return {"summary": todo["summary"], "total": total, "step": min(step, total), **cursor}


def _task(meta: dict[str, JsonValue]) -> dict[str, JsonValue]:
    task: dict[str, JsonValue] = {
        name: meta[name] for name in ("id", "type", "status") if isinstance(meta.get(name), str)
    }
    for name in ("retries", "attempt"):
        if (found := _counter(meta.get(name))) is not None:
            task[name] = found
    execution = meta.get("execution")
    return {**task, "execution": execution} if isinstance(execution, dict) else task


def _counter(value: JsonValue) -> int | None:
    """Return a finite number truncated and at least 0; None for anything else."""
    found = number(value)
    return max(0, math.trunc(found)) if found is not None and math.isfinite(found) else None
