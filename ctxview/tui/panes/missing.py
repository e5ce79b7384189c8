"""The missing pane: gaps grouped by what they block, the worst first and settled gaps last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ctxview.analysis.gaps import blocked_names, gap_is_settled, gap_order
from ctxview.core.state import Gap
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.rows import gap_badge
from ctxview.tui.drawing.text import Line, Span, join, pad, preview, shorten, show, width, wrap_to
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemKind
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.pane import PaneWidget, empty_page

ROOMY = 60
"""From this width on, ids and questions are in columns."""

LONGEST_ID = 20
NOTHING_BLOCKED = "needed by nothing"
SETTLED = "settled"

Urgency: TypeAlias = tuple[bool, int, bool, int]


class MissingPane(PaneWidget):
    pane = Pane.MISSING

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        named = [(item, view.index.value(item)) for item in view.index.of(ItemKind.GAP)]
        rows = [(item, gap) for item, gap in named if isinstance(gap, Gap)]
        if not rows:
            return empty_page(width, "No missing context is known.")
        urgency = group_urgency([gap for _, gap in rows])
        rows.sort(key=lambda row: (urgency[_group(row[1])], gap_order(row[1])))
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

    def count(self, view: ViewState) -> str:
        gaps = view.index.reading.state.missing
        blocking = sum(gap_order(gap) == (False, 0) for gap in gaps)
        return f"{len(gaps)}, {blocking} blocking" if blocking else str(len(gaps) or "")


def group_urgency(gaps: Iterable[Gap]) -> dict[str, Urgency]:
    """The groups of gaps with their urgency: that of the worst gap, then the order of occurrence."""
    worst: dict[str, Urgency] = {}
    for gap in sorted(gaps, key=gap_order):
        group = _group(gap)
        worst.setdefault(group, (*gap_order(gap), group == NOTHING_BLOCKED, len(worst)))
    return worst


def gap_line(gap: Gap, badges: int = 0, ids: int = 0) -> Line:
    """Severity, id, status, question and reason of a gap."""
    settled = gap_is_settled(gap)
    name = show(shorten(gap.id, LONGEST_ID), "dim" if settled else "strong")
    badge = gap_badge(gap)
    return join(
        pad(badge, max(badges, width(badge))),
        pad(name, max(ids, width(name))),
        () if gap.status == "open" else show(gap.status, "dim" if settled else "accent"),
        join(preview(gap.question, "dim" if settled else ""), preview(gap.why, "dim"), gap=" · "),
        gap=" ",
    )


def _group(gap: Gap) -> str:
    """The group of a gap: the names it blocks."""
    return SETTLED if gap_is_settled(gap) else " · ".join(blocked_names(gap)) or NOTHING_BLOCKED


def _headings(gaps: Sequence[Gap], cells: int) -> list[list[Line]]:
    """The heading above each gap that is the first of its group; no headings when no gap blocks anything."""
    groups = [_group(gap) for gap in gaps]
    if set(groups) == {NOTHING_BLOCKED}:
        return [[] for _ in gaps]
    return [
        _heading(group, cells) if row == 0 or groups[row - 1] != group else []
        for row, group in enumerate(groups)
    ]


def _heading(group: str, cells: int) -> list[Line]:
    if group in {NOTHING_BLOCKED, SETTLED}:
        return wrap_to(show(group, "dim"), cells, 1)
    return wrap_to(join((Span("needed by ", "bad"),), show(group, "title")), cells, 2, "          ")


def _columns(gaps: Sequence[Gap], cells: int) -> tuple[int, int]:
    """The widths of badges and ids if there is room for columns, else 0."""
    if cells < ROOMY:
        return 0, 0
    badges = max(width(gap_badge(gap)) for gap in gaps)
    return badges, max(width(show(shorten(gap.id, LONGEST_ID))) for gap in gaps)
