"""Context that is not there: what blocks on top, what is settled at the end."""

from __future__ import annotations

from ctxview.state import Gap
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.panes.rows import gap_badge, gap_order, is_settled
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, Span, join, preview, shorten, show, wrap_to
from ctxview.tui.things import Kind
from ctxview.tui.widgets.page import Page


class MissingPane(PaneLines):
    pane = Pane.MISSING

    def draw(self, shown: Shown, width: int, room: int) -> Page:
        named = [(thing, shown.index.value(thing)) for thing in shown.index.of(Kind.GAP)]
        rows = [(thing, gap) for thing, gap in named if isinstance(gap, Gap)]
        rows.sort(key=lambda row: gap_order(row[1]))
        if not rows:
            return nothing(width, "Nothing is known to be missing.")

        def draw(row: int, depth: int) -> list[Line]:
            return wrap_to(gap_line(rows[row][1]), width, depth, "  ")

        return Page.roomy(len(rows), draw, lambda row: rows[row][0], room)

    def count(self, shown: Shown) -> str:
        gaps = shown.index.reading.state.missing
        blocking = sum(gap_order(gap) == (False, 0) for gap in gaps)
        return f"{len(gaps)}, {blocking} blocking" if blocking else str(len(gaps) or "")


def gap_line(gap: Gap) -> Line:
    """How bad, which, what is asked, how it stands, what waits for it, and why it is so."""
    settled = is_settled(gap)
    status = () if gap.status == "open" else show(gap.status, "dim" if settled else "accent")
    blocks = join((Span("blocks ", "bad"),), show(", ".join(gap.blocks)))
    return join(
        gap_badge(gap),
        show(shorten(gap.id, 20), "dim" if settled else "strong"),
        status,
        preview(gap.question, "dim" if settled else ""),
        blocks if gap.blocks and not settled else (),
        preview(gap.why, "dim"),
        gap=" ",
    )
