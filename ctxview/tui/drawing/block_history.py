"""The figures of one block over all revisions, for its detail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.core.figures import Figure
from ctxview.core.state import Block
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.glyphs import gauge_spark, ramp_of, visibility_spark
from ctxview.tui.drawing.text import Line, Span, fit, join, show, width
from ctxview.tui.model.trends import Gauge, gauge_of
from ctxview.tui.model.view_state import ViewState

NAMES = 11
"""Cells of the name before a spark line."""

CELLS = 12
WIDEST = 30


def block_lines(block: Block, view: ViewState, cells: int) -> Iterator[Line]:
    """The gauges, over time if they changed, and since when the block is hidden or shown."""
    gauges, at, labels = _past_of(block, view)
    room = min(WIDEST, max(CELLS, cells - NAMES - 26))
    for now in gauge_of(block).figures:
        known = [found.value for gauge in gauges[: at + 1] if gauge and (found := gauge.figure(now.name))]
        since = f"since {labels[0]}" if len(known) > 1 else ""
        picture = gauge_spark(gauges, at, room, now.name) or _value_rail(now, CELLS)
        value = f"{now.value:g}{now.unit}"
        if len(set(known)) > 1:
            yield _row(now.name, picture, f"{known[0]:g} → {value}", since, cells)
        else:
            yield _row(now.name, picture, value, f"unchanged {since}" if since else "", cells)
    visible = [gauge.visible if gauge is not None else None for gauge in gauges]
    if {True, False} <= set(visible):
        since = _visible_since(visible[: at + 1], labels)
        yield _row("shown", visibility_spark(gauges, at, room), since, "", cells)


def _value_rail(figure: Figure, cells: int) -> Line:
    """A figure without a past, as a rail."""
    heavy, light = glyphs.meter_rail(figure.share, cells)
    return Span(heavy, f"{ramp_of(figure)}.{glyphs.meter_step(figure.share)}"), Span(light, "faint")


def _row(name: str, picture: Line, text: str, more: str, cells: int) -> Line:
    """A figure with its picture and text, and `more` text if there is room."""
    label, value = (Span(f"{name:<{NAMES}}", "dim"),), show(f" {text}")
    head = join(label, picture, value)
    if width(head) > cells and picture and not picture[-1].text.strip():
        head = join(label, picture[:-1], value)
    whole = join(head, show(more, "dim"), gap=" ")
    return whole if width(whole) <= cells else fit(head, cells)


def _past_of(block: Block, view: ViewState) -> tuple[list[Gauge | None], int, Sequence[str]]:
    """Gauges, present position and labels, from the first revision that has the block."""
    past = view.past
    if past is None:
        return [], 0, ()
    gauges = past.gauges(block)
    first = next((place for place, gauge in enumerate(gauges) if gauge is not None), 0)
    return gauges[first:], past.place - first, past.labels[first:]


def _visible_since(visible: Sequence[bool | None], labels: Sequence[str]) -> str:
    """Since which revision the present visibility holds, as far as it is known."""
    now = visible[-1] if visible else None
    if now is None:
        return ""
    start = len(visible)
    while start and visible[start - 1] in (now, None):
        start -= 1
    if not start:
        return "so far" if now else "not yet"
    again = "again " if True in visible[:start] else ""
    return f"{again}since {labels[start]}" if now else f"hidden since {labels[start]}"
