"""The widgets of the main screen: composes panes and bars, and draws the model in them.

Knows neither jobs nor effects; `InspectorScreen` calls its methods.
"""

from __future__ import annotations

from collections.abc import Iterator

from textual.reactive import reactive
from textual.widget import Widget

from ctxview.tui.drawing.text import Line
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.navigation import PANE_OF, default_selection, is_listed
from ctxview.tui.model.reading_index import ItemId, ReadingIndex, copy_text
from ctxview.tui.model.saved_layouts import SavedLayouts
from ctxview.tui.model.search import pattern
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.panes import (
    DetailPane,
    HistoryPane,
    LifecyclePane,
    MemoryPane,
    TextPane,
    all_panes,
)
from ctxview.tui.screens.action_screen import ActionScreen, bindings
from ctxview.tui.widgets import bars
from ctxview.tui.widgets.bars import Header, KeyBar
from ctxview.tui.widgets.deck import Deck
from ctxview.tui.widgets.facts_pane import FactsPane, OpenedPane
from ctxview.tui.widgets.pane import PaneWidget
from ctxview.tui.widgets.strips import RenderCache, StaticLines, content
from ctxview.tui.widgets.timeline import ReplayBar, Timeline


class InspectorPage(RenderCache, ActionScreen[None]):
    BINDINGS = bindings()  # type: ignore[assignment]  # the toolkit declares a list of three kinds of binding
    AUTO_FOCUS = ""  # otherwise the toolkit focuses the first pane, the sources

    DEFAULT_CSS = """
    InspectorPage { background: $background; layout: vertical; }
    InspectorPage #banner { background: $panel; }
    """

    drawn: reactive[ReadingIndex | None] = reactive(None, repaint=False)
    """The reading that the panes draw."""

    def __init__(self, model: InspectorModel, layouts: SavedLayouts | None) -> None:
        super().__init__()
        self.model = model
        self.deck = Deck(all_panes(model), layouts)
        self._subtitle: Line = ()

    def compose(self) -> Iterator[Widget]:
        yield Header(self.model)
        yield StaticLines(id="banner")
        yield self.deck
        yield ReplayBar(self.model)
        yield Timeline(self.model)
        yield KeyBar()

    def on_mount(self) -> None:
        self.header = self.query_one(Header)
        self.timeline, self.key_bar = self.query_one(Timeline), self.query_one(KeyBar)
        self.memory, self.detail = self.query_one(MemoryPane), self.query_one(DetailPane)
        self.history, self.lifecycle = self.query_one(HistoryPane), self.query_one(LifecyclePane)
        self.replay_bar, self._banner = self.query_one(ReplayBar), self.query_one(StaticLines)
        self.deck.front.focus()

    @property
    def panes(self) -> dict[Pane, PaneWidget]:
        return self.deck.panes

    @property
    def view(self) -> ViewState | None:
        return self.model.view

    @property
    def selected(self) -> ItemId | None:
        return self.model.selected

    @selected.setter
    def selected(self, item: ItemId | None) -> None:
        self.model.selected = item
        self.detail.select(item)

    @property
    def item_at_cursor(self) -> ItemId | None:
        """The item at the cursor of the focused pane."""
        pane = self.focused
        return pane.item if isinstance(pane, PaneWidget) and pane.has_cursor else None

    @property
    def draws_trends(self) -> bool:
        """Whether a visible pane draws trends."""
        always = any(self.panes[each].display for each in (Pane.DETAIL, Pane.BUDGET))
        return always or (self.memory.display and self.memory.draws_past)

    def copied_text(self) -> str:
        value = self.view.index.value(self.selected) if self.view is not None else None
        return copy_text(value) if value is not None else ""

    # -- drawing ---------------------------------------------------------------------------------------------

    def draw_view(self, *, from_top: bool) -> None:
        """Draw the view of the model in all panes, or a text while there is none."""
        model, view = self.model, self.model.view
        with self.app.batch_update():
            self.memory.sort, self.memory.reverse = model.sort, model.reverse
            text, others = bars.empty_pane_text(model), bars.other_pane_text(model)
            changed = [
                pane
                for pane in self.panes.values()
                if pane.take(view, text if pane.pane is Pane.MEMORY else others)
            ]
            if view is not None:
                self._keep_selection(view)
            if view is None or view.index is not self.drawn:
                self._place()
            self.drawn = view.index if view is not None else None
            for pane in changed:
                pane.reset()
            self.refresh_bars()
        if from_top:
            self.memory.move_end(last=False)

    def draw_messages(self, same: int | None) -> None:
        """Draw only the history, since nothing else changed; its first `same` rows are unchanged."""
        view = self.model.view
        if view is None:
            return
        self.set_reactive(InspectorPage.drawn, view.index)
        with self.app.batch_update():
            for pane in self.panes.values():
                if pane is not self.history:
                    pane.view = view
            self.history.take_more(view, same)
            self.refresh_bars()

    def draw_changes(self, *, sources: bool, messages: bool) -> None:
        """Draw the bars again, and the list of sources or the messages that were counted since."""
        if sources:
            self.panes[Pane.SOURCES].reset()
            self._place()
        if messages:
            self.history.grow()
        self.refresh_bars()

    def refresh_bars(self) -> None:
        """Refresh everything around the panes: header, timeline, tabs, keys."""
        model = self.model
        self.timeline.display = model.last_revision > 0
        self.deck.set_class(model.as_of is not None, "-past")
        self.replay_bar.display = model.replay.on
        if model.replay.on:
            self.replay_bar.refresh()
        self._banner.update(*bars.banner(model))
        self.header.live = model.live_status(following=self.history.following)
        self.header.refresh_changes()
        self.timeline.refresh_changes()
        self.deck.retitle()
        subtitle = bars.subtitle(model)
        if subtitle != self._subtitle:
            self._subtitle = subtitle
            self.memory.border_subtitle = content(subtitle)
        self.key_bar.offer(bars.offered_actions(model))

    def choose_item(self, item: ItemId, pane: Pane, line: int | None) -> None:
        """Bring a pane to the front and go to an item in it; nothing happens when the pane is not shown."""
        if pane is not PANE_OF[item.kind] and not any(pane in slot.panes for slot in self.deck.slots):
            return
        self.deck.choose(pane)
        chosen = self.panes[pane]
        chosen.go_to(item)
        self.selected = item
        if line is not None and isinstance(chosen, TextPane):
            chosen.go_to_line(line)

    def mark_text(self, needle: str) -> None:
        """Mark a text wherever it is drawn; nothing when it is empty."""
        for pane in self.panes.values():
            pane.mark(pattern(needle))

    def _keep_selection(self, view: ViewState) -> None:
        if (awaited := self.model.awaited_item()) is not None:
            self.call_after_refresh(self.choose_item, awaited, PANE_OF[awaited.kind], None)
        if is_listed(self.selected, view):
            self.detail.reset()
        else:
            pane = self.deck.front
            self.selected = (pane.item if pane.has_cursor else None) or default_selection(view)

    @property
    def draws_facts(self) -> bool:
        """Whether a visible pane draws facts of all revisions."""
        return any(pane.display for pane in self.panes.values() if isinstance(pane, FactsPane))

    def open_pane(self, pane: Pane) -> None:
        """Open a pane alone on the screen; Esc shows the other panes again."""
        widget = self.panes[pane]
        if isinstance(widget, OpenedPane):
            widget.open(self.selected)
            self._place()
            self.deck.choose(pane)
            self.deck.zoom(pane)

    def _place(self) -> None:
        self.deck.place(len(self.model.sources) + len(self.model.problems))
