"""What points to a thing and what it points to: a graph to walk from stop to stop, and back as one came.

What is shown follows the inspector below: when a file changes, so do the neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from textual.containers import Container
from textual.message import Message
from textual.widget import Widget

from ctxview.tui.commands import READING, bindings
from ctxview.tui.graph import Way
from ctxview.tui.panes.describe import describe
from ctxview.tui.screens.command_screen import CommandScreen
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.search import pattern
from ctxview.tui.text import Line, Span, content, fit, join, plain, shorten, show, wrap
from ctxview.tui.things import Index, Thing, words_of
from ctxview.tui.widgets.drawing import OneLine
from ctxview.tui.widgets.key_bar import KeyBar
from ctxview.tui.widgets.page import Page
from ctxview.tui.widgets.virtual_lines import VirtualLines
from ctxview.tui.widgets.way_lines import label, stop_page, trail_line, ways_page

KNOWN = READING | {
    *("left", "right", "next_pane", "previous_pane", "enter", "came_from", "origin", "screenshot"),
}
FIRST = ("left", "right", "enter", "came_from")
"""What the key bar offers before all else."""
WIDE = 100
"""From so many cells on, the neighbours stand to the left and to the right; else above and below."""


class WalkScreen(CommandScreen[Thing | None]):
    """Dismisses with the thing a person wants to see in its own pane, or with None."""

    CSS_PATH = "walk.tcss"
    BINDINGS = bindings(KNOWN)  # type: ignore[assignment]  # the toolkit asks for a list of several kinds
    HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (WIDE, "-beside")]  # noqa: RUF012 - the toolkit's shape
    known = KNOWN

    def __init__(self, inspector: Inspector, index: Index, stop: Thing) -> None:
        super().__init__()
        self._inspector = inspector
        self._index = index
        self._trail = [stop]
        self._cursors: list[tuple[int, int]] = []
        """For each stop left behind: the column one was in, and the row."""
        self._title = _Title(self)
        self._into = Column(self._into_page, "into")
        self._here = Column(self._here_page, "here")
        self._out = Column(self._out_page, "out")
        self._about = _About(self._about_page)

    @property
    def own_acts(self) -> Mapping[str, Callable[[], None]]:
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
        yield self._about
        yield KeyBar(KNOWN, FIRST)

    def on_mount(self) -> None:
        self._arrive(self._out if self._ways(self._out) else self._into)
        self.watch(self._inspector, "shown", self._renew, init=False)

    @property
    def stop(self) -> Thing:
        return self._trail[-1]

    @property
    def chosen(self) -> Thing:
        """What the cursor is on; the stop itself where there is nothing to be on."""
        column = self._column
        return column.thing or self.stop

    # -- walking ---------------------------------------------------------------------------------------------

    def _enter(self) -> None:
        """On to a neighbour; from the middle into the thing's own pane."""
        column, thing = self._column, self._column.thing
        if column is self._here:
            if thing is None or self._index.value(thing) is None:
                self.say("It is only named here: no pane shows it.")
            else:
                self.dismiss(thing)
        elif thing is None:
            self.say("There is no way on from here.")
        else:
            self._cursors.append((self._columns.index(column), column.cursor))
            self._trail.append(thing)
            self._arrive(column if self._ways(column) else self._here)

    def _back(self) -> None:
        """To the stop before; from the first one out of here."""
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

    def on_column_ended(self, event: Column.Ended) -> None:
        """Where the columns stand one above the other, the rows go on in the next."""
        at = self._columns.index(self._column) + (1 if event.step > 0 else -1)
        if self.has_class("-stacked") and 0 <= at < len(self._columns):
            column = self._columns[at]
            column.move_end(last=event.step < 0)
            column.focus()

    def _origin(self) -> None:
        """The bytes of what is chosen; of what is only named, those that name it."""
        from ctxview.tui.acts.looking import open_origin

        way = self._way
        thing = self._column.thing
        place = self._index.origin(thing) if thing is not None else None
        if place is None and way is not None and way.by is not None:
            place = self._index.origin(way.by)
        if place is None:
            self.say("Nothing says where this stands in a file.")
        else:
            open_origin(self._inspector, place)

    # -- what is shown ---------------------------------------------------------------------------------------

    @property
    def _columns(self) -> tuple[Column, Column, Column]:
        return self._into, self._here, self._out

    @property
    def _column(self) -> Column:
        return self.focused if isinstance(self.focused, Column) else self._here

    @property
    def _way(self) -> Way | None:
        """The way to what is chosen."""
        ways = self._ways(self._column)
        return ways[self._column.cursor] if self._column.cursor < len(ways) else None

    def _ways(self, column: Column) -> Sequence[Way]:
        graph = self._index.graph
        return (
            graph.into(self.stop)
            if column is self._into
            else graph.out_of(self.stop)
            if column is self._out
            else ()
        )

    def _arrive(self, column: Column, row: int = 0) -> None:
        for each in self._columns:
            each.show(row if each is column else 0)
            each.set_class(each is not self._here and not self._ways(each), "-empty")
        into, out = len(self._ways(self._into)), len(self._ways(self._out))
        self._into.border_title = content(show(f" {into:,} point{'s' * (into == 1)} to it " if into else ""))
        self._out.border_title = content(show(f" it points to {out:,} " if out else ""))
        self._here.border_title = content(show(f" {shorten(label(self.stop, self._index), 40)} "))
        self._title.refresh()
        column.focus()
        self._tell()

    def _tell(self) -> None:
        self._about.border_title = content(show(f" {shorten(label(self.chosen, self._index), 60)} "))
        self._about.reset()
        self._about.show_line(0)

    def _renew(self) -> None:
        """The inspector shows something newer."""
        shown = self._inspector.shown
        if shown is not None and shown.index is not self._index:
            self._index = shown.index
            self._arrive(self._column, self._column.cursor)

    def on_virtual_lines_moved(self, event: VirtualLines.Moved) -> None:
        if event.widget is self.focused:
            self._tell()

    def on_descendant_focus(self) -> None:
        self._tell()

    async def on_virtual_lines_chosen(self) -> None:
        await self.action_command("enter")

    def _into_page(self, width: int) -> Page:
        return ways_page(self._ways(self._into), self._index, width, self._trail, into=True)

    def _out_page(self, width: int) -> Page:
        return ways_page(self._ways(self._out), self._index, width, self._trail, into=False)

    def _here_page(self, width: int) -> Page:
        return stop_page(self.stop, self._index, width, self._here.content_size.height)

    def _about_page(self, width: int) -> Page:
        """What is chosen, whole; of what is only named, the reference that names it."""
        shown, way = self._inspector.shown, self._way
        candidates = (self.chosen, way.by if way is not None else None)
        thing = next((each for each in candidates if self._index.value(each) is not None), None)
        if shown is None or thing is None:
            return Page.of(wrap(show(label(self.chosen, self._index), "code"), width))
        return Page.of(describe(thing, shown, width))

    def trail(self, width: int) -> Line:
        return trail_line(self._trail, self._index, width, lambda at: f"screen.go_back_to({at})")

    def copied_text(self) -> str:
        value = self._index.value(self.chosen)
        return words_of(value) if value is not None else self.chosen.name

    # -- search ----------------------------------------------------------------------------------------------

    def look_for(self, needle: str) -> Line:
        matches = pattern(needle)
        for column in self._columns:
            column.matches = matches
            column.mark(matches)
        found = sum(len(column.found) for column in self._columns)
        return show(f"{found:,} found" if matches is not None else "", "ok" if found else "warn")

    def step_hit(self, *, back: bool) -> None:
        """Through the rows of all three columns, round and round."""
        rows = [(at, row) for at, column in enumerate(self._columns) for row in column.found]
        if not rows:
            self.say("Nothing was found.")
            return
        here = self._columns.index(self._column), self._column.cursor
        ahead = [each for each in rows if (each < here if back else each > here)]
        at, row = (ahead or rows)[-1 if back else 0]
        self._columns[at].focus()
        self._columns[at].move_to(row)


