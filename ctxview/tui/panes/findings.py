"""The findings pane: all findings, the worst first. Enter goes to the item of a finding."""

from __future__ import annotations

from rich.cells import cell_len

from ctxview.reports.why import short_origin
from ctxview.tui.drawing.boxes import ends
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.rows import finding_row
from ctxview.tui.drawing.text import Line, plain, shorten, show, wrap_to
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.pane import PaneWidget, empty_page


class FindingsPane(PaneWidget):
    pane = Pane.FINDINGS

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        rows = view.index.findings
        if not view.index.reading.judged:
            return empty_page(width, "Checking…")
        if not rows:
            return empty_page(width, "✓ No findings: all rules of this format pass.")

        is_single = len({view.index.finding(row).origin.file for row in rows}) == 1

        def draw(row: int, depth: int) -> list[Line]:
            finding = view.index.finding(rows[row])
            place = short_origin(finding.origin)
            if is_single:
                place = f":{finding.origin.line}" if finding.origin.line is not None else ""
            right = show(shorten(place, width // 3), "link")
            cells = cell_len(plain(right))
            indent = " " * (len(finding.rule) + 3)
            first, *more = wrap_to(finding_row(finding), width - cells - 2 * bool(cells), depth, indent)
            return [ends(first, right, width), *more]

        return Page.roomy(len(rows), draw, lambda row: rows[row], room)

    def count(self, view: ViewState) -> str:
        return str(len(view.index.findings) or "") if view.index.reading.judged else "…"
