"""What is open: a tree of sources with their revisions and how much is wrong with each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxview.findings import Severity
from ctxview.tui import glyphs
from ctxview.tui.layout import Pane
from ctxview.tui.panes.pane import PaneLines
from ctxview.tui.panes.rows import severity_columns, severity_counts
from ctxview.tui.session_view import Problem, SessionView, Shown, Total
from ctxview.tui.text import Line, Span, fit, join, pad, shorten, show, width, wrap_to
from ctxview.tui.things import Kind, Thing
from ctxview.tui.widgets.page import Page

if TYPE_CHECKING:
    from ctxview.formats import Source

ROOMY = 50
MOST_PROBLEMS = 200


class SourcesPane(PaneLines):
    pane = Pane.SOURCES

    def __init__(self, view: SessionView) -> None:
        super().__init__()
        self._view = view
        self._open: set[int] = set()

    def make_page(self, width: int) -> Page:
        if not self._view.sources and not self._view.problems:
            return super().make_page(width)
        return self._tree(width)

    def lines_wanted(self, width: int) -> int:
        return self._tree(width).lines

    def differs(self, before: Shown, after: Shown) -> bool:  # noqa: ARG002 - what is open tells, not what is shown
        return True

    def fold(self, *, open: bool) -> bool:  # noqa: A002 - what is done to a branch
        """Opens or closes the branch under the cursor; False when there is nothing to do."""
        thing = self.thing
        if thing is None or thing.kind not in {Kind.SOURCE, Kind.REVISION}:
            return False
        number = int(thing.name if thing.kind is Kind.SOURCE else thing.within)
        if open == (number in self._open) or len(self._view.sources[number].revisions) < 2:
            return False
        (self._open.add if open else self._open.discard)(number)
        if thing.kind is Kind.REVISION:
            self.go_to(Thing(Kind.SOURCE, thing.within))
        self.reset()
        return True

    def _tree(self, cells: int) -> Page:
        rows: list[Thing] = []
        for number, source in enumerate(self._view.sources):
            rows.append(Thing(Kind.SOURCE, str(number)))
            if number in self._open:
                newest_first = reversed(range(len(source.revisions)))
                rows += [Thing(Kind.REVISION, str(at), str(number)) for at in newest_first]
        problems = [
            line for problem in self._view.problems[:MOST_PROBLEMS] for line in _problem(problem, cells)
        ]

        def draw(row: int) -> tuple[Line]:
            return (self._line(rows[row], cells) if row < len(rows) else problems[row - len(rows)],)

        return Page(len(rows) + len(problems), draw, lambda row: rows[row] if row < len(rows) else None)

    def _line(self, row: Thing, cells: int) -> Line:
        if row.kind is Kind.SOURCE:
            return self._source_line(int(row.name), self._view.sources[int(row.name)], cells)
        number = int(row.within)
        return self._revision_line(number, int(row.name), self._view.sources[number], cells)

    def _source_line(self, number: int, source: Source, cells: int) -> Line:
        current = number == self._view.look.source
        fold = "▾" if number in self._open else "▸" if len(source.revisions) > 1 else " "
        totals = self._view.totals.get(number)
        counts = self._counts(totals, cells)
        if totals is None or totals.partly:
            counts = join(counts, (Span("…", "faint"),), gap=" ")
        elif not counts:
            counts = (Span("✓", "ok"),)
        room = cells - width(counts) - 3
        revisions = f"{len(source.revisions)} revisions" if len(source.revisions) > 1 else "1 revision"
        about = show(f"  {source.format} · {revisions}", "dim") if cells >= ROOMY else ()
        title = show(shorten(source.title, room - width(about)), "bold accent" if current else "")
        name = pad(join(title, about), room)
        return fit(join((Span(f"{fold} ", "dim"),), name, (Span(" "),), counts), cells)

    def _counts(self, total: Total | None, cells: int) -> Line:
        """In columns where there is room for them."""
        if total is None or not any(total.counts.values()):
            return ()
        if cells < ROOMY:
            return severity_counts(total.counts)
        known = [each.counts for each in self._view.totals.values()]
        digits = {each: len(str(max(counts[each] for counts in known))) for each in Severity}
        used = {each: digits[each] if any(counts[each] for counts in known) else 0 for each in Severity}
        return severity_columns(total.counts, used)

    def _revision_line(self, number: int, at: int, source: Source, cells: int) -> Line:
        revision = source.revisions[at]
        current = number == self._view.look.source and at == self._view.look.revision
        mark = Span("● " if current else "· ", "accent" if current else "faint")
        style, room = "accent" if current else "", cells - 4
        time = show(glyphs.moment(revision.time or ""), "dim")
        if width(show(revision.label)) + 2 + width(time) > room:
            time = ()
        label = pad(show(shorten(revision.label, room), style), room - width(time))
        return fit(join((Span("  "), mark), label, time), cells)

    def count(self, _: Shown) -> str:
        return str(len(self._view.sources))


def _problem(problem: Problem, cells: int) -> list[Line]:
    """A path that could not be opened; in one line where there is not much room."""
    line = join(
        (Span("✖ ", "bad"),),
        show(problem.path.name or str(problem.path), "strong"),
        show(f" {problem.reason}", "dim"),
    )
    return wrap_to(line, cells, 3, "  ")
