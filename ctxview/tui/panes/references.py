"""What points where, and whether it leads anywhere."""

from __future__ import annotations

from rich.cells import cell_len

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


class ReferencesPane(PaneLines):
    pane = Pane.REFERENCES

    def draw(self, shown: Shown, width: int, _: int) -> Page:
        rows = shown.index.of(Kind.REF)
        if not rows:
            return nothing(width, "Nothing here points elsewhere.")
        kinds = min(10, max(len(row.within) for row in rows[:500]))
        ids = min(max(8, width // 3), max(cell_len(row.name) for row in rows[:500]))

        def draw(row: int) -> tuple[Line]:
            ref = shown.index.value(rows[row])
            return (ref_line(ref, kinds, ids, width) if isinstance(ref, Ref) else (),)

        return Page(len(rows), draw, lambda row: rows[row])

    def count(self, shown: Shown) -> str:
        refs = shown.index.reading.state.refs
        broken = sum(1 for ref in refs if ref.status in {RefStatus.DANGLING, RefStatus.MISMATCH})
        return f"{len(refs)}, {broken} broken" if broken else str(len(refs)) if refs else ""


def ref_line(ref: Ref, kinds: int, ids: int, cells: int) -> Line:
    """Status, kind, from where to where, how much it is. The arrows line up where there is room for that."""
    head = join(
        (Span(glyphs.REF[ref.status], STYLE[ref.status]),), pad(show(ref.kind, "rule"), kinds), gap=" "
    )
    status = () if ref.status is RefStatus.RESOLVED else show(ref.status, STYLE[ref.status])
    uses = show(f"×{len(ref.used_by)}" if len(ref.used_by) > 1 else "", "dim")
    tail = join(show(_size(ref), "dim"), uses, status, gap=" ") if cells >= ROOMY else status
    room = cells - width(head) - width(tail) - len("  → ") - bool(tail)
    if cells >= ROOMY:
        name = pad(show(shorten(ref.id, ids)), ids)
    else:
        name = show(shorten(ref.id, max(room - cell_len(ref.target), min(room // 2, cell_len(ref.id)))))
    target = show(shorten(ref.target, max(4, room - width(name))), "code")
    return fit(join(head, name, (Span("→", "faint"),), target, tail, gap=" "), cells)


def _size(ref: Ref) -> str:
    if ref.tokens is not None:
        return f"{glyphs.short_count(ref.tokens)} tok"
    return f"{glyphs.short_count(ref.bytes)} B" if ref.bytes is not None else ""
