"""The main screen: composes the panes, starts jobs, and passes their results to the model and the panes.

The state is in `InspectorModel`; the reactive `view` is what the panes draw. The actions are in
`ctxview.tui.actions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from textual import events
from textual.reactive import reactive
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from ctxview.tui.drawing.text import Line
from ctxview.tui.jobs import background, load
from ctxview.tui.jobs.background import LONG_WORK, TRENDS, BackgroundWork, TrendsController, TrendsReady
from ctxview.tui.jobs.live_updates import REREAD, LiveUpdates
from ctxview.tui.jobs.replay import CaptionsReady, ReplayController
from ctxview.tui.jobs.runner import UserPriority, cancel_check, start_thread
from ctxview.tui.jobs.search import SearchController
from ctxview.tui.jobs.watcher import DiskChange
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.navigation import PANE_OF, BackStack, default_selection, is_listed
from ctxview.tui.model.query import Query, SortOrder
from ctxview.tui.model.reading_index import ItemId, ItemKind, ReadingIndex, copy_text
from ctxview.tui.model.replay import ReplayOptions
from ctxview.tui.model.saved_layouts import SavedLayouts
from ctxview.tui.model.view_state import ReadOptions, ViewState
from ctxview.tui.panes import all_panes
from ctxview.tui.panes.detail import DetailPane
from ctxview.tui.panes.history import HistoryPane
from ctxview.tui.panes.lifecycle import LifecyclePane
from ctxview.tui.panes.memory import MemoryPane
from ctxview.tui.screens.action_screen import ActionScreen, bindings
from ctxview.tui.widgets import bars
from ctxview.tui.widgets.bars import Header, KeyBar
from ctxview.tui.widgets.deck import Deck
from ctxview.tui.widgets.pane import PaneWidget
from ctxview.tui.widgets.strips import RenderCache, StaticLines, content
from ctxview.tui.widgets.timeline import ReplayBar, Timeline
from ctxview.tui.widgets.virtual_lines import VirtualLines


class InspectorScreen(RenderCache, ActionScreen[None]):
    BINDINGS = bindings()  # type: ignore[assignment]  # the toolkit declares a list of three kinds of binding
    AUTO_FOCUS = ""  # otherwise the toolkit focuses the first pane, the sources

    DEFAULT_CSS = """
    InspectorScreen { background: $background; layout: vertical; }
    InspectorScreen #banner { background: $panel; }
    """

    view: reactive[ViewState | None] = reactive(None, repaint=False)
    selected: reactive[ItemId | None] = reactive(None, repaint=False)

    def __init__(
        self,
        opener: load.Opener,
        options: ReadOptions,
        profile: str | None = None,
        priority: UserPriority | None = None,
        show: ReplayOptions | None = None,
        ended: Callable[[], None] | None = None,
        *,
        watching: bool = True,
        layouts: SavedLayouts | None = None,
    ) -> None:
        """With `show` the revisions are replayed from the first on, and `ended` is called at the end.

        Without `watching` sources are reread only on request; without `layouts` pane sizes are not saved.
        """
        super().__init__()
        self.priority = priority or UserPriority()
        self.model = InspectorModel(profile, options)
        self.deck = Deck(all_panes(self.model), layouts)
        self.back_stack = BackStack(self)
        self.finding: ItemId | None = None
        """The finding that was stepped to last."""
        self._awaited: ItemId | None = None
        self._subtitle: Line = ()
        self._placed: ReadingIndex | None = None
        self._opener = opener
        self._problem: str | None = None
        self._reader: Worker[None] | None = None
        self.background_work = BackgroundWork(self)
        self.live = LiveUpdates(self, opener, automatic=watching)
        self.search = SearchController(self)
        self.replay = ReplayController(self, show, ended)
        self.trends = TrendsController(self)

    def compose(self) -> Iterator[Widget]:
        yield Header(self.model)
        yield StaticLines(id="banner")
        yield self.deck
        yield ReplayBar(self.model, self.replay)
        yield Timeline(self.model)
        yield KeyBar()

    def on_mount(self) -> None:
        self.header = self.query_one(Header)
        self.timeline, self.key_bar = self.query_one(Timeline), self.query_one(KeyBar)
        self.memory, self.detail = self.query_one(MemoryPane), self.query_one(DetailPane)
        self.history, self.lifecycle = self.query_one(HistoryPane), self.query_one(LifecyclePane)
        self.replay_bar, self._banner = self.query_one(ReplayBar), self.query_one(StaticLines)
        self.header.status = "opening…"
        self.deck.front.focus()
        self.call_after_refresh(self._open)
        self.live.start()

    def on_unmount(self) -> None:
        self.live.stop()

    # -- jobs ------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        job = partial(load.open_all, self._opener, self.post_message)
        start_thread(self, lambda: job(cancel_check()), "opening", exclusive=False)

    def read(self, *, quick: bool = True) -> None:
        """Start reading the selected revision; the result of an earlier call is dropped."""
        self.model.count_revisions()
        source, key = self.model.source, self.model.key
        if source is None:
            return
        self._problem = None
        self.header.status = "reading…"
        if self.view is None:
            self.watch_view(None)
        self.refresh_bars()
        overlay = self.model.drafts.overlay(key.source)
        self.priority.paint_first()
        job = partial(load.read_revision, source, key, overlay, self.priority, self.post_message)
        self._reader = start_thread(self, lambda: job(cancel_check(), quick=quick), "reading")

    def on_work_progress(self, message: background.WorkProgress) -> None:
        if self.background_work.report(message.text):
            self.history.grow()
            self.refresh_bars()

    def on_work_finished(self, message: background.WorkFinished) -> None:
        if self.background_work.finish(message.key):
            self.read(quick=False)

    def on_sources_found(self, message: load.SourcesFound) -> None:
        first = not self.model.sources
        self.model.add_sources(message.sources, message.problems)
        if first and self.model.sources:
            self.replay.sources_found()
            self.read()
        elif message.last and not self.model.sources:
            self._problem = "No source could be opened."
            self.header.status = ""
            self.watch_view(None)
        elif not first and not self.live.is_reading:
            self.background_work.start_next()
        self.list_sources()
        self.live.update_target()

    def on_reading_ready(self, message: load.ReadingReady) -> None:
        view = self.model.take(message.key, message.index, draft=self.model.drafts.dirty(message.key))
        if view is None:
            return
        self.header.status = "" if message.final else "counting…"
        self.header.refresh()
        self.view = view
        self.call_after_refresh(self.priority.painted)
        self.live.update_target()
        if message.final:
            self.background_work.mark_changes(view)
            self.background_work.start_next()
            self.replay.reading_shown()
            self.live.start_next()

    def on_changes_marked(self, message: load.ChangesMarked) -> None:
        self.view = self.model.take_marks(message.key, message.marks) or self.view

    def on_disk_change(self, message: DiskChange) -> None:
        self.live.take(message.change)

    def on_captions_ready(self, message: CaptionsReady) -> None:
        self.replay.take(message)

    def on_trends_ready(self, message: TrendsReady) -> None:
        self.trends.take(message)

    async def action_command(self, name: str) -> None:
        self.replay.action_started(name)
        before = self._item_at_cursor
        await super().action_command(name)
        now = self._item_at_cursor
        if now is not None and now != before:
            # Set here and not by the message about the move, so that cursor and detail change in one paint.
            self.selected = now

    def on_key(self, event: events.Key) -> None:
        """Pause a replay at a key without an action, too."""
        if self.replay.clock.playing and event.key not in self.active_bindings:
            self.replay.pause()

    def on_totals_counted(self, message: load.TotalsCounted) -> None:
        self.model.totals.update(message.totals)
        self.panes[Pane.SOURCES].reset()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Report an error of any job."""
        if event.state is not WorkerState.ERROR:
            return
        reason = str(event.worker.error) or type(event.worker.error).__name__
        if event.worker.group == LONG_WORK:
            self.background_work.stop()
        if event.worker.group == REREAD:
            self.live.failed()
        if event.worker.group == TRENDS:
            self.trends.failed()
        if event.worker.name in {"opening", "reading"} and (
            event.worker is self._reader or not self.model.sources
        ):
            self._problem = f"Cannot be read: {reason}"
            self.header.status = ""
            self.clear()
            self.watch_view(None)
        else:
            self.say(reason, severity="error", title=f"{event.worker.name} failed")

    # -- the view --------------------------------------------------------------------------------------------

    @property
    def panes(self) -> dict[Pane, PaneWidget]:
        return self.deck.panes

    def watch_view(self, view: ViewState | None) -> None:
        if not self.is_mounted:
            return
        with self.app.batch_update():
            status, others = (
                bars.empty_pane_text(self.model, self._problem),
                bars.other_pane_text(self._problem),
            )
            self.memory.sort, self.memory.reverse = self.model.sort, self.model.reverse
            changed = [
                pane
                for pane in self.panes.values()
                if pane.take(view, status if pane.pane is Pane.MEMORY else others)
            ]
            self._keep_selection(view)
            if view is None or view.index is not self._placed:
                self._placed = view.index if view is not None else None
                self.deck.place(len(self.model.sources) + len(self.model.problems))
            for pane in changed:
                pane.reset()
            self.refresh_bars()

    @property
    def _item_at_cursor(self) -> ItemId | None:
        """The item at the cursor of the focused pane."""
        pane = self.focused
        return pane.item if isinstance(pane, PaneWidget) and pane.has_cursor else None

    def watch_selected(self, selected: ItemId | None) -> None:
        self.detail.select(selected)

    def on_virtual_lines_moved(self, event: VirtualLines.Moved) -> None:
        if event.widget.has_focus and event.widget is not self.detail:
            self.selected = event.item

    async def on_virtual_lines_chosen(self) -> None:
        await self.action_command("enter")

    def on_descendant_focus(self) -> None:
        pane = self.focused
        if isinstance(pane, PaneWidget):
            if pane is not self.deck.front:
                self.deck.choose(pane.pane)
            self.trends.update()
            if pane.has_cursor and pane.item is not None:
                self.selected = pane.item

    def adopt_view(self, view: ViewState) -> None:
        """Set the view without drawing, because the caller has drawn it."""
        self.set_reactive(InspectorScreen.view, view)
        self._placed = view.index

    def rearrange(self) -> None:
        """Show the same reading with another filter or order."""
        self.view = self.model.rearranged()

    def rearrange_from_top(self) -> None:
        """Show another order from its first row."""
        self.rearrange()
        self.memory.move_end(last=False)

    def go_to(self, item: ItemId, *, remember: bool = True) -> None:
        """Select `item` in its pane and scroll to it."""
        pane = PANE_OF[item.kind]
        if remember and self.selected is not None and (self.deck.front.pane, self.selected) != (pane, item):
            self.back_stack.remember(self.selected)
        if item.kind is ItemKind.BLOCK and self.view is not None and item not in self.view.blocks:
            self.model.query = Query()
            self.rearrange()
            self.say("The filter was cleared, because it hid this block.")
        self.deck.choose(pane)
        self.panes[pane].go_to(item)
        self.selected = item

    def clear(self) -> None:
        """Drop the view: it belongs to another source, or can no longer be read."""
        self.model.forget()
        self.finding = None
        self.view = None

    def draft_changed(self) -> None:
        """Read again after a step or a save of a draft."""
        self.model.set_edits(self.model.drafts.steps(self.model.key.source))
        self.read()

    def select_when_read(self, item: ItemId) -> None:
        """Select `item` as soon as a reading has it."""
        self._awaited = item

    def list_sources(self) -> None:
        self.panes[Pane.SOURCES].reset()
        self.deck.place(len(self.model.sources) + len(self.model.problems))

    def read_current(self) -> None:
        """Read after another source, revision or profile was selected."""
        self.background_work.stop_unless(self.model.key)
        self.read()
        self.panes[Pane.SOURCES].reset()

    def try_budget(self, budget: int | None) -> None:
        """Try another budget; None for the source's own."""
        if self.model.set_option("budget", budget):
            self.read()

    def search_for(self, needle: str) -> Line:
        return self.search.search_for(needle)

    def step_hit(self, *, back: bool) -> None:
        self.search.step(back=back)

    def copied_text(self) -> str:
        value = self.view.index.value(self.selected) if self.view is not None else None
        return copy_text(value) if value is not None else ""

    # -- actions of clicks -----------------------------------------------------------------------------------

    def action_sort_by(self, name: str) -> None:
        self.model.sort_by(SortOrder[name])
        self.rearrange_from_top()

    def action_go_to_stage(self, number: int) -> None:
        self.deck.choose(Pane.LIFECYCLE)
        self.lifecycle.show_stage(number)

    def action_go_to_revision(self, number: int) -> None:
        self.stepping = True
        if self.model.go_to_revision(number):
            self.read_current()

    def _keep_selection(self, view: ViewState | None) -> None:
        if view is None:
            return
        if self._awaited is not None and view.index.value(self._awaited) is not None:
            awaited, self._awaited = self._awaited, None
            self.call_after_refresh(self.go_to, awaited, remember=False)
        if is_listed(self.selected, view):
            self.detail.reset()
        else:
            pane = self.deck.front
            self.selected = (pane.item if pane.has_cursor else None) or default_selection(view)

    def refresh_bars(self) -> None:
        """Refresh everything around the panes: header, timeline, tabs, keys."""
        model = self.model
        self.timeline.display = model.last_revision > 0
        self.deck.set_class(model.as_of is not None, "-past")
        self.replay_bar.display = self.replay.on
        if self.replay.on:
            self.replay_bar.refresh()
        self._banner.update(*bars.banner(model, self.model.drafts.changed_on_disk(model.key)))
        self.header.live = self.live.state()
        self.header.refresh_changes()
        self.timeline.refresh_changes()
        self.deck.retitle()
        subtitle = bars.subtitle(model)
        if subtitle != self._subtitle:
            self._subtitle = subtitle
            self.memory.border_subtitle = content(subtitle)
        draft, playing = self.model.drafts.dirty(model.key), self.replay.clock.playing
        self.key_bar.offer(bars.offered_actions(model, draft=draft, player=self.replay.on, playing=playing))
        self.trends.update()
