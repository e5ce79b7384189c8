"""The references pane: all references with their status, the broken ones on top."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from rich.cells import cell_len

from ctxview.core.state import Ref, RefStatus
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, Span, fit, join, pad, plain, shorten, show, width
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemKind
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.pane import PaneWidget, empty_page

STYLE = {
    RefStatus.RESOLVED: "ok",
    RefStatus.DANGLING: "bad",
    RefStatus.ORPHAN: "warn",
    RefStatus.EXTERNAL: "warn",
    RefStatus.MISMATCH: "bad",
    RefStatus.STALE: "warn",
    RefStatus.REBUILDABLE: "warn",
    RefStatus.PLACEHOLDER: "warn",
    RefStatus.DUPLICATE: "warn",
    RefStatus.CONTRADICTION: "bad",
    RefStatus.UNKNOWN: "dim",
}

ROOMY = 60
"""From this width on, figures are shown and the arrows are aligned."""

TIGHT = 32
"""Below this width only the sign shows the status."""

BROKEN = {RefStatus.DANGLING, RefStatus.MISMATCH}
MEASURED = 500
"""References that are measured to find the widths of the columns."""

MOST_USERS = 20
LEAST = 6
"""Below this width the target is left out."""


class ReferencesPane(PaneWidget):
    pane = Pane.REFERENCES

    def draw(self, view: ViewState, width: int, _: int) -> Page:
        refs = [*zip(view.index.of(ItemKind.REF), view.index.reading.state.refs, strict=True)]
        if not view.index.reading.linked:
            return empty_page(width, "Following the references…")
        if not refs:
            return empty_page(width, "This source has no references.")
        refs.sort(key=lambda each: each[1].status not in (*BROKEN, RefStatus.CONTRADICTION))
        columns = ReferenceColumns.of([ref for _, ref in refs[:MEASURED]], width)
        return Page(len(refs), lambda row: (ref_line(refs[row][1], columns),), lambda row: refs[row][0])

    def count(self, view: ViewState) -> str:
        if not view.index.reading.linked:
            return "…"
        refs = view.index.reading.state.refs
        broken = sum(ref.status in BROKEN for ref in refs)
        opposed = sum(ref.status is RefStatus.CONTRADICTION for ref in refs)
        worst = f", {broken} broken" if broken else f", {opposed} contradictory" if opposed else ""
        return f"{len(refs)}{worst}" if refs else ""


class ReferenceColumns(Struct, frozen=True):
    """The width of each column in cells, 0 for no column."""

    cells: int
    kind: int
    id: int
    size: int
    uses: int
    status: int

    @classmethod
    def of(cls, refs: Sequence[Ref], cells: int) -> ReferenceColumns:
        """Columns as wide as their content; ids are shortened first."""
        roomy = cells >= ROOMY
        return cls(
            cells,
            kind=min(10 if roomy else 8, max(cell_len(ref.kind) for ref in refs)),
            id=min(max(8, cells // 4), max(cell_len(ref.id) for ref in refs)) if roomy else 0,
            size=max(cell_len(figures(ref)) for ref in refs) if roomy else 0,
            uses=max(cell_len(_uses(ref)) for ref in refs) if roomy else 0,
            status=max(cell_len(_status(ref)) for ref in refs) if roomy else 0,
        )


def ref_line(ref: Ref, columns: ReferenceColumns) -> Line:
    """Status, kind, id and target, size and users; a reference named after its target has one name."""
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
    if not plain(tail).strip():
        tail = ()
    room = columns.cells - width(head) - width(tail) - 1 - bool(tail)
    return join(head, pad(_edge(ref, columns.id, room), room), tail, gap=" ")


def _edge(ref: Ref, ids: int, room: int) -> Line:
    """The id and the target; for a reference named after its target, the id and its users."""
    itself = ref.names_itself
    other = ", ".join(ref.used_by[:MOST_USERS]) if itself else ref.target
    if not ids:
        ids = min(cell_len(ref.id), room if itself else max(room - 3 - cell_len(other), room // 2))
    left = room - ids - 3
    if not other or left < LEAST:
        return show(shorten(ref.id, room))
    if not itself and cell_len(other) > left:
        # A long target takes the blank cells of a short id.
        spare = max(0, ids - cell_len(ref.id))
        ids, left = ids - spare, left + spare
    name = pad(show(shorten(ref.id, ids)), ids)
    arrow: Line = (Span("←" if itself else "→", "faint"),)
    end = fit(show(other, "dim"), left) if itself else show(shorten(other, left), "code")
    return join(name, arrow, end, gap=" ")


def _status(ref: Ref) -> str:
    return "" if ref.status is RefStatus.RESOLVED else ref.status


def _uses(ref: Ref) -> str:
    return f"×{len(ref.used_by):,}" if len(ref.used_by) > 1 else ""


def figures(ref: Ref) -> str:
    """The size of the target, in few cells."""
    if ref.tokens is not None:
        return f"{glyphs.short_count(ref.tokens)} tok"
    return f"{glyphs.short_count(ref.bytes)} B" if ref.bytes is not None else ""
