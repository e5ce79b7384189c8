"""The memory pane: all blocks, grouped by tier under headings that fold."""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.analysis.gaps import gap_order
from ctxview.core.findings import Finding, Severity
from ctxview.core.state import Block
from ctxview.tui.drawing.glyphs import tier_styles
from ctxview.tui.drawing.memory_rows import (
    MemoryRow,
    TierHeading,
    block_row,
    heading_line,
    memory_columns,
)
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, Span, join, show
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import BOXED, Pane
from ctxview.tui.model.query import TIER_ORDER
from ctxview.tui.model.reading_index import ItemId, ItemKind, ReadingIndex
from ctxview.tui.model.view_state import ViewState, count_severities
from ctxview.tui.widgets.pane import PaneWidget, empty_page
from ctxview.tui.widgets.virtual_lines import VirtualLines

HUGE = 400
"""Rows from which on all tiers but the first start folded."""


class MemoryPane(PaneWidget):
    pane = Pane.MEMORY

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(model)
        self._folded: set[str] | None = None
        """The folded tiers; None until a person folds one."""
        self._rows: Sequence[ItemId | str] = ()
        """Blocks, and the names of tiers for their headings."""
        self._summed: tuple[ReadingIndex, Sequence[ItemId], tuple[int, int]] | None = None

    def differs(self, before: ViewState, after: ViewState) -> bool:
        if before.key.source != after.key.source:
            self._folded = None
        return before is not after

    # -- drawing ---------------------------------------------------------------------------------------------

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        self._rows = ()
        if not view.blocks:
            return _empty(view, width)
        index, tiers = view.index, view.index.reading.state.tiers
        groups = self._groups(view)
        folded = self._folded_tiers(view)
        rows = self._rows = [
            each
            for name, items in groups.items()
            for each in ((name,) if name else ()) + (() if name in folded else tuple(items))
        ]
        grouped = "" not in groups or len(tiers) == 1
        columns = memory_columns(width, [index.block(row) for row in view.blocks[:500]], grouped=grouped)
        styles = tier_styles(tiers)
        limits = {tier.name: tier.limits for tier in tiers}
        places = {tier.name: number for number, tier in enumerate(tiers)}

        def draw(row: int, depth: int) -> Sequence[Line]:
            item = rows[row]
            if isinstance(item, str):
                heading = _heading(view, item, groups[item], styles[item], is_open=item not in folded)
                return (heading_line(heading, columns, width, places[item]),)
            block = index.block(item)
            severities = [found.severity for found in _findings(view, item)]
            drawn = MemoryRow(
                block,
                styles[block.tier],
                view.changes.get(item),
                min(severities, key=list(Severity).index, default=None),
                limits.get(block.tier, ()),
            )
            return block_row(drawn, columns, depth)

        def items(row: int) -> ItemId | None:
            item = rows[row]
            return None if isinstance(item, str) else item

        header = [columns.header(self._model.sort, self._model.reverse)]
        if width < BOXED - 4:
            header.insert(0, join((Span(" "),), self.title_line()))
        return Page.roomy(len(rows), draw, items, room, header=header)

    def _groups(self, view: ViewState) -> dict[str, list[ItemId]]:
        """The rows of each tier as the model reads them, hidden ones last; one nameless group otherwise."""
        if (
            self._model.sort != TIER_ORDER
            or self._model.reverse
            or len({row.within for row in view.blocks}) < 2
        ):
            return {"": list(view.blocks)}
        groups: dict[str, list[ItemId]] = {tier.name: [] for tier in view.index.reading.state.tiers}
        for row in view.blocks:
            groups.setdefault(view.index.block(row).tier, []).append(row)
        if self._model.query:
            groups = {name: rows for name, rows in groups.items() if rows}
        for rows in groups.values():
            rows.sort(key=lambda row: _reading_place(view.index.block(row)))
        return groups

    def _folded_tiers(self, view: ViewState) -> set[str]:
        if self._model.query:
            return set()
        if self._folded is None and len(view.blocks) > HUGE:
            return {tier.name for tier in view.index.reading.state.tiers[1:]}
        return self._folded or set()

    def row_style(self, page: Page, row: int) -> str:
        if row == self.cursor and self._heading_at(row):
            return "cursor" if self.has_focus else "cursor.blur"
        return super().row_style(page, row)

    def title_line(self) -> Line:
        view = self.view
        if view is None:
            return super().title_line()
        listed, total = len(view.blocks), len(view.index.of(ItemKind.BLOCK))
        hidden, tokens = self._sums(view)
        of_all = f"{listed:,} of {total:,} blocks" if listed < total else f"{total:,} blocks"
        counter = view.index.reading.state.counts.estimator.replace("_base", "").partition(",")[0]
        # A filter needs the room more.
        by = f" ({counter})" if counter and not self._model.query else ""
        size = f" · {tokens:,} tok shown{by}" if tokens else ""
        answer = f"{listed - hidden:,} shown" + (f", {hidden:,} not shown" if hidden else "")
        query = self._model.query.text
        return join(
            show(f" {answer} ", "strong"),
            show(f"· {of_all}{size} ", "dim"),
            show(f"· filter: {query} ", "accent") if query else (),
        )

    def _sums(self, view: ViewState) -> tuple[int, int]:
        """The number of hidden blocks and the tokens of the others; the title is drawn after every job."""
        if self._summed is None or self._summed[0] is not view.index or self._summed[1] is not view.blocks:
            blocks = [view.index.block(row) for row in view.blocks]
            hidden = sum(block.visible is False for block in blocks)
            tokens = sum(block.tokens or 0 for block in blocks if block.visible is not False)
            self._summed = view.index, view.blocks, (hidden, tokens)
        return self._summed[2]

    def count(self, view: ViewState) -> str:
        total = len(view.index.of(ItemKind.BLOCK))
        return str(total) if len(view.blocks) == total else f"{len(view.blocks)} of {total}"

    # -- tiers -----------------------------------------------------------------------------------------------

    def _heading_at(self, row: int) -> str:
        """The name of the tier whose heading is at a row; empty at other rows."""
        name = self._rows[row] if row < len(self._rows) else ""
        return name if isinstance(name, str) else ""

    def fold(self, tier: str = "") -> None:
        """Fold or open a tier, without a name the one at the cursor."""
        view = self.view
        name = tier or self._heading_at(self.cursor) or (self.item.within if self.item is not None else "")
        if view is None or name not in self._rows:
            return
        self._folded = self._folded_tiers(view) ^ {name}
        self.reset()
        at = list(self._rows).index(name) if name in self._rows else 0
        self.move_to(at if name in self._folded else at + 1)

    def fold_all(self) -> None:
        """Fold all tiers, or open them when all are folded."""
        view = self.view
        if view is None:
            return
        names = {tier.name for tier in view.index.reading.state.tiers}
        self._folded = set() if names <= self._folded_tiers(view) else names
        self.reset()
        self.move_to(0 if self._folded else 1)

    def step_tier(self, step: int) -> bool:
        """Go to the next or previous tier; False when there is none."""
        at = [row for row in range(len(self._rows)) if self._heading_at(row)]
        here = max((number for number, row in enumerate(at) if row <= self.cursor), default=-1)
        if not 0 <= here + step < len(at):
            return False
        self.move_to(at[here + step])
        return True

    # -- cursor: it stops at the headings of folded tiers only -----------------------------------------------

    def move_to(self, row: int) -> None:
        super().move_to(self._beside_heading(row, forward=row >= self.cursor))

    def page_changed(self, before: Page | None, now: Page) -> None:
        super().page_changed(before, now)
        self.set_reactive(VirtualLines.cursor, self._beside_heading(self.cursor, forward=True))

    def go_to(self, item: ItemId) -> bool:
        """Go to a block; open its tier if it is folded."""
        if super().go_to(item):
            return True
        if self.view is None or item not in self.view.blocks:
            return False
        self._folded = self._folded_tiers(self.view) - {item.within}
        self.reset()
        return super().go_to(item)

    def _scroll_to_cursor(self) -> None:
        """Show the heading together with the first block of a tier."""
        super()._scroll_to_cursor()
        above = self.cursor - 1
        if above >= 0 and self._is_open_heading(above):
            line = self.page.lines_of(above).start
            if line < round(self.scroll_y):
                self.show_line(line)

    def _beside_heading(self, row: int, *, forward: bool) -> int:
        """The nearest row that is not the heading of an open tier."""
        last = len(self._rows) - 1
        row = min(max(row, 0), max(last, 0))
        while self._is_open_heading(row) and 0 < row < last + 1 and not forward:
            row -= 1
        while self._is_open_heading(row) and row < last:
            row += 1
        return row

    def _is_open_heading(self, row: int) -> bool:
        return bool(self._heading_at(row)) and row + 1 < len(self._rows) and not self._heading_at(row + 1)


