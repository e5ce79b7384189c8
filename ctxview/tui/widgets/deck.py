"""Holds the panes and puts them where `layout.arrange` says; their titles are the tabs of their slots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from textual import events
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.timer import Timer
from textual.widget import Widget

from ctxview.tui.layout import Pane, Slot, Wishes, arrange, size_class
from ctxview.tui.layouts import Arranged, Layouts
from ctxview.tui.panes.pane import PaneLines
from ctxview.tui.sizes import Sizes
from ctxview.tui.text import Line
from ctxview.tui.widgets.kept import Kept
from ctxview.tui.widgets.tabs import tabs

UNTIL_KEPT = 1.0
"""Seconds without a change after which a layout is written down."""


class Deck(Kept, Widget):
    """Which pane is in front and whether it is alone is remembered here; what they draw is not known."""

    DEFAULT_CSS = """
    Deck { height: 1fr; }
    Deck PaneLines { border: round $secondary; background: $surface; border-subtitle-color: $accent; }
    Deck PaneLines:focus { border: round $primary; }
    Deck.-past PaneLines { border: round $warning 75%; }
    Deck.-past PaneLines:focus { border: round $warning; }
    Deck.-single PaneLines { border: none; border-top: solid $secondary; }
    Deck.-single PaneLines:focus { border-top: solid $primary; }
    Deck.-single.-past PaneLines { border: none; border-top: solid $warning 75%; }
    Deck.-single.-past PaneLines:focus { border: none; border-top: solid $warning; }
    """

    def __init__(self, panes: Iterable[PaneLines], layouts: Layouts | None = None) -> None:
        """With `layouts` the sizes a person makes are kept, and those kept before are taken."""
        super().__init__(id="deck")
        self.panes = {pane.pane: pane for pane in panes}
        self.slots: tuple[Slot, ...] = ()
        self.sizes = Sizes()
        self.zoomed: Pane | None = None
        self._layouts = layouts
        self._class = ""
        self._keeping: Timer | None = None
        self._dragged: tuple[Slot, bool] | None = None
        """The slot whose edge the mouse holds, and whether it is the right one, not the lower."""
        self._fronts: list[Pane] = [Pane.MEMORY]
        self._sources = 1
        self._expected = Size(0, 0)
        self._titles: dict[Pane, tuple[Line, str]] = {}
        self._slot_layout = _SlotLayout(self._regions)

    def compose(self) -> Iterator[PaneLines]:
        yield from self.panes.values()

    @property
    def layout(self) -> Layout:
        return self._slot_layout

    @property
    def front(self) -> PaneLines:
        """The pane that was chosen last."""
        return self.panes[self._fronts[0]]

    def choose(self, pane: Pane) -> None:
        """Brings a pane to the front of its slot and gives it the keys."""
        self._fronts = [pane, *(each for each in self._fronts if each is not pane)]
        if self.zoomed is not None:
            self.zoomed = pane
        self.place()
        self.screen.set_focus(self.panes[pane], scroll_visible=False)

    def zoom(self, pane: Pane | None) -> None:
        self.zoomed = pane
        self.place()
        self._keep_soon()

    # -- sizes -----------------------------------------------------------------------------------------------

    def resize(self, pane: Pane, *, across: int = 0, down: int = 0) -> bool:
        """Makes a pane wider and higher by so much, or less; False when there is nothing to take it from."""
        slot = self._slot_of(pane)
        before = self.slots
        if slot is not None and len(self.slots) > 1:
            self._give(slot, slot.width + across, slot.height + down)
        return self.slots != before

    def show_sources(self, *, shown: bool) -> None:
        """Whether the list of sources has a place of its own or is a tab."""
        self.sizes = replace(self.sizes, sources=shown)
        self.place()
        self._keep_soon()

    def reset_sizes(self) -> None:
        self.sizes, self.zoomed = Sizes(), None
        self.place()
        self._keep_soon()

    def _give(self, slot: Slot, width: int, height: int) -> None:
        """A new size for a slot; what it really got is what counts from then on."""
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
        self._keep_soon()

    def _slot_of(self, pane: Pane) -> Slot | None:
        return next((slot for slot in self.slots if slot.shown is pane), None)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """An edge between panes can be dragged; its upper side has the tabs of the pane below."""
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
        held, right = self._dragged
        slot = self._slot_of(held.shown) or held
        if right:
            self._give(slot, event.screen_x - self.region.x - slot.x + 1, slot.height)
        else:
            self._give(slot, slot.width, event.screen_y - self.region.y - slot.y + 1)

    def on_mouse_up(self) -> None:
        if self._dragged is not None:
            self._dragged = None
            self.release_mouse()

    # -- remembering -----------------------------------------------------------------------------------------

    def _recall(self, size: Size) -> None:
        """Takes what was made for terminals of this size; which tabs are in front is only taken at first."""
        known = size_class(size.width, size.height)
        if self._layouts is None or known == self._class:
            return
        first, self._class = not self._class, known
        arranged = self._layouts.of(known)
        self.sizes = arranged.sizes
        if first:
            self._fronts += [pane for pane in arranged.fronts if pane not in self._fronts]

    def _keep_soon(self) -> None:
        if self._keeping is not None:
            self._keeping.stop()
        if self._layouts is not None:
            self._keeping = self.set_timer(UNTIL_KEPT, self._keep)

    def _keep(self) -> None:
        if write := self._kept_layout():
            self.run_worker(write, thread=True, name="keeping the layout", exit_on_error=False)

    def _kept_layout(self) -> Callable[[], None] | None:
        if self._layouts is None or not self._class:
            return None
        return self._layouts.keep(self._class, Arranged(self.sizes, tuple(self._fronts)))

    def on_unmount(self) -> None:
        if write := self._kept_layout():
            write()

    # -- places ----------------------------------------------------------------------------------------------

    def place(self, sources: int | None = None) -> None:
        """Gives every pane its place anew: what they hold, the size or the choice has changed."""
        if sources is not None:
            self._sources = sources
        size = self.size or self._expected
        self._recall(size)
        wanted = {name: pane.lines_wanted(72) for name, pane in self.panes.items()}
        wishes = Wishes(wanted, self._sources)
        slots = arrange(size.width, size.height, wishes, self._fronts, self.zoomed, self.sizes)
        if slots != self.slots:
            self.slots = slots
            shown = {slot.shown for slot in slots}
            self.set_class(len(slots) == 1, "-single")
            for name, pane in self.panes.items():
                if pane.display != (name in shown):
                    pane.display = name in shown
            for slot in slots:
                self.panes[slot.shown].awaited_size = Size(slot.width, slot.height)
            # Asked of a child: a widget keeps its own arrangement until one of its children wants another.
            self.front.refresh(layout=True)
        self.retitle()

    def retitle(self) -> None:
        for slot in self.slots:
            self._title(slot)

    def on_mount(self) -> None:
        """So that the very first picture is right: ours is all of the screen but the header and the keys."""
        self._expected = Size(self.app.size.width, self.app.size.height - 2)
        self.place()
        self.watch(self.app, "theme", self.retitle, init=False)

    def on_resize(self) -> None:
        self.place()

    def neighbour(self, pane: Pane, *, right: bool) -> Pane | None:
        """The pane beside this one, at its height; in a single slot the next tab."""
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
            name: self.panes[name].count(shown) for name in slot.panes if (shown := self.panes[name].shown)
        }
        line = tabs(slot, counts)
        if self._titles.get(slot.shown) != (line, self.app.theme):
            self._titles[slot.shown] = (line, self.app.theme)
            pane.entitle(line)


class _SlotLayout(Layout):
    """The toolkit's side of it: regions that were worked out elsewhere."""

    name = "slots"

    def __init__(self, regions: Callable[[], dict[Widget, Region]]) -> None:
        self._regions = regions

    def arrange(  # the toolkit's shape; the size was taken into account when the slots were worked out
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
