"""What a virtual list shows: rows of styled lines, drawn only when they come into sight. No toolkit."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from ctxview.tui.text import Line
from ctxview.tui.things import Thing

DEEPEST = 4


class Page:
    """Rows for one width. `heights` are the lines each takes (None: one each); `header` stays on top."""

    def __init__(
        self,
        rows: int,
        draw: Callable[[int], Sequence[Line]],
        things: Callable[[int], Thing | None] = lambda _: None,
        heights: Sequence[int] | None = None,
        header: Sequence[Line] = (),
    ) -> None:
        self.rows = rows
        self.header = tuple(header)
        self._draw = draw
        self._things = things
        self._ends = list(accumulate(heights)) if heights is not None else None

    @classmethod
    def of(cls, lines: Iterable[Line], things: Sequence[Thing | None] = ()) -> Page:
        """A page whose lines are there already; `things` names what the first of them are about."""
        ready = list(lines)
        return cls(
            len(ready), lambda row: (ready[row],), lambda row: things[row] if row < len(things) else None
        )

    @classmethod
    def roomy(
        cls,
        rows: int,
        draw: Callable[[int, int], Sequence[Line]],
        things: Callable[[int], Thing | None],
        room: int,
        heights: Callable[[], Sequence[int]] | None = None,
        header: Sequence[Line] = (),
    ) -> Page:
        """Rows as deep as the room allows: few may take several lines each, many take as few as they can.

        `draw` gets a row and how many lines its text may take; `heights` are those of rows one line deep.
        """
        room -= len(header)
        for depth in range(DEEPEST, 1, -1) if rows <= room else ():
            drawn: list[Sequence[Line]] = []
            left = room
            while left >= 0 and len(drawn) < rows:
                drawn.append(draw(len(drawn), depth))
                left -= len(drawn[-1])
            if left >= 0:
                return cls(rows, drawn.__getitem__, things, [len(lines) for lines in drawn], header)
        return cls(rows, lambda row: draw(row, 1), things, heights() if heights is not None else None, header)

    @property
    def lines(self) -> int:
        return self.rows if self._ends is None else (self._ends[-1] if self._ends else 0)

    def thing(self, row: int) -> Thing | None:
        return self._things(row) if 0 <= row < self.rows else None

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

    def find(self, thing: Thing) -> int | None:
        return next((row for row in range(self.rows) if self._things(row) == thing), None)
