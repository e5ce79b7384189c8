"""What is wrong, worst first. Enter goes to the thing a finding is about."""

from __future__ import annotations

from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.panes.rows import finding_row
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, wrap_to
from ctxview.tui.widgets.page import Page


class FindingsPane(PaneLines):
    pane = Pane.FINDINGS

    def draw(self, shown: Shown, width: int, room: int) -> Page:
        rows = shown.index.findings
        if not shown.index.reading.judged:
            return nothing(width, "Being checked…")
        if not rows:
            return nothing(width, "✓ No findings: every rule of this format is kept.")

        def draw(row: int, depth: int) -> list[Line]:
            finding = shown.index.finding(rows[row])
            return wrap_to(finding_row(finding), width, depth, " " * (len(finding.rule) + 3))

        return Page.roomy(len(rows), draw, lambda row: rows[row], room)

    def count(self, shown: Shown) -> str:
        return str(len(shown.index.findings) or "") if shown.index.reading.judged else "…"
