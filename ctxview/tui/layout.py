"""Where each pane goes on a screen of a given size. Pure geometry: what a pane draws is its own business.

A slot is a rectangle that shows one pane and offers others as tabs in its title. Small screens have one slot
with everything in it; larger ones give the important panes slots of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

NARROW = 100
WIDE = 160
LOW = 24
TALL = 48
FRAME = 2


class Pane(StrEnum):
    """In the order of their digits; the last ones have letters."""

    SOURCES = "Sources"
    MEMORY = "Memory"
    TODO = "Todo"
    BUDGET = "Budget"
    REFERENCES = "References"
    MISSING = "Missing"
    FINDINGS = "Findings"
    DETAIL = "Detail"
    TEXT = "Text"
    HISTORY = "History"
    LIFECYCLE = "Lifecycle"
    VISIBILITY = "Visibility"

    @property
    def key(self) -> str:
        return "1234567890LV"[list(Pane).index(self)]


SOMETIMES = frozenset((Pane.TEXT, Pane.HISTORY, Pane.LIFECYCLE, Pane.VISIBILITY))
"""Panes that are there only when they hold something."""


@dataclass(frozen=True, slots=True)
class Slot:
    x: int
    y: int
    width: int
    height: int
    panes: tuple[Pane, ...]
    shown: Pane


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

    height: int
    groups: Sequence[Sequence[Pane]]


@dataclass(frozen=True, slots=True)
class _Column:
    width: int
    rows: Sequence[_Row]


def arrange(
    width: int, height: int, wishes: Wishes, fronts: Sequence[Pane] = (), zoomed: Pane | None = None
) -> tuple[Slot, ...]:
    """The slots of a screen. `fronts` are the panes last chosen, the latest first, shown in their slots."""
    slots: list[Slot] = []
    x = 0
    for column in _columns(width, height, wishes, zoomed):
        y = 0
        for row in column.rows:
            left = x
            weights = [3 if Pane.FINDINGS in panes else 2 for panes in row.groups]
            for number, panes in enumerate(row.groups):
                share = (x + column.width - left) * weights[number] // sum(weights[number:])
                front = next((pane for pane in fronts if pane in panes), panes[0])
                slots.append(Slot(left, y, share, row.height, tuple(panes), front))
                left += share
            y += row.height
        x += column.width
    return tuple(slots)


def _columns(width: int, height: int, wishes: Wishes, zoomed: Pane | None) -> list[_Column]:
    if zoomed is not None or width < NARROW or height < 12:
        tabs = [pane for pane in Pane if pane not in SOMETIMES or wishes.holds(pane)]
        return [_Column(width, [_Row(height, [tabs])])]
    several = wishes.sources > 1
    tree = 30 if several and width >= WIDE else 0
    side = 60 if width >= 190 else 50 if width >= WIDE else 42
    columns = [_Column(tree, [_Row(height, [[Pane.SOURCES]])])] if tree else []
    middle = width - side - tree
    main = Pane.TEXT if wishes.holds(Pane.TEXT) and not wishes.holds(Pane.MEMORY) else Pane.MEMORY
    rest = [Pane.FINDINGS, Pane.REFERENCES, Pane.MISSING]
    if main is Pane.TEXT:
        rest.append(Pane.MEMORY)
    elif wishes.holds(Pane.TEXT):
        rest.append(Pane.TEXT)
    rest += [pane for pane in (Pane.HISTORY,) if wishes.holds(pane)]
    mains = [main, *(pane for pane in (Pane.LIFECYCLE, Pane.VISIBILITY) if wishes.holds(pane))]
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
        return [*columns, _Column(middle, [_Row(height, [mains])]), _Column(side, [_Row(height, [others])])]
    above = (
        [_Row(wishes.height(Pane.SOURCES, 4, height // 4), [[Pane.SOURCES]])] if several and not tree else []
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
    own = [_Row(wishes.height(pane, 4, height // (2 + len(wide))), [[pane]]) for pane in wide]
    height -= sum(row.height for row in own)
    main, *tabs = (pane for pane in mains if pane not in wide)
    rest = [pane for pane in rest if pane not in wide]
    groups = _side_by_side(rest, wishes, width)
    needed = max(wishes.height(pane, 6, height // 2) for group in groups for pane in group)
    above = max(height - needed, wishes.height(main, 8, height * 2 // 3))
    below = max(height // 4, height - above)
    return _Column(width, [*top, _Row(height - below, [[main, *tabs]]), *own, _Row(below, groups)])


def _side(width: int, height: int, wishes: Wishes) -> _Column:
    """Budget and todo as high as they need to be, the rest for the detail, which is read most."""
    if not wishes.holds(Pane.BUDGET) or not wishes.holds(Pane.TODO):
        pair = [Pane.TODO, Pane.BUDGET] if wishes.holds(Pane.TODO) else [Pane.BUDGET, Pane.TODO]
        top = wishes.height(pair[0], 5, height * 3 // 8)
        return _Column(width, [_Row(top, [pair]), _Row(height - top, [[Pane.DETAIL]])])
    budget = wishes.height(Pane.BUDGET, 4, height * 3 // 8)
    todo = wishes.height(Pane.TODO, 4, height // 3 if height > 40 else height // 4)
    rows = [
        _Row(budget, [[Pane.BUDGET]]),
        _Row(todo, [[Pane.TODO]]),
        _Row(height - budget - todo, [[Pane.DETAIL]]),
    ]
    return _Column(width, rows)


def _side_by_side(rest: Sequence[Pane], wishes: Wishes, width: int) -> list[list[Pane]]:
    """Panes that hold something beside each other where there is room; the others as tabs of the last."""
    holding: list[Pane] = [pane for pane in rest if wishes.holds(pane) and pane is not Pane.SOURCES]
    own = holding[: max(1, width // 44)] or [rest[0]]
    groups: list[list[Pane]] = [[pane] for pane in own]
    groups[-1].extend(pane for pane in rest if pane not in own)
    return groups
