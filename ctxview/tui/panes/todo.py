"""What the agent says it will do: cursor, progress as a path of steps, and what does not add up."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.state import Cursor, Todo, TodoItem
from ctxview.tui import glyphs
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.panes.rows import finding_row
from ctxview.tui.session_view import Shown
from ctxview.tui.step_path import DONE, PLAIN, bead, list_line, path_of
from ctxview.tui.text import Line, Span, fit, join, show, wrap
from ctxview.tui.things import TODO, Kind, Thing
from ctxview.tui.widgets.page import Page


class TodoPane(PaneLines):
    pane = Pane.TODO

    def draw(self, shown: Shown, width: int, _: int) -> Page:
        todo = shown.index.reading.state.todo
        if todo is None:
            return nothing(width, "This source keeps no todo list.")
        rows: list[tuple[Line, Thing | None]] = []
        several = len({item.kept_in for item in todo.items}) > 1
        if not several and (path := path_of(todo, width)):
            rows.append((path, TODO))
        if todo.summary:
            rows += [(line, TODO) for line in wrap(show(todo.summary), width)]
        rows += [(line, TODO) for line in cursor_lines(todo, width)]
        rows += _items(shown, todo, width, several=several)
        checks = shown.index.about(TODO)
        rows += [(fit(finding_row(shown.index.finding(each)), width), each) for each in checks]
        if not checks and todo.total is not None and todo.cursor is not None:
            agree: Line = (Span(f"{glyphs.YES} ", "ok"), Span("summary, total and step agree", "dim"))
            rows.append((fit(agree, width), TODO))
        return Page.of([line for line, _ in rows], [thing for _, thing in rows])

    def holds(self, shown: Shown) -> bool:
        return shown.index.reading.state.todo is not None

    def count(self, shown: Shown) -> str:
        todo = shown.index.reading.state.todo
        if todo is None:
            return ""
        if todo.total and todo.step is not None:
            return f"{todo.step}/{todo.total}"
        stuck = sum(item.status == "blocked" for item in todo.items)
        return f"{stuck} blocked" if stuck and todo.total is None else ""


def cursor_lines(todo: Todo, width: int) -> list[Line]:
    """Phase, next action and its target by name; nothing where a source has no cursor at all."""
    cursor = todo.cursor
    if cursor is None:
        fields = todo.form.fields if todo.form is not None else ()
        expected = any(field.name == "next" for field in fields)
        return wrap(show("no cursor: nothing says what is next", "dim"), width) if expected else []
    phase = show(cursor.phase or "no phase", "strong")
    then = show(f"next {cursor.next}") if cursor.next else ()
    doing = join(then, _target(todo, cursor), gap=" ")
    lines = wrap(join(phase, doing, gap=" · "), width)
    if cursor.note:
        lines += wrap(show(cursor.note, "rule"), width)
    return lines


def item_line(item: TodoItem, *, bare: bool = False) -> Line:
    """Its sign, its number, how it stands where the sign does not tell it (unless `bare`), and what it is."""
    sign = bead(item)
    status = item.status.casefold()
    number = show(str(item.id) if item.id is not None else "", "dim")
    told = () if bare or status in PLAIN else show(item.status, sign.style)
    title = show(item.title, "dim" if status in DONE else "strong" if item.current else "")
    return join((sign,), number, told, title, gap=" ")


def _items(shown: Shown, todo: Todo, width: int, *, several: bool) -> Iterator[tuple[Line, Thing | None]]:
    told: str | None = None
    alike = len(todo.items) > 1 and len({item.status for item in todo.items}) == 1 and bool(todo.summary)
    for thing in shown.index.of(Kind.ITEM):
        item = shown.index.value(thing)
        if not isinstance(item, TodoItem):
            continue
        if several and item.kept_in is not None and item.kept_in != told:
            told = item.kept_in
            same = [each for each in todo.items if each.kept_in == told]
            yield fit(list_line(told, same, width), width), TODO
        yield fit(item_line(item, bare=alike), width), thing


def _target(todo: Todo, cursor: Cursor) -> Line:
    if cursor.target is None:
        return ()
    title = next((item.title for item in todo.items if item.id == cursor.target), "")
    return show(f"→ {cursor.target} {title}".rstrip(), "accent")
