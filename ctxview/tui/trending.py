"""Has the past of what is looked at read in the background, as long as a pane is in sight that draws it.

What is found is kept for each source; how it is read is told in `trends`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from textual.message import Message
from textual.timer import Timer

from ctxview.tui.background import Silence
from ctxview.tui.layout import Pane
from ctxview.tui.loading import Cancelled, Manner, Post
from ctxview.tui.precedence import Precedence
from ctxview.tui.session_view import Look
from ctxview.tui.threads import cancelled, in_thread
from ctxview.tui.trends import Trends, gather

if TYPE_CHECKING:
    from ctxview.formats import Source
    from ctxview.tui.screens.inspector import Inspector

READING_PAST = "trends"
"""The group of its workers."""

REST = 2.0
"""Seconds between two times the past of one source is read anew, while its files change."""


class Trended(Message):
    """The past of a source, as of one look at it."""

    def __init__(self, source: Source, trends: Trends) -> None:
        super().__init__()
        self.source = source
        self.trends = trends


class Trending:
    """For one inspector; called on the interface's own thread."""

    def __init__(self, screen: Inspector, manner: Manner) -> None:
        self._screen = screen
        self._manner = manner
        self._known: dict[tuple[int, str | None], tuple[Source, Trends]] = {}
        self._under_way: tuple[Source, Look] | None = None
        self._begun = 0.0
        self._waiting: Timer | None = None

    def turn(self) -> None:
        """After whatever changed: begins, goes on, or stops when nobody looks."""
        screen, view = self._screen, self._screen.view
        source, look, shown = view.source, view.look, view.shown
        if source is None or not self._is_drawn:
            self._stop()
            return
        if shown is None or shown.look != look or screen.header.status:
            return
        if not view.last_revision and not shown.draft:
            return
        known = self._known.get((look.source, look.profile))
        if known is not None and known[0] is source and known[1].covers(look.revision):
            if shown.trends is not known[1]:
                self._hand_over(*known)
            return
        if known is not None and known[0] is not source:
            if list(known[0].revisions) == list(source.revisions):
                self._hand_over(source, replace(known[1], seen=look.seen))
                return
            if self._must_rest():
                return
        if self._under_way is None or self._under_way[0] is not source or self._under_way[1] != look:
            self._start(source, look)

    def take(self, message: Trended) -> None:
        trends = message.trends
        self._known[trends.source, trends.profile] = message.source, trends
        self._under_way = None
        self.turn()

    def failed(self) -> None:
        """It is not tried again as long as the source is the same: pictures may be left out."""
        if self._under_way is not None:
            source, look = self._under_way
            self._known[look.source, look.profile] = source, Trends(look.source, look.profile, look.seen)
            self._under_way = None

    @property
    def _is_drawn(self) -> bool:
        """Whether a pane is in sight that draws the past."""
        panes = self._screen.panes
        if any(panes[each].display for each in (Pane.DETAIL, Pane.BUDGET)):
            return True
        return self._screen.memory.display and self._screen.memory.draws_past

    def _hand_over(self, source: Source, trends: Trends) -> None:
        self._known[trends.source, trends.profile] = source, trends
        shown = self._screen.view.knows_past(trends)
        if shown is not None:
            self._screen.shown = shown

    def _start(self, source: Source, look: Look) -> None:
        screen = self._screen
        if not screen.errands.is_done(look):
            return
        self._under_way, self._begun = (source, look), monotonic()
        job = partial(find_out, source, look, self._manner, screen.precedence, screen.post_message)
        in_thread(screen, lambda: job(cancelled()), "reading the past", READING_PAST)

    def _stop(self) -> None:
        if self._under_way is not None:
            self._under_way = None
            self._screen.workers.cancel_group(self._screen, READING_PAST)

    def _must_rest(self) -> bool:
        """Files that change many times a second are not read sixty times as often."""
        left = REST - (monotonic() - self._begun)
        if left <= 0:
            return False
        if self._waiting is None:
            self._waiting = self._screen.set_timer(left, self._rested)
        return True

    def _rested(self) -> None:
        self._waiting = None
        self.turn()


def find_out(
    source: Source, look: Look, manner: Manner, precedence: Precedence, post: Post, is_cancelled: Cancelled
) -> None:
    """Reads the past as the present was read: figures of two counters cannot be compared."""
    from ctxview.analysis.tokens import counter_named
    from ctxview.formats import Lens

    lens = Lens(counter_named(manner.tokens), look.profile, manner.mode, editor=look.editor)
    found = gather(source, lens, look.revision, Silence(is_cancelled, precedence))
    if found is not None:
        post(Trended(source, Trends(look.source, look.profile, look.seen, *found)))
