"""Which item may be seen where, and which was: a matrix of items and targets."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from ctxview.quick_dataclass import dataclass
from ctxview.state import Block, Sight
from ctxview.tui import sights
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, Span, fit, join, pad, plain, preview, shorten, show
from ctxview.tui.things import Kind, Thing
from ctxview.tui.tiers import tier_styles
from ctxview.tui.widgets.page import Page

GAP = 2
LEAST_ID = 14
LEAST_TEXT = 16


class VisibilityPane(PaneLines):
    pane = Pane.VISIBILITY

    def differs(self, before: Shown, after: Shown) -> bool:
        return before is not after

    def draw(self, shown: Shown, width: int, _: int) -> Page:
        rows = rows_of(shown)
        if not rows:
            return nothing(width, "Nothing here says which target may see what.")
        index = shown.index
        blocks = [index.block(row) for row in rows]
        columns = plan(width, blocks)
        styles = tier_styles(tier.name for tier in index.reading.state.tiers)

        def draw(row: int) -> tuple[Line]:
            block = blocks[row]
            first = row == 0 or blocks[row - 1].tier != block.tier
            tier = show(block.tier if first else "", f"bold {styles[block.tier]}")
            return (row_line(block, tier, columns, width),)

        header = (fit(sights.legend(), width), fit(_names(columns), width))
        return Page(len(rows), draw, lambda row: rows[row], header=header)

    def holds(self, shown: Shown) -> bool:
        return any(block.sights for block in shown.index.reading.state.blocks())

    def count(self, shown: Shown) -> str:
        blocks = [block for block in shown.index.reading.state.blocks() if block.sights]
        return f"{len(blocks)}×{len(sights.targets(blocks))}" if blocks else ""


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells. `names` are as long as there is room for; `worded` tells each sight in a word, too."""

    tier: int
    id: int
    targets: Sequence[str]
    names: Sequence[str]
    gap: int = GAP
    worded: bool = False

    @property
    def cells(self) -> list[int]:
        word = 2 + max(len(each) for each in sights.WORDS.values()) if self.worded else 1
        return [max(cell_len(name), word) for name in self.names]

    @property
    def taken(self) -> int:
        return self.tier + 1 + self.id + sum(each + self.gap for each in self.cells)


def rows_of(shown: Shown) -> list[Thing]:
    """The items that pass the filter, by tier."""
    passing = set(shown.blocks)
    things = shown.index.of(Kind.BLOCK)
    return [thing for thing in things if thing in passing and shown.index.block(thing).sights]


def plan(width: int, blocks: Sequence[Block]) -> Columns:
    """The longest names that leave room for the ids; where that is little, the rest gives way first."""
    targets = sights.targets(blocks)
    names = [plain(show(target)) for target in targets]
    tier = min(10, max(cell_len(block.tier) for block in blocks))
    id_ = min(28, max(cell_len(block.id) for block in blocks))
    least = min(id_, LEAST_ID)
    longest = max((len(name) for name in names), default=0)
    ways = ((tier, id_, GAP, 5), (tier, least, GAP, 5), (tier, least, 1, 4), (0, least, 1, 2))
    wished = [
        Columns(tier, id_, targets, names, worded=True),
        *(
            Columns(tiers, ids, targets, sights.short_names(names, length), gap)
            for tiers, ids, gap, shortest in ways
            for length in range(max(longest, shortest), shortest - 1, -1)
        ),
    ]
    return next((columns for columns in wished if columns.taken <= width), wished[-1])


def row_line(block: Block, tier: Line, columns: Columns, width: int) -> Line:
    """Tier, id, a sign for each target, and the beginning of the text where there is room for it."""
    name = show(shorten(block.id, columns.id), "strong")
    cells = [pad(tier, columns.tier), (Span(" "),), pad(name, columns.id)]
    for target, cell in zip(columns.targets, columns.cells, strict=True):
        sight = block.sights.get(target, Sight.UNKNOWN)
        sign: Line = (Span(sights.GLYPHS[sight], sights.style(sight)),)
        if columns.worded:
            sign = join(sign, (Span(sights.WORDS[sight], sights.style(sight)),), gap=" ")
            cells += [(Span(" " * columns.gap),), pad(sign, cell)]
        else:
            before = (cell - 1) // 2
            cells += [(Span(" " * (columns.gap + before)),), pad(sign, cell - before)]
    line = join(*cells)
    room = width - columns.taken - GAP
    if room < LEAST_TEXT:
        return fit(line, width)
    return join(line, (Span(" " * GAP),), fit(preview(block.text, "dim", limit=room * 2), room))


def _names(columns: Columns) -> Line:
    head = pad(show("tier", "dim"), columns.tier)
    cells: list[Line] = [head, (Span(" "),), pad(show("item", "dim"), columns.id)]
    for name, cell in zip(columns.names, columns.cells, strict=True):
        cells += [(Span(" " * columns.gap),), pad(show(name, "title"), cell)]
    return join(*cells)
