"""The findings pane: all findings, the worst first. Enter goes to the item of a finding."""

from __future__ import annotations

from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.rows import finding_row
from ctxview.tui.drawing.text import Line, wrap_to
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

        def draw(row: int, depth: int) -> list[Line]:
            finding = view.index.finding(rows[row])
            return wrap_to(finding_row(finding), width, depth, " " * (len(finding.rule) + 3))

        return Page.roomy(len(rows), draw, lambda row: rows[row], room)

    def count(self, view: ViewState) -> str:
        return str(len(view.index.findings) or "") if view.index.reading.judged else "…"
