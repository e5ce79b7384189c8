"""From hit to hit: first through what is loaded, then through the history, then from the start again.

Says where to look next; the looking itself is `find`, which belongs into a thread.
"""

from __future__ import annotations

from ctxview.quick_dataclass import dataclass
from ctxview.state import END, Transcript
from ctxview.tui.loading import Cancelled
from ctxview.tui.search import Hit, Hits
from ctxview.tui.things import Kind, Thing, message


@dataclass(frozen=True, slots=True)
class Trail:
    """A search to be made in the history. `around`: from its other end too, when nothing else was found."""

    needle: str
    start: int
    back: bool
    around: bool


def trail(
    hits: Hits, hit: Hit | None, selected: Thing | None, history: Transcript | None, *, back: bool
) -> Trail | None:
    """Where in the history to look for the next hit; None when the next one is among the loaded."""
    if history is None or not hits.needle.strip():
        return None
    around = not hits.found
    current = hit.thing if hit is not None else selected
    if current is not None and current.kind is Kind.MESSAGE:
        row = int(current.name)
        # The first step of a search may stay where one is, every later one goes on.
        start = row if back or hit is None else END if row == -1 else row + 1
        return Trail(hits.needle, start, back, around)
    if hit is None and not back:
        return Trail(hits.needle, 0, back, around) if around else None
    edge = not hits.found or hit is None or hit == hits.found[0 if back else -1]
    return Trail(hits.needle, END if back else 0, back, around) if edge else None


def find(history: Transcript, trail: Trail, cancelled: Cancelled) -> Hit | None:
    """The hit of a trail."""
    row = history.find(trail.needle, trail.start, trail.back, cancelled)
    if row is None and trail.around and not cancelled():
        row = history.find(trail.needle, END if trail.back else 0, trail.back, cancelled)
    return Hit(message(row)) if row is not None else None
