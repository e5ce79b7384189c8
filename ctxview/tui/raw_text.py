"""A file's bytes as numbered lines, with one span of them marked: what the raw view shows. No toolkit.

Long lines are cut into pieces that fit, so that a file of one line can be read too; a piece is drawn only
when it comes into sight.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, pairwise

from ctxview.files.visible import is_safe
from ctxview.tui.text import Line, Span, fit, join, show
from ctxview.tui.widgets.page import Page

MOST_HITS = 10_000
TAB = "    "
TABBED = len(TAB)


class RawText:
    """`span` is a range of bytes; what is no UTF-8 is kept and shown as bytes. `first` numbers the lines."""

    def __init__(self, data: bytes, span: tuple[int, int] | None = None, first: int = 1) -> None:
        self.first = first
        try:
            self.text = data.decode()
            self.is_utf8 = True
        except UnicodeDecodeError:
            self.text = data.decode(errors="surrogateescape")
            self.is_utf8 = False
        self.size = len(data)
        self.lines = self.text.split("\n")
        self.starts = list(accumulate((len(line) + 1 for line in self.lines), initial=0))
        self.widths = bytes(_widest(line) for line in self.lines)
        self.span = _characters(data, span) if span is not None else None
        self._page: RawPage | None = None

    def page(self, width: int) -> RawPage:
        """The pieces for a width; of a large file they take a while, so the last ones are kept."""
        if self._page is None or self._page.width != width:
            self._page = RawPage(self, width)
        return self._page

    def line_of(self, character: int) -> int:
        return bisect_right(self.starts, character) - 1

    def find(self, matches: re.Pattern[str]) -> list[int]:
        """Where a pattern occurs, as characters from the beginning; the first of them when there are many."""
        found: list[int] = []
        for match in matches.finditer(self.text):
            found.append(match.start())
            if len(found) == MOST_HITS:
                break
        return found


class RawPage(Page):
    """The pieces of the lines for one width."""

    def __init__(self, raw: RawText, width: int) -> None:
        self.width = width
        self._raw = raw
        self._gutter = len(str(len(raw.lines) + raw.first - 1)) + 1
        self._room = room = max(16, width - self._gutter - 1)
        lengths = (after - start - 1 for start, after in pairwise(raw.starts))
        sizes = (room // wide if wide != TABBED else self._size(line) for line, wide in enumerate(raw.widths))
        pieces = (-(-length // size) or 1 for length, size in zip(lengths, sizes, strict=True))
        self._last_rows = list(accumulate(pieces))
        super().__init__(self._last_rows[-1], lambda row: (self._piece_line(row),))

    def row_of(self, character: int) -> int:
        """The row that shows a character."""
        line = self._raw.line_of(character)
        first = self._last_rows[line - 1] if line else 0
        return min(
            first + (character - self._raw.starts[line]) // self._size(line), self._last_rows[line] - 1
        )

    def _size(self, line: int) -> int:
        """How many of a line's characters surely fit."""
        wide = self._raw.widths[line]
        if wide != TABBED:
            return self._room // wide
        return max(self._room // wide, self._room - self._raw.lines[line].count("\t") * (len(TAB) - 1))

    def _piece_line(self, row: int) -> Line:
        number = bisect_right(self._last_rows, row)
        piece = row - (self._last_rows[number - 1] if number else 0)
        size = self._size(number)
        line = self._raw.lines[number]
        start = piece * size
        label = f"{number + self._raw.first:>{self._gutter - 1}} " if piece == 0 else " " * self._gutter
        text = self._marked(line[start : start + size], self._raw.starts[number] + start)
        return join((Span(label, "dim"), Span("│" if piece == 0 else "┊", "faint")), fit(text, self._room))

    def _marked(self, text: str, at: int) -> Line:
        """A piece of text with the part of it that lies in the span marked."""
        if self._raw.span is None:
            return show(text.replace("\t", TAB), "")
        begin, end = (min(max(edge - at, 0), len(text)) for edge in self._raw.span)
        parts = ((text[:begin], ""), (text[begin:end], "span"), (text[end:], ""))
        return join(*(show(part.replace("\t", TAB), style) for part, style in parts))


def _widest(line: str) -> int:
    """How many cells a character of a line may take: wide ones two, tabs four, spelled ones eight."""
    if line.isascii():
        return 1 if line.isprintable() else TABBED if line.replace("\t", "").isprintable() else 8
    return 2 if is_safe(line) else 8


def _characters(data: bytes, span: tuple[int, int]) -> tuple[int, int]:
    start, end = span
    before = len(data[:start].decode(errors="surrogateescape"))
    return before, before + len(data[start:end].decode(errors="surrogateescape"))
