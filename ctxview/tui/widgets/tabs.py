"""The titles of the panes: the tabs of a slot, as long as there is room for."""

from __future__ import annotations

from collections.abc import Mapping

from ctxview.tui.layout import Pane, Slot
from ctxview.tui.text import Line, Span, fit, join, width

SHORTEST = {pane: pane.short for pane in Pane}
SHORT = SHORTEST | {pane: str(pane) for pane in (Pane.MEMORY, Pane.DETAIL)}
"""Enough for the usual panes."""


def tabs(slot: Slot, counts: Mapping[Pane, str]) -> Line:
    """The names of a slot's panes: with counts where there is room, shorter where there is not."""
    bare = {pane: count for pane, count in counts.items() if pane is slot.shown}
    some = {pane: SHORT[pane] for pane in (Pane.SOURCES, Pane.REFERENCES)}
    attempts: list[tuple[Mapping[Pane, str], Mapping[Pane, str], str]] = [
        (counts, {}, "  "),
        (bare, {}, "  "),
        (bare, some, "  "),
        (bare, some, " "),
        (bare, SHORT, " "),
        (bare, SHORTEST, " "),
        ({}, SHORTEST, " "),
    ]
    for told, short, gap in attempts:
        line = _tabs(slot, told, short, gap)
        if width(line) <= slot.width - 6:
            return line
    return fit(_tabs(slot, bare, dict.fromkeys(Pane, ""), " "), slot.width - 6)


def _tabs(slot: Slot, counts: Mapping[Pane, str], short: Mapping[Pane, str], gap: str) -> Line:
    parts: list[Line] = []
    for pane in slot.panes:
        action = f"screen.command('pane_{pane.key.lower()}')"
        shown = pane is slot.shown
        name = pane if shown else short.get(pane, pane)
        count = counts.get(pane, "")
        parts.append(
            (
                Span(pane.key, "key" if shown else "dim", action),
                Span(f" {name}" if name else "", "title" if shown else "dim", action),
                Span(f" {count}" if count else "", "accent" if shown else "dim", action),
            )
        )
    return join((Span(" "),), join(*parts, gap=gap), (Span(" "),))
