"""What the inspector has done in the background once something is shown: long work, then counting findings.

Starts and stops the threads and remembers what is done; the work itself is in `background` and `loading`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeGuard

from ctxview.tui import background, loading
from ctxview.tui.session_view import Look
from ctxview.tui.threads import cancelled, in_thread

if TYPE_CHECKING:
    from ctxview.formats import LongWork, Source
    from ctxview.tui.screens.inspector import Inspector

LONG_WORK = "background"
"""The group of its workers."""


class Errands:
    """For one inspector; called on the interface's own thread."""

    def __init__(self, screen: Inspector, manner: loading.Manner) -> None:
        self._screen = screen
        self._manner = manner
        self._under_way: Look | None = None
        self._worked: set[tuple[int, str | None]] = set()
        self._totalled: set[int] = set()

    def go_on(self) -> None:
        """After a reading: what takes long first, once a source and profile, then the findings of all."""
        source, look = self._screen.view.source, self._screen.view.look
        if _key(look) in self._worked or not _works_long(source):
            self._total()
        elif self._under_way is None or _key(self._under_way) != _key(look):
            self._under_way = look
            screen = self._screen
            job = partial(background.work, source, look, self._manner, screen.precedence, screen.post_message)
            in_thread(screen, lambda: job(cancelled()), "the work in the background", LONG_WORK)

    def busy_with(self, look: Look) -> bool:
        return self._under_way is not None and _key(self._under_way) == _key(look)

    def looked_again(self, number: int, done: Look | None) -> None:
        """A source is another one now; of its work only that for the look that is `done` need not be done."""
        self._worked = {key for key in self._worked if key[0] != number}
        self._totalled.discard(number)
        if done is not None:
            self._worked.add(_key(done))

    def is_done(self, look: Look) -> bool:
        """Whether nothing is left of the long work for a look, if there was any."""
        return _key(look) in self._worked or not _works_long(self._screen.view.sources[look.source])

    def stop_unless(self, look: Look) -> None:
        """Another source or profile is looked at: work for the one before can go on another time."""
        if self._under_way is not None and _key(self._under_way) != _key(look):
            self.stop()

    def stop(self) -> None:
        self._under_way = None
        self._screen.header.working = ""
        self._screen.workers.cancel_group(self._screen, LONG_WORK)

    def progressed(self, told: str) -> bool:
        """False for words about work that was stopped."""
        if self._under_way is None:
            return False
        self._screen.header.working = told
        return True

    def worked(self, look: Look) -> bool:
        """Whether this was the work that is waited for."""
        self._worked.add(_key(look))
        self._totalled.discard(look.source)
        awaited = self._under_way == look
        if awaited:
            self.stop()
        return awaited

    def _total(self) -> None:
        screen, view = self._screen, self._screen.view
        waiting = [(at, each) for at, each in enumerate(view.sources) if at not in self._totalled]
        self._totalled.update(at for at, _ in waiting)
        if waiting:
            job = partial(
                loading.total,
                waiting,
                view.look.profile,
                self._manner,
                screen.precedence,
                screen.post_message,
            )
            in_thread(screen, lambda: job(cancelled()), "totals", alone=False)


def _works_long(source: Source | None) -> TypeGuard[LongWork]:
    from ctxview.formats import LongWork

    return isinstance(source, LongWork)


def _key(look: Look) -> tuple[int, str | None]:
    return look.source, look.profile
