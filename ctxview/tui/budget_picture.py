"""A budget as a picture: sum, bar of used, free and kept back, parts, and what changed. Pure drawing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from ctxview.quick_dataclass import dataclass
from ctxview.state import Budget, Segment
from ctxview.tui import glyphs
from ctxview.tui.sparks import use_spark
from ctxview.tui.text import Line, Span, fit, join, pad, shorten, show, styled, width, wrap

WIDEST_BAR = 30
LEAST_BAR = 8
LEAST_SPARK = 6
WIDEST_SPARK = 24
LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a budget was before: at the moment it is compared with, and at all that are known."""

    budget: Budget | None = None
    label: str = ""
    uses: Sequence[int | None] = ()
    at: int = 0

    @property
    def parts(self) -> dict[str, int]:
        """By name, those that have one of their own."""
        segments = self.budget.segments if self.budget is not None else ()
        names = Counter(each.name for each in segments)
        return {each.name: each.used for each in segments if names[each.name] == 1}

    def change(self, segment: Segment) -> Line:
        """How a part differs; one that is new is all difference."""
        return difference(segment.used, self.parts.get(segment.name, 0)) if self.budget is not None else ()


NEVER = Earlier()
"""Nothing to compare with."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """In which width, and in which colours of tiers."""

    cells: int
    tiers: Mapping[str, str] = field(default_factory=dict)

    def style(self, name: str, at: int) -> str:
        return self.tiers.get(name, f"parts.{at % 8}")


def whole_lines(budget: Budget, drawing: Drawing, earlier: Earlier = NEVER) -> list[Line]:
    """All about one budget: what it is and how it went, the sum, the bar, what the bar shows, the parts."""
    lines = [_name(budget, drawing.cells, earlier), fit(_sum(budget, earlier), drawing.cells)]
    if bar := bar_line(budget, drawing):
        lines.append(bar)
    lines += _filled(_legend(budget, earlier), drawing.cells)
    return [*lines, *_parts(budget, drawing, earlier)]


def brief_lines(budgets: Sequence[Budget], drawing: Drawing) -> list[list[Line]]:
    """Several budgets one below the other, their bars and figures in columns, the parts in a row."""
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
                    pad(bar_line(each, Drawing(bar, drawing.tiers)), bar),
                    pad(told, widest, right=True),
                    gap=" ",
                )
            ]
            for each, _, told in drawn
        ]
    else:
        heads = [_stacked(each, named, told, drawing) for each, named, told in drawn]
    return [[*head, *_in_a_row(each, drawing)] for head, each in zip(heads, budgets, strict=True)]


def bar_line(budget: Budget, drawing: Drawing) -> Line:
    """Used parts, what is free and what is kept back, in proportion; too much is drawn as full and red."""
    if budget.limit is None or budget.used is None or budget.limit <= 0:
        return ()
    known = sum(max(0, segment.used) for segment in budget.segments)
    parts = [(budget.used, "budget.used", "█")]
    if budget.over:
        parts = [(budget.limit, "budget.used", "█"), (budget.over, "budget.over", "▓")]
    elif known <= budget.used:
        parts = [(each.used, drawing.style(each.name, at), "█") for at, each in enumerate(budget.segments)]
        parts.append((budget.used - known, "budget.used", "█"))
    parts.append((budget.limit - budget.used, "budget.free", "░"))
    parts.append((budget.reserved or 0, "budget.reserved", "▒"))
    whole = sum(max(0, amount) for amount, _, _ in parts)
    spans: list[Span] = []
    done = at = 0
    for amount, style, glyph in parts:
        done += max(0, amount)
        end = round(done * drawing.cells / whole)
        # However little is used, it is used.
        end = (
            max(end, 1)
            if budget.used > 0 and glyph == "█" and done == min(budget.used, budget.limit)
            else end
        )
        if end > at:
            spans.append(Span(glyph * (end - at), style))
            at = end
    return tuple(spans)


def percent(budget: Budget) -> str:
    if not budget.limit or budget.used is None:
        return ""
    share = budget.used / budget.limit
    return "<1%" if 0 < share < 0.01 else f"{share:.0%}"


def difference(now: int, before: int | None) -> Line:
    """How much more or less it is; nothing when it is the same, or nobody knows."""
    if before is None or now == before:
        return ()
    more = now > before
    arrow = glyphs.MORE if more else glyphs.LESS
    return (Span(f"{arrow}{glyphs.count(abs(now - before))}", "warn" if more else "ok"),)


# -- the sum -----------------------------------------------------------------------------------------------


def _name(budget: Budget, cells: int, earlier: Earlier) -> Line:
    """What the budget is for, and beside it how much was used over time."""
    name = show(budget.target, "title")
    known = [each for each in earlier.uses[: earlier.at + 1] if each is not None]
    room = cells - min(width(name), cells // 2) - 2
    if len(known) < 2 or room < LEAST_SPARK or len(set(known)) < 2:
        return fit(name, cells)
    spark = use_spark(earlier.uses, earlier.at, min(WIDEST_SPARK, room))
    told = show(f"{glyphs.short_count(known[0])} → {glyphs.short_count(known[-1])}", "dim")
    both = join(told, spark, gap=" ")
    past = both if width(both) <= room else spark or fit(told, room)
    return join(pad(name, cells - width(past) - 1), (Span(" "),), past)


def _sum(budget: Budget, earlier: Earlier) -> Line:
    before = earlier.budget.used if earlier.budget is not None else None
    changed = difference(budget.used, before) if budget.used is not None else ()
    return join(styled(_figures(budget), "bold"), changed, gap="  ")


def _figures(budget: Budget) -> Line:
    used = glyphs.count(budget.used) if budget.used is not None else "?"
    approximate = "≈" if budget.segments and not all(segment.exact for segment in budget.segments) else ""
    limit = f" / {glyphs.count(budget.limit)}" if budget.limit is not None else ""
    share = show(f"{percent(budget):>4}", "budget.over" if budget.over else "accent")
    return join(show(f"{approximate}{used}{limit} {budget.unit}"), share if percent(budget) else (), gap=" ")


def _legend(budget: Budget, earlier: Earlier) -> list[Line]:
    """What the rest of the bar is, and with what the figures are compared."""
    parts: list[Line] = []
    if budget.limit is not None and budget.used is not None:
        if budget.over:
            parts.append((Span(f"▓ over by {glyphs.count(budget.over)}", "budget.over"),))
        else:
            free = glyphs.count(budget.limit - budget.used)
            parts.append((Span("░ ", "budget.free"), Span(f"free {free}", "dim")))
        if budget.reserved:
            kept = glyphs.count(budget.reserved)
            parts.append((Span("▒ ", "budget.reserved"), Span(f"reserved {kept}", "dim")))
    if earlier.budget is not None and _differs(budget, earlier):
        parts.append(show(f"{glyphs.MORE}{glyphs.LESS} {earlier.label}", "dim"))
    return parts


def _filled(parts: Sequence[Line], cells: int) -> list[Line]:
    """As many parts to a line as fit, each kept together."""
    lines: list[Line] = []
    for part in parts:
        longer = join(lines[-1], part, gap="   ") if lines else part
        if lines and width(longer) <= cells:
            lines[-1] = longer
        else:
            lines.append(fit(part, cells))
    return lines


def _differs(budget: Budget, earlier: Earlier) -> bool:
    return earlier.parts != {each.name: each.used for each in budget.segments}


# -- the parts ---------------------------------------------------------------------------------------------


def _parts(budget: Budget, drawing: Drawing, earlier: Earlier) -> Iterator[Line]:
    """Name, bar, figure, limit and difference of each; then parts that are gone, and what was left out."""
    segments = [*budget.segments, *_gone(budget, earlier)]
    if budget.cut:
        segments.append(Segment(LEFT_OUT, budget.cut))
    if not segments:
        return
    names = Counter(each.name for each in segments)
    told_apart = [each.name != LEFT_OUT and names[each.name] == 1 for each in segments]
    changes = [
        earlier.change(each) if each_is else () for each, each_is in zip(segments, told_apart, strict=True)
    ]
    used = [_amount(each) for each in segments]
    limits = [f"/{glyphs.count(each.limit)}" if each.limit is not None else "" for each in segments]
    cells = drawing.cells
    figure = max(map(len, used)) + max(map(len, limits))
    change = max(map(width, changes))
    name = min(max(width(show(each.name)) for each in segments), max(8, cells * 2 // 5))
    room = min(WIDEST_BAR, cells - name - figure - 2 - (change + 1 if change else 0))
    most = None if all(each.limit for each in budget.segments) else max(each.used for each in segments)
    for at, each in enumerate(segments):
        left_out = each.name == LEFT_OUT
        style = "hidden" if left_out else drawing.style(each.name, at)
        over = each.limit is not None and each.used > each.limit
        told = show(f"{used[at]}{limits[at]:<{max(map(len, limits))}}", "bad" if over else "")
        bar = _share(each, most, room, "budget.over" if over else style)
        head = join(pad(show(shorten(each.name, name), style), name), bar, gap=" ")
        tail = join(pad(told, figure, right=True), pad(changes[at], change, right=True), gap=" ")
        yield fit(join(pad(head, cells - width(tail) - 1), tail, gap=" "), cells)


def _gone(budget: Budget, earlier: Earlier) -> list[Segment]:
    names = {each.name for each in budget.segments}
    return [Segment(name, 0) for name, used in earlier.parts.items() if used and name not in names]


def _share(segment: Segment, most: int | None, cells: int, style: str) -> Line:
    """Against its own limit where all have one, else against the largest part."""
    if cells < 1:
        return ()
    filled, rest = glyphs.bar(segment.used / (most or segment.limit or 1), cells)
    return Span(filled, style), Span(rest)


def _amount(segment: Segment) -> str:
    return f"{'' if segment.exact else '≈'}{glyphs.count(segment.used)}"


def _stacked(budget: Budget, name: Line, figures: Line, drawing: Drawing) -> list[Line]:
    """Where there is no room for a bar beside the figures it stands below them."""
    room = drawing.cells - width(figures) - 2
    bar = bar_line(budget, drawing)
    head = [join(pad(name, room), figures, gap="  ")] if width(name) <= room else [fit(name, drawing.cells)]
    if len(head) == 1 and width(name) > room:
        head.append(pad(figures, drawing.cells, right=True))
    return [*head, bar] if bar else head


def _in_a_row(budget: Budget, drawing: Drawing) -> list[Line]:
    if len(budget.segments) < 2 and not budget.cut:
        return []
    parts = [
        join(show(each.name, drawing.style(each.name, at)), _told(each), gap=" ")
        for at, each in enumerate(budget.segments)
    ]
    if budget.cut:
        parts.append(show(f"{LEFT_OUT} {glyphs.count(budget.cut)}", "hidden"))
    return wrap(join((Span("  "),), join(*parts, gap="  ")), drawing.cells, "  ")


def _told(segment: Segment) -> Line:
    over = segment.limit is not None and segment.used > segment.limit
    limit = f"/{glyphs.count(segment.limit)}" if segment.limit is not None else ""
    return show(f"{_amount(segment)}{limit}", "bad" if over else "")
