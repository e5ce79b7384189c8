"""Background work: the long work of a source, the totals of findings, and the trends, each in a thread."""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.message import Message
from textual.timer import Timer

from ctxview.tui.jobs import load
from ctxview.tui.jobs.runner import Cancelled, Post, SilentProgress, UserPriority, cancel_check, start_thread
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.trends import Trends, read_trends
from ctxview.tui.model.view_state import ReadingKey, ViewState

if TYPE_CHECKING:
    from ctxview.formats import Source
    from ctxview.formats.interface import LongWork
    from ctxview.tui.screens.inspector import InspectorScreen


REPORT_EVERY = 0.15
"""Seconds between two reports of progress."""


class WorkProgress(Message):
    """A text about the progress of the work; more rows of a transcript may be known by now."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, WorkProgress)


class WorkFinished(Message):
    """All work for a key is done; a new reading shows more."""

    def __init__(self, key: ReadingKey) -> None:
        super().__init__()
        self.key = key


class ProgressReporter:
    """The `Progress` of the long work: posts a report from time to time and drops the others.

    The work pauses in `cancelled` while a person waits for something else.
    """

    def __init__(self, post: Post, cancelled: Cancelled, priority: UserPriority) -> None:
        self._post = post
        self._cancelled = cancelled
        self._priority = priority
        self._reported = monotonic()

    @property
    def cancelled(self) -> bool:
        self._priority.give_way(self._cancelled)
        return self._cancelled()

    def report(self, done: int, total: int, what: str) -> None:
        now = monotonic()
        if now - self._reported >= REPORT_EVERY and not self._cancelled():
            self._reported = now
            self._post(WorkProgress(progress_text(done, total, what)))


def run_long_work(
    work: LongWork,
    key: ReadingKey,
    priority: UserPriority,
    post: Post,
    cancelled: Cancelled,
) -> None:
    """Do all the work unless cancelled; the next call then continues."""
    work.work(key.lens(rough=True, trial=False), ProgressReporter(post, cancelled, priority))
    if not cancelled():
        post(WorkFinished(key))


def progress_text(done: int, total: int, what: str) -> str:
    """The progress as a text; never 100 %, since the work is not done yet."""
    return f"{what} {min(99, done * 100 // total)} %" if total > 0 else f"{what}…"


MOST_TOTALLED = 200
"""The sources around the selected one whose findings are counted: each has to be read for that."""
LONG_WORK = "background"
"""The worker group of the long work."""


class BackgroundWork:
    """Starts long work and totals for one inspector; called on the interface's thread."""

    def __init__(self, screen: InspectorScreen) -> None:
        self._screen = screen
        self._running: ReadingKey | None = None
        self._done: set[tuple[int, str | None]] = set()
        self._totalled: set[int] = set()

    def mark_changes(self, view: ViewState) -> None:
        """Compare the revision of `view` with the one that it continues, if that was not done yet."""
        source = self._screen.model.source
        if source is not None and view.marks.pending:
            job = partial(load.mark_changes, source, view.key, self._screen.post_message)
            start_thread(self._screen, lambda: job(cancel_check()), "marking")

    def start_next(self) -> None:
        """Start what is due after a reading: long work, once for a source and profile, then the totals."""
        source, key = self._screen.model.source, self._screen.model.key
        work = source.abilities.work if source is not None else None
        if _key(key) in self._done or work is None:
            self._total()
        elif self._running is None or _key(self._running) != _key(key):
            self._running = key
            screen = self._screen
            job = partial(run_long_work, work, key, screen.priority, screen.post_message)
            start_thread(screen, lambda: job(cancel_check()), "the work in the background", LONG_WORK)

    def is_running(self, key: ReadingKey) -> bool:
        return self._running is not None and _key(self._running) == _key(key)

    def source_replaced(self, number: int, done: ReadingKey | None) -> None:
        """Forget the work done for a source that was reread, except the work for the key `done`."""
        self._done = {key for key in self._done if key[0] != number}
        self._totalled.discard(number)
        if done is not None:
            self._done.add(_key(done))

    def is_done(self, key: ReadingKey) -> bool:
        """Whether no long work is left for `key`."""
        return _key(key) in self._done or self._screen.model.sources[key.source].abilities.work is None

    def stop_unless(self, key: ReadingKey) -> None:
        """Stop work for another source or profile; it can continue later."""
        if self._running is not None and _key(self._running) != _key(key):
            self.stop()

    def stop(self) -> None:
        self._running = None
        self._screen.header.working = ""
        self._screen.workers.cancel_group(self._screen, LONG_WORK)

    def report(self, text: str) -> bool:
        """Show the progress; False when the work was stopped."""
        if self._running is None:
            return False
        self._screen.header.working = text
        return True

    def finish(self, key: ReadingKey) -> bool:
        """Note that the work for `key` is done; whether that is the work started last."""
        self._done.add(_key(key))
        self._totalled.discard(key.source)
        awaited = self._running == key
        if awaited:
            self.stop()
        return awaited

    def _total(self) -> None:
        screen, model = self._screen, self._screen.model
        first = max(0, min(model.key.source - MOST_TOTALLED // 2, len(model.sources) - MOST_TOTALLED))
        near = enumerate(model.sources[first : first + MOST_TOTALLED], first)
        waiting = [(at, each) for at, each in near if at not in self._totalled]
        self._totalled.update(at for at, _ in waiting)
        if waiting:
            job = partial(
                load.count_findings,
                waiting,
                model.key,
                screen.priority,
                screen.post_message,
            )
            start_thread(screen, lambda: job(cancel_check()), "totals", exclusive=False)


def _key(key: ReadingKey) -> tuple[int, str | None]:
    return key.source, key.profile


TRENDS = "trends"
"""The worker group of the trends."""

TRENDS_REST = 2.0
"""Seconds between two reads of the trends of one source while its files change."""


class TrendsReady(Message):
    """The trends of a source."""

    def __init__(self, source: Source, trends: Trends) -> None:
        super().__init__()
        self.source = source
        self.trends = trends


class TrendsController:
    """Reads and shows trends for one inspector; called on the interface's thread."""

    def __init__(self, screen: InspectorScreen) -> None:
        self._screen = screen
        self._known: dict[tuple[int, str | None], tuple[Source, Trends]] = {}
        self._running: tuple[Source, ReadingKey] | None = None
        self._begun = 0.0
        self._waiting: Timer | None = None

    def update(self) -> None:
        """Start or stop reading, or show known trends, after any change of the view or the panes."""
        screen, model = self._screen, self._screen.model
        source, key, view = model.source, model.key, model.view
        if source is None or not self._is_drawn:
            if self._running is not None:
                self._running = None
                screen.workers.cancel_group(screen, TRENDS)
            return
        if view is None or view.key != key or screen.header.status:
            return
        if not model.last_revision and not view.draft:
            return
        known = self._known.get((key.source, key.profile))
        if known is not None and known[0] is source and known[1].covers(key.revision):
            if view.trends is not known[1]:
                self._show(*known)
            return
        if known is not None and known[0] is not source:
            if list(known[0].revisions) == list(source.revisions):
                self._show(source, replace(known[1], seen=key.seen))
                return
            if self._must_rest():
                return
        if self._running is None or self._running[0] is not source or self._running[1] != key:
            self._start(source, key)

    def take(self, message: TrendsReady) -> None:
        trends = message.trends
        self._known[trends.source, trends.profile] = message.source, trends
        self._running = None
        self.update()

    def failed(self) -> None:
        """Do not try again while the source is the same: trends are optional."""
        if self._running is not None:
            source, key = self._running
            self._known[key.source, key.profile] = source, Trends(key.source, key.profile, key.seen)
            self._running = None

    @property
    def _is_drawn(self) -> bool:
        """Whether a visible pane draws trends."""
        panes = self._screen.panes
        if any(panes[each].display for each in (Pane.DETAIL, Pane.BUDGET)):
            return True
        return self._screen.memory.display and self._screen.memory.draws_past

    def _show(self, source: Source, trends: Trends) -> None:
        self._known[trends.source, trends.profile] = source, trends
        view = self._screen.model.take_trends(trends)
        if view is not None:
            self._screen.view = view

    def _start(self, source: Source, key: ReadingKey) -> None:
        screen = self._screen
        if not screen.background_work.is_done(key):
            return
        self._running, self._begun = (source, key), monotonic()
        job = partial(read_trends_job, source, key, screen.priority, screen.post_message)
        start_thread(screen, lambda: job(cancel_check()), "reading the past", TRENDS)

    def _must_rest(self) -> bool:
        """Whether to wait: files that change many times a second are not read sixty times as often."""
        left = TRENDS_REST - (monotonic() - self._begun)
        if left <= 0:
            return False
        if self._waiting is None:
            self._waiting = self._screen.set_timer(left, self._rested)
        return True

    def _rested(self) -> None:
        self._waiting = None
        self.update()


def read_trends_job(
    source: Source,
    key: ReadingKey,
    priority: UserPriority,
    post: Post,
    is_cancelled: Cancelled,
) -> None:
    """Read the trends with the counter of the view, since counts of two counters cannot be compared."""
    found = read_trends(source, key.lens(trial=False), key.revision, SilentProgress(is_cancelled, priority))
    if found is not None:
        post(TrendsReady(source, Trends(key.source, key.profile, key.seen, *found)))
