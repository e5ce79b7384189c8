"""What a todo list amounts to: the summary, total and step a runtime computes from the rows of todo.db."""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.formats.snapshot.model import ACTIONS_WITH_TARGET, TodoRow, integer
from ctxview.formats.snapshot.profile import TodoGrammar
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass

_SETTLED = {"todo_complete": "done", "todo_reopen": "open"}
"""The status in which nothing is left to do for an action."""


@dataclass(frozen=True, slots=True)
class Progress:
    """`summary` is None when the profile knows no wording."""

    total: int
    step: int
    summary: str | None


def progress(rows: Sequence[TodoRow], grammar: TodoGrammar | None) -> Progress:
    """The step is the first open item, counted from 1; the total when all is done."""
    ordered = sorted(rows, key=lambda row: row.id)
    finished = [row.status == "done" for row in ordered]
    total, done = len(finished), sum(finished)
    step = finished.index(False) + 1 if done < total else total
    if grammar is None:
        return Progress(total, step, None)
    if total == 0:
        template = grammar.empty
    elif done == total:
        template = grammar.finished
    else:
        template = grammar.running_skipped if done >= step else grammar.running
    return Progress(total, step, template.format(done=done, total=total, step=step))


def cursor_fault_in(cursor: JsonValue, rows: Sequence[TodoRow]) -> str | None:
    """Why a cursor leads nowhere in this list; None when it does not."""
    if not isinstance(cursor, dict) or cursor.get("next") not in ACTIONS_WITH_TARGET:
        return None
    action, target = cursor["next"], integer(cursor.get("targetId"))
    row = next((row for row in rows if row.id == target), None)
    if target is None:
        return None
    if row is None:
        return f"there is no item {target}"
    if row.status == _SETTLED.get(str(action)):
        return f"item {target} is already {row.status}"
    return None
