"""Context that is not there, worst first as the format gives it."""

from __future__ import annotations

from ctxview.state import Gap
from ctxview.tui import glyphs
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.panes.rows import gap_severity
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, Span, join, preview, shorten, show, wrap_to
from ctxview.tui.things import Kind
from ctxview.tui.widgets.page import Page


class MissingPane(PaneLines):
    pane = Pane.MISSING

    def draw(self, shown: Shown, width: int, room: int) -> Page:
        rows = shown.index.of(Kind.GAP)
        if not rows:
            return nothing(width, "Nothing is known to be missing.")

        def draw(row: int, depth: int) -> list[Line]:
            gap = shown.index.value(rows[row])
            return wrap_to(gap_line(gap), width, depth, "  ") if isinstance(gap, Gap) else []

        return Page.roomy(len(rows), draw, lambda row: rows[row], room)

    def count(self, shown: Shown) -> str:
        return str(len(shown.index.reading.state.missing) or "")


def gap_line(gap: Gap) -> Line:
    severity = gap_severity(gap.severity)
    return join(
        (Span(glyphs.SEVERITY[severity], f"severity.{severity}"),),
        show(gap.severity, f"severity.{severity}"),
        show(shorten(gap.id, 20), "strong"),
        preview(gap.question, ""),
        preview(gap.why, "dim"),
        gap=" ",
    )
