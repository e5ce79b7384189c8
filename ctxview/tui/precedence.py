"""What a person waits for goes first: work in the background asks here between its slices, and pauses.

One lock of the interpreter serves all threads, so that a thread which counts makes another one wait that
searches or draws. Nothing here starts or stops work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition
from time import monotonic

QUIET = 0.1
"""Seconds after a key or click in which the next one is likely."""

LONGEST = 2.0
"""Seconds after which something to be painted is not waited for any longer."""

GLANCE = 0.05
"""Seconds between two questions whether paused work was cancelled."""


class Precedence:
    """Any thread may ask, and any may say that somebody waits."""

    def __init__(self) -> None:
        self._errands = 0
        self._until = 0.0
        self._changed = Condition()

    @contextmanager
    def errand(self) -> Iterator[None]:
        """Somebody waits for what is done inside."""
        with self._changed:
            self._errands += 1
        try:
            yield
        finally:
            with self._changed:
                self._errands -= 1
                self._changed.notify_all()

    def touched(self) -> None:
        """A key or the mouse was pressed: what it brings about comes first."""
        self._until = max(self._until, monotonic() + QUIET)

    def paint_first(self) -> None:
        """Something is on its way to the screen: nothing else until `painted`, or not for long."""
        self._until = monotonic() + LONGEST

    def painted(self) -> None:
        with self._changed:
            self._until = 0.0
            self._changed.notify_all()

    def give_way(self, cancelled: Callable[[], bool]) -> None:
        """Returns as soon as nobody waits for anything else, or when cancelled."""
        if not self._errands and monotonic() >= self._until:
            return
        with self._changed:
            while not cancelled() and (self._errands or monotonic() < self._until):
                self._changed.wait(GLANCE)
