"""Holds the panes and puts them where `layout.arrange` says; their titles are the tabs of their slots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from rich.style import Style
from rich.text import Text
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from ctxview.tui.layout import Pane, Slot, Wishes, arrange
from ctxview.tui.panes.pane import PaneLines
from ctxview.tui.text import Line, Span, fit, join, width
from ctxview.tui.themes import load
from ctxview.tui.widgets.kept import Kept


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

    def __init__(self, panes: Iterable[PaneLines]) -> None:
        super().__init__(id="deck")
        self.panes = {pane.pane: pane for pane in panes}
        self.slots: tuple[Slot, ...] = ()
        self.zoomed: Pane | None = None
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

    def place(self, sources: int | None = None) -> None:
        """Gives every pane its place anew: what they hold, the size or the choice has changed."""
        if sources is not None:
            self._sources = sources
        size = self.size or self._expected
        wanted = {name: pane.lines_wanted(72) for name, pane in self.panes.items()}
        wishes = Wishes(wanted, self._sources)
        slots = arrange(size.width, size.height, wishes, self._fronts, self.zoomed)
        if slots != self.slots:
            self.slots = slots
            shown = {slot.shown for slot in slots}
            self.set_class(len(slots) == 1, "-single")
            for name, pane in self.panes.items():
                if pane.display != (name in shown):
                    pane.display = name in shown
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
        here = next((slot for slot in self.slots if slot.shown is pane), None)
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
            pane.border_title = self._text(line)

    def _text(self, line: Line) -> Text:
        """A title for the toolkit. Its spans are printable already, and a Text knows no markup."""
        palette = load(self.app.theme)
        text = Text(end="")
        for span in line:
            style = palette.style(span.style)
            text.append(span.text, style + Style(meta={"@click": span.action}) if span.action else style)
        return text


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


SHORT = {
    Pane.SOURCES: "Src",
    Pane.REFERENCES: "Refs",
    Pane.BUDGET: "Budg",
    Pane.MISSING: "Miss",
    Pane.FINDINGS: "Find",
    Pane.HISTORY: "Hist",
    Pane.LIFECYCLE: "Life",
    Pane.VISIBILITY: "Vis",
}

SHORTEST = {**SHORT, Pane.MEMORY: "Mem", Pane.DETAIL: "Det"}
"""Where there are more panes than usual."""


def tabs(slot: Slot, counts: Mapping[Pane, str]) -> Line:
    """The names of a slot's panes: with counts where there is room, shorter where there is not."""
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
    for told, short, gap in attempts:
        line = _tabs(slot, told, short, gap)
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
