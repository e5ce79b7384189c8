"""The references screen: the reference graph around one node, to walk from node to node and back.

It follows the inspector below: when a file changes, the neighbours are updated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from textual.containers import Container
from textual.message import Message
from textual.widget import Widget

from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, Span, fit, join, plain, shorten, show, wrap
from ctxview.tui.drawing.text import width as line_width
from ctxview.tui.model.action_table import READ_ONLY_ACTIONS
from ctxview.tui.model.reading_index import ItemId, ReadingIndex, copy_text
from ctxview.tui.model.reference_graph import ReferenceEdge
from ctxview.tui.model.search import pattern
from ctxview.tui.panes.detail_text import detail_lines
from ctxview.tui.screens.action_screen import ActionScreen, bindings
from ctxview.tui.screens.inspector import InspectorScreen
from ctxview.tui.screens.reference_lines import edges_page, node_label, node_page, trail_line
from ctxview.tui.widgets.bars import KeyBar
from ctxview.tui.widgets.strips import BarLine, content
from ctxview.tui.widgets.virtual_lines import VirtualLines

KNOWN = READ_ONLY_ACTIONS | {
    *("left", "right", "next_pane", "previous_pane", "enter", "came_from", "origin", "screenshot"),
}
FIRST = ("left", "right", "enter", "came_from")
"""Actions that the key bar offers first."""
WIDE = 100
"""From this width on, the neighbours are left and right of the node; else above and below."""


async def index_with_graph(inspector: InspectorScreen) -> ReadingIndex | None:
    """The index of what the inspector shows, after its graph was built in a thread; None without one."""
    while (view := inspector.view) is not None:
        await inspector.jobs.result_of(getattr, view.index, "graph")
        # A new reading may have arrived meanwhile.
        if inspector.view is not None and inspector.view.index is view.index:
            return view.index
    return None


class ReferencesScreen(ActionScreen[ItemId | None]):
    """Return the item to show in its own pane, or None."""

    CSS_PATH = "references.tcss"
    BINDINGS = bindings(KNOWN)  # type: ignore[assignment]  # the toolkit asks for a list of several kinds
    HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (WIDE, "-beside")]  # noqa: RUF012 - the toolkit's shape
    known = KNOWN

    def __init__(self, inspector: InspectorScreen, index: ReadingIndex, node: ItemId) -> None:
        super().__init__()
        self._inspector = inspector
        self._index = index
        self._trail = [node]
        self._cursors: list[tuple[int, int]] = []
        """For each node of the trail except the last: the column and row of the cursor."""
        self._title = _Title(self)
        self._into = NeighbourColumn(self._into_page, "into")
        self._here = NeighbourColumn(self._here_page, "here")
        self._out = NeighbourColumn(self._out_page, "out")
        self._detail = _Detail(self._detail_page)

    @property
    def own_actions(self) -> Mapping[str, Callable[[], object]]:
        return {
            "left": lambda: self._turn(-1),
            "right": lambda: self._turn(1),
            "previous_pane": lambda: self._turn(-1, around=True),
            "next_pane": lambda: self._turn(1, around=True),
            "enter": self._enter,
            "came_from": self._back,
            "back": self._back,
            "origin": self._origin,
        }

    def compose(self) -> Iterator[Widget]:
        yield self._title
        with Container(id="around"):
            yield from self._columns
        yield self._detail
        yield KeyBar(KNOWN, FIRST)

    def on_mount(self) -> None:
        self._arrive(self._out if self._edges(self._out) else self._into)
        self.watch(self._inspector, "drawn", self._take_reading, init=False)

    @property
    def node(self) -> ItemId:
        return self._trail[-1]

    @property
    def chosen(self) -> ItemId:
        """The item under the cursor, or the node itself."""
        return self._column.item or self.node

    # -- moving through the graph ----------------------------------------------------------------------------

    def _enter(self) -> None:
        """Go to a neighbour; in the middle column, show the item in its own pane."""
        column, item = self._column, self._column.item
        if column is self._here:
            if item is None or self._index.value(item) is None:
                self.say("Only its name is known: no pane shows this item.")
            else:
                self.dismiss(item)
        elif item is None:
            self.say("No references lead on from here.")
        else:
            self._cursors.append((self._columns.index(column), column.cursor))
            self._trail.append(item)
            self._arrive(column if self._edges(column) else self._here)

    def _back(self) -> None:
        """Go to the previous node; from the first one, close the screen."""
        self.go_back_to(len(self._trail) - 2)

    def go_back_to(self, at: int) -> None:
        if at < 0:
            self.dismiss(None)
            return
        column, row = self._cursors[at]
        del self._trail[at + 1 :], self._cursors[at:]
        self._arrive(self._columns[column], row)

    def action_go_back_to(self, at: int) -> None:
        self.go_back_to(at)

    def _turn(self, step: int, *, around: bool = False) -> None:
        at = self._columns.index(self._column) + step
        self._columns[at % 3 if around else min(max(at, 0), 2)].focus()

    def on_neighbour_column_ended(self, event: NeighbourColumn.Ended) -> None:
        """Move on to the next column where the columns are above each other."""
        at = self._columns.index(self._column) + (1 if event.step > 0 else -1)
        if self.has_class("-stacked") and 0 <= at < len(self._columns):
            column = self._columns[at]
            column.move_end(last=event.step < 0)
            column.focus()

    def _origin(self) -> None:
        """Show the bytes of the chosen item, or of the reference that names it."""
        from ctxview.tui.screens.raw import open_origin

        edge = self._edge
        item = self._column.item
        place = self._index.origin(item) if item is not None else None
        if place is None and edge is not None and edge.declared_by is not None:
            place = self._index.origin(edge.declared_by)
        if place is None:
            self.say("This item has no known place in a file.")
        else:
            open_origin(self._inspector, place)

    # -- drawing ---------------------------------------------------------------------------------------------

    @property
    def _columns(self) -> tuple[NeighbourColumn, NeighbourColumn, NeighbourColumn]:
        return self._into, self._here, self._out

    @property
    def _column(self) -> NeighbourColumn:
        return self.focused if isinstance(self.focused, NeighbourColumn) else self._here

    @property
    def _edge(self) -> ReferenceEdge | None:
        """The edge to the chosen item."""
        edges = self._edges(self._column)
        return edges[self._column.cursor] if self._column.cursor < len(edges) else None

    def _edges(self, column: NeighbourColumn) -> Sequence[ReferenceEdge]:
        graph = self._index.graph
        if column is self._into:
            return graph.into(self.node)
        return graph.out_of(self.node) if column is self._out else ()

    def _arrive(self, column: NeighbourColumn, row: int = 0) -> None:
        for each in self._columns:
            each.show(row if each is column else 0)
            each.set_class(each is not self._here and not self._edges(each), "-empty")
        into, out = len(self._edges(self._into)), len(self._edges(self._out))
        self._into.border_title = content(show(f" {into:,} refer{'s' * (into == 1)} to it " if into else ""))
        self._out.border_title = content(show(f" it refers to {out:,} " if out else ""))
        self._here.border_title = content(show(f" {shorten(node_label(self.node, self._index), 40)} "))
        self._title.refresh()
        column.focus()
        self._update_detail()

    def _update_detail(self) -> None:
        self._detail.border_title = content(show(f" {shorten(node_label(self.chosen, self._index), 60)} "))
        self._detail.reset()
        self._detail.show_line(0)

    @property
    def is_complete(self) -> bool:
        """Whether the references are known; until then only links between records are shown."""
        return self._index.reading.linked

    def _take_reading(self) -> None:
        """Take a new reading from the inspector, when its graph is built."""
        view = self._inspector.view
        if view is not None and view.index is not self._index:
            self.run_worker(self._take_graph(), name="links", group="links", exclusive=True)

    async def _take_graph(self) -> None:
        index = await index_with_graph(self._inspector)
        if index is not None and index is not self._index:
            self._index = index
            self._arrive(self._column, self._column.cursor)

    def on_virtual_lines_moved(self, event: VirtualLines.Moved) -> None:
        if event.widget is self.focused:
            self._update_detail()

    def on_descendant_focus(self) -> None:
        self._update_detail()

    async def on_virtual_lines_chosen(self) -> None:
        await self.action_command("enter")

    def _into_page(self, width: int) -> Page:
        return edges_page(self._edges(self._into), self._index, width, self._trail, into=True)

    def _out_page(self, width: int) -> Page:
        return edges_page(self._edges(self._out), self._index, width, self._trail, into=False)

    def _here_page(self, width: int) -> Page:
        return node_page(self.node, self._index, width, self._here.content_size.height)

    def _detail_page(self, width: int) -> Page:
        """The detail of the chosen item, or of the reference that names it."""
        view, edge = self._inspector.view, self._edge
        candidates = (self.chosen, edge.declared_by if edge is not None else None)
        item = next((each for each in candidates if self._index.value(each) is not None), None)
        if view is None or item is None:
            return Page.of(wrap(show(node_label(self.chosen, self._index), "code"), width))
        return Page.of(detail_lines(item, view, width))

    def trail(self, width: int) -> Line:
        return trail_line(self._trail, self._index, width, lambda at: f"screen.go_back_to({at})")

    def copied_text(self) -> str:
        value = self._index.value(self.chosen)
        return copy_text(value) if value is not None else self.chosen.name

    # -- search ----------------------------------------------------------------------------------------------

    def search_for(self, needle: str) -> Line:
        matches = pattern(needle)
        for column in self._columns:
            column.matches = matches
            column.mark(matches)
        found = sum(len(column.found) for column in self._columns)
        return show(f"{found:,} found" if matches is not None else "", "ok" if found else "warn")

    def step_hit(self, *, back: bool) -> None:
        """Go to the next or previous hit in all three columns, in a circle."""
        rows = [(at, row) for at, column in enumerate(self._columns) for row in column.found]
        if not rows:
            self.say("No hits.")
            return
        here = self._columns.index(self._column), self._column.cursor
        ahead = [each for each in rows if (each < here if back else each > here)]
        at, row = (ahead or rows)[-1 if back else 0]
        self._columns[at].focus()
        self._columns[at].move_to(row)


class NeighbourColumn(VirtualLines):
    """The neighbours on one side, or the items of the node itself."""

    class Ended(Message):
        """The cursor was moved beyond the first or last row by `step`."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self, make: Callable[[int], Page], name: str) -> None:
        super().__init__(id=name)
        self._make = make
        self.matches = pattern("")

    def make_page(self, width: int) -> Page:
        return self._make(width)

    def move(self, rows: int) -> None:
        before = self.cursor
        super().move(rows)
        if self.cursor == before:
            self.post_message(self.Ended(rows))

    def show(self, row: int) -> None:
        """Show a new page, with the cursor on `row`."""
        self._page = None
        self.set_reactive(VirtualLines.cursor, 0)
        self.scroll_to(y=0, animate=False, force=True)
        self.move_to(row)
        self.refresh()

    @property
    def found(self) -> list[int]:
        """The rows with a hit."""
        matches, page = self.matches, self.page
        if matches is None:
            return []
        return [row for row in range(page.rows) if page.item(row) and matches.search(plain(page.line(row)))]


class _Detail(VirtualLines, can_focus=False):
    """The detail of the chosen item."""

    has_cursor = False

    def __init__(self, make: Callable[[int], Page]) -> None:
        super().__init__(id="about")
        self._make = make

    def make_page(self, width: int) -> Page:
        return self._make(width)


class _Title(BarLine):
    """The trail of visited nodes."""

    DEFAULT_CSS = "_Title { background: $panel; }"

    def __init__(self, screen: ReferencesScreen) -> None:
        super().__init__()
        self._references = screen

    def make_line(self, width: int) -> Line:
        brand: Line = (Span(" links ", "brand"), Span(" "))
        more = () if self._references.is_complete else show("  following the references…", "dim")
        trail = self._references.trail(width - 10 - line_width(more))
        return fit(join(brand, trail, more), width)
