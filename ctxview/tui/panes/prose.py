"""Text that stands beside the state: a reply's answer, or the whole of a file no format recognised."""

from __future__ import annotations

from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, fit, paragraphs, show, wrap
from ctxview.tui.widgets.page import Page

WRAPPED = 100_000
"""Longer texts are not wrapped: each of their lines is drawn when it comes into sight."""


class TextPane(PaneLines):
    pane = Pane.TEXT
    has_cursor = False

    def draw(self, shown: Shown, width: int, _: int) -> Page:
        text = shown.index.reading.state.text
        if text is None:
            return nothing(width, self.pane.absent)
        self._first_lines: list[int] = []
        if len(text) > WRAPPED:
            lines = text.split("\n")
            return Page(len(lines), lambda row: (fit(show(lines[row].expandtabs(4)), width),))
        wrapped: list[Line] = []
        for paragraph in paragraphs(text):
            self._first_lines.append(len(wrapped))
            wrapped += wrap(paragraph, width)
        return Page.of(wrapped)

    def go_to_line(self, number: int) -> None:
        """Brings a line of the text itself into sight."""
        row = self._first_lines[number] if number < len(self._first_lines) else number
        self.show_line(max(0, row - 2))

    def holds(self, shown: Shown) -> bool:
        return shown.index.reading.state.text is not None

    def count(self, shown: Shown) -> str:
        text = shown.index.reading.state.text
        lines = text.count("\n") + 1 if text else 0
        return f"{lines:,} lines" if lines > 1 else ""
