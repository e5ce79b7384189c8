"""A budget as lines: the sum, a bar of used, free and reserved, the segments, and their changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from heapq import nlargest

from msgspec import Struct, field

from ctxview.core.state import Budget, Segment
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.boxes import filled
from ctxview.tui.drawing.columns import SEGMENT_STYLES
from ctxview.tui.drawing.glyphs import use_spark
from ctxview.tui.drawing.page import LazyLines
from ctxview.tui.drawing.text import Line, Span, fit, join, pad, shorten, show, styled, width, wrap

WIDEST_BAR = 30
LEAST_BAR = 8
LEAST_SPARK = 6
WIDEST_SPARK = 24
LEFT_OUT = "left out"
MEASURED = 20
"""The longest names that are measured to find the width of the column."""
MOST_BRIEF = 60
"""Segments of a budget in brief; the Detail pane has all."""


class BudgetHistory(Struct, frozen=True, dict=True):
    """Earlier values of a budget: at the revision it is compared with, and its use at all known revisions."""

    budget: Budget | None = None
    label: str = ""
    uses: Sequence[int | None] = ()
    at: int = 0

    @cached_property
    def parts(self) -> dict[str, int]:
        """Use by segment name, for names that only one segment has."""
        segments = self.budget.segments if self.budget is not None else ()
        names = Counter(each.name for each in segments)
        return {each.name: each.used for each in segments if names[each.name] == 1}

    def change(self, segment: Segment) -> Line:
        """The difference in use of `segment`; a new segment counts from 0."""
        return (
            budget_difference(segment.used, self.parts.get(segment.name, 0))
            if self.budget is not None
            else ()
        )


NO_HISTORY = BudgetHistory()
"""For a budget that is not compared with anything."""


class BudgetStyle(Struct, frozen=True):
    """The width in cells, and the style of each tier."""

    cells: int
    tiers: Mapping[str, str] = field(default_factory=dict)

    def style(self, name: str, at: int) -> str:
        return self.tiers.get(name) or SEGMENT_STYLES.get(name) or f"parts.{at % 8}"


def whole_lines(budget: Budget, drawing: BudgetStyle, earlier: BudgetHistory = NO_HISTORY) -> Sequence[Line]:
    """Everything about one budget: name and past use, the sum, the bar, its legend, and the segments."""
    before = earlier.budget.used if earlier.budget is not None else None
    changed = budget_difference(budget.used, before) if budget.used is not None else ()
    total = join(styled(_figures(budget), "bold"), changed, gap="  ")
    lines = [_name(budget, drawing.cells, earlier), fit(total, drawing.cells)]
    if bar := bar_line(budget, drawing):
        lines.append(bar)
    lines += filled(_legend(budget, earlier), drawing.cells)
    if budget.stage is not None:
        lines += wrap(show(f"▲ {budget.stage}", "bad"), drawing.cells)
    if budget.note is not None:
        lines += wrap(show(budget.note, "dim"), drawing.cells)
    return _with_parts(lines, budget, drawing, earlier)


def brief_lines(budgets: Sequence[Budget], drawing: BudgetStyle) -> list[list[Line]]:
    """Several budgets below each other: bars and figures in columns, the segments of each in a row."""
    figures = [_figures(each) for each in budgets]
    names = [show(each.target, "title") for each in budgets]
    widest = max(map(width, figures), default=0)
    name = min(max(map(width, names), default=0), max(8, drawing.cells // 3))
    bar = drawing.cells - widest - name - 2
    drawn = zip(budgets, names, figures, strict=True)
    if bar >= LEAST_BAR:
        heads = [
            [
                join(
                    pad(show(shorten(each.target, name), "title"), name),
                    pad(bar_line(each, BudgetStyle(bar, drawing.tiers)), bar),
                    pad(text, widest, right=True),
                    gap=" ",
                )
            ]
            for each, _, text in drawn
        ]
    else:
        heads = [_stacked(each, named, text, drawing) for each, named, text in drawn]
    return [[*head, *_in_a_row(each, drawing)] for head, each in zip(heads, budgets, strict=True)]


def bar_line(budget: Budget, drawing: BudgetStyle) -> Line:
    """Used segments, free space and reserve, in proportion; a budget over its limit is full and red."""
    if budget.limit is None or budget.used is None or budget.limit <= 0:
        return ()
    known = sum(max(0, segment.used) for segment in budget.segments)
    parts = [(budget.used, "budget.used", "█")]
    if budget.over:
        parts = [(budget.limit, "budget.used", "█"), (budget.over, "budget.over", "▓")]
    elif known <= budget.used:
        parts = [(each.used, drawing.style(each.name, at), "█") for at, each in enumerate(budget.segments)]
        parts.append((budget.used - known, "budget.used", "█"))
    parts.append((budget.free, "budget.free", "░"))
    parts.append((budget.reserve_left, "budget.reserved", "▒"))
    whole = sum(max(0, amount) for amount, _, _ in parts)
    spans: list[Span] = []
    done = at = 0
    for amount, style, glyph in parts:
        done += max(0, amount)
        end = round(done * drawing.cells / whole)
        # A small use still gets one cell.
        end = (
            max(end, 1)
            if budget.used > 0 and glyph == "█" and done == min(budget.used, budget.limit)
            else end
        )
        if end > at:
            spans.append(Span(glyph * (end - at), style))
            at = end
    return tuple(spans)


def budget_difference(now: int, before: int | None) -> Line:
    """The change from `before` to `now`; empty when they are equal or `before` is unknown."""
    if before is None or now == before:
        return ()
    more = now > before
    arrow = glyphs.MORE if more else glyphs.LESS
    return (Span(f"{arrow}{glyphs.count_text(abs(now - before))}", "warn" if more else "ok"),)


def _name(budget: Budget, cells: int, earlier: BudgetHistory) -> Line:
    """The target of the budget, with its use over time beside it."""
    name = show(budget.target, "title")
    known = [each for each in earlier.uses[: earlier.at + 1] if each is not None]
    room = cells - min(width(name), cells // 2) - 2
    if len(known) < 2 or room < LEAST_SPARK or len(set(known)) < 2:
        return fit(name, cells)
    spark = use_spark(earlier.uses, earlier.at, min(WIDEST_SPARK, room))
    text = show(f"{glyphs.short_count(known[0])} → {glyphs.short_count(known[-1])}", "dim")
    both = join(text, spark, gap=" ")
    past = both if width(both) <= room else spark or fit(text, room)
    return join(pad(name, cells - width(past) - 1), (Span(" "),), past)


def _figures(budget: Budget) -> Line:
    used = glyphs.count_text(budget.used) if budget.used is not None else "?"
    counted = budget.reported.startswith("reported") or all(segment.exact for segment in budget.segments)
    approximate = "" if counted else "≈"
    limit = f" / {glyphs.count_text(budget.limit)}" if budget.limit is not None else ""
    share = show(f"{budget.percent:>4}", "budget.over" if budget.over else "accent")
    return join(show(f"{approximate}{used}{limit} {budget.unit}"), share if budget.percent else (), gap=" ")


def _legend(budget: Budget, earlier: BudgetHistory) -> list[Line]:
    """What the free and reserved parts of the bar mean, and which revision the figures are compared with."""
    parts: list[Line] = []
    if budget.limit is not None and budget.used is not None:
        if budget.over:
            parts.append((Span(f"▓ over by {glyphs.count_text(budget.over)}", "budget.over"),))
        else:
            rest = glyphs.count_text(budget.free)
            word = "not in this file, or free" if budget.partial else "free"
            parts.append((Span("░ ", "budget.free"), Span(f"{word} {rest}", "dim")))
        if budget.reserved:
            reserved = glyphs.count_text(budget.reserved)
            parts.append((Span("▒ ", "budget.reserved"), Span(f"reserved {reserved}", "dim")))
    if budget.limit_from is not None:
        parts.append(show(f"limit {budget.limit_from}", "dim"))
    now = {each.name: each.used for each in budget.segments}
    if earlier.budget is not None and earlier.parts != now:
        parts.append(show(f"{glyphs.MORE}{glyphs.LESS} {earlier.label}", "dim"))
    return parts


def _with_parts(
    lines: Sequence[Line], budget: Budget, drawing: BudgetStyle, earlier: BudgetHistory
) -> Sequence[Line]:
    """Add name, bar, figure, limit and change of each segment, of segments that are gone, and of the cut."""
    current = {each.name for each in budget.segments}
    gone = (Segment(name, 0) for name, used in earlier.parts.items() if used and name not in current)
    segments = [*budget.segments, *gone]
    if budget.cut:
        segments.append(Segment(LEFT_OUT, budget.cut))
    if not segments:
        return lines
    names = Counter(each.name for each in segments)
    changes = [
        earlier.change(each) if each.name != LEFT_OUT and names[each.name] == 1 else () for each in segments
    ]
    used = [_amount(each) for each in segments]
    limits = [f"/{glyphs.count_text(each.limit)}" if each.limit is not None else "" for each in segments]
    cells = drawing.cells
    limit = max(map(len, limits))
    figure = max(map(len, used)) + limit
    change = max(map(width, changes))
    longest = nlargest(MEASURED, names, key=len)
    name = min(max(width(show(each)) for each in longest), max(8, cells * 2 // 5))
    room = min(WIDEST_BAR, cells - name - figure - 2 - (change + 1 if change else 0))
    most = None if all(each.limit for each in budget.segments) else max(each.used for each in segments)

    def draw(at: int) -> Line:
        each = segments[at]
        left_out = each.name == LEFT_OUT
        style = "hidden" if left_out else drawing.style(each.name, at)
        over = each.limit is not None and each.used > each.limit
        text = show(f"{used[at]}{limits[at]:<{limit}}", "bad" if over else "")
        bar = _share(each, most, room, "budget.over" if over else style)
        head = join(pad(show(shorten(each.name, name), style), name), bar, gap=" ")
        tail = join(pad(text, figure, right=True), pad(changes[at], change, right=True), gap=" ")
        return fit(join(pad(head, cells - width(tail) - 1), tail, gap=" "), cells)

    return LazyLines(lines, len(segments), draw)


def _share(segment: Segment, most: int | None, cells: int, style: str) -> Line:
    """A bar of the segment against `most`, the largest segment, or else against its own limit."""
    if cells < 1:
        return ()
    filled, rest = glyphs.meter_bar(segment.used / (most or segment.limit or 1), cells)
    return Span(filled, style), Span(rest)


def _amount(segment: Segment) -> str:
    return f"{'' if segment.exact else '≈'}{glyphs.count_text(segment.used)}"


def _stacked(budget: Budget, name: Line, figures: Line, drawing: BudgetStyle) -> list[Line]:
    """A budget with its bar below the figures, for a width without room beside them."""
    room = drawing.cells - width(figures) - 2
    bar = bar_line(budget, drawing)
    head = (
        [join(pad(name, room), figures, gap="  ")]
        if width(name) <= room
        else [fit(name, drawing.cells), pad(figures, drawing.cells, right=True)]
    )
    return [*head, bar] if bar else head


def _in_a_row(budget: Budget, drawing: BudgetStyle) -> list[Line]:
    if len(budget.segments) < 2 and not budget.cut:
        return []
    parts: list[Line] = []
    for at, each in enumerate(budget.segments[:MOST_BRIEF]):
        over = each.limit is not None and each.used > each.limit
        limit = f"/{glyphs.count_text(each.limit)}" if each.limit is not None else ""
        text = show(f"{_amount(each)}{limit}", "bad" if over else "")
        parts.append(join(show(each.name, drawing.style(each.name, at)), text, gap=" "))
    if (more := len(budget.segments) - MOST_BRIEF) > 0:
        parts.append(show(f"{more:,} more", "dim"))
    if budget.cut:
        parts.append(show(f"{LEFT_OUT} {glyphs.count_text(budget.cut)}", "hidden"))
    return wrap(join((Span("  "),), join(*parts, gap="  ")), drawing.cells, "  ")
