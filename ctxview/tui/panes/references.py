"""What points where, and whether it leads anywhere: what is broken on top."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from ctxview.quick_dataclass import dataclass
from ctxview.state import Ref, RefStatus
from ctxview.tui import glyphs
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, Span, fit, join, pad, shorten, show, width
from ctxview.tui.things import Kind
from ctxview.tui.widgets.page import Page

STYLE = {
    RefStatus.RESOLVED: "ok",
    RefStatus.DANGLING: "bad",
    RefStatus.ORPHAN: "warn",
    RefStatus.EXTERNAL: "warn",
    RefStatus.MISMATCH: "bad",
    RefStatus.STALE: "warn",
    RefStatus.REBUILDABLE: "warn",
    RefStatus.PLACEHOLDER: "warn",
    RefStatus.UNKNOWN: "dim",
}


ROOMY = 60
"""From so many cells on, figures are shown and the arrows line up."""

TIGHT = 32
"""In fewer cells only the sign tells how a reference stands."""

BROKEN = {RefStatus.DANGLING, RefStatus.MISMATCH}
MEASURED = 500
"""So many references are looked at to find out how wide the columns have to be."""


class ReferencesPane(PaneLines):
    pane = Pane.REFERENCES

    def draw(self, shown: Shown, width: int, _: int) -> Page:
        found = [*zip(shown.index.of(Kind.REF), shown.index.reading.state.refs, strict=True)]
        if not found:
            return nothing(width, "Nothing here points elsewhere.")
        found.sort(key=lambda each: each[1].status not in BROKEN)
        columns = Columns.of([ref for _, ref in found[:MEASURED]], width)
        return Page(len(found), lambda row: (ref_line(found[row][1], columns),), lambda row: found[row][0])

    def count(self, shown: Shown) -> str:
        refs = shown.index.reading.state.refs
        broken = sum(ref.status in BROKEN for ref in refs)
        return f"{len(refs)}, {broken} broken" if broken else str(len(refs)) if refs else ""


@dataclass(frozen=True, slots=True)
class Columns:
    """How many cells each column of the list has; 0 for one that is left out."""

    cells: int
    kind: int
    id: int
    size: int
    uses: int
    status: int

    @classmethod
    def of(cls, refs: Sequence[Ref], cells: int) -> Columns:
        """As wide as what stands in them; the ids give way where there is little room."""
        roomy = cells >= ROOMY
        return cls(
            cells,
            kind=min(10 if roomy else 8, max(cell_len(ref.kind) for ref in refs)),
            id=min(max(8, cells // 4), max(cell_len(ref.id) for ref in refs)) if roomy else 0,
            size=max(cell_len(figures(ref)) for ref in refs) if roomy else 0,
            uses=max(cell_len(_uses(ref)) for ref in refs) if roomy else 0,
            status=max(cell_len(_status(ref)) for ref in refs) if roomy else 0,
        )


def ref_line(ref: Ref, columns: Columns) -> Line:
    """Status, kind, from where to where, how much it is, how many use it. What it is called is said once."""
    head = join(
        (Span(glyphs.REF[ref.status], STYLE[ref.status]),),
        pad(show(shorten(ref.kind, columns.kind), "rule"), columns.kind),
        gap=" ",
    )
    status = show(_status(ref), STYLE[ref.status]) if columns.cells >= TIGHT else ()
    tail = join(
        pad(show(figures(ref), "dim"), columns.size, right=True),
        pad(show(_uses(ref), "dim"), columns.uses, right=True),
        pad(status, columns.status) if columns.status else status,
        gap=" ",
    )
    room = columns.cells - width(head) - width(tail) - 1 - bool(tail)
    return join(head, pad(_way(ref, columns.id, room), room), tail, gap=" ")


def _way(ref: Ref, ids: int, room: int) -> Line:
    """The name and where it leads; of one that leads to what it is called after, who uses it."""
    itself = ref.names_itself
    other = ", ".join(ref.used_by[:MOST_USERS]) if itself else ref.target
    if not ids:
        ids = min(cell_len(ref.id), room if itself else max(room - 3 - cell_len(other), room // 2))
    left = room - ids - 3
    if not other or left < LEAST:
        return show(shorten(ref.id, room))
    name = pad(show(shorten(ref.id, ids)), ids)
    arrow: Line = (Span("←" if itself else "→", "faint"),)
    told = fit(show(other, "dim"), left) if itself else show(shorten(other, left), "code")
    return join(name, arrow, told, gap=" ")


MOST_USERS = 20
LEAST = 6
"""In fewer cells nothing can be told."""


def _status(ref: Ref) -> str:
    return "" if ref.status is RefStatus.RESOLVED else ref.status


def _uses(ref: Ref) -> str:
    return f"×{len(ref.used_by):,}" if len(ref.used_by) > 1 else ""


def figures(ref: Ref) -> str:
    """How much it leads to, in few cells."""
    if ref.tokens is not None:
        return f"{glyphs.short_count(ref.tokens)} tok"
    return f"{glyphs.short_count(ref.bytes)} B" if ref.bytes is not None else ""
