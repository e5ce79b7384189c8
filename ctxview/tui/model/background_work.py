"""Decides which work in the background is due: long work of sources, totals, trends. No toolkit."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ctxview.tui.model.effects import Cancel, Effects, Show, Start, WakeAfter
from ctxview.tui.model.inspector_state import InspectorState
from ctxview.tui.model.jobs.load import CountFindings, DoLongWork
from ctxview.tui.model.trends import ReadTrends, Trends
from ctxview.tui.model.view_state import ReadingKey

if TYPE_CHECKING:
    from ctxview.formats import Source

MOST_TOTALLED = 200
"""The sources around the selected one whose findings are counted: each has to be read for that."""


class BackgroundWork:
    """Starts long work, once for each source and profile, and then the totals."""

    def __init__(self, state: InspectorState) -> None:
        self._state = state
        self.progress = ""
        """The progress of the long work as a text; empty when there is none."""
        self._running: DoLongWork | None = None
        self._done: set[tuple[int, str | None]] = set()
        self._totalled: set[int] = set()

    def start_next(self) -> Effects:
        """Start what is due after a reading."""
        source, key = self._state.source, self._state.key
        work = source.abilities.work if source is not None else None
        if work is None or _place(key) in self._done:
            return self._total()
        if self.is_running(key):
            return []
        self._running = DoLongWork(work, key, grows=self._state.listing is not None)
        return [Start(self._running)]

    def is_running(self, key: ReadingKey) -> bool:
        return self._running is not None and _place(self._running.key) == _place(key)

    def is_done(self, key: ReadingKey) -> bool:
        """Whether no long work is left for `key`."""
        return _place(key) in self._done or self._state.sources[key.source].abilities.work is None

    def source_replaced(self, number: int, done: ReadingKey | None) -> None:
        """Forget the work done for a source that was reread, except the work for the key `done`."""
        self._done = {place for place in self._done if place[0] != number}
        self._totalled.discard(number)
        if done is not None:
            self._done.add(_place(done))

    def stop_unless(self, key: ReadingKey) -> Effects:
        """Stop work for another source or profile; it can continue later."""
        return [] if self._running is None or self.is_running(key) else self.stop()

    def stop(self) -> Effects:
        self._running, self.progress = None, ""
        return [Cancel(DoLongWork.group)]

    def runs(self, job: object) -> bool:
        return job is self._running

    def report(self, job: object, text: str) -> bool:
        """Take the progress of a job; False when it is not the long work that runs."""
        if not self.runs(job):
            return False
        self.progress = text
        return True

    def finish(self, job: DoLongWork) -> bool:
        """Note that the work of `job` is done; whether that is the work started last."""
        self._done.add(_place(job.key))
        self._totalled.discard(job.key.source)
        awaited = self.runs(job)
        if awaited:
            self._running, self.progress = None, ""
        return awaited

    def _total(self) -> Effects:
        key, sources = self._state.key, self._state.sources
        first = max(0, min(key.source - MOST_TOTALLED // 2, len(sources) - MOST_TOTALLED))
        near = enumerate(sources[first : first + MOST_TOTALLED], first)
        waiting = [(at, each) for at, each in near if at not in self._totalled]
        self._totalled.update(at for at, _ in waiting)
        return [Start(CountFindings(waiting, key))] if waiting else []


def _place(key: ReadingKey) -> tuple[int, str | None]:
    return key.source, key.profile


TRENDS_REST = 2.0
"""Seconds between two reads of the trends of one source while its files change."""
TRENDS_TIMER = "trends"


class TrendLoader:
    """Reads trends while a pane draws them, and keeps those of each source."""

    def __init__(self, state: InspectorState) -> None:
        self._state = state
        self._known: dict[tuple[int, str | None], tuple[Source, Trends]] = {}
        self._running: ReadTrends | None = None
        self._begun = 0.0
        self._waiting = False

    def update(self, *, drawn: bool, worked: bool) -> Effects:
        """Start or stop reading, or show known trends, after any change of the view or the panes.

        `drawn`: a visible pane draws trends. `worked`: no long work is left that would change them.
        """
        state = self._state
        source, key, view = state.source, state.key, state.view
        if source is None or not drawn:
            running, self._running = self._running, None
            return [Cancel(ReadTrends.group)] if running is not None else []
        if view is None or view.key != key or state.awaiting is not None:
            return []
        if not state.last_revision and not view.draft:
            return []
        known = self._known.get(_place(key))
        if known is not None and known[0] is source and known[1].covers(key.revision):
            return self._show(*known) if view.trends is not known[1] else []
        if known is not None and known[0] is not source:
            if list(known[0].revisions) == list(source.revisions):
                return self._show(source, replace(known[1], seen=key.seen))
            if (left := TRENDS_REST - (monotonic() - self._begun)) > 0:
                waiting, self._waiting = self._waiting, True
                return [] if waiting else [WakeAfter(TRENDS_TIMER, left)]
        running = self._running
        if not worked or (running is not None and running.source is source and running.key == key):
            return []
        self._running, self._begun = ReadTrends(source, key), monotonic()
        return [Start(self._running)]

    def take(self, job: ReadTrends, trends: Trends) -> None:
        self._known[_place(job.key)] = job.source, trends
        self._running = None

    def failed(self, job: ReadTrends) -> None:
        """Do not try again while the source is the same: trends are optional."""
        self.take(job, Trends(job.key.source, job.key.profile, job.key.seen))

    def rested(self) -> None:
        self._waiting = False

    def _show(self, source: Source, trends: Trends) -> Effects:
        self._known[trends.source, trends.profile] = source, trends
        return [Show()] if self._state.take_trends(trends) else []
