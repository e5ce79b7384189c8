"""The X-ray pane: the literal text that the model is given, with tokens and tier of each line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from textual.strip import Strip

from ctxview.analysis.revisions.window import main_budget
from ctxview.core.findings import Finding
from ctxview.core.origin import Origin
from ctxview.core.state import Block, Budget
from ctxview.reports.xray import Xray, XrayRow, folded
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, Span
from ctxview.tui.drawing.xray import (
    WIDE_FROM,
    TierSigns,
    line_summary,
    row_height,
    row_lines,
    side_lines,
    side_width,
    text_map,
    tier_signs,
    xray_head,
)
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.drawn_lines import RAIL
from ctxview.tui.widgets.facts_pane import known_revisions
from ctxview.tui.widgets.pane import PaneWidget, empty_page
from ctxview.tui.widgets.strips import line_segments

LONGEST_WRAPPED = 200_000
"""Bytes of a text whose long lines are wrapped; in a longer one they are cut, so that it is drawn at once."""
LEAST_SUMMARY = 8
"""The height from which on the last line is about the line at the cursor."""
MOST_FINDINGS = 2


class XrayPane(PaneWidget):
    pane = Pane.XRAY
    framed = False

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(model)
        self._folds: bool | None = None
        """Whether the fields of blocks are folded; None decides by the width."""
        self._xray: Xray | None = None
        self._rows: Sequence[XrayRow] = ()
        self._signs: TierSigns = {}
        self._side = 0

    def differs(self, before: ViewState, after: ViewState) -> bool:
        return before.xray is not after.xray or before.index is not after.index

    def count(self, view: ViewState) -> str:
        made = view.xray.xray if view.xray is not None else None
        return f"{made.tokens:,} tok" if made is not None else ""

    def draw(self, view: ViewState, width: int, _: int) -> Page:
        result = view.xray
        self._xray, self._rows, self._side = None, (), 0
        if result is None or result.xray is None:
            return empty_page(width, result.problem if result is not None else "Putting the prompt together…")
        xray = self._xray = result.xray
        tiers = view.index.reading.state.tiers
        self._signs, self._side = tier_signs(xray, tiers), side_width(width)
        room = width - self._side - bool(self._side)
        folds = width >= WIDE_FROM if self._folds is None else self._folds
        rows = self._rows = tuple(folded(xray.rows)) if folds else xray.rows
        whole = xray.bytes <= LONGEST_WRAPPED
        return Page(
            len(rows),
            lambda row: row_lines(rows[row], self._signs, room, whole=whole),
            lambda row: self._item_of(rows[row]),
            [row_height(row, room) for row in rows] if whole else None,
            xray_head(xray, room, self._window(view)),
        )

    def _window(self, view: ViewState) -> Budget | None:
        """The budget of the Overview; a reply has none, it shows the prompt that it answers."""
        is_reply = known_revisions(view).names[view.key.revision].is_reply
        return None if is_reply else main_budget(view.index.reading.state.budgets)

    # -- what the keys do --------------------------------------------------------------------------------

    @property
    def row(self) -> XrayRow | None:
        """The row at the cursor."""
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    @property
    def origin(self) -> Origin | None:
        return self.row.origin if self.row is not None else None

    def fold(self) -> None:
        """Fold the fields of all blocks, or show them; the cursor stays at its block."""
        row = self.row
        is_folded = len(self._rows) != len(self._xray.rows) if self._xray is not None else False
        self._folds = not is_folded
        self.reset()
        if row is not None and row.block is not None:
            same = (
                at for at, each in enumerate(self._rows) if (each.block, each.tier) == (row.block, row.tier)
            )
            self.move_to(next(same, self.cursor))

    def step_block(self, step: int) -> None:
        """Go to the first line of the next or previous block."""
        firsts = [at for at, row in enumerate(self._rows) if row.is_first]
        beyond = [at for at in firsts if (at > self.cursor if step > 0 else at < self.cursor)]
        if beyond:
            self.move_to(beyond[0] if step > 0 else beyond[-1])

    def find_text(self, matches: re.Pattern[str], *, back: bool) -> bool:
        """Go to the next line of the text that matches; grey lines are not part of it."""
        found = [at for at, row in enumerate(self._rows) if row.cut is None and matches.search(row.text)]
        if not found:
            return False
        if back:
            self.move_to(next((at for at in reversed(found) if at < self.cursor), found[-1]))
        else:
            self.move_to(next((at for at in found if at > self.cursor), found[0]))
        return True

    # -- drawing -----------------------------------------------------------------------------------------

    def row_style(self, page: Page, row: int) -> str:
        if row == self.cursor and self._rows:
            return "cursor" if self.has_focus else "cursor.blur"
        return super().row_style(page, row)

    def page_changed(self, before: Page | None, now: Page) -> None:
        """Keep the line of the cursor, and not only its block, while the text is the same."""
        row = self.cursor
        super().page_changed(before, now)
        if before is not None and before.rows == now.rows and row != self.cursor:
            self.move_to(row)

    @property
    def _has_summary(self) -> bool:
        return self._xray is not None and not self._side and self.content_size.height >= LEAST_SUMMARY

    @property
    def _visible_lines(self) -> int:
        return max(1, super()._visible_lines - self._has_summary)

    def _item_of(self, row: XrayRow) -> ItemId | None:
        if row.block is None or self.view is None:
            return None
        item = ItemId(ItemKind.BLOCK, row.block, row.tier or "")
        return item if self.view.index.value(item) is not None else None

    def _lines(self, height: int) -> list[Strip]:
        """The text, with boxes beside it, or a line about the cursor below it where it is narrow."""
        strips = super()._lines(height)
        xray = self._xray
        if xray is None or not strips:
            return strips
        left, whole = self.gutter.left, self.outer_size.width
        strips = [*self._with_map(xray, strips)]
        if self._has_summary:
            summary = line_summary(xray, self.row, self._page_width)
            return [*strips[:-1], self._beside(strips[-1], summary, left, self._page_width, whole)]
        if not self._side:
            return strips
        lines = side_lines(xray, self._signs, self.row, list(self._facts()), self._side, height)
        at = left + self._page_width - self._side
        return [
            self._beside(strip, lines[y] if y < len(lines) else (), at, self._side, whole)
            for y, strip in enumerate(strips)
        ]

    def _with_map(self, xray: Xray, strips: Sequence[Strip]) -> Iterator[Strip]:
        """Draw the scroll rail as a map of the whole text in the colours of its tiers."""
        thumb, head = self._thumb(self.page), len(self.page.header)
        if thumb is None:
            yield from strips
            return
        styles = text_map(xray, self._signs, len(strips) - head)
        at, whole = self.gutter.left + self._page_width, self.outer_size.width
        for y, strip in enumerate(strips, -head):
            mark = Span("▐" if y in thumb else "▕", styles[y]) if y >= 0 else Span(" ")
            yield self._beside(strip, (mark,), at, RAIL, whole)

    def _beside(self, strip: Strip, line: Line, at: int, cells: int, whole: int) -> Strip:
        """Put a line over a part of a strip."""
        drawn = line_segments(line, cells, self.palette, self._base)
        for each in self.get_line_filters():
            drawn = each.apply(drawn, self.background_colors[1])
        return Strip.join([strip.crop(0, at), Strip(drawn, cells), strip.crop(at + cells, whole)])

    def _facts(self) -> Iterator[str]:
        """Sentences about the block at the cursor: its kind, and its findings."""
        item = self._item_of(self.row) if self.row is not None else None
        if item is None or self.view is None:
            return
        block = self.view.index.value(item)
        if isinstance(block, Block):
            yield " · ".join(filter(None, (block.tier, block.type, block.state)))
        findings = (self.view.index.value(each) for each in self.view.index.about(item)[:MOST_FINDINGS])
        for finding in findings:
            if isinstance(finding, Finding):
                yield f"{glyphs.SEVERITY[finding.severity]} {finding.rule} {finding.message}"
