"""How a block came to be as it is, in a few lines: its figures over time, and when it was hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ctxview.state import Block
from ctxview.tui import glyphs
from ctxview.tui.session_view import Shown
from ctxview.tui.sparks import gauge_spark, sight_spark
from ctxview.tui.text import Line, Span, fit, join, show, width
from ctxview.tui.trends import Gauge, gauge_of

NAMES = 11
"""Cells of the name before a picture."""

CELLS = 12
WIDEST = 30

FIGURES: tuple[tuple[str, Callable[[Gauge], float | None]], ...] = (
    ("decay", lambda gauge: gauge.decay),
    ("confidence", lambda gauge: gauge.confidence),
)


def block_lines(block: Block, shown: Shown, cells: int) -> Iterator[Line]:
    """Decay and confidence, over time where they changed, and since when the block is hidden or shown."""
    gauges, at, labels = _past_of(block, shown)
    room = min(WIDEST, max(CELLS, cells - NAMES - 26))
    for name, value in FIGURES:
        now = value(gauge_of(block))
        if now is None:
            continue
        known = [share for gauge in gauges[: at + 1] if gauge and (share := value(gauge)) is not None]
        since = f"since {labels[0]}" if len(known) > 1 else ""
        picture = gauge_spark(gauges, at, room, value, name) or rail(now, name, CELLS)
        if len(set(known)) > 1:
            yield _row(name, picture, f"{known[0]:g} → {now:g}", since, cells)
        else:
            yield _row(name, picture, f"{now:g}", f"unchanged {since}" if since else "", cells)
    seen = [gauge.visible if gauge is not None else None for gauge in gauges]
    if {True, False} <= set(seen):
        yield _row("shown", sight_spark(gauges, at, room), _turned(seen[: at + 1], labels), "", cells)


def rail(value: float, ramp: str, cells: int) -> Line:
    """A value from 0 to 1 that has no past."""
    heavy, light = glyphs.rail(value, cells)
    return Span(heavy, f"{ramp}.{glyphs.step(value)}"), Span(light, "faint")


def _row(name: str, picture: Line, told: str, more: str, cells: int) -> Line:
    """What is said beside a picture; `more` of it where there is room, closer where there is little."""
    named, said = (Span(f"{name:<{NAMES}}", "dim"),), show(f" {told}")
    head = join(named, picture, said)
    if width(head) > cells and picture and not picture[-1].text.strip():
        head = join(named, picture[:-1], said)
    whole = join(head, show(more, "dim"), gap=" ")
    return whole if width(whole) <= cells else fit(head, cells)


def _past_of(block: Block, shown: Shown) -> tuple[list[Gauge | None], int, Sequence[str]]:
    """From the first moment on that knows the block."""
    past = shown.past
    if past is None:
        return [], 0, ()
    gauges = past.gauges(block)
    first = next((place for place, gauge in enumerate(gauges) if gauge is not None), 0)
    return gauges[first:], past.place - first, past.labels[first:]


def _turned(seen: Sequence[bool | None], labels: Sequence[str]) -> str:
    """Since when it is as it is now, as far as the moments tell."""
    now = seen[-1] if seen else None
    if now is None:
        return ""
    turn = len(seen)
    while turn and seen[turn - 1] in (now, None):
        turn -= 1
    if not turn:
        return "so far" if now else "not yet"
    again = "again " if True in seen[:turn] else ""
    return f"{again}since {labels[turn]}" if now else f"not since {labels[turn]}"
