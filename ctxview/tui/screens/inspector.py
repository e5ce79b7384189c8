"""The main screen: turns messages into calls of the model, and effects into calls of widgets.

All state is in `InspectorModel`; the actions are in `ctxview.tui.actions`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from textual import events
from textual.timer import Timer

from ctxview.tui.drawing.text import Line
from ctxview.tui.input_order import wait_until
from ctxview.tui.job_runner import EarlyMessages, JobFinished, JobProgress, JobRunner, UserPriority
from ctxview.tui.model import effects
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.model.search import pattern
from ctxview.tui.screens.action_screen import ImportAhead
from ctxview.tui.screens.inspector_page import InspectorPage
from ctxview.tui.widgets.bars import hit_line
from ctxview.tui.widgets.pane import PaneWidget
from ctxview.tui.widgets.virtual_lines import VirtualLines

FIRST_PICTURE = 0.15
"""Seconds for which the first picture waits for a reading."""


class InspectorScreen(InspectorPage):
    def __init__(
        self,
        model: InspectorModel,
        priority: UserPriority | None = None,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """`ended` is called at the end of a replay."""
        super().__init__(model)
        self._early = EarlyMessages(self.post_message)
        self.jobs = JobRunner(self._early.put, priority)
        self._ended = ended
        self._imports_ahead = False
        self._timers_by_name: dict[str, Timer] = {}

    async def on_mount(self) -> None:
        """Wait a moment for the first reading, so that the first picture shows it."""
        self.area.focus_front()
        self._early.hold()
        self.perform(self.model.start())
        await self._early.take(FIRST_PICTURE, self._awaits_reading, self.on_job_finished)

    def _awaits_reading(self) -> bool:
        return bool(self.jobs.running) and self.view is None and self.model.problem is None

    # -- messages to the model -------------------------------------------------------------------------------

    def on_job_finished(self, message: JobFinished) -> None:
        self.perform(self.model.finished(message.job, message.result))

    def on_job_progress(self, message: JobProgress) -> None:
        self.perform(self.model.progressed(message.job, message.text))

    def wake(self, timer: str) -> None:
        self.perform(self.model.woke(timer))

    async def action_command(self, name: str) -> None:
        self.perform(self.model.replay.action_started(name))
        before = self.item_at_cursor
        if before is not None and before.kind is ItemKind.BLOCK:
            # The page may have changed under the cursor, and the message about that may come later.
            self.selected = before
        await super().action_command(name)
        now = self.item_at_cursor
        if now is not None and now != before:
            # Set here and not by the message about the move, so that cursor and detail change in one paint.
            self.selected = now

    async def revision_shown(self) -> None:
        await wait_until(lambda: self.view is None or self.view.key == self.model.key)

    def on_key(self, event: events.Key) -> None:
        """Pause a replay at a key without an action, too."""
        if event.key not in self.active_bindings:
            self.perform(self.model.replay.action_started(None))

    def on_virtual_lines_moved(self, event: VirtualLines.Moved) -> None:
        widget = event.widget
        if widget.has_focus and widget is not self.panes.get(Pane.DETAIL):
            # Not the item of the message: it can arrive after the next page, which has moved the cursor on.
            self.selected = widget.item

    async def on_virtual_lines_chosen(self) -> None:
        await self.action_command("enter")

    def on_descendant_focus(self) -> None:
        pane = self.focused
        if isinstance(pane, PaneWidget):
            self.model.shown.front = pane.pane
            self._report_panes()
            if pane.has_cursor and pane.item is not None:
                self.selected = pane.item

    def action_sort_by(self, name: str) -> None:
        self.perform(self.model.order_by(name))

    def action_fold_tier(self, number: int) -> None:
        if self.view is not None:
            self.memory.fold(self.view.index.reading.state.tiers[number].name)

    def action_go_to_stage(self, number: int) -> None:
        self.show_pane(Pane.LIFECYCLE)
        self.lifecycle.show_stage(number)

    def action_go_to_revision(self, number: int) -> None:
        self.stepping = True
        self.perform(self.model.go_to_revision(number))

    def go_to(self, item: ItemId) -> None:
        """Select `item` in its pane and scroll to it; the item that is left is one to go back to."""
        self.perform(self.model.go_to(item, self.model.shown.front))

    def search_for(self, needle: str) -> Line:
        self.perform(self.model.search_for(needle))
        return hit_line(self.model)

    def step_hit(self, *, back: bool) -> None:
        needle = self.model.search.hits.needle
        if (matches := pattern(needle)) and self.front.find_text(matches, back=back):
            return
        self.perform(self.model.step_hit(back=back))

    # -- effects to widgets ----------------------------------------------------------------------------------

    def perform(self, orders: Sequence[effects.Effect]) -> None:
        """Carry out the effects that the model returned."""
        for order in orders if self.is_running else ():
            self._perform(order)
        if orders:
            self._report_panes()

    def _report_panes(self) -> None:
        if self.is_running:
            xray = self.area.is_shown(Pane.XRAY)
            drawn = self.model.panes_drawn(trends=self.draws_trends, facts=self.draws_facts, xray=xray)
            self.perform(drawn)

    def _perform(self, order: effects.Effect) -> None:
        match order:
            case effects.Start(job):
                self.jobs.start(job)
            case effects.Cancel(group):
                self.jobs.cancel(group)
            case effects.Show(from_top):
                self.draw_view(from_top=from_top)
                self.call_after_refresh(self._painted)
            case effects.ShowMessages(same):
                self.draw_messages(same)
            case effects.Refresh(sources, messages):
                self.draw_changes(sources=sources, messages=messages)
            case effects.Select(item, pane, line, if_current):
                if not if_current:
                    self.choose_item(item, pane, line)
                elif self.is_current:
                    self.point_at(item)
            case effects.Unmark():
                if Pane.HISTORY in self.panes:
                    self.history.unmark()
            case effects.MarkText(needle):
                self.mark_text(needle)
            case effects.Notify(text, severity, title):
                self.say(text, severity=severity, title=title)
            case effects.WakeAfter(timer, seconds, repeat):
                self._sleep(timer)
                start = self.set_interval if repeat else self.set_timer
                self._timers_by_name[timer] = start(seconds, partial(self.wake, timer))
            case effects.Sleep(timer):
                self._sleep(timer)
            case effects.Ended():
                self._ended()

    def _painted(self) -> None:
        if self.view is not None or self.model.problem is not None:
            self.jobs.priority.painted()
            if not self._imports_ahead:
                self._imports_ahead = True
                self.jobs.start(ImportAhead())

    def _sleep(self, timer: str) -> None:
        if (running := self._timers_by_name.pop(timer, None)) is not None:
            running.stop()