class Column(VirtualLines):
    """The neighbours on one side, or the stop itself."""

    class Ended(Message):
        """Somebody wants to go on where there are no more rows."""

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
        """Another page, from its beginning or with the cursor on a row of it."""
        self._page = None
        self.set_reactive(VirtualLines.cursor, 0)
        self.scroll_to(y=0, animate=False, force=True)
        self.move_to(row)
        self.refresh()

    @property
    def found(self) -> list[int]:
        """The rows a search finds."""
        matches, page = self.matches, self.page
        if matches is None:
            return []
        return [row for row in range(page.rows) if page.thing(row) and matches.search(plain(page.line(row)))]


class _About(VirtualLines, can_focus=False):
    """All about what is chosen."""

    has_cursor = False

    def __init__(self, make: Callable[[int], Page]) -> None:
        super().__init__(id="about")
        self._make = make

    def make_page(self, width: int) -> Page:
        return self._make(width)


class _Title(OneLine):
    """The way one came."""

    DEFAULT_CSS = "_Title { background: $panel; }"

    def __init__(self, screen: WalkScreen) -> None:
        super().__init__()
        self._walk = screen

    def make_line(self, width: int) -> Line:
        brand: Line = (Span(" links ", "brand"), Span(" "))
        return fit(join(brand, self._walk.trail(width - 10)), width)
