"""The widgets of the main screen: composes panes and bars, and draws the model in them.

Knows neither jobs nor effects; `InspectorScreen` calls its methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from textual.reactive import reactive
from textual.widget import Widget

from ctxview.tui.drawing.text import Line
from ctxview.tui.model.action_table import OWN_ACTIONS
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.navigation import PANE_OF, default_selection, filled_panes, is_listed
from ctxview.tui.model.reading_index import ItemId, ReadingIndex, copy_text
from ctxview.tui.model.search import pattern
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.screens.action_screen import ActionScreen, UnsavedChanged, bindings, find_own_action
from ctxview.tui.screens.view_area import SkylineStrip, ViewArea, ViewTabs
from ctxview.tui.widgets import bars
from ctxview.tui.widgets.bars import KeyBar
from ctxview.tui.widgets.facts_pane import FactsPane
from ctxview.tui.widgets.header import Header
from ctxview.tui.widgets.pane import PaneWidget
from ctxview.tui.widgets.replay_bar import ReplayBar
from ctxview.tui.widgets.strips import RenderCache, StaticLines, content

if TYPE_CHECKING:
    from ctxview.tui.panes.detail import DetailPane
    from ctxview.tui.panes.history import HistoryPane
    from ctxview.tui.panes.lifecycle import LifecyclePane
    from ctxview.tui.panes.memory import MemoryPane


class InspectorPage(RenderCache, ActionScreen[None]):
    BINDINGS = bindings()  # type: ignore[assignment]  # the toolkit declares a list of three kinds of binding
    AUTO_FOCUS = ""  # the focus is a value of the model

    DEFAULT_CSS = """
    InspectorPage { background: $background; layout: vertical; }
    InspectorPage #banner { background: $panel; }
    """

    drawn: reactive[ReadingIndex | None] = reactive(None, repaint=False)
    """The reading that the panes draw."""

    def __init__(self, model: InspectorModel) -> None:
        super().__init__()
        self.model = model
        self.area = ViewArea(model)
        self.header, self.tabs, self.key_bar = Header(model), ViewTabs(model), KeyBar()
        self.replay_bar, self.strip = ReplayBar(model), SkylineStrip(model)
        self._banner = StaticLines(id="banner")
        self._subtitle: Line = ()
        self._unsaved = False

    def compose(self) -> Iterator[Widget]:
        yield from (self.header, self.tabs, self._banner, self.area)
        yield from (self.replay_bar, self.strip, self.key_bar)

    @property
    def panes(self) -> dict[Pane, PaneWidget]:
        """The panes that were shown so far."""
        return self.area.panes

    @property
    def front(self) -> PaneWidget:
        return self.area.front

    @property
    def own_actions(self) -> Mapping[str, Callable[[], object]]:
        """Actions with another meaning in the view."""
        names = OWN_ACTIONS.get(self.model.shown.name, {})
        return {name: partial(find_own_action(own), self) for name, own in names.items()}

    @property
    def memory(self) -> MemoryPane:
        from ctxview.tui.panes.memory import MemoryPane

        return self.area.get(MemoryPane)

    @property
    def detail(self) -> DetailPane:
        from ctxview.tui.panes.detail import DetailPane

        return self.area.get(DetailPane)

    @property
    def history(self) -> HistoryPane:
        from ctxview.tui.panes.history import HistoryPane

        return self.area.get(HistoryPane)

    @property
    def lifecycle(self) -> LifecyclePane:
        from ctxview.tui.panes.lifecycle import LifecyclePane

        return self.area.get(LifecyclePane)

    def show_pane(self, pane: Pane) -> None:
        """Show the view of a pane, with the focus on the pane."""
        self.model.shown.show(pane)
        self.show_view()

    def show_view(self) -> None:
        """Show the view of the model."""
        with self.app.batch_update():
            self.area.place()
            self.area.focus_front()
            self.refresh_bars()

    @property
    def view(self) -> ViewState | None:
        return self.model.view

    @property
    def selected(self) -> ItemId | None:
        return self.model.selected

    @selected.setter
    def selected(self, item: ItemId | None) -> None:
        self.model.selected = item
        if item is not None and (listing := self.model.listing) is not None:
            listing.look_at(item.name)
        if Pane.DETAIL in self.panes:
            self.detail.select(item)

    @property
    def item_at_cursor(self) -> ItemId | None:
        """The item at the cursor of the focused pane."""
        pane = self.focused
        return pane.item if isinstance(pane, PaneWidget) and pane.has_cursor else None

    @property
    def draws_trends(self) -> bool:
        """Whether a visible pane draws trends."""
        return any(map(self.area.is_shown, (Pane.DETAIL, Pane.BUDGET)))

    def copied_text(self) -> str:
        value = self.view.index.value(self.selected) if self.view is not None else None
        return copy_text(value) if value is not None else ""

    # -- drawing ---------------------------------------------------------------------------------------------

    def draw_view(self, *, from_top: bool) -> None:
        """Draw the view of the model in all panes, or a text while there is none."""
        model, view = self.model, self.model.view
        with self.app.batch_update():
            text, others = bars.empty_pane_text(model), bars.other_pane_text(model)
            changed = [
                pane
                for pane in self.panes.values()
                if pane.take(view, text if pane.pane is model.shown.name else others)
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
                if pane.pane is not Pane.HISTORY:
                    pane.view = view
            if Pane.HISTORY in self.panes:
                self.history.take_more(view, same)
            self.refresh_bars()

    def draw_changes(self, *, sources: bool, messages: bool) -> None:
        """Draw the bars again, and the list of sources or the messages that were counted since."""
        if sources and Pane.SOURCES in self.panes:
            self.panes[Pane.SOURCES].reset()
        if messages and Pane.HISTORY in self.panes:
            self.history.grow()
        self.refresh_bars()

    def refresh_bars(self) -> None:
        """Refresh everything around the panes: header, tabs, skyline strip, keys."""
        model = self.model
        self.strip.display = self.strip.has_room(self.app.size.height)
        self.replay_bar.display = model.replay.on
        if model.replay.on:
            self.replay_bar.refresh()
        self._banner.update(*bars.banner(model))
        following = Pane.HISTORY in self.panes and self.history.following
        self.header.live = model.live_status(following=following)
        self.header.refresh_changes()
        self.tabs.refresh_changes()
        self.strip.refresh_changes()
        self.area.retitle()
        subtitle = bars.subtitle(model)
        if subtitle != self._subtitle and Pane.MEMORY in self.panes:
            self._subtitle = subtitle
            self.memory.border_subtitle = content(subtitle)
        self.key_bar.offer(bars.offered_actions(model), model.shown.name)
        if bool(model.drafts.unsaved) is not self._unsaved:
            self._unsaved = not self._unsaved
            self.post_message(UnsavedChanged(unsaved=self._unsaved))

    def choose_item(self, item: ItemId, pane: Pane, line: int | None) -> None:
        """Bring a pane to the front and go to an item in it; nothing happens when the pane is not shown."""
        if pane is not PANE_OF[item.kind] and pane not in self.model.shown.tabs(self.view):
            return
        self.show_pane(pane)
        self.front.go_to(item)
        self.selected = item
        if line is not None:
            self.front.go_to_line(line)

    def point_at(self, item: ItemId) -> None:
        """Select an item without leaving the view; the cursor moves where the view lists it."""
        pane = PANE_OF[item.kind]
        if self.area.is_shown(pane):
            self.panes[pane].go_to(item)
        self.selected = item

    def mark_text(self, needle: str) -> None:
        """Mark a text wherever it is drawn; nothing when it is empty."""
        for pane in self.panes.values():
            pane.mark(pattern(needle))

    def _keep_selection(self, view: ViewState) -> None:
        if (awaited := self.model.awaited_item()) is not None:
            self.call_after_refresh(self.choose_item, awaited, PANE_OF[awaited.kind], None)
        if is_listed(self.selected, view):
            if Pane.DETAIL in self.panes:
                self.detail.reset()
        else:
            pane = self.front
            self.selected = (pane.item if pane.has_cursor else None) or default_selection(view)

    @property
    def draws_facts(self) -> bool:
        """Whether a visible pane draws facts of all revisions."""
        return self.strip.display or any(
            isinstance(pane, FactsPane) for name, pane in self.panes.items() if self.area.is_shown(name)
        )

    def _place(self) -> None:
        """Place the panes again; when the source does not have the shown view, show the overview."""
        shown = self.model.shown
        if self.view is not None and shown.name.absent and shown.name not in filled_panes(self.view):
            shown.show(Pane.OVERVIEW)
            self.area.focus_front()
        self.area.place()
