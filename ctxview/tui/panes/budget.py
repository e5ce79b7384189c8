"""Where the window went: one bar a budget, its parts below, and how each figure was found."""

from __future__ import annotations

from collections.abc import Mapping

from ctxview.state import Budget, Segment
from ctxview.tui import glyphs
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, Span, fit, join, pad, shorten, show, width, wrap
from ctxview.tui.things import Kind, Thing
from ctxview.tui.tiers import tier_styles
from ctxview.tui.widgets.page import Page


class BudgetPane(PaneLines):
    pane = Pane.BUDGET

    def draw(self, shown: Shown, width: int, _: int) -> Page:
        tiers = tier_styles(tier.name for tier in shown.index.reading.state.tiers)
        lines: list[Line] = trial_lines(shown, width)
        things: list[Thing | None] = [None] * len(lines)
        trial = len(lines)
        for thing in shown.index.of(Kind.BUDGET):
            budget = shown.index.value(thing)
            if isinstance(budget, Budget):
                drawn = budget_lines(budget, width, tiers, brief=len(lines) > trial)
                lines += drawn
                things += [thing] * len(drawn)
        if len(lines) == trial:
            counts = shown.index.reading.state.counts
            manner = "exact" if counts.tokens_exact else "estimate"
            taken = f"{glyphs.count(counts.tokens)} tokens ({manner}, {counts.estimator})"
            return nothing(width, "This source states no budget.", f"Its blocks take {taken}.")
        return Page.of(lines, things)

    def holds(self, shown: Shown) -> bool:
        return bool(shown.index.reading.state.budgets) or shown.look.budget is not None

    def count(self, shown: Shown) -> str:
        budget = next(iter(shown.index.reading.state.budgets), None)
        return _percent(budget) if budget is not None else ""


def trial_lines(shown: Shown, cells: int) -> list[Line]:
    """What is said while another budget is tried out, and whether anything here follows it."""
    tried = shown.look.budget
    if tried is None:
        return []
    follows = any((budget.limit or 0) == tried for budget in shown.index.reading.state.budgets)
    head = show(f" what if {tried:,} " if tried else " what if no limit ", "draft")
    told = "Esc goes back" if follows else "nothing here depends on a budget of one's own; Esc goes back"
    return wrap(join(head, show(told, "dim"), gap="  "), cells)


def budget_lines(budget: Budget, cells: int, tiers: Mapping[str, str], *, brief: bool = False) -> list[Line]:
    """The sum, the bar and the parts of one budget; `brief` tells the parts one after the other."""
    lines = _sum(budget, cells)
    styles = {segment.name: _style(segment.name, at, tiers) for at, segment in enumerate(budget.segments)}
    bar = _bar(budget, cells, styles)
    if bar:
        lines.append(bar)
    if brief:
        parts = [join(show(each.name, styles[each.name]), _figure(each), gap=" ") for each in budget.segments]
        return [*lines, *wrap(join(*parts, gap="  "), cells)]
    if legend := _legend(budget):
        lines.append(fit(legend, cells))
    name = min(max((len(segment.name) for segment in budget.segments), default=0), max(8, cells * 2 // 5))
    most = max((segment.used for segment in budget.segments), default=0)
    lines += [_segment(each, cells, name, most, styles[each.name]) for each in budget.segments]
    return lines


def _sum(budget: Budget, cells: int) -> list[Line]:
    """The figures with the target beside them, or above them where it does not fit."""
    used = glyphs.count(budget.used) if budget.used is not None else "?"
    approximate = "≈" if budget.segments and not all(segment.exact for segment in budget.segments) else ""
    limit = f" / {glyphs.count(budget.limit)}" if budget.limit is not None else ""
    figures = show(f"{approximate}{used}{limit} {budget.unit}", "strong")
    head = join(figures, show(_percent(budget), "budget.over" if budget.over else "accent"), gap="  ")
    target = show(budget.target, "dim")
    room = cells - width(head) - 2
    if width(target) <= room:
        return [join(head, pad(target, room, right=True), gap="  ")]
    return [fit(target, cells), fit(head, cells)]


def _bar(budget: Budget, cells: int, styles: dict[str, str]) -> Line:
    """Used parts, what is free and what is kept back, in proportion; too much is drawn as full and red."""
    if budget.limit is None or budget.used is None or budget.limit <= 0:
        return ()
    known = sum(max(0, segment.used) for segment in budget.segments)
    parts = [(budget.used, "budget.used", "█")]
    if budget.over:
        parts = [(budget.limit, "budget.used", "█"), (budget.over, "budget.over", "▓")]
    elif known <= budget.used:
        parts = [(segment.used, styles[segment.name], "█") for segment in budget.segments]
        parts.append((budget.used - known, "budget.used", "█"))
    parts.append((budget.limit - budget.used, "budget.free", "░"))
    parts.append((budget.reserved or 0, "budget.reserved", "▒"))
    whole = sum(max(0, amount) for amount, _, _ in parts)
    spans: list[Span] = []
    done = at = 0
    for amount, style, glyph in parts:
        done += max(0, amount)
        end = round(done * cells / whole)
        if end > at:
            spans.append(Span(glyph * (end - at), style))
            at = end
    return tuple(spans)


def _legend(budget: Budget) -> Line:
    if budget.limit is None or budget.used is None:
        return ()
    parts: list[Line] = []
    if budget.over:
        parts.append((Span(f"▓ over by {glyphs.count(budget.over)}", "budget.over"),))
    else:
        parts.append(
            (Span("░ ", "budget.free"), Span(f"free {glyphs.count(budget.limit - budget.used)}", "dim"))
        )
    if budget.reserved:
        parts.append(
            (Span("▒ ", "budget.reserved"), Span(f"reserved {glyphs.count(budget.reserved)}", "dim"))
        )
    return join(*parts, gap="   ")


def _segment(segment: Segment, cells: int, name: int, most: int, style: str) -> Line:
    """One part: its share as a small bar, its figure, its limit, and a mark when it is an estimate."""
    figure = _figure(segment)
    over = segment.limit is not None and segment.used > segment.limit
    wide = max(8, width(figure))
    room = max(4, min(30, cells - name - 2 - wide))
    share = segment.used / (segment.limit or most or 1)
    filled, rest = glyphs.bar(share, room)
    label = pad(show(shorten(segment.name, name), style), name)
    bar: Line = (Span(filled, "budget.over" if over else style), Span(rest))
    return fit(join(label, bar, pad(figure, cells - name - room - 2, right=True), gap=" "), cells)


def _figure(segment: Segment) -> Line:
    limit = f"/{glyphs.count(segment.limit)}" if segment.limit is not None else ""
    over = segment.limit is not None and segment.used > segment.limit
    approximate = "" if segment.exact else "≈"
    return show(f"{approximate}{glyphs.count(segment.used)}{limit}", "bad" if over else "")


def _percent(budget: Budget) -> str:
    if not budget.limit or budget.used is None:
        return ""
    share = budget.used / budget.limit
    return "<1%" if 0 < share < 0.01 else f"{share:.0%}"


def _style(name: str, at: int, tiers: Mapping[str, str]) -> str:
    return tiers.get(name, f"parts.{at % 8}")
