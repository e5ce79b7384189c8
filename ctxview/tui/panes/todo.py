"""What the agent says it will do: cursor, progress as a path of steps, and what does not add up."""

from __future__ import annotations

from ctxview.state import Todo, TodoItem
from ctxview.tui import glyphs
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.panes.rows import finding_row
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, Span, fit, join, show, wrap
from ctxview.tui.things import TODO, Kind, Thing
from ctxview.tui.widgets.page import Page

DONE = {"done", "completed", "complete", "closed", "x"}


class TodoPane(PaneLines):
    pane = Pane.TODO

    def draw(self, shown: Shown, width: int, _: int) -> Page:
        todo = shown.index.reading.state.todo
        if todo is None:
            return nothing(width, "This source keeps no todo list.")
        rows: list[tuple[Line, Thing | None]] = []
        if path := path_of(todo, width):
            rows.append((path, TODO))
        if todo.summary:
            rows += [(line, TODO) for line in wrap(show(todo.summary), width)]
        rows += [(line, TODO) for line in cursor_lines(todo, width)]
        for thing in shown.index.of(Kind.ITEM):
            item = shown.index.value(thing)
            if isinstance(item, TodoItem):
                rows.append((fit(item_line(item), width), thing))
        checks = shown.index.about(TODO)
        rows += [(fit(finding_row(shown.index.finding(each)), width), each) for each in checks]
        if not checks and todo.total is not None:
            rows.append(
                (
                    fit((Span(f"{glyphs.YES} ", "ok"), Span("summary, total and step agree", "dim")), width),
                    TODO,
                )
            )
        return Page.of([line for line, _ in rows], [thing for _, thing in rows])

    def holds(self, shown: Shown) -> bool:
        return shown.index.reading.state.todo is not None

    def count(self, shown: Shown) -> str:
        todo = shown.index.reading.state.todo
        if todo is None or todo.total is None or todo.step is None:
            return ""
        return f"{todo.step}/{todo.total}"


def path_of(todo: Todo, width: int) -> Line:
    """The steps as beads on a string; a long list is told by counts."""
    steps = _steps(todo)
    if not steps:
        return ()
    caption = _caption(todo)
    if len(steps) * 2 - 1 + len(caption) + 2 > width:
        counted = [
            (glyph, style, sum(1 for step in steps if step[0] == glyph))
            for glyph, style in dict.fromkeys(steps)
        ]
        beads: Line = join(
            *((Span(f"{glyph}×{number}", style),) for glyph, style, number in counted), gap=" "
        )
    else:
        beads = join(*((Span(glyph, style),) for glyph, style in steps), gap="─")
    return join(beads, show(caption, "dim"), gap="  ")


def cursor_lines(todo: Todo, width: int) -> list[Line]:
    cursor = todo.cursor
    if cursor is None:
        return wrap(show("no cursor: nothing says what is next", "dim"), width)
    phase = show(cursor.phase or "no phase", "strong")
    then = show(f"next {cursor.next}") if cursor.next else ()
    target = show(f"→ {cursor.target}", "accent") if cursor.target is not None else ()
    lines = wrap(join(phase, (Span(" · ", "faint"),) if then else (), join(then, target, gap=" ")), width)
    if cursor.note:
        lines += wrap(show(cursor.note, "rule"), width)
    return lines


def item_line(item: TodoItem) -> Line:
    done = item.status.casefold() in DONE
    glyph = glyphs.CURRENT if item.current else glyphs.DONE if done else glyphs.OPEN
    style = "accent" if item.current else "ok" if done else "dim"
    number = show(f"{item.id} ", "dim") if item.id is not None else ()
    status = () if done or item.status in {"open", "pending", ""} else show(f" ({item.status})", "warn")
    return join((Span(f"{glyph} ", style),), number, show(item.title, "dim" if done else ""), status)


def _steps(todo: Todo) -> list[tuple[str, str]]:
    if todo.items:
        return [
            (glyphs.CURRENT, "accent")
            if item.current
            else (glyphs.DONE, "ok")
            if item.status.casefold() in DONE
            else (glyphs.OPEN, "dim")
            for item in todo.items
        ]
    if not todo.total or todo.step is None or not 0 <= todo.step <= todo.total or todo.total > 10_000:
        return []
    before, after = max(0, todo.step - 1), todo.total - todo.step
    current = [(glyphs.CURRENT, "accent")] if todo.step else []
    return [(glyphs.DONE, "ok")] * before + current + [(glyphs.OPEN, "dim")] * after


def _caption(todo: Todo) -> str:
    if todo.step is None or todo.total is None:
        return ""
    return f"step {todo.step} of {todo.total}"
