"""The visibility pane: a matrix of items and targets with how far each item came, and totals by target.

The filter `shown:TARGET` leaves what one target sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from rich.cells import cell_len

from ctxview.core.state import SHOWN_TO, Block, Reach
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.glyphs import tier_styles
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, Span, fit, join, pad, plain, preview, shorten, show
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemKind
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.pane import PaneWidget, empty_page

GAP = 2
LEAST_ID = 14
LEAST_TEXT = 16
MOST_NAMED = 8
"""Violations that are named above the matrix; the matrix has them all."""


class VisibilityPane(PaneWidget):
    pane = Pane.VISIBILITY

    def differs(self, before: ViewState, after: ViewState) -> bool:
        return before is not after

    def draw(self, view: ViewState, width: int, _: int) -> Page:
        index, passing = view.index, set(view.blocks)
        rows = [item for item in index.of(ItemKind.BLOCK) if item in passing and index.block(item).reach]
        if not rows:
            return empty_page(width, "This source does not record which target may see what.")
        blocks = [index.block(row) for row in rows]
        columns = visibility_columns(width, blocks)
        styles = tier_styles(index.reading.state.tiers)

        def draw(row: int) -> tuple[Line]:
            block = blocks[row]
            first = row == 0 or blocks[row - 1].tier != block.tier
            tier = show(block.tier if first else "", f"bold {styles[block.tier]}")
            return (visibility_row(block, tier, columns, width),)

        legend = join(glyphs.reach_legend(), show(f"  f shown:{columns.targets[0]} filters", "dim"))
        lines = (legend, *_violations(blocks), _names(columns), _totals(blocks, columns))
        header = tuple(fit(line, width) for line in lines)
        return Page(len(rows), draw, lambda row: rows[row], header=header)

    def count(self, view: ViewState) -> str:
        blocks = [block for block in view.index.reading.state.blocks() if block.reach]
        return f"{len(blocks)}×{len(glyphs.reach_targets(blocks))}" if blocks else ""


class VisibilityColumns(Struct, frozen=True):
    """Widths in cells. `names` are the shortened target names; `worded` adds a word to each sign."""

    tier: int
    id: int
    targets: Sequence[str]
    names: Sequence[str]
    gap: int = GAP
    worded: bool = False

    @property
    def cells(self) -> list[int]:
        word = 2 + max(len(each) for each in glyphs.REACH_WORDS.values()) if self.worded else 1
        return [max(cell_len(name), word) for name in self.names]

    @property
    def taken(self) -> int:
        return self.tier + 1 + self.id + sum(each + self.gap for each in self.cells)


def visibility_columns(width: int, blocks: Sequence[Block]) -> VisibilityColumns:
    """The columns with the longest target names that fit; spacing, ids and tier are reduced step by step."""
    targets = glyphs.reach_targets(blocks)
    names = [plain(show(target)) for target in targets]
    tier = min(10, max(cell_len(block.tier) for block in blocks))
    id_ = min(28, max(cell_len(block.id) for block in blocks))
    least = min(id_, LEAST_ID)
    longest = max((len(name) for name in names), default=0)
    reductions = ((tier, id_, GAP, 5), (tier, least, GAP, 5), (tier, least, 1, 4), (0, least, 1, 2))
    candidates = [
        VisibilityColumns(tier, id_, targets, names, worded=True),
        *(
            VisibilityColumns(tiers, ids, targets, glyphs.short_names(names, length), gap)
            for tiers, ids, gap, shortest in reductions
            for length in range(max(longest, shortest), shortest - 1, -1)
        ),
    ]
    return next((columns for columns in candidates if columns.taken <= width), candidates[-1])


def visibility_row(block: Block, tier: Line, columns: VisibilityColumns, width: int) -> Line:
    """Tier, id, a sign for each target, and the beginning of the text if there is room."""
    name = show(shorten(block.id, columns.id), "strong")
    cells = [pad(tier, columns.tier), (Span(" "),), pad(name, columns.id)]
    for target, cell in zip(columns.targets, columns.cells, strict=True):
        reach = block.reach.get(target, Reach.UNKNOWN)
        sign: Line = (Span(glyphs.REACH_GLYPHS[reach], glyphs.reach_style(reach)),)
        if columns.worded:
            sign = join(sign, (Span(glyphs.REACH_WORDS[reach], glyphs.reach_style(reach)),), gap=" ")
            cells += [(Span(" " * columns.gap),), pad(sign, cell)]
        else:
            before = (cell - 1) // 2
            cells += [(Span(" " * (columns.gap + before)),), pad(sign, cell - before)]
    line = join(*cells)
    room = width - columns.taken - GAP
    if room < LEAST_TEXT:
        return fit(line, width)
    return join(line, (Span(" " * GAP),), fit(preview(block.text, "dim", limit=room * 2), room))


def _violations(blocks: Sequence[Block]) -> list[Line]:
    """The first violations in words, on one line; no line without one."""
    found = [join(show(f"{each.id} "), words) for each in blocks if (words := glyphs.violation_text(each))]
    return [join(*found[:MOST_NAMED], gap="  ")] if found else []


def _names(columns: VisibilityColumns) -> Line:
    head = pad(show("tier", "dim"), columns.tier)
    cells: list[Line] = [head, (Span(" "),), pad(show("item", "dim"), columns.id)]
    for name, cell in zip(columns.names, columns.cells, strict=True):
        cells += [(Span(" " * columns.gap),), pad(show(name, "title"), cell)]
    return join(*cells)


def _totals(blocks: Sequence[Block], columns: VisibilityColumns) -> Line:
    """The number of items that each target is shown; thousands as `4k` where a column is narrow."""
    head = pad((), columns.tier)
    cells: list[Line] = [head, (Span(" "),), pad(show("shown", "dim"), columns.id)]
    shown = Counter(target for block in blocks for target, reach in block.reach.items() if reach in SHOWN_TO)
    for target, cell in zip(columns.targets, columns.cells, strict=True):
        whole, style = f"{shown[target]:,}", glyphs.reach_style(Reach.INJECTED) if shown[target] else "dim"
        number = whole if len(whole) <= cell else f"{shown[target] // 1000}k"
        before = 0 if columns.worded else (cell - len(number)) // 2
        cells += [(Span(" " * (columns.gap + before)),), pad(show(number, style), cell - before)]
    return join(*cells)
