"""The history pane: all messages; each row is read from the file when it becomes visible."""

from __future__ import annotations

from collections.abc import Callable

from ctxview.core.transcript import Row, Transcript
from ctxview.files.reading import ReadError
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.rows import EMPTY_TEXT
from ctxview.tui.drawing.text import Line, Span, fit, join, pad, preview, shorten, show
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind, message_id
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.pane import PaneWidget, empty_page

ROLES = {"user": "accent", "assistant": "ok", "system": "warn", "tool": "code"}
"""Styles of the usual roles; other roles have the style of a rule name."""

NOT_COUNTED = "⋮ more messages, not counted yet; the last ones follow, numbered from the end"

MOST_BLANK = 8
"""Blank lines at the end that are skipped to find the number of the last message."""

NARROW = 60
"""Below this width only the detail shows the run of a message."""


class HistoryPane(PaneWidget):
    pane = Pane.HISTORY

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(model)
        self._drawn = (0, 0)
        self.following = False
        """Whether the last message stays visible when more arrive."""
        self._fresh: int | None = None
        """The first row that is marked as new."""

    def draw(self, view: ViewState, width: int, _: int) -> Page:
        transcript = view.index.reading.state.transcript
        if transcript is None:
            return empty_page(width, self.pane.absent)
        self._drawn = _extent(transcript)
        if not any(self._drawn):
            return empty_page(width, "No message yet." if transcript.complete else "Reading the messages…")
        return HistoryPage(transcript, *self._drawn, width, self._fresh)

    def count(self, view: ViewState) -> str:
        transcript = view.index.reading.state.transcript
        if transcript is None:
            return ""
        return f"{_messages(transcript):,}{'' if transcript.complete else '…'}"

    def grow(self) -> None:
        """Draw the rows that were counted since."""
        transcript = self._transcript
        if transcript is not None and _extent(transcript) != self._drawn:
            self.reset()

    def take_more(self, view: ViewState, same: int | None) -> None:
        """Take a view with more messages; those before `same` are unchanged, None: all may have changed."""
        self.view = view
        transcript, (known, ending) = self._transcript, self._drawn
        if same is None or transcript is None or not known or ending or not transcript.complete:
            self._fresh = None
            self.reset()
            return
        first = min(known, same)
        self._fresh = first if self._fresh is None else self._fresh
        if len(f"{len(transcript):,}") != len(f"{known:,}"):
            self.reset()
            return
        self._drawn = _extent(transcript)
        # The last row may have been the beginning of an incomplete line.
        self.lengthen(HistoryPage(transcript, *self._drawn, self._page_width, self._fresh), max(0, first - 1))
        self._show_end()

    def unmark(self) -> None:
        """Remove the mark from new messages."""
        if self._fresh is not None:
            self._fresh = None
            self.reset()

    def page_changed(self, before: Page | None, now: Page) -> None:
        """Report a move when a row numbered from the end gets its final number."""
        item = before.item(self.cursor) if before is not None else None
        super().page_changed(before, now)
        self._show_end()
        if item is not None and item.kind is ItemKind.MESSAGE and self.item != item:
            self.post_message(self.Moved(self, self.item))

    # -- following the end -----------------------------------------------------------------------------------

    def follow(self) -> None:
        self.following = True
        self._show_end()

    def move_to(self, row: int) -> None:
        """Move the cursor; the last message is no longer followed when the cursor leaves it."""
        self.following = self.following and row >= self.page.rows - 1
        super().move_to(row)

    def move_end(self, *, last: bool) -> None:
        super().move_end(last=last)
        self.following = last

    def show_line(self, line: int) -> None:
        self.following = self.following and line >= self._last_top
        super().show_line(line)

    def _show_end(self) -> None:
        if self.following:
            self.cursor = max(0, self.page.rows - 1)
            self.scroll_to(y=self._last_top, animate=False, force=True)

    @property
    def _last_top(self) -> int:
        """The first visible line when the last line is visible."""
        return max(0, self.page.lines - self._visible_lines)

    @property
    def _transcript(self) -> Transcript | None:
        return self.view.index.reading.state.transcript if self.view is not None else None


