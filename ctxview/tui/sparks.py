"""Figures over time as small pictures: one cell a moment, as high as the figure. Pure drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctxview.tui import glyphs
from ctxview.tui.text import Line, Span
from ctxview.tui.trends import Gauge

AFTER = "faint"
"""The style of what came after the moment that is looked at."""


def gauge_spark(
    gauges: Sequence[Gauge | None], at: int, cells: int, value: Callable[[Gauge], float | None], ramp: str
) -> Line:
    """A figure from 0 to 1 over time, in the colour of what is hidden where the block was hidden.

    Empty for one that would be drawn as a level line: most never change, and those that do are to be seen.
    """
    shares = [share for gauge in gauges if gauge and (share := value(gauge)) is not None]
    if len(set(map(glyphs.step, shares))) < 2:
        return ()

    def cell(place: int, gauge: Gauge | None) -> Span | None:
        share = value(gauge) if gauge is not None else None
        if gauge is None or share is None:
            return None
        own = "visible.no" if gauge.visible is False else f"{ramp}.{glyphs.step(share)}"
        return Span(glyphs.level(share), AFTER if place > at else own)

    return _in_cells([cell(place, gauge) for place, gauge in enumerate(gauges)], at, cells)


def sight_spark(gauges: Sequence[Gauge | None], at: int, cells: int) -> Line:
    """Whether the model was shown a block, over time."""
    signs = {True: Span(glyphs.YES, "visible.yes"), False: Span(glyphs.NO, "visible.no")}

    def cell(place: int, gauge: Gauge | None) -> Span | None:
        sign = signs.get(gauge.visible) if gauge is not None and gauge.visible is not None else None
        return Span(sign.text, AFTER) if sign is not None and place > at else sign

    return _in_cells([cell(place, gauge) for place, gauge in enumerate(gauges)], at, cells)


def use_spark(uses: Sequence[int | None], at: int, cells: int) -> Line:
    """A count over time, its most as high as a cell; empty where it would be a level line."""
    known = [each for each in uses if each is not None]
    most = max(known, default=0) or 1
    if len({glyphs.step(each / most) for each in known}) < 2:
        return ()
    spans = [
        None if each is None else Span(glyphs.level(each / most), AFTER if place > at else "budget.used")
        for place, each in enumerate(uses)
    ]
    return _in_cells(spans, at, cells)


def _in_cells(spans: Sequence[Span | None], at: int, cells: int) -> Line:
    """A cell each; where there are more than fit, of every stretch the present one or else the last known."""
    if len(spans) > cells > 0:
        ends = [(cell + 1) * len(spans) // cells for cell in range(cells)]
        stretches = zip([0, *ends[:-1]], ends, strict=True)
        spans = [_told(spans[start:end], at - start) for start, end in stretches]
    return _merged([span or Span(" ") for span in spans])


def _told(stretch: Sequence[Span | None], present: int) -> Span | None:
    if 0 <= present < len(stretch) and stretch[present] is not None:
        return stretch[present]
    return next((span for span in reversed(stretch) if span is not None), None)


def _merged(spans: Sequence[Span]) -> Line:
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].style == span.style:
            merged[-1] = Span(merged[-1].text + span.text, span.style)
        else:
            merged.append(span)
    return tuple(merged)
