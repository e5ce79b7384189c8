"""The todo pane: the steps as a path of signs, the cursor, and the list of steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxview.core.state import Todo, TodoItem, progress_text
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.rows import finding_row
from ctxview.tui.drawing.text import Line, Span, fit, join, show, width, wrap
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import TODO, ItemId, ItemKind
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.pane import PaneWidget, empty_page

FAILED = {"failed", "error"}
STUCK = {"blocked"}
PLAIN_STEP = {"open", "pending", "todo", ""}
"""Statuses besides done for which the sign is enough; other statuses are written beside it."""

MOST_STEPS = 10_000
LEAST = 5
"""Cells of the shortest useful path."""


def step_sign(step: TodoItem) -> Span:
    """The sign of a step; each status group has its own shape."""
    status = step.status.casefold()
    if step.current:
        return Span(glyphs.CURRENT, "accent")
    if step.is_done:
        return Span(glyphs.DONE, "ok")
    if step.is_dropped:
        return Span(glyphs.DROPPED, "dim")
    if status in FAILED:
        return Span(glyphs.NO, "bad")
    return Span(glyphs.STUCK, "warn") if status in STUCK else Span(glyphs.OPEN, "dim")


def todo_path(todo: Todo, cells: int) -> Line:
    """All steps as one path, with the current step in words; empty if the steps are not counted."""
    signs = _signs(todo)
    if not signs:
        return ()
    caption = f"step {todo.step} of {todo.total}" if todo.step is not None and todo.total else ""
    return join(path_line(signs, cells - len(caption) - 2), show(caption, "dim"), gap="  ")


def list_line(name: str, items: Sequence[TodoItem], cells: int) -> Line:
    """One of several lists: its name, its path, and how many steps are done."""
    summary = show(progress_text(items), "dim")
    head = show(name, "title")
    room = cells - width(head) - width(summary) - 4
    path = path_line([step_sign(step) for step in items], room) if room >= LEAST else ()
    return join(head, path, summary, gap="  ")


def path_line(signs: Sequence[Span], cells: int) -> Line:
    """The signs as a path; a long one keeps its ends and the current step, with counts between."""
    if 2 * len(signs) - 1 <= cells:
        return join(*((each,) for each in signs), gap="─")
    first_open = next((at for at, each in enumerate(signs) if each.text == glyphs.OPEN), len(signs) - 1)
    here = next((at for at, each in enumerate(signs) if each.text == glyphs.CURRENT), first_open)
    visible = {0, here, len(signs) - 1}
    for distance in range(1, len(signs)):
        wider = visible | {max(0, here - distance), min(len(signs) - 1, here + distance)}
        if width(_with_counts(signs, sorted(wider))) > cells:
            break
        visible = wider
    line = _with_counts(signs, sorted(visible))
    return line if width(line) <= cells else (signs[here],)


def _with_counts(signs: Sequence[Span], visible: Sequence[int]) -> Line:
    spans = [signs[visible[0]]]
    for before, at in pairwise(visible):
        between = at - before - 1
        spans += [Span(f"┄{between:,}┄", "dim") if between else Span("─"), signs[at]]
    return tuple(spans)


def _signs(todo: Todo) -> list[Span]:
    if todo.total is None:
        return []
    if todo.items:
        return [step_sign(step) for step in todo.items]
    if not todo.total or todo.step is None or not 0 <= todo.step <= todo.total or todo.total > MOST_STEPS:
        return []
    before, current = max(0, todo.step - 1), min(1, todo.step)
    done, here, left = (
        step_sign(TodoItem(None, "", word, is_current))
        for word, is_current in (("done", False), ("open", True), ("open", False))
    )
    return [done] * before + [here] * current + [left] * (todo.total - before - current)


class TodoPane(PaneWidget):
    pane = Pane.TODO

    def draw(self, view: ViewState, width: int, _: int) -> Page:
        state = view.index.reading.state
        todo = state.todo
        if todo is None:
            return empty_page(width, "This source has no todo list.")
        rows: list[tuple[Line, ItemId | None]] = []
        several = len({step.kept_in for step in todo.items}) > 1
        if not several and (path := todo_path(todo, width)):
            rows.append((path, TODO))
        if todo.summary:
            rows += [(line, TODO) for line in wrap(show(todo.summary), width)]
        rows += [(line, TODO) for line in cursor_lines(todo, width)]
        rows += _items(view, todo, width, several=several)
        checks = view.index.about(TODO)
        rows += [(fit(finding_row(view.index.finding(each)), width), each) for each in checks]
        # A log states no summary: the calls of tools are counted.
        stated = state.log is None and todo.total is not None and todo.cursor is not None
        if stated and not checks:
            agree: Line = (Span(f"{glyphs.YES} ", "ok"), Span("summary, total and step agree", "dim"))
            rows.append((fit(agree, width), TODO))
        return Page.of([line for line, _ in rows], [item for _, item in rows])

    def count(self, view: ViewState) -> str:
        todo = view.index.reading.state.todo
        if todo is None:
            return ""
        if todo.done is not None:
            return f"{todo.done:,}/{len(todo.items):,} done"
        if todo.total and todo.step is not None:
            return f"step {todo.step}/{todo.total}"
        stuck = sum(step.status == "blocked" for step in todo.items)
        return f"{stuck} blocked" if stuck and todo.total is None else ""


def cursor_lines(todo: Todo, width: int) -> list[Line]:
    """Phase, next action and its target; empty if the source cannot have a cursor."""
    cursor = todo.cursor
    if cursor is None:
        fields = todo.form.fields if todo.form is not None else ()
        expected = any(field.name == "next" for field in fields)
        return wrap(show("no cursor: the next step is unknown", "dim"), width) if expected else []
    phase = show(cursor.phase or "no phase", "strong")
    then = show(f"next {cursor.next}") if cursor.next else ()
    target: Line = ()
    if cursor.target is not None:
        title = next((step.title for step in todo.items if step.id == cursor.target), "")
        target = show(f"→ {cursor.target} {title}".rstrip(), "accent")
    lines = wrap(join(phase, join(then, target, gap=" "), gap=" · "), width)
    if cursor.note:
        lines += wrap(show(cursor.note, "rule"), width)
    return lines


def item_line(step: TodoItem, *, bare: bool = False) -> Line:
    """Sign, number, status if the sign is not enough (never when `bare`), and title of a step."""
    sign = step_sign(step)
    number = show(str(step.id) if step.id is not None else "", "dim")
    obvious = step.is_done or step.status.casefold() in PLAIN_STEP
    word = () if bare or obvious else show(step.status, sign.style)
    title = show(step.title, "dim" if step.is_done else "strong" if step.current else "")
    return join((sign,), number, word, title, gap=" ")


def _items(view: ViewState, todo: Todo, width: int, *, several: bool) -> Iterator[tuple[Line, ItemId | None]]:
    current: str | None = None
    alike = len(todo.items) > 1 and len({step.status for step in todo.items}) == 1 and bool(todo.summary)
    for item in view.index.of(ItemKind.ITEM):
        step = view.index.value(item)
        if not isinstance(step, TodoItem):
            continue
        if several and step.kept_in is not None and step.kept_in != current:
            current = step.kept_in
            same = [each for each in todo.items if each.kept_in == current]
            yield fit(list_line(current, same, width), width), TODO
        yield fit(item_line(step, bare=alike), width), item
