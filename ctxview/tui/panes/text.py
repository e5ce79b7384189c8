"""The text pane: the answer of a reply, or the whole file if no format recognised it."""

from __future__ import annotations

from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, fit, paragraphs, show, wrap
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.pane import PaneWidget, empty_page

LONGEST_WRAPPED = 100_000
"""Longer texts are not wrapped: each line is drawn when it becomes visible."""


class TextPane(PaneWidget):
    pane = Pane.TEXT
    has_cursor = False

    def draw(self, view: ViewState, width: int, _: int) -> Page:
        text = view.index.reading.state.text
        if text is None:
            return empty_page(width, self.pane.absent)
        self._first_lines: list[int] = []
        if len(text) > LONGEST_WRAPPED:
            lines = text.split("\n")
            return Page(len(lines), lambda row: (fit(show(lines[row].expandtabs(4)), width),))
        wrapped: list[Line] = []
        for paragraph in paragraphs(text):
            self._first_lines.append(len(wrapped))
            wrapped += wrap(paragraph, width)
        return Page.of(wrapped)

    def go_to_line(self, number: int) -> None:
        """Scroll to line `number` of the text before wrapping."""
        row = self._first_lines[number] if number < len(self._first_lines) else number
        self.show_line(max(0, row - 2))

    def count(self, view: ViewState) -> str:
        text = view.index.reading.state.text
        lines = text.count("\n") + 1 if text else 0
        return f"{lines:,} lines" if lines > 1 else ""
