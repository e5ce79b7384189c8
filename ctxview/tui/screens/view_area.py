"""The view on the screen with its panes, each made when it is first shown, and the row of tabs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from ctxview.tui.drawing.rows import severity_counts
from ctxview.tui.drawing.skyline import strip_line
from ctxview.tui.drawing.text import Line, Span, fit, join, width
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import BOXED, DRAW_TIME, STRIP, Pane, Slot, arrange
from ctxview.tui.model.navigation import filled_panes
from ctxview.tui.model.search import pattern
from ctxview.tui.panes import make_pane
from ctxview.tui.widgets import bars
from ctxview.tui.widgets.pane import PaneWidget
from ctxview.tui.widgets.strips import BarLine, RenderCache

LEAST_HEIGHT = 30
"""Lines of a terminal that has room for the skyline strip."""
BARS = 3
"""Lines of header, tabs and key bar."""

AnyPane = TypeVar("AnyPane", bound=PaneWidget)


class ViewTabs(BarLine):
    """The row of views."""

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(id="tabs")
        self._model = model

    def make_line(self, width: int) -> Line:
        return tabs_line(self._model, width)


def tabs_line(model: InspectorModel, cells: int) -> Line:
    """The views: as many as fit, the shown one in any case; the help has the keys of the others."""
    panes, shown = model.shown.tabs(model.view), model.shown.name
    more: Line = (Span(" …", "dim", "screen.command('help')"),)
    for counted in (True, False):
        line = join(*(_tab(model, pane, counted=counted) for pane in panes))
        if width(line) <= cells:
            return line
    others = [pane for pane in panes if pane is not shown]
    while True:
        kept = [pane for pane in panes if pane is shown or pane in others]
        line = join(*(_tab(model, pane, counted=cells >= BOXED) for pane in kept))
        if width(line) <= cells or not others:
            return fit(join(line, more if width(line) + width(more) <= cells else ()), cells)
        others.pop()


def _tab(model: InspectorModel, pane: Pane, *, counted: bool) -> Line:
    action = f"screen.command('pane_{pane.key.lower()}')"
    name = "Refs" if pane is Pane.REFERENCES else str(pane)
    if pane is model.shown.name:
        return (Span(f" {pane.key} {name} ", "brand", action),)
    tab: Line = (Span(f" {pane.key}", "key", action),)
    if pane is Pane.FINDINGS and model.view is not None and counted:
        worst = severity_counts(model.view.counts)[:1]
        name = f"{name} " if worst else name
        tab = (
            *tab,
            Span(f" {name}", "dim", action),
            *(Span(each.text, each.style, action) for each in worst),
        )
        return (*tab, Span(" "))
    return (*tab, Span(f" {name} ", "dim", action))


class SkylineStrip(BarLine):
    """The window over time in one row, below views that do not show it themselves."""

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(id="strip")
        self._model = model
        self.display = False

    def has_room(self, height: int) -> bool:
        """Whether there is something to show, and a line for it in a terminal of this height."""
        model = self._model
        return (
            model.last_revision > 0
            and height >= LEAST_HEIGHT
            and model.shown.name not in (*DRAW_TIME, Pane.REVIEW)
        )

    def make_line(self, width: int) -> Line:
        view = self._model.view
        if view is None or view.known is None:
            return ()
        letters = bool(getattr(self.app, "draws_letters", False))
        return fit(
            join((Span(" "),), strip_line(view.known, view.key.revision, width - 2, letters=letters)), width
        )


class ViewArea(RenderCache, Widget):
    """Shows the view of the model: its own pane, and those that fit beside it."""

    DEFAULT_CSS = """
    ViewArea { height: 1fr; }
    ViewArea PaneWidget { border: none; background: $background; border-subtitle-color: $accent; }
    ViewArea PaneWidget.-beside { border-top: solid $secondary; }
    ViewArea PaneWidget.-framed { border: round $secondary; }
    ViewArea PaneWidget.-framed:focus { border: round $primary; }
    """

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(id="view")
        self._model = model
        self.panes: dict[Pane, PaneWidget] = {}
        """The panes that were shown so far."""
        self.slots: tuple[Slot, ...] = ()
        self._expected = Size(0, 0)
        self._titles: dict[Pane, tuple[Line, str, int]] = {}
        self._slot_layout = _SlotLayout(self)

    def compose(self) -> Iterator[PaneWidget]:
        yield self.pane(self._model.shown.name)

    @property
    def layout(self) -> Layout:
        return self._slot_layout

    @property
    def front(self) -> PaneWidget:
        """The pane that has or gets the focus."""
        return self.pane(self._model.shown.front)

    def pane(self, name: Pane) -> PaneWidget:
        """The widget of a pane, made when it is first asked for."""
        if name not in self.panes:
            model = self._model
            made = self.panes[name] = make_pane(name, model)
            made.display = False
            made.take(model.view, bars.empty_pane_text(model))
            made.mark(pattern(model.search.hits.needle))
            if self.is_mounted:
                self.mount(made)
        return self.panes[name]

    def get(self, kind: type[AnyPane]) -> AnyPane:
        """The pane of a class."""
        found = self.pane(kind.pane)
        assert isinstance(found, kind)
        return found

    def is_shown(self, name: Pane) -> bool:
        return any(slot.pane is name for slot in self.slots)

    def place(self) -> None:
        """Show the view of the model after a change of view, contents or size."""
        model, size = self._model, self.size or self._expected
        slots = arrange(model.shown.name, size.width, size.height, filled_panes(model.view))
        model.shown.beside = frozenset(slot.pane for slot in slots[1:] if slot.height > STRIP)
        if slots != self.slots:
            self.slots = slots
            shown = {slot.pane: self.pane(slot.pane) for slot in slots}
            boxed = size.width >= BOXED
            for name, pane in self.panes.items():
                pane.display = name in shown
                pane.set_class(boxed and pane.framed, "-framed")
                pane.set_class(not boxed and name is not slots[0].pane, "-beside")
            for slot in slots:
                shown[slot.pane].expected_size = Size(slot.width, slot.height)
            # Asked of a child: a widget keeps its arrangement until one of its children asks for another.
            shown[slots[0].pane].refresh(layout=True)
        self.retitle()

    def focus_front(self) -> None:
        if self.is_mounted and not self.front.has_focus:
            self.screen.set_focus(self.front, scroll_visible=False)

    def retitle(self) -> None:
        for slot in self.slots:
            pane = self.panes[slot.pane]
            line = fit(pane.title_line(), slot.width - 6)
            known = line, self.app.theme, slot.width
            if self._titles.get(slot.pane) != known and (
                pane.has_class("-framed") or pane.has_class("-beside")
            ):
                self._titles[slot.pane] = known
                pane.set_title(line)

    def on_mount(self) -> None:
        """Place the panes before the first paint: the view has the screen without the bars."""
        self._expected = Size(self.app.size.width, self.app.size.height - BARS)
        self.place()
        # The widget counts as mounted only after this, so `pane` did not mount what `place` has made.
        self.mount_all(pane for pane in self.panes.values() if not pane.is_attached)
        self.watch(self.app, "theme", self.retitle, init=False)

    def on_resize(self) -> None:
        self.place()


class _SlotLayout(Layout):
    """A layout of the toolkit with the places of the slots."""

    name = "slots"

    def __init__(self, area: ViewArea) -> None:
        self._area = area

    def arrange(  # the toolkit's signature; the size is already in the slots
        self,
        parent: Widget,  # noqa: ARG002
        children: list[Widget],
        size: Size,  # noqa: ARG002
        greedy: bool = True,  # noqa: ARG002
    ) -> ArrangeResult:
        regions = {
            self._area.panes[slot.pane]: Region(slot.x, slot.y, slot.width, slot.height)
            for slot in self._area.slots
        }
        return [
            WidgetPlacement(regions[child], NULL_OFFSET, NULL_SPACING, child, order=at)
            for at, child in enumerate(children)
            if child in regions
        ]
