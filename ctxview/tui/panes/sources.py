"""The sources pane: a tree of the open sources with their revisions and numbers of findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ctxview.analysis.wording import counted
from ctxview.core.findings import Severity
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.rows import severity_columns, severity_counts
from ctxview.tui.drawing.text import Line, Span, fit, join, pad, shorten, show, width, wrap_to
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.model.view_state import FindingTotals, OpenProblem, ViewState
from ctxview.tui.widgets.pane import PaneWidget

if TYPE_CHECKING:
    from ctxview.formats import Source


ROOMY = 50
MOST_PROBLEMS = 200


class SourcesPane(PaneWidget):
    pane = Pane.SOURCES

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(model)
        self._open: set[int] = set()

    def make_page(self, width: int) -> Page:
        if not self._model.sources and not self._model.problems:
            return super().make_page(width)
        return self._tree(width)

    def differs(self, before: ViewState, after: ViewState) -> bool:  # noqa: ARG002 - depends on the open sources, not on the view
        return True

    def fold(self, *, open: bool) -> bool:  # noqa: A002 - the plain word for a branch
        """Open or close the branch under the cursor; False when there is nothing to do."""
        item = self.item
        if item is None or item.kind not in {ItemKind.SOURCE, ItemKind.REVISION}:
            return False
        number = int(item.name if item.kind is ItemKind.SOURCE else item.within)
        if open == (number in self._open) or len(self._model.sources[number].revisions) < 2:
            return False
        (self._open.add if open else self._open.discard)(number)
        if item.kind is ItemKind.REVISION:
            self.go_to(ItemId(ItemKind.SOURCE, item.within))
        self.reset()
        return True

    def _tree(self, cells: int) -> Page:
        rows: list[ItemId] = []
        for number, source in enumerate(self._model.sources):
            rows.append(ItemId(ItemKind.SOURCE, str(number)))
            if number in self._open:
                newest_first = reversed(range(len(source.revisions)))
                rows += [ItemId(ItemKind.REVISION, str(at), str(number)) for at in newest_first]
        problems = [
            line for problem in self._model.problems[:MOST_PROBLEMS] for line in _problem(problem, cells)
        ]
        columns = self._columns()

        def draw(row: int) -> tuple[Line]:
            if row >= len(rows):
                return (problems[row - len(rows)],)
            item = rows[row]
            if item.kind is ItemKind.SOURCE:
                return (self._source_line(int(item.name), cells, columns),)
            number = int(item.within)
            return (self._revision_line(number, int(item.name), self._model.sources[number], cells),)

        return Page(len(rows) + len(problems), draw, lambda row: rows[row] if row < len(rows) else None)

    def _source_line(self, number: int, cells: int, columns: Mapping[Severity, int]) -> Line:
        source, current = self._model.sources[number], number == self._model.key.source
        totals = self._model.totals.get(number)
        # Another source is not asked: it may have to be read for that.
        revisions = len(source.revisions) if current else totals.revisions if totals is not None else 0
        fold = "▾" if number in self._open else "▸" if revisions > 1 else " "
        counts = _counts(totals, cells, columns)
        if totals is None or totals.partly:
            counts = join(counts, (Span("…", "faint"),), gap=" ")
        elif not counts:
            counts = (Span("✓", "ok"),)
        room = cells - width(counts) - 3
        known = f" · {counted(revisions, 'revision')}" if revisions else ""
        title = show(source.title, "bold accent" if current else "")
        about: Line = ()
        if cells >= ROOMY:
            # The name of a source needs the room more than the number of its revisions.
            has_room = width(title) + 2 + len(source.format) + len(known) <= room
            about = show(f"  {source.format}{known if has_room else ''}", "dim")
        name = pad(join(fit(title, room - width(about)), about), room)
        return fit(join((Span(f"{fold} ", "dim"),), name, (Span(" "),), counts), cells)

    def _columns(self) -> dict[Severity, int]:
        """The digits of the largest number of findings of each severity."""
        known = [each.counts for each in self._model.totals.values()]
        largest = {each: max((counts[each] for counts in known), default=0) for each in Severity}
        return {each: len(str(most)) if most else 0 for each, most in largest.items()}

    def _revision_line(self, number: int, at: int, source: Source, cells: int) -> Line:
        revision = source.revisions[at]
        current = number == self._model.key.source and at == self._model.key.revision
        mark = Span("● " if current else "· ", "accent" if current else "faint")
        style, room = "accent" if current else "", cells - 4
        time = show(glyphs.time_text(revision.time or ""), "dim")
        if width(show(revision.label)) + 2 + width(time) > room:
            time = ()
        label = pad(show(shorten(revision.label, room), style), room - width(time))
        return fit(join((Span("  "), mark), label, time), cells)

    def count(self, _: ViewState) -> str:
        return str(len(self._model.sources))


def _counts(total: FindingTotals | None, cells: int, columns: Mapping[Severity, int]) -> Line:
    """The numbers of findings, in columns if there is room."""
    if total is None or not any(total.counts.values()):
        return ()
    return severity_counts(total.counts) if cells < ROOMY else severity_columns(total.counts, columns)


def _problem(problem: OpenProblem, cells: int) -> list[Line]:
    """A path that could not be opened, with the reason, in at most three lines."""
    line = join(
        (Span("✖ ", "bad"),),
        show(problem.path.name or str(problem.path), "strong"),
        show(f" {problem.reason}", "dim"),
    )
    return wrap_to(line, cells, 3, "  ")