def _heading(
    view: ViewState, name: str, items: Sequence[ItemId], style: str, *, is_open: bool
) -> TierHeading:
    blocks = [view.index.block(item) for item in items]
    shown = [block for block in blocks if block.visible is not False]
    tokens = sum(block.tokens or 0 for block in shown)
    findings = count_severities([found for item in items for found in _findings(view, item)])
    return TierHeading(name, style, is_open, len(shown), len(blocks), tokens or None, findings)


def _reading_place(block: Block) -> tuple[bool, bool, int]:
    return block.visible is False, block.rank is None, block.rank or 0


def _findings(view: ViewState, item: ItemId) -> list[Finding]:
    values = (view.index.value(each) for each in view.index.about(item))
    return [value for value in values if isinstance(value, Finding)]


def _empty(view: ViewState, width: int) -> Page:
    if view.index.of(ItemKind.BLOCK):
        return empty_page(width, "No block passes the filter.", "Press f to change it, Esc to clear it.")
    if not view.index.reading.state.tiers:
        lost = min(view.index.reading.state.missing, key=gap_order, default=None)
        reason = [f"{lost.question}: {lost.why}"] if lost is not None else []
        return empty_page(width, "This source has no memory blocks.", *reason)
    names = ", ".join(tier.name for tier in view.index.reading.state.tiers)
    sentences = [f"The memory is empty: no blocks in {names}."]
    if any(tier.new is not None for tier in view.index.reading.state.tiers):
        sentences.append("Press a to add a block.")
    return empty_page(width, *sentences)
