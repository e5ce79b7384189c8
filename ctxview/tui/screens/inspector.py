"""The main screen: turns messages into calls of the model, and effects into calls of widgets.

All state is in `InspectorModel`; the actions are in `ctxview.tui.actions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from textual import events
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from ctxview.tui.drawing.text import Line
from ctxview.tui.job_runner import JobFinished, JobProgress, JobRunner, UserPriority
from ctxview.tui.model import effects
from ctxview.tui.model.effects import Effect
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.navigation import PANE_OF, default_selection, is_listed
from ctxview.tui.model.reading_index import ItemId, ReadingIndex, copy_text
from ctxview.tui.model.saved_layouts import SavedLayouts
from ctxview.tui.model.search import pattern
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.panes import DetailPane, HistoryPane, LifecyclePane, MemoryPane, TextPane, all_panes
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

    drawn: reactive[ReadingIndex | None] = reactive(None, repaint=False)
    """The reading that the panes draw."""

    def __init__(
        self,
        model: InspectorModel,
        priority: UserPriority | None = None,
        ended: Callable[[], None] = lambda: None,
        layouts: SavedLayouts | None = None,
    ) -> None:
        """`ended` is called at the end of a replay; without `layouts` pane sizes are not saved."""
        super().__init__()
        self.model = model
        self.jobs = JobRunner(self.post_message, priority)
        self.deck = Deck(all_panes(model), layouts)
        self._ended = ended
        self._subtitle: Line = ()
        self._wakers: dict[str, Timer] = {}

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
        self.call_after_refresh(lambda: self.perform(self.model.start()))

    def on_unmount(self) -> None:
        self.jobs.close()

    # -- messages to the model -------------------------------------------------------------------------------

    def on_job_finished(self, message: JobFinished) -> None:
        self.perform(self.model.finished(message.job, message.result))

    def on_job_progress(self, message: JobProgress) -> None:
        self.perform(self.model.progressed(message.job, message.text))

    def wake(self, timer: str) -> None:
        self.perform(self.model.woke(timer))

    async def action_command(self, name: str) -> None:
        self.perform(self.model.replay.action_started(name))
        before = self._item_at_cursor
        await super().action_command(name)
        now = self._item_at_cursor
        if now is not None and now != before:
            # Set here and not by the message about the move, so that cursor and detail change in one paint.
            self.selected = now

    def on_key(self, event: events.Key) -> None:
        """Pause a replay at a key without an action, too."""
        if event.key not in self.active_bindings:
            self.perform(self.model.replay.action_started(None))

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
            self._report_panes()
            if pane.has_cursor and pane.item is not None:
                self.selected = pane.item

    def action_sort_by(self, name: str) -> None:
        self.perform(self.model.order_by(name))

    def action_go_to_stage(self, number: int) -> None:
        self.deck.choose(Pane.LIFECYCLE)
        self.lifecycle.show_stage(number)

    def action_go_to_revision(self, number: int) -> None:
        self.stepping = True
        self.perform(self.model.go_to_revision(number))

    def go_to(self, item: ItemId, *, remember: bool = True) -> None:
        """Select `item` in its pane and scroll to it."""
        self.perform(self.model.go_to(item, self.deck.front.pane if remember else None))

    def search_for(self, needle: str) -> Line:
        self.perform(self.model.search_for(needle))
        return bars.hit_line(self.model)

    def step_hit(self, *, back: bool) -> None:
        self.perform(self.model.step_hit(back=back))

    # -- effects to widgets ----------------------------------------------------------------------------------

    def perform(self, orders: Iterable[Effect]) -> None:
        """Carry out the effects that the model returned."""
        for order in orders:
            match order:
                case effects.Start(job):
                    self.jobs.start(job)
                case effects.Cancel(group):
                    self.jobs.cancel(group)
                case effects.Show(from_top):
                    self._show(self.model.view)
                    if from_top:
                        self.memory.move_end(last=False)
                case effects.ShowMessages(same):
                    self._show_messages(same)
                case effects.Refresh(sources, messages):
                    self._refresh(sources=sources, messages=messages)
                case effects.Select():
                    self._select(order)
                case effects.Unmark():
                    self.history.unmark()
                case effects.MarkText(needle):
                    for pane in self.panes.values():
                        pane.mark(pattern(needle))
                case effects.Notify(text, severity, title):
                    self.say(text, severity=severity, title=title)
                case effects.WakeAfter(timer, seconds, repeat):
                    self._sleep(timer)
                    start = self.set_interval if repeat else self.set_timer
                    self._wakers[timer] = start(seconds, lambda name=timer: self.wake(name))
                case effects.Sleep(timer):
                    self._sleep(timer)
                case effects.Ended():
                    self._ended()

    def _sleep(self, timer: str) -> None:
        if (waker := self._wakers.pop(timer, None)) is not None:
            waker.stop()

    def _select(self, order: effects.Select) -> None:
        is_default = order.pane is PANE_OF[order.item.kind]
        exists = is_default or any(order.pane in slot.panes for slot in self.deck.slots)
        if not exists or (order.if_current and not self.is_current):
            return
        self.deck.choose(order.pane)
        pane = self.panes[order.pane]
        pane.go_to(order.item)
        self.selected = order.item
        if order.line is not None and isinstance(pane, TextPane):
            pane.go_to_line(order.line)

    def _show(self, view: ViewState | None) -> None:
        if not self.is_mounted:
            return
        model = self.model
        with self.app.batch_update():
            self.memory.sort, self.memory.reverse = model.sort, model.reverse
            text, others = bars.empty_pane_text(model), bars.other_pane_text(model)
            changed = [
                pane
                for pane in self.panes.values()
                if pane.take(view, text if pane.pane is Pane.MEMORY else others)
            ]
            self._keep_selection(view)
            if view is None or view.index is not self.drawn:
                self._place()
            self.drawn = view.index if view is not None else None
            for pane in changed:
                pane.reset()
            self.refresh_bars()
        self.call_after_refresh(self.jobs.priority.painted)

    def _show_messages(self, same: int | None) -> None:
        """Draw only the history, since nothing else changed; its first `same` rows are unchanged."""
        view = self.model.view
        if view is None:
            return
        self.set_reactive(InspectorScreen.drawn, view.index)
        with self.app.batch_update():
            for pane in self.panes.values():
                if pane is not self.history:
                    pane.view = view
            self.history.take_more(view, same)
            self.refresh_bars()

    def _keep_selection(self, view: ViewState | None) -> None:
        if view is None:
            return
        if (awaited := self.model.awaited_item()) is not None:
            self.call_after_refresh(self.go_to, awaited, remember=False)
        if is_listed(self.selected, view):
            self.detail.reset()
        else:
            pane = self.deck.front
            self.selected = (pane.item if pane.has_cursor else None) or default_selection(view)

    def _refresh(self, *, sources: bool, messages: bool) -> None:
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
        self._report_panes()

    def _report_panes(self) -> None:
        drawn = any(self.panes[each].display for each in (Pane.DETAIL, Pane.BUDGET))
        drawn = drawn or (self.memory.display and self.memory.draws_past)
        self.perform(self.model.panes_drawn(trends=drawn))

    def _place(self) -> None:
        self.deck.place(len(self.model.sources) + len(self.model.problems))

    # -- what is on the screen -------------------------------------------------------------------------------

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
    def _item_at_cursor(self) -> ItemId | None:
        """The item at the cursor of the focused pane."""
        pane = self.focused
        return pane.item if isinstance(pane, PaneWidget) and pane.has_cursor else None

    def copied_text(self) -> str:
        value = self.view.index.value(self.selected) if self.view is not None else None
        return copy_text(value) if value is not None else ""
