"""Context that is not there, by what waits for it: what blocks most on top, what is settled at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ctxview.state import Gap
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.panes.rows import gap_badge, gap_order, is_settled, what_waits
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, Span, join, pad, preview, shorten, show, width, wrap_to
from ctxview.tui.things import Kind
from ctxview.tui.widgets.page import Page

ROOMY = 60
"""From so many cells on, names and questions stand in columns."""

LONGEST_ID = 20
NOTHING_WAITS = "blocks nothing in particular"
SETTLED = "settled"

Urgency: TypeAlias = tuple[bool, int, bool, int]


class MissingPane(PaneLines):
    pane = Pane.MISSING

    def draw(self, shown: Shown, width: int, room: int) -> Page:
        named = [(thing, shown.index.value(thing)) for thing in shown.index.of(Kind.GAP)]
        rows = [(thing, gap) for thing, gap in named if isinstance(gap, Gap)]
        if not rows:
            return nothing(width, "Nothing is known to be missing.")
        worst = by_what_waits([gap for _, gap in rows])
        rows.sort(key=lambda row: (worst[_waiting(row[1])], gap_order(row[1])))
        gaps = [gap for _, gap in rows]
        headings = _headings(gaps, width)
        columns = _columns(gaps, width)
        indent = "  " if any(headings) else ""

        def draw(row: int, depth: int) -> list[Line]:
            line = join((Span(indent),), gap_line(gaps[row], *columns))
            return [*headings[row], *wrap_to(line, width, depth, f"{indent}  ")]

        def heights() -> list[int]:
            return [len(heading) + 1 for heading in headings]

        return Page.roomy(len(rows), draw, lambda row: rows[row][0], room, heights)

    def count(self, shown: Shown) -> str:
        gaps = shown.index.reading.state.missing
        blocking = sum(gap_order(gap) == (False, 0) for gap in gaps)
        return f"{len(gaps)}, {blocking} blocking" if blocking else str(len(gaps) or "")


def by_what_waits(gaps: Iterable[Gap]) -> dict[str, Urgency]:
    """What waits for any of the gaps, and how urgent that is: as the worst of its gaps, then as they come."""
    worst: dict[str, Urgency] = {}
    for gap in sorted(gaps, key=gap_order):
        waiting = _waiting(gap)
        worst.setdefault(waiting, (*gap_order(gap), waiting == NOTHING_WAITS, len(worst)))
    return worst


def gap_line(gap: Gap, badges: int = 0, ids: int = 0) -> Line:
    """How bad, which, how it stands, what is asked, and why it is so."""
    settled = is_settled(gap)
    name = show(shorten(gap.id, LONGEST_ID), "dim" if settled else "strong")
    badge = gap_badge(gap)
    return join(
        pad(badge, max(badges, width(badge))),
        pad(name, max(ids, width(name))),
        () if gap.status == "open" else show(gap.status, "dim" if settled else "accent"),
        join(preview(gap.question, "dim" if settled else ""), preview(gap.why, "dim"), gap=" · "),
        gap=" ",
    )


def _waiting(gap: Gap) -> str:
    """The group a gap belongs to."""
    return SETTLED if is_settled(gap) else " · ".join(what_waits(gap)) or NOTHING_WAITS


def _headings(gaps: Sequence[Gap], cells: int) -> list[list[Line]]:
    """What stands above each gap: what waits for it and for those below it. Nothing where nothing waits."""
    waiting = [_waiting(gap) for gap in gaps]
    if set(waiting) == {NOTHING_WAITS}:
        return [[] for _ in gaps]
    return [
        _heading(told, cells) if row == 0 or waiting[row - 1] != told else []
        for row, told in enumerate(waiting)
    ]


def _heading(waiting: str, cells: int) -> list[Line]:
    if waiting in {NOTHING_WAITS, SETTLED}:
        return wrap_to(show(waiting, "dim"), cells, 1)
    return wrap_to(join((Span("blocks ", "bad"),), show(waiting, "title")), cells, 2, "       ")


def _columns(gaps: Sequence[Gap], cells: int) -> tuple[int, int]:
    """How wide badges and names are where there is room to put them under each other."""
    if cells < ROOMY:
        return 0, 0
    badges = max(width(gap_badge(gap)) for gap in gaps)
    return badges, max(width(show(shorten(gap.id, LONGEST_ID))) for gap in gaps)
