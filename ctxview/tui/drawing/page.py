"""The page of a virtual list: rows of styled lines, each drawn only when it is visible. No toolkit."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import overload

from ctxview.tui.drawing.text import Line
from ctxview.tui.model.reading_index import ItemId

DEEPEST = 4


class LazyLines(Sequence[Line]):
    """The lines `head`, then `count` lines that `draw` makes when they are asked for."""

    def __init__(
        self, head: Sequence[Line], count: int = 0, draw: Callable[[int], Line] = lambda _: ()
    ) -> None:
        self._head = head
        self._count = count
        self._draw = draw

    def __len__(self) -> int:
        return len(self._head) + self._count

    @overload
    def __getitem__(self, at: int) -> Line: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Line]: ...
    def __getitem__(self, at: int | slice) -> Line | Sequence[Line]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        place = range(len(self))[at]
        return self._head[place] if place < len(self._head) else self._draw(place - len(self._head))


class Page:
    """Rows for one width. `heights` are the lines of each row (None: one each); `header` does not scroll."""

    def __init__(
        self,
        rows: int,
        draw: Callable[[int], Sequence[Line]],
        items: Callable[[int], ItemId | None] = lambda _: None,
        heights: Sequence[int] | None = None,
        header: Sequence[Line] = (),
    ) -> None:
        self.rows = rows
        self.header = tuple(header)
        self._draw = draw
        self._items = items
        self._ends = list(accumulate(heights)) if heights is not None else None

    @classmethod
    def of(cls, lines: Iterable[Line], items: Sequence[ItemId | None] = ()) -> Page:
        """A page of ready lines; `items` are the items of the first of them."""
        ready = list(lines)
        return cls(
            len(ready), lambda row: (ready[row],), lambda row: items[row] if row < len(items) else None
        )

    @classmethod
    def joined(cls, parts: Sequence[tuple[Sequence[Line], ItemId | None]]) -> Page:
        """A page of lines that are drawn when they are visible; each part is about one item."""
        ends = list(accumulate(len(lines) for lines, _ in parts))

        def part(row: int) -> tuple[Sequence[Line], ItemId | None, int]:
            at = bisect_right(ends, row)
            lines, item = parts[at]
            return lines, item, row - ends[at] + len(lines)

        def draw(row: int) -> Sequence[Line]:
            lines, _, place = part(row)
            return (lines[place],)

        return cls(ends[-1] if ends else 0, draw, lambda row: part(row)[1])

    @classmethod
    def roomy(
        cls,
        rows: int,
        draw: Callable[[int, int], Sequence[Line]],
        items: Callable[[int], ItemId | None],
        room: int,
        heights: Callable[[], Sequence[int]] | None = None,
        header: Sequence[Line] = (),
    ) -> Page:
        """A page whose rows get several lines each if all of them fit into `room`, else as few as possible.

        `draw` gets a row and how many lines its text may have; `heights` are those with one line of text.
        """
        room -= len(header)
        for depth in range(DEEPEST, 1, -1) if rows <= room else ():
            drawn: list[Sequence[Line]] = []
            left = room
            while left >= 0 and len(drawn) < rows:
                drawn.append(draw(len(drawn), depth))
                left -= len(drawn[-1])
            if left >= 0:
                return cls(rows, drawn.__getitem__, items, [len(lines) for lines in drawn], header)
        return cls(rows, lambda row: draw(row, 1), items, heights() if heights is not None else None, header)

    @property
    def lines(self) -> int:
        return self.rows if self._ends is None else (self._ends[-1] if self._ends else 0)

    def item(self, row: int) -> ItemId | None:
        return self._items(row) if 0 <= row < self.rows else None

    def row_at(self, line: int) -> int:
        return line if self._ends is None else bisect_right(self._ends, line)

    def lines_of(self, row: int) -> range:
        if self._ends is None:
            return range(row, row + 1)
        return range(self._ends[row - 1] if row else 0, self._ends[row])

    def line(self, number: int) -> Line:
        row = self.row_at(number)
        drawn = self._draw(row)
        at = number - self.lines_of(row).start
        return drawn[at] if at < len(drawn) else ()

    def find(self, item: ItemId) -> int | None:
        return next((row for row in range(self.rows) if self._items(row) == item), None)
