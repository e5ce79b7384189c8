"""The revisions pane: a log of all revisions, the newest first. Enter goes to a revision."""

from __future__ import annotations

from ctxview.analysis.revisions.log import log_numbers, log_row
from ctxview.analysis.revisions.skyline import series_of
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.revision_log import (
    log_columns,
    log_header,
    log_line,
    selected_box,
    selected_line,
)
from ctxview.tui.drawing.text import Line, Span, join
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.facts_pane import MarkingPane, known_revisions, revision_item

LEAST_LINE, LEAST_ROOM = 12, 24
"""Lines from which on the worst finding, and all that is known, of the revision at the cursor stand above."""


class RevisionsPane(MarkingPane):
    pane = Pane.REVISIONS
    framed = False

    def take(self, view: ViewState | None, status: list[Line]) -> bool:
        before = self.view
        if view is not None and (before is None or _place(before) != _place(view)):
            self._cursor_item = revision_item(view, view.key.revision)
        return super().take(view, status)

    def watch_cursor(self) -> None:
        super().watch_cursor()
        self.reset()

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        known = known_revisions(view)
        numbers = log_numbers(known, replies=self.replies)
        columns, series = log_columns(known, width - 2), series_of(known)
        header = log_header(known, columns, series, width)
        item = self._cursor_item
        number = min(int(item.name) if item is not None else view.key.revision, len(known.names) - 1)
        if room >= LEAST_ROOM:
            header[1:1] = selected_box(known, number, width, room - len(header) - len(numbers))
        elif room >= LEAST_LINE:
            header[1:1] = [selected_line(known, number, width)]
        header = [*header[:-1], join((Span("  "),), header[-1])]

        def draw(row: int) -> tuple[Line]:
            number = numbers[row]
            row_ = log_row(known, number, series)
            line = log_line(row_, columns, width - 2, marked=number == view.key.revision)
            return (join((Span("m " if number in self.marked else "  ", "key"),), line),)

        return Page(len(numbers), draw, lambda row: revision_item(view, numbers[row]), header=header)

    def count(self, view: ViewState) -> str:
        return str(len(known_revisions(view).names))


def _place(view: ViewState) -> tuple[int, int]:
    return view.key.source, view.key.revision
