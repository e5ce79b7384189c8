"""The panes, and their arrangement in slots for any size of terminal. Pure figures, no toolkit.

Columns, rows and the groups side by side in a row have names. A person may set their sizes by name; `arrange`
chooses all other sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Self

from msgspec import Struct, field
from msgspec.structs import replace

LEAST_WIDTH = 20
LEAST_HEIGHT = 3
"""A frame, and a line to read."""


class PaneSizes(Struct, frozen=True):
    """Sizes that a person set, in cells and lines, by name. `sources`: whether their list has a slot."""

    widths: Mapping[str, int] = field(default_factory=dict)
    heights: Mapping[str, int] = field(default_factory=dict)
    sources: bool = True

    def wide(self, name: str, cells: int) -> PaneSizes:
        return replace(self, widths=_latest(self.widths, name, cells))

    def high(self, name: str, lines: int) -> PaneSizes:
        return replace(self, heights=_latest(self.heights, name, lines))


def _latest(sizes: Mapping[str, int], name: str, size: int) -> dict[str, int]:
    """Set a size and move its name to the end, since the order says which was set last."""
    return {**{each: known for each, known in sizes.items() if each != name}, name: size}


def fit_sizes(best: Sequence[tuple[str, int]], wanted: Mapping[str, int], least: int) -> list[int]:
    """The sizes of neighbours whose total stays the same: when one grows, the largest others shrink.

    Sizes that a person set shrink only when the others cannot, the one set first before the others.
    """
    total = sum(size for _, size in best)
    names = [name for name, _ in best]
    chosen = [names.index(name) for name in wanted if name in names]
    if not chosen or total < least * len(best):
        return [size for _, size in best]
    sizes = [max(least, wanted.get(name, size)) for name, size in best]
    free = sorted(set(range(len(best))) - set(chosen), key=lambda at: -sizes[at])
    for at in (*free, *chosen):
        sizes[at] -= min(max(0, sum(sizes) - total), sizes[at] - least)
    sizes[(*free, *chosen)[0]] += total - sum(sizes)
    return sizes


NARROW = 100
WIDE = 160
LOW = 24
TALL = 48
FRAME = 2


class Pane(StrEnum):
    """Every pane by its name, with its key, a short name, a notice when it is absent, and its subject."""

    key: str
    short: str
    absent: str
    """The notice for a pane that exists only when it has content; empty for a pane that always exists."""
    about: str
    """The subject, for the help; empty where the name says it."""

    SOURCES = "Sources", "1", "Src"
    MEMORY = "Memory", "2", "Mem"
    TODO = "Todo", "3", "Todo"
    BUDGET = "Budget", "4", "Budg"
    REFERENCES = "References", "5", "Refs"
    MISSING = "Missing", "6", "Miss"
    FINDINGS = "Findings", "7", "Find"
    DETAIL = "Detail", "8", "Det"
    TEXT = "Text", "9", "Text", "This source has no text."
    HISTORY = "History", "0", "Hist", "This source has no messages."
    LIFECYCLE = (
        "Lifecycle",
        "L",
        "Life",
        "This source does not record the flow from its sources to the model.",
        "the flow from the sources to what the model was shown",
    )
    VISIBILITY = (
        "Visibility",
        "V",
        "Vis",
        "This source does not distinguish targets.",
        "which target may see an item, and which one saw it",
    )

    OVERVIEW = (
        "Overview",
        "O",
        "Over",
        "There is no overview yet.",
        "what the model sees, how full its window is, and what is wrong",
    )
    SKYLINE = "Skyline", "T", "Sky", "There is no skyline yet.", "the window over time"
    REVISIONS = (
        "Revisions",
        "R",
        "Revs",
        "There is no log yet.",
        "what each revision changed, and its findings",
    )
    WHY = "Why", "W", "Why", "There is no answer yet.", "where the selected block went, when and by what"
    XRAY = "X-ray", "X", "X-ray", "There is no X-ray yet.", "the literal text that the model is given"

    def __new__(cls, name: str, key: str, short: str, absent: str = "", about: str = "") -> Self:
        made = str.__new__(cls, name)
        made._value_ = name
        made.key, made.short, made.absent, made.about = key, short, absent, about
        return made


_MAIN = (Pane.LIFECYCLE, Pane.VISIBILITY, Pane.XRAY)
"""Panes that are tabs beside the memory."""
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
"""Panes with a fixed place on a large screen; all others are below the memory."""


def size_class(width: int, height: int) -> str:
    """The class of a terminal size; terminals of one class have the same kind of layout and saved sizes."""
    across = "narrow" if width < NARROW else "medium" if width < WIDE else "wide"
    return f"{across}, {'low' if height < LOW else 'middle' if height < TALL else 'tall'}"


class Slot(Struct, frozen=True):
    x: int
    y: int
    width: int
    height: int
    panes: tuple[Pane, ...]
    shown: Pane
    across: str = ""
    """The name that is resized with its width: the group in a row of several, else the column."""
    down: str = ""
    """The name of the row that is resized with its height."""


class LayoutNeeds(Struct, frozen=True):
    """How many lines each pane can use (0 when it is empty), and how many sources there are."""

    lines: Mapping[Pane, int]
    sources: int = 1

    def height(self, pane: Pane, least: int, most: int) -> int:
        return max(least, min(most, self.lines.get(pane, 0) + FRAME))

    def holds(self, pane: Pane) -> bool:
        return self.lines.get(pane, 0) > 0


class _Row(Struct, frozen=True):
    """Slots side by side; each is a group of panes."""

    name: str
    height: int
    groups: Sequence[Sequence[Pane]]


class _Column(Struct, frozen=True):
    name: str
    width: int
    rows: Sequence[_Row]


def arrange(
    width: int,
    height: int,
    needs: LayoutNeeds,
    fronts: Sequence[Pane] = (),
    zoomed: Pane | None = None,
    sizes: PaneSizes | None = None,
) -> tuple[Slot, ...]:
    """The slots of a screen. `fronts` are the panes last chosen, the latest first; each is shown in its slot.

    `sizes` are those that a person set; the other slots share the rest.
    """
    sizes = sizes or PaneSizes()
    slots: list[Slot] = []
    columns = _columns(width, height, needs, zoomed, sources=sizes.sources)
    widths = fit_sizes([(column.name, column.width) for column in columns], sizes.widths, LEAST_WIDTH)
    x = 0
    for column, cells in zip(columns, widths, strict=True):
        heights = fit_sizes([(row.name, row.height) for row in column.rows], sizes.heights, LEAST_HEIGHT)
        y = 0
        for row, lines in zip(column.rows, heights, strict=True):
            left = x
            for panes, share in zip(row.groups, _shares(row, cells, sizes), strict=True):
                front = next((pane for pane in fronts if pane in panes), panes[0])
                across = panes[0] if len(row.groups) > 1 else column.name
                slots.append(Slot(left, y, share, lines, tuple(panes), front, across, row.name))
                left += share
            y += lines
        x += cells
    return tuple(slots)


def _shares(row: _Row, cells: int, sizes: PaneSizes) -> list[int]:
    """The widths of the groups in a row."""
    weights = [3 if Pane.FINDINGS in panes else 2 for panes in row.groups]
    shares: list[tuple[str, int]] = []
    for number, panes in enumerate(row.groups):
        left = cells - sum(share for _, share in shares)
        shares.append((panes[0], left * weights[number] // sum(weights[number:])))
    return fit_sizes(shares, sizes.widths, LEAST_WIDTH)


def _columns(
    width: int, height: int, needs: LayoutNeeds, zoomed: Pane | None, *, sources: bool
) -> list[_Column]:
    if zoomed is not None or width < NARROW or height < 12:
        tabs = [pane for pane in Pane if not pane.absent or needs.holds(pane)]
        return [_Column("all", width, [_Row("all", height, [tabs])])]
    several = sources and needs.sources > 1
    tree = 30 if several and width >= WIDE else 0
    side = 60 if width >= 190 else 50 if width >= WIDE else 42
    columns = [_Column("tree", tree, [_Row("tree", height, [[Pane.SOURCES]])])] if tree else []
    middle = width - side - tree
    main = Pane.TEXT if needs.holds(Pane.TEXT) and not needs.holds(Pane.MEMORY) else Pane.MEMORY
    rest = [Pane.FINDINGS, Pane.REFERENCES, Pane.MISSING]
    if main is Pane.TEXT:
        rest.append(Pane.MEMORY)
    elif needs.holds(Pane.TEXT):
        rest.append(Pane.TEXT)
    rest += [pane for pane in Pane if pane not in _PLACED and (needs.holds(pane) or not pane.absent)]
    mains = [main, *(pane for pane in _MAIN if needs.holds(pane))]
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
        [_Row("sources", needs.height(Pane.SOURCES, 4, height // 4), [[Pane.SOURCES]])]
        if several and not tree
        else []
    )
    return [*columns, _middle(middle, height, needs, mains, rest, above), _side(side, height, needs)]


def _middle(
    width: int,
    height: int,
    needs: LayoutNeeds,
    mains: Sequence[Pane],
    rest: Sequence[Pane],
    top: Sequence[_Row],
) -> _Column:
    """The middle column: the main pane gets what it needs, up to two thirds, and the rest is below it.

    On a tall screen the lifecycle and the history each have the whole width, since their lines are wide.
    """
    height -= sum(row.height for row in top)
    wide = [pane for pane in (Pane.LIFECYCLE, Pane.HISTORY) if pane in (*mains, *rest) and height >= TALL]
    own = [_Row(pane, needs.height(pane, 4, height // (2 + len(wide))), [[pane]]) for pane in wide]
    height -= sum(row.height for row in own)
    main, *tabs = (pane for pane in mains if pane not in wide)
    rest = [pane for pane in rest if pane not in wide]
    groups = _side_by_side(rest, needs, width)
    needed = max(needs.height(pane, 6, height // 2) for group in groups for pane in group)
    above = max(height - needed, needs.height(main, 8, height * 2 // 3))
    below = max(height // 4, height - above)
    rows = [*top, _Row("main", height - below, [[main, *tabs]]), *own, _Row("rest", below, groups)]
    return _Column("middle", width, rows)


def _side(width: int, height: int, needs: LayoutNeeds) -> _Column:
    """The side column: budget and todo as high as they need, the rest for the detail, which is read most."""
    if not needs.holds(Pane.BUDGET) or not needs.holds(Pane.TODO):
        pair = [Pane.TODO, Pane.BUDGET] if needs.holds(Pane.TODO) else [Pane.BUDGET, Pane.TODO]
        top = needs.height(pair[0], 5, height * 3 // 8)
        return _Column(
            "side", width, [_Row("budget", top, [pair]), _Row("detail", height - top, [[Pane.DETAIL]])]
        )
    budget = needs.height(Pane.BUDGET, 4, height * 3 // 8)
    todo = needs.height(Pane.TODO, 4, height // 3 if height > 40 else height // 4)
    rows = [
        _Row("budget", budget, [[Pane.BUDGET]]),
        _Row("todo", todo, [[Pane.TODO]]),
        _Row("detail", height - budget - todo, [[Pane.DETAIL]]),
    ]
    return _Column("side", width, rows)


def _side_by_side(rest: Sequence[Pane], needs: LayoutNeeds, width: int) -> list[list[Pane]]:
    """Groups for panes with content, as many as fit side by side; the others are tabs of the last group."""
    holding: list[Pane] = [pane for pane in rest if needs.holds(pane) and pane is not Pane.SOURCES]
    own = holding[: max(1, width // 44)] or [rest[0]]
    groups: list[list[Pane]] = [[pane] for pane in own]
    groups[-1].extend(pane for pane in rest if pane not in own)
    return groups