class HistoryPage(Page):
    """One line for each message; the row of a message follows from its number, without a search.

    Until all are counted, the last messages are below the counted ones, after a line that says so.
    """

    def __init__(
        self, transcript: Transcript, known: int, ending: int, width: int, fresh: int | None = None
    ) -> None:
        rows = known + 1 + ending if ending else known
        draw = _drawing(transcript, len(f"{known:,}"), width, known if fresh is None else fresh)

        def number(row: int) -> int | None:
            return row if row < known else row - rows if row > known else None

        def lines(row: int) -> tuple[Line]:
            at = number(row)
            return draw(at) if at is not None else (fit(show(NOT_COUNTED, "dim"), width),)

        def name(row: int) -> ItemId | None:
            at = number(row)
            return message_id(at) if at is not None else None

        super().__init__(rows, lines, name)
        self._known, self._ending = known, ending

    def find(self, item: ItemId) -> int | None:
        if item.kind is not ItemKind.MESSAGE:
            return None
        row = int(item.name)
        if row >= 0:
            return row if row < self._known else None
        return self.rows + row if -row <= (self._ending or self._known) else None


def message_row(row: Row, digits: int, cells: int, *, fresh: bool = False) -> Line:
    """Number, role, run and beginning of the text, with a mark if the model can never see the message."""
    run = pad(show(shorten(row.run or "", 9), "dim"), 9) if cells >= NARROW else ()
    mark = f"{glyphs.HIDDEN} {glyphs.short_count(row.size)} B" if row.unseen is not None else ""
    obvious = row.kind in {"text", "blank"} or row.kind.startswith(row.role or "–")
    kind = "" if obvious else row.kind
    text = preview(row.text) if row.text.strip() else (EMPTY_TEXT,)
    return join(
        pad(show(row_numeral(row), "changed.added" if fresh else "dim"), digits, right=True),
        pad(show(row.role or "–", role_style(row.role)), 9),
        run,
        show(mark, "visible.no"),
        show(row.problem or "", "bad"),
        show(kind, "dim"),
        text,
        gap=" ",
    )


def numeral(index: int) -> str:
    """The number of a message: from 1, or from the end with −1 for the last while not all are counted."""
    return f"{index + 1:,}" if index >= 0 else f"−{-index:,}"


def row_numeral(row: Row) -> str:
    """The number of a row as sources cite it; empty for a blank line, which has none."""
    return "" if row.kind == "blank" else numeral(row.index if row.number is None else row.number - 1)


def role_style(role: str | None) -> str:
    return ROLES.get(role or "", "rule")


def _messages(transcript: Transcript) -> int:
    """How many messages are known: the number of the last one, since blank lines have none."""
    for row in range(len(transcript) - 1, -1, -1)[:MOST_BLANK]:
        try:
            number = transcript.row(row).number
        except (IndexError, OSError, ReadError):
            break
        if number is not None:
            return number
    return len(transcript)


def _extent(transcript: Transcript) -> tuple[int, int]:
    """How many rows are known from the start, and how many more from the end."""
    return len(transcript), transcript.ending


def _drawing(transcript: Transcript, digits: int, width: int, fresh: int) -> Callable[[int], tuple[Line]]:
    def draw(number: int) -> tuple[Line]:
        try:
            row = transcript.row(number)
        except (IndexError, OSError, ReadError) as error:
            # The file was shortened or removed after its lines were counted.
            gone = join(
                (Span(f"{numeral(number):>{digits}} ", "dim"),),
                show(f"no longer in the file: {error}", "bad"),
            )
            return (fit(gone, width),)
        return (fit(message_row(row, digits, width, fresh=number >= fresh), width),)

    return draw
