"""The revisions pane: a log of all revisions, the newest first. Enter goes to a revision."""

from __future__ import annotations

from ctxview.analysis.revisions.log import log_numbers, log_row
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.revision_log import log_details, log_header, log_line
from ctxview.tui.drawing.text import Line, Span, join
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.facts_pane import MarkingPane, known_revisions, revision_item

LEAST_ROOM = 24
"""Lines from which on the shown revision has its findings above the list."""


class RevisionsPane(MarkingPane):
    pane = Pane.REVISIONS
    framed = False

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        known = known_revisions(view)
        numbers = [each for each in log_numbers(known) if self.replies or not known.names[each].is_reply]
        header = log_header(known, width - 2)
        if room >= LEAST_ROOM:
            shown = log_details(known, view.key.revision, width - 2, 3)
            details: list[Line] = [join((Span("  "),), line) for line in shown]
            header = [header[0], *details, (), header[1]]
        header = [*header[:-1], join((Span("  "),), header[-1])]

        def draw(row: int) -> tuple[Line]:
            number = numbers[row]
            line = log_line(log_row(known, number), known, width - 2, marked=number == view.key.revision)
            return (join((Span("m " if number in self.marked else "  ", "key"),), line),)

        return Page(len(numbers), draw, lambda row: revision_item(view, numbers[row]), header=header)

    def count(self, view: ViewState) -> str:
        return str(len(known_revisions(view).names))
