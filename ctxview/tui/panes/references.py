"""What points where, and whether it leads anywhere."""

from __future__ import annotations

from ctxview.state import Ref, RefStatus
from ctxview.tui import glyphs
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, Span, fit, join, pad, shorten, show
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


class ReferencesPane(PaneLines):
    pane = Pane.REFERENCES

    def draw(self, shown: Shown, width: int, _: int) -> Page:
        rows = shown.index.of(Kind.REF)
        if not rows:
            return nothing(width, "Nothing here points elsewhere.")
        kinds = min(10, max(len(row.within) for row in rows[:500]))

        def draw(row: int) -> tuple[Line]:
            ref = shown.index.value(rows[row])
            return (fit(ref_line(ref, kinds, width), width) if isinstance(ref, Ref) else (),)

        return Page(len(rows), draw, lambda row: rows[row])

    def count(self, shown: Shown) -> str:
        refs = shown.index.reading.state.refs
        broken = sum(1 for ref in refs if ref.status in {RefStatus.DANGLING, RefStatus.MISMATCH})
        return f"{len(refs)}, {broken} broken" if broken else str(len(refs)) if refs else ""


def ref_line(ref: Ref, kinds: int, cells: int) -> Line:
    ends = max(8, (cells - kinds - 26) // 2)
    size = f"{glyphs.short_count(ref.tokens)} tok" if ref.tokens is not None else ""
    if not size and ref.bytes is not None:
        size = f"{glyphs.short_count(ref.bytes)} B"
    users = f"×{len(ref.used_by)}" if len(ref.used_by) > 1 else ""
    return join(
        (Span(glyphs.REF[ref.status], STYLE[ref.status]),),
        pad(show(ref.kind, "rule"), kinds),
        show(shorten(ref.id, ends)),
        (Span("→", "faint"),),
        show(shorten(ref.target, ends), "code"),
        show(size, "dim"),
        show(users, "dim"),
        () if ref.status is RefStatus.RESOLVED else show(ref.status, STYLE[ref.status]),
        gap=" ",
    )
