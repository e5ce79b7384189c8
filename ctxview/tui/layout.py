"""Where each pane goes on a screen of a given size. Pure geometry: what a pane draws is its own business.

A slot is a rectangle that shows one pane and offers others as tabs in its title. Small screens have one slot
with everything in it; larger ones give the important panes slots of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Self

from ctxview.quick_dataclass import dataclass
from ctxview.tui.sizes import LEAST_HEIGHT, LEAST_WIDTH, Sizes, fit

NARROW = 100
WIDE = 160
LOW = 24
TALL = 48
FRAME = 2


class Pane(StrEnum):
    """Every pane by its name: its key, a short name, what to say where it is not there, what it is about."""

    key: str
    short: str
    absent: str
    """Of a pane that is there only when it holds something; empty for all others."""
    about: str
    """For the help, where the name does not tell it."""

    SOURCES = "Sources", "1", "Src"
    MEMORY = "Memory", "2", "Mem"
    TODO = "Todo", "3", "Todo"
    BUDGET = "Budget", "4", "Budg"
    REFERENCES = "References", "5", "Refs"
    MISSING = "Missing", "6", "Miss"
    FINDINGS = "Findings", "7", "Find"
    DETAIL = "Detail", "8", "Det"
    TEXT = "Text", "9", "Text", "There is no text beside the state."
    HISTORY = "History", "0", "Hist", "This source has no messages."
    LIFECYCLE = (
        "Lifecycle",
        "L",
        "Life",
        "This source does not record the way from its sources to what was shown.",
        "the way from the sources to what was shown",
    )
    VISIBILITY = (
        "Visibility",
        "V",
        "Vis",
        "This source does not tell targets apart.",
        "which item may be seen where, and which was",
    )

    def __new__(cls, name: str, key: str, short: str, absent: str = "", about: str = "") -> Self:
        made = str.__new__(cls, name)
        made._value_ = name
        made.key, made.short, made.absent, made.about = key, short, absent, about
        return made


_MAIN = (Pane.LIFECYCLE, Pane.VISIBILITY)
"""Tabs beside the memory."""
_PLACED = {
    Pane.SOURCES,
    Pane.MEMORY,
    Pane.TODO,
    Pane.BUDGET,
    Pane.REFERENCES,
    Pane.MISSING,
    Pane.FINDINGS,
    Pane.DETAIL,
    Pane.TEXT,
    *_MAIN,
}
"""Panes that have their place on a large screen; all others stand below the memory."""


def size_class(width: int, height: int) -> str:
    """Terminals of one class get the same kind of layout, so a person's sizes fit all of them."""
    across = "narrow" if width < NARROW else "medium" if width < WIDE else "wide"
    return f"{across}, {'low' if height < LOW else 'middle' if height < TALL else 'tall'}"


