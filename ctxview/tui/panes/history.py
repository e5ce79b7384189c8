"""The messages themselves, however many: a row is read when it comes into sight."""

from __future__ import annotations

from collections.abc import Callable

from ctxview.files.reading import Unreadable
from ctxview.state import Row, Transcript
from ctxview.tui import glyphs
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, Span, fit, join, pad, preview, shorten, show
from ctxview.tui.things import Kind, Thing, message
from ctxview.tui.widgets.page import Page

ROLES = {"user": "accent", "assistant": "ok", "system": "warn", "tool": "code"}
"""Styles of the usual roles; any other is drawn like the name of a rule."""

NARROW = 60
"""Below this the run of a message is left to the detail."""


class HistoryPane(PaneLines):
    pane = Pane.HISTORY

    def __init__(self) -> None:
        super().__init__()
        self._drawn = 0

    def draw(self, shown: Shown, width: int, _: int) -> Page:
        transcript = shown.index.reading.state.transcript
        if transcript is None:
            return nothing(width, "This source has no messages.")
        self._drawn = len(transcript)
        if not self._drawn:
            return nothing(width, "No message yet." if transcript.complete else "Reading the messages…")
        return HistoryPage(transcript, self._drawn, width)

    def holds(self, shown: Shown) -> bool:
        return shown.index.reading.state.transcript is not None

    def count(self, shown: Shown) -> str:
        transcript = shown.index.reading.state.transcript
        if transcript is None:
            return ""
        return f"{len(transcript):,}{'' if transcript.complete else '…'}"

    def grow(self) -> None:
        """Takes the rows that became known since."""
        transcript = self.shown.index.reading.state.transcript if self.shown is not None else None
        if transcript is not None and len(transcript) != self._drawn:
            self.reset()


class HistoryPage(Page):
    """One line a message. Where a message is need not be looked for: its name is its number."""

    def __init__(self, transcript: Transcript, rows: int, width: int) -> None:
        digits = len(f"{rows:,}")
        super().__init__(rows, _drawing(transcript, digits, width), message)

    def find(self, thing: Thing) -> int | None:
        if thing.kind is not Kind.MESSAGE:
            return None
        row = int(thing.name)
        return row if row < self.rows else None


def row_line(row: Row, digits: int, cells: int) -> Line:
    """Number, role, run and the beginning of the text; a mark where the model can never be shown it."""
    run = pad(show(shorten(row.run or "", 9), "dim"), 9) if cells >= NARROW else ()
    mark = f"{glyphs.NO} {glyphs.short_count(row.size)} B" if row.unseen is not None else ""
    told = row.kind in {"text", "blank"} or row.kind.startswith(row.role or "–")
    kind = "" if told else row.kind
    text = preview(row.text) if row.text.strip() else show("(nothing)", "faint")
    return join(
        pad(show(f"{row.index + 1:,}", "faint"), digits, right=True),
        pad(show(row.role or "–", role_style(row.role)), 9),
        run,
        show(mark, "visible.no"),
        show(row.problem or "", "bad"),
        show(kind, "dim"),
        text,
        gap=" ",
    )


def role_style(role: str | None) -> str:
    return ROLES.get(role or "", "rule")


def _drawing(transcript: Transcript, digits: int, width: int) -> Callable[[int], tuple[Line]]:
    def draw(number: int) -> tuple[Line]:
        try:
            row = transcript.row(number)
        except (IndexError, OSError, Unreadable) as error:
            # The file became shorter, or went away, since its lines were counted.
            gone = join(
                (Span(f"{number + 1:>{digits},} ", "faint"),), show(f"not there any more: {error}", "bad")
            )
            return (fit(gone, width),)
        return (fit(row_line(row, digits, width), width),)

    return draw
