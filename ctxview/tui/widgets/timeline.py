"""The strip of revisions: a bead for each by its kind, the one that is shown filled. A click goes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxview.tui import glyphs
from ctxview.tui.revision_kinds import PLAIN, bead
from ctxview.tui.session_view import SessionView
from ctxview.tui.text import Line, Span, fit, join, show, width
from ctxview.tui.widgets.drawing import OneLine

if TYPE_CHECKING:
    from ctxview.formats import Revision


class Timeline(OneLine):
    DEFAULT_CSS = "Timeline { background: $panel; }"

    def __init__(self, view: SessionView) -> None:
        super().__init__(id="timeline")
        self._view = view
        self.display = False
        """Until there is more than one revision."""

    def make_line(self, width: int) -> Line:
        return timeline_line(self._view, width)


def timeline_line(view: SessionView, cells: int) -> Line:
    source = view.source
    if source is None:
        return ()
    last, now = view.last_revision, view.look.revision
    caption = _caption(view)
    room = max(10, min(cells - 10 - min(width(caption), cells // 2), max(2 * last + 1, cells // 3)))
    earlier = Span(" ◀ ", "link" if now > 0 else "faint", "screen.command('earlier')")
    later = Span(" ▶ ", "link" if now < last else "faint", "screen.command('later')")
    beads = _beads(source.revisions, last, now, room)
    return fit(
        join((earlier, Span("├", "faint")), beads, (Span("┤", "faint"), later, Span(" ")), caption), cells
    )


def _beads(revisions: Sequence[Revision], last: int, now: int, cells: int) -> Line:
    """Revisions spread over the cells; where several share a cell a click goes to the latest of them."""
    places: dict[int, int] = {}
    for number in (
        range(last + 1) if last < cells * 4 else (round(at * last / (cells - 1)) for at in range(cells))
    ):
        places[_place(number, last, cells)] = number
    current = _place(now, last, cells)
    spans: list[Span] = []
    for cell in range(cells):
        target = places.get(cell)
        if cell == current:
            spans.append(Span(bead(revisions[now].kind).filled, "accent", f"screen.go_to_revision({now})"))
        elif target is not None:
            look = bead(revisions[target].kind)
            style = look.style if cell < current else "dim"
            sign = look.hollow if last < cells else "•"
            spans.append(Span(sign, style, f"screen.go_to_revision({target})"))
        else:
            spans.append(Span("─", "faint"))
    return tuple(spans)


def _place(number: int, last: int, cells: int) -> int:
    return round(number * (cells - 1) / last) if last else 0


def _caption(view: SessionView) -> Line:
    source = view.source
    if source is None:
        return ()
    revision = source.revisions[view.look.revision]
    facts = [show(revision.label, "strong")]
    look = bead(revision.kind)
    if look is not PLAIN and revision.kind not in revision.label:
        facts.append(show(revision.kind, look.style))
    if revision.time:
        facts.append(show(glyphs.moment(revision.time), "dim"))
    if view.shown is not None:
        here = [
            event for event in view.shown.index.reading.state.timeline if event.revision == view.look.revision
        ]
        told = (event.label.removeprefix(revision.label).strip(" ·:,") for event in here[:3])
        facts += [show(label, "rule") for label in told if label]
    return join(*facts, gap=" · ")