@dataclass(frozen=True, slots=True)
class Slot:
    x: int
    y: int
    width: int
    height: int
    panes: tuple[Pane, ...]
    shown: Pane
    across: str = ""
    """What is made wider with it: what stands beside others in a row, else the column."""
    down: str = ""
    """The row that is made higher with it."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """How many lines each pane could use (0: it is empty), and how many sources there are."""

    lines: Mapping[Pane, int]
    sources: int = 1

    def height(self, pane: Pane, least: int, most: int) -> int:
        return max(least, min(most, self.lines.get(pane, 0) + FRAME))

    def holds(self, pane: Pane) -> bool:
        return self.lines.get(pane, 0) > 0


@dataclass(frozen=True, slots=True)
class _Row:
    """Slots side by side; each is a group of panes."""

    name: str
    height: int
    groups: Sequence[Sequence[Pane]]


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    width: int
    rows: Sequence[_Row]


def arrange(
    width: int,
    height: int,
    wishes: Wishes,
    fronts: Sequence[Pane] = (),
    zoomed: Pane | None = None,
    sizes: Sizes | None = None,
) -> tuple[Slot, ...]:
    """The slots of a screen. `fronts` are the panes last chosen, the latest first, shown in their slots.

    `sizes` are those a person made; the rest takes what is left.
    """
    sizes = sizes or Sizes()
    slots: list[Slot] = []
    columns = _columns(width, height, wishes, zoomed, sources=sizes.sources)
    x = 0
    for column, cells in zip(columns, _widths(columns, sizes), strict=True):
        y = 0
        for row, lines in zip(column.rows, _heights(column, sizes), strict=True):
            left = x
            for panes, share in zip(row.groups, _shares(row, cells, sizes), strict=True):
                front = next((pane for pane in fronts if pane in panes), panes[0])
                across = panes[0] if len(row.groups) > 1 else column.name
                slots.append(Slot(left, y, share, lines, tuple(panes), front, across, row.name))
                left += share
            y += lines
        x += cells
    return tuple(slots)


def _widths(columns: Sequence[_Column], sizes: Sizes) -> list[int]:
    return fit([(column.name, column.width) for column in columns], sizes.widths, LEAST_WIDTH)


def _heights(column: _Column, sizes: Sizes) -> list[int]:
    return fit([(row.name, row.height) for row in column.rows], sizes.heights, LEAST_HEIGHT)


def _shares(row: _Row, cells: int, sizes: Sizes) -> list[int]:
    """The widths of what stands side by side in a row."""
    weights = [3 if Pane.FINDINGS in panes else 2 for panes in row.groups]
    shares: list[tuple[str, int]] = []
    for number, panes in enumerate(row.groups):
        left = cells - sum(share for _, share in shares)
        shares.append((panes[0], left * weights[number] // sum(weights[number:])))
    return fit(shares, sizes.widths, LEAST_WIDTH)


def _columns(width: int, height: int, wishes: Wishes, zoomed: Pane | None, *, sources: bool) -> list[_Column]:
    if zoomed is not None or width < NARROW or height < 12:
        tabs = [pane for pane in Pane if not pane.absent or wishes.holds(pane)]
        return [_Column("all", width, [_Row("all", height, [tabs])])]
    several = sources and wishes.sources > 1
    tree = 30 if several and width >= WIDE else 0
    side = 60 if width >= 190 else 50 if width >= WIDE else 42
    columns = [_Column("tree", tree, [_Row("tree", height, [[Pane.SOURCES]])])] if tree else []
    middle = width - side - tree
    main = Pane.TEXT if wishes.holds(Pane.TEXT) and not wishes.holds(Pane.MEMORY) else Pane.MEMORY
    rest = [Pane.FINDINGS, Pane.REFERENCES, Pane.MISSING]
    if main is Pane.TEXT:
        rest.append(Pane.MEMORY)
    elif wishes.holds(Pane.TEXT):
        rest.append(Pane.TEXT)
    rest += [pane for pane in Pane if pane not in _PLACED and (wishes.holds(pane) or not pane.absent)]
    mains = [main, *(pane for pane in _MAIN if wishes.holds(pane))]
    if not several:
        rest.append(Pane.SOURCES)
    if height < LOW:
        others = [
            Pane.DETAIL,
            Pane.BUDGET,
            Pane.TODO,
            *rest,
            *([Pane.SOURCES] if several and not tree else []),
        ]
        return [
            *columns,
            _Column("middle", middle, [_Row("main", height, [mains])]),
            _Column("side", side, [_Row("side", height, [others])]),
        ]
    above = (
        [_Row("sources", wishes.height(Pane.SOURCES, 4, height // 4), [[Pane.SOURCES]])]
        if several and not tree
        else []
    )
    return [*columns, _middle(middle, height, wishes, mains, rest, above), _side(side, height, wishes)]


def _middle(
    width: int, height: int, wishes: Wishes, mains: Sequence[Pane], rest: Sequence[Pane], top: Sequence[_Row]
) -> _Column:
    """The main pane takes what it needs, up to two thirds; below it stands what else there is.

    On a tall screen the lifecycle and the history have the whole width for themselves: both are wide.
    """
    height -= sum(row.height for row in top)
    wide = [pane for pane in (Pane.LIFECYCLE, Pane.HISTORY) if pane in (*mains, *rest) and height >= TALL]
    own = [_Row(pane, wishes.height(pane, 4, height // (2 + len(wide))), [[pane]]) for pane in wide]
    height -= sum(row.height for row in own)
    main, *tabs = (pane for pane in mains if pane not in wide)
    rest = [pane for pane in rest if pane not in wide]
    groups = _side_by_side(rest, wishes, width)
    needed = max(wishes.height(pane, 6, height // 2) for group in groups for pane in group)
    above = max(height - needed, wishes.height(main, 8, height * 2 // 3))
    below = max(height // 4, height - above)
    rows = [*top, _Row("main", height - below, [[main, *tabs]]), *own, _Row("rest", below, groups)]
    return _Column("middle", width, rows)


def _side(width: int, height: int, wishes: Wishes) -> _Column:
    """Budget and todo as high as they need to be, the rest for the detail, which is read most."""
    if not wishes.holds(Pane.BUDGET) or not wishes.holds(Pane.TODO):
        pair = [Pane.TODO, Pane.BUDGET] if wishes.holds(Pane.TODO) else [Pane.BUDGET, Pane.TODO]
        top = wishes.height(pair[0], 5, height * 3 // 8)
        return _Column(
            "side", width, [_Row("budget", top, [pair]), _Row("detail", height - top, [[Pane.DETAIL]])]
        )
    budget = wishes.height(Pane.BUDGET, 4, height * 3 // 8)
    todo = wishes.height(Pane.TODO, 4, height // 3 if height > 40 else height // 4)
    rows = [
        _Row("budget", budget, [[Pane.BUDGET]]),
        _Row("todo", todo, [[Pane.TODO]]),
        _Row("detail", height - budget - todo, [[Pane.DETAIL]]),
    ]
    return _Column("side", width, rows)


def _side_by_side(rest: Sequence[Pane], wishes: Wishes, width: int) -> list[list[Pane]]:
    """Panes that hold something beside each other where there is room; the others as tabs of the last."""
    holding: list[Pane] = [pane for pane in rest if wishes.holds(pane) and pane is not Pane.SOURCES]
    own = holding[: max(1, width // 44)] or [rest[0]]
    groups: list[list[Pane]] = [[pane] for pane in own]
    groups[-1].extend(pane for pane in rest if pane not in own)
    return groups
