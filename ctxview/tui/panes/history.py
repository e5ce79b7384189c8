"""The messages themselves, however many: a row is read when it comes into sight."""

from __future__ import annotations

from collections.abc import Callable

from ctxview.files.reading import Unreadable
from ctxview.state import Row, Transcript
from ctxview.tui import glyphs
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.panes.rows import EMPTY_TEXT
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, Span, fit, join, pad, preview, shorten, show
from ctxview.tui.things import Kind, Thing, message
from ctxview.tui.widgets.page import Page

ROLES = {"user": "accent", "assistant": "ok", "system": "warn", "tool": "code"}
"""Styles of the usual roles; any other is drawn like the name of a rule."""

NOT_COUNTED = "⋮ messages that are not counted yet; the last ones follow, numbered from the end"

NARROW = 60
"""Below this the run of a message is left to the detail."""


class HistoryPane(PaneLines):
    pane = Pane.HISTORY

    def __init__(self) -> None:
        super().__init__()
        self._drawn = (0, 0)
        self.following = False
        """Whether the last message stays in sight when more come."""
        self._fresh: int | None = None
        """The first row that came just now."""

    def draw(self, shown: Shown, width: int, _: int) -> Page:
        transcript = shown.index.reading.state.transcript
        if transcript is None:
            return nothing(width, self.pane.absent)
        self._drawn = _extent(transcript)
        if not any(self._drawn):
            return nothing(width, "No message yet." if transcript.complete else "Reading the messages…")
        return HistoryPage(transcript, *self._drawn, width, self._fresh)

    def holds(self, shown: Shown) -> bool:
        return shown.index.reading.state.transcript is not None

    def count(self, shown: Shown) -> str:
        transcript = shown.index.reading.state.transcript
        if transcript is None:
            return ""
        return f"{len(transcript):,}{'' if transcript.complete else '…'}"

    def grow(self) -> None:
        """Takes the rows that became known since."""
        transcript = self._transcript
        if transcript is not None and _extent(transcript) != self._drawn:
            self.reset()

    def take_more(self, shown: Shown, same: int | None) -> None:
        """Other messages. Those before `same` are as they were, and there are more; None: all may differ."""
        self.shown = shown
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
        # The last one may have been the beginning of a line.
        self.lengthen(HistoryPage(transcript, *self._drawn, self._page_width, self._fresh), max(0, first - 1))
        self._stick()

    def unmark(self) -> None:
        """Nothing is new any more."""
        if self._fresh is not None:
            self._fresh = None
            self.reset()

    def renewed(self, before: Page | None, now: Page) -> None:
        """A row counted from the end gets its number as soon as that is known."""
        thing = before.thing(self.cursor) if before is not None else None
        super().renewed(before, now)
        self._stick()
        if thing is not None and thing.kind is Kind.MESSAGE and self.thing != thing:
            self.post_message(self.Moved(self, self.thing))

    # -- following the end -----------------------------------------------------------------------------------

    def follow(self) -> None:
        self.following = True
        self._stick()

    def move_to(self, row: int) -> None:
        """Away from the last message nothing is followed."""
        self.following = self.following and row >= self.page.rows - 1
        super().move_to(row)

    def move_end(self, *, last: bool) -> None:
        super().move_end(last=last)
        self.following = last

    def show_line(self, line: int) -> None:
        self.following = self.following and line >= self._last_top
        super().show_line(line)

    def _stick(self) -> None:
        if self.following:
            self.cursor = max(0, self.page.rows - 1)
            self.scroll_to(y=self._last_top, animate=False, force=True)

    @property
    def _last_top(self) -> int:
        """The first line in sight when the last one is."""
        return max(0, self.page.lines - self._sight)

    @property
    def _transcript(self) -> Transcript | None:
        return self.shown.index.reading.state.transcript if self.shown is not None else None


class HistoryPage(Page):
    """One line a message. Where a message is need not be looked for: its name is its number.

    Before all are counted the last ones stand below the known ones, after a line that says so.
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

        def name(row: int) -> Thing | None:
            at = number(row)
            return message(at) if at is not None else None

        super().__init__(rows, lines, name)
        self._known, self._ending = known, ending

    def find(self, thing: Thing) -> int | None:
        if thing.kind is not Kind.MESSAGE:
            return None
        row = int(thing.name)
        if row >= 0:
            return row if row < self._known else None
        return self.rows + row if -row <= (self._ending or self._known) else None


def row_line(row: Row, digits: int, cells: int, *, fresh: bool = False) -> Line:
    """Number, role, run and the beginning of the text; a mark where the model can never be shown it."""
    run = pad(show(shorten(row.run or "", 9), "dim"), 9) if cells >= NARROW else ()
    mark = f"{glyphs.NO} {glyphs.short_count(row.size)} B" if row.unseen is not None else ""
    told = row.kind in {"text", "blank"} or row.kind.startswith(row.role or "–")
    kind = "" if told else row.kind
    text = preview(row.text) if row.text.strip() else (EMPTY_TEXT,)
    return join(
        pad(show(numeral(row.index), "changed.added" if fresh else "dim"), digits, right=True),
        pad(show(row.role or "–", role_style(row.role)), 9),
        run,
        show(mark, "visible.no"),
        show(row.problem or "", "bad"),
        show(kind, "dim"),
        text,
        gap=" ",
    )


def numeral(index: int) -> str:
    """How a message is numbered: from 1, or from the end with −1 for the last while not all are counted."""
    return f"{index + 1:,}" if index >= 0 else f"−{-index:,}"


def role_style(role: str | None) -> str:
    return ROLES.get(role or "", "rule")


def _extent(transcript: Transcript) -> tuple[int, int]:
    """How many rows can be had from the start, and how many more from the end."""
    return len(transcript), transcript.ending


def _drawing(transcript: Transcript, digits: int, width: int, fresh: int) -> Callable[[int], tuple[Line]]:
    def draw(number: int) -> tuple[Line]:
        try:
            row = transcript.row(number)
        except (IndexError, OSError, Unreadable) as error:
            # The file became shorter, or went away, since its lines were counted.
            gone = join(
                (Span(f"{numeral(number):>{digits}} ", "dim"),), show(f"not there any more: {error}", "bad")
            )
            return (fit(gone, width),)
        return (fit(row_line(row, digits, width, fresh=number >= fresh), width),)

    return draw
