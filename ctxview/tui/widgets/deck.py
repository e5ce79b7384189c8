"""The deck of panes: which pane each slot shows, the sizes of the slots, and their tabs as titles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec.structs import replace
from textual import events
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.timer import Timer
from textual.widget import Widget

from ctxview.tui.drawing.text import Line, Span, fit, join, width
from ctxview.tui.model.layout import LayoutNeeds, Pane, PaneSizes, Slot, arrange, size_class
from ctxview.tui.model.saved_layouts import SavedLayout, SavedLayouts
from ctxview.tui.widgets.pane import PaneWidget
from ctxview.tui.widgets.strips import RenderCache

SHORTEST = {pane: pane.short for pane in Pane}
SHORT = SHORTEST | {pane: str(pane) for pane in (Pane.MEMORY, Pane.DETAIL)}
"""Shorter names; memory and detail keep their full name."""


def tabs(slot: Slot, counts: Mapping[Pane, str]) -> Line:
    """The names of a slot's panes: with counts where there is room, shortened where there is not."""
    bare = {pane: count for pane, count in counts.items() if pane is slot.shown}
    some = {pane: SHORT[pane] for pane in (Pane.SOURCES, Pane.REFERENCES)}
    attempts: list[tuple[Mapping[Pane, str], Mapping[Pane, str], str]] = [
        (counts, {}, "  "),
        (bare, {}, "  "),
        (bare, some, "  "),
        (bare, some, " "),
        (bare, SHORT, " "),
        (bare, SHORTEST, " "),
        ({}, SHORTEST, " "),
    ]
    for attempted, short, gap in attempts:
        line = _tabs(slot, attempted, short, gap)
        if width(line) <= slot.width - 6:
            return line
    return fit(_tabs(slot, bare, dict.fromkeys(Pane, ""), " "), slot.width - 6)


def _tabs(slot: Slot, counts: Mapping[Pane, str], short: Mapping[Pane, str], gap: str) -> Line:
    parts: list[Line] = []
    for pane in slot.panes:
        action = f"screen.command('pane_{pane.key.lower()}')"
        shown = pane is slot.shown
        name = pane if shown else short.get(pane, pane)
        count = counts.get(pane, "")
        parts.append(
            (
                Span(pane.key, "key" if shown else "dim", action),
                Span(f" {name}" if name else "", "title" if shown else "dim", action),
                Span(f" {count}" if count else "", "accent" if shown else "dim", action),
            )
        )
    return join((Span(" "),), join(*parts, gap=gap), (Span(" "),))


SAVE_DELAY = 1.0
"""Seconds without a change after which a layout is saved."""


