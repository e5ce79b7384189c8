"""Steps as a path: what is done, where one stands, what is left. Pure drawing, in any width."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ctxview.state import Todo, TodoItem
from ctxview.tui import glyphs
from ctxview.tui.text import Line, Span, join, show, width

DONE = {"done", "completed", "complete", "closed", "x"}
DROPPED = {"dropped", "cancelled", "canceled", "skipped"}
FAILED = {"failed", "error"}
STUCK = {"blocked"}
PLAIN = DONE | {"open", "pending", "todo", ""}
"""What is said of a step by its bead alone; any other word stands beside it."""

MOST_STEPS = 10_000
LEAST = 5
"""Cells of the shortest path that still tells something."""


def bead(item: TodoItem) -> Span:
    """One step as a sign, each kind in a shape of its own."""
    status = item.status.casefold()
    if item.current:
        return Span(glyphs.CURRENT, "accent")
    if status in DONE:
        return Span(glyphs.DONE, "ok")
    if status in DROPPED:
        return Span(glyphs.DROPPED, "dim")
    if status in FAILED:
        return Span(glyphs.NO, "bad")
    return Span(glyphs.STUCK, "warn") if status in STUCK else Span(glyphs.OPEN, "dim")


def path_of(todo: Todo, cells: int) -> Line:
    """All steps as one path with the place in words; empty where nothing counts steps."""
    beads = _beads(todo)
    if not beads:
        return ()
    caption = f"step {todo.step} of {todo.total}" if todo.step is not None and todo.total else ""
    return join(beads_line(beads, cells - len(caption) - 2), show(caption, "dim"), gap="  ")


def list_line(name: str, items: Sequence[TodoItem], cells: int) -> Line:
    """One of several lists: its name, its path, and how much of it is done."""
    statuses = [item.status.casefold() for item in items]
    done, dropped = (sum(status in words for status in statuses) for words in (DONE, DROPPED))
    told = show(f"{done} of {len(items)} done{f', {dropped} dropped' if dropped else ''}", "dim")
    head = show(name, "title")
    room = cells - width(head) - width(told) - 4
    path = beads_line([bead(item) for item in items], room) if room >= LEAST else ()
    return join(head, path, told, gap="  ")


def beads_line(beads: Sequence[Span], cells: int) -> Line:
    """Beads on a string; of a long one its ends and what is around the present, with counts between."""
    if 2 * len(beads) - 1 <= cells:
        return join(*((each,) for each in beads), gap="─")
    here = next((at for at, each in enumerate(beads) if each.text == glyphs.CURRENT), _first_open(beads))
    kept = {0, here, len(beads) - 1}
    for distance in range(1, len(beads)):
        wider = kept | {max(0, here - distance), min(len(beads) - 1, here + distance)}
        if width(_with_counts(beads, sorted(wider))) > cells:
            break
        kept = wider
    line = _with_counts(beads, sorted(kept))
    return line if width(line) <= cells else (beads[here],)


def _with_counts(beads: Sequence[Span], kept: Sequence[int]) -> Line:
    spans = [beads[kept[0]]]
    for before, at in pairwise(kept):
        between = at - before - 1
        spans += [Span(f"┄{between:,}┄", "dim") if between else Span("─"), beads[at]]
    return tuple(spans)


def _first_open(beads: Sequence[Span]) -> int:
    return next((at for at, each in enumerate(beads) if each.text == glyphs.OPEN), len(beads) - 1)


def _beads(todo: Todo) -> list[Span]:
    if todo.total is None:
        return []
    if todo.items:
        return [bead(item) for item in todo.items]
    if not todo.total or todo.step is None or not 0 <= todo.step <= todo.total or todo.total > MOST_STEPS:
        return []
    before, current = max(0, todo.step - 1), min(1, todo.step)
    done, here, left = (
        bead(TodoItem(None, "", word, is_current))
        for word, is_current in (("done", False), ("open", True), ("open", False))
    )
    return [done] * before + [here] * current + [left] * (todo.total - before - current)