class Deck(RenderCache, Widget):
    """Places the panes. It knows which pane is in front and which is zoomed, but not what they draw."""

    DEFAULT_CSS = """
    Deck { height: 1fr; }
    Deck PaneWidget { border: round $secondary; background: $surface; border-subtitle-color: $accent; }
    Deck PaneWidget:focus { border: round $primary; }
    Deck.-past PaneWidget { border: round $warning 75%; }
    Deck.-past PaneWidget:focus { border: round $warning; }
    Deck.-single PaneWidget { border: none; border-top: solid $secondary; }
    Deck.-single PaneWidget:focus { border-top: solid $primary; }
    Deck.-single.-past PaneWidget { border: none; border-top: solid $warning 75%; }
    Deck.-single.-past PaneWidget:focus { border: none; border-top: solid $warning; }
    """

    def __init__(self, panes: Iterable[PaneWidget], layouts: SavedLayouts | None = None) -> None:
        """With `layouts` the sizes are loaded from there and saved there."""
        super().__init__(id="deck")
        self.panes = {pane.pane: pane for pane in panes}
        self.slots: tuple[Slot, ...] = ()
        self.sizes = PaneSizes()
        self.zoomed: Pane | None = None
        self._layouts = layouts
        self._class = ""
        self._save_timer: Timer | None = None
        self._dragged: tuple[Slot, bool] | None = None
        """The slot whose edge the mouse drags, and whether it is the right edge (else the lower edge)."""
        self._fronts: list[Pane] = [Pane.MEMORY]
        self._sources = 1
        self._expected = Size(0, 0)
        self._titles: dict[Pane, tuple[Line, str]] = {}
        self._slot_layout = _SlotLayout(self._regions)

    def compose(self) -> Iterator[PaneWidget]:
        yield from self.panes.values()

    @property
    def layout(self) -> Layout:
        return self._slot_layout

    @property
    def front(self) -> PaneWidget:
        """The pane chosen last."""
        return self.panes[self._fronts[0]]

    def choose(self, pane: Pane) -> None:
        """Bring a pane to the front of its slot and give it the focus."""
        self._fronts = [pane, *(each for each in self._fronts if each is not pane)]
        if self.zoomed is not None:
            self.zoomed = pane
        self.place()
        self.screen.set_focus(self.panes[pane], scroll_visible=False)

    def zoom(self, pane: Pane | None) -> None:
        self.zoomed = pane
        self.place()
        self._save_soon()

    # -- sizes -----------------------------------------------------------------------------------------------

    def resize(self, pane: Pane, *, across: int = 0, down: int = 0) -> bool:
        """Make a pane wider by `across` and higher by `down` cells, or less; False when nothing changed."""
        slot = self._slot_of(pane)
        before = self.slots
        if slot is not None and len(self.slots) > 1:
            self._set_size(slot, slot.width + across, slot.height + down)
        return self.slots != before

    def show_sources(self, *, shown: bool) -> None:
        """Show the list of sources in its own slot, or as a tab."""
        self.sizes = replace(self.sizes, sources=shown)
        self.place()
        self._save_soon()

    def reset_sizes(self) -> None:
        self.sizes, self.zoomed = PaneSizes(), None
        self.place()
        self._save_soon()

    def _set_size(self, slot: Slot, width: int, height: int) -> None:
        """Ask for a new size of a slot, and keep the size that it really got."""
        before = self.sizes
        if width != slot.width:
            self.sizes = self.sizes.wide(slot.across, width)
        if height != slot.height:
            self.sizes = self.sizes.high(slot.down, height)
        self.place()
        now = self._slot_of(slot.shown)
        if now is None or now == slot:
            self.sizes = before
            return
        if width != slot.width:
            self.sizes = self.sizes.wide(now.across, now.width)
        if height != slot.height:
            self.sizes = self.sizes.high(now.down, now.height)
        self._save_soon()

    def _slot_of(self, pane: Pane) -> Slot | None:
        return next((slot for slot in self.slots if slot.shown is pane), None)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start to drag an edge between panes; upper edges have the tabs and are not dragged."""
        x, y = event.screen_x - self.region.x, event.screen_y - self.region.y
        for slot in self.slots if len(self.slots) > 1 else ():
            right, lower = slot.x + slot.width - 1, slot.y + slot.height - 1
            if x == right < self.size.width - 1 and slot.y < y < lower:
                self._dragged = slot, True
            elif y == lower < self.size.height - 1 and slot.x <= x <= right:
                self._dragged = slot, False
        if self._dragged is not None:
            event.stop()
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragged is None:
            return
        dragged, right = self._dragged
        slot = self._slot_of(dragged.shown) or dragged
        if right:
            self._set_size(slot, event.screen_x - self.region.x - slot.x + 1, slot.height)
        else:
            self._set_size(slot, slot.width, event.screen_y - self.region.y - slot.y + 1)

    def on_mouse_up(self) -> None:
        if self._dragged is not None:
            self._dragged = None
            self.release_mouse()

    # -- saved layouts ---------------------------------------------------------------------------------------

    def _load_layout(self, size: Size) -> None:
        """Load the layout saved for terminals of this size; the front tabs only the first time."""
        known = size_class(size.width, size.height)
        if self._layouts is None or known == self._class:
            return
        first, self._class = not self._class, known
        saved = self._layouts.of(known)
        self.sizes = saved.sizes
        if first:
            self._fronts += [pane for pane in saved.fronts if pane not in self._fronts]

    def _save_soon(self) -> None:
        if self._save_timer is not None:
            self._save_timer.stop()
        if self._layouts is not None:
            self._save_timer = self.set_timer(SAVE_DELAY, self._save)

    def _save(self) -> None:
        if write := self._layout_writer():
            self.run_worker(write, thread=True, name="saving the layout", exit_on_error=False)

    def _layout_writer(self) -> Callable[[], None] | None:
        if self._layouts is None or not self._class:
            return None
        return self._layouts.keep(self._class, SavedLayout(self.sizes, tuple(self._fronts)))

    def on_unmount(self) -> None:
        if write := self._layout_writer():
            write()

    # -- places ----------------------------------------------------------------------------------------------

    def place(self, sources: int | None = None) -> None:
        """Place every pane again after a change of contents, size or choice; `sources` is their number."""
        if sources is not None:
            self._sources = sources
        size = self.size or self._expected
        self._load_layout(size)
        wanted = {name: pane.lines_wanted(72) for name, pane in self.panes.items()}
        needs = LayoutNeeds(wanted, self._sources)
        slots = arrange(size.width, size.height, needs, self._fronts, self.zoomed, self.sizes)
        if slots != self.slots:
            self.slots = slots
            shown = {slot.shown for slot in slots}
            self.set_class(len(slots) == 1, "-single")
            for name, pane in self.panes.items():
                if pane.display != (name in shown):
                    pane.display = name in shown
            for slot in slots:
                self.panes[slot.shown].expected_size = Size(slot.width, slot.height)
            # Asked of a child: a widget keeps its arrangement until one of its children asks for another.
            self.front.refresh(layout=True)
        self.retitle()

    def retitle(self) -> None:
        for slot in self.slots:
            self._title(slot)

    def on_mount(self) -> None:
        """Place the panes before the first paint: the deck has the screen without header and key bar."""
        self._expected = Size(self.app.size.width, self.app.size.height - 2)
        self.place()
        self.watch(self.app, "theme", self.retitle, init=False)

    def on_resize(self) -> None:
        self.place()

    def neighbour(self, pane: Pane, *, right: bool) -> Pane | None:
        """The pane beside this one at its height, or None; in a single slot the next tab."""
        if len(self.slots) == 1:
            tabs = self.slots[0].panes
            return tabs[(tabs.index(pane) + (1 if right else -1)) % len(tabs)]
        here = self._slot_of(pane)
        if here is None:
            return None
        beside = [
            slot
            for slot in self.slots
            if (slot.x >= here.x + here.width if right else slot.x + slot.width <= here.x)
        ]
        return (
            min(beside, key=lambda slot: (abs(slot.x - here.x), abs(slot.y - here.y))).shown
            if beside
            else None
        )

    def _regions(self) -> dict[Widget, Region]:
        return {
            self.panes[slot.shown]: Region(slot.x, slot.y, slot.width, slot.height) for slot in self.slots
        }

    def _title(self, slot: Slot) -> None:
        pane = self.panes[slot.shown]
        counts = {
            name: self.panes[name].count(view) for name in slot.panes if (view := self.panes[name].view)
        }
        line = tabs(slot, counts)
        if self._titles.get(slot.shown) != (line, self.app.theme):
            self._titles[slot.shown] = (line, self.app.theme)
            pane.set_title(line)


class _SlotLayout(Layout):
    """A layout of the toolkit with regions that the deck computed."""

    name = "slots"

    def __init__(self, regions: Callable[[], dict[Widget, Region]]) -> None:
        self._regions = regions

    def arrange(  # the toolkit's signature; the size is already in the regions
        self,
        parent: Widget,  # noqa: ARG002
        children: list[Widget],
        size: Size,  # noqa: ARG002
        greedy: bool = True,  # noqa: ARG002
    ) -> ArrangeResult:
        regions = self._regions()
        return [
            WidgetPlacement(regions[child], NULL_OFFSET, NULL_SPACING, child, order=at)
            for at, child in enumerate(children)
            if child in regions
        ]
