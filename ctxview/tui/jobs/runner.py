"""Starting jobs in threads, and pausing background work while a person waits for something else.

All threads share the lock of the interpreter, so that a thread that counts delays one that searches or draws.
Background work therefore asks between its slices whether to pause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition
from time import monotonic
from typing import TypeAlias

from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

QUIET = 0.1
"""Seconds after a key or click in which the next one is likely."""

LONGEST_PAINT = 2.0
"""Seconds to wait for a paint at most."""

CHECK_EVERY = 0.05
"""Seconds between two checks whether paused work was cancelled."""


class UserPriority:
    """Pauses background work while a person waits; used by all threads."""

    def __init__(self) -> None:
        self._waiting = 0
        self._until = 0.0
        self._changed = Condition()

    @contextmanager
    def foreground(self) -> Iterator[None]:
        """Pause background work while the body runs, because a person waits for it."""
        with self._changed:
            self._waiting += 1
        try:
            yield
        finally:
            with self._changed:
                self._waiting -= 1
                self._changed.notify_all()

    def touched(self) -> None:
        """Pause background work for a moment, after a key or a click."""
        self._until = max(self._until, monotonic() + QUIET)

    def paint_first(self) -> None:
        """Pause background work until `painted`, for a limited time."""
        self._until = monotonic() + LONGEST_PAINT

    def painted(self) -> None:
        with self._changed:
            self._until = 0.0
            self._changed.notify_all()

    def give_way(self, cancelled: Callable[[], bool]) -> None:
        """Return when no person waits for something else, or when cancelled."""
        if not self._waiting and monotonic() >= self._until:
            return
        with self._changed:
            while not cancelled() and (self._waiting or monotonic() < self._until):
                self._changed.wait(CHECK_EVERY)


Post: TypeAlias = Callable[[Message], object]
Cancelled: TypeAlias = Callable[[], bool]


class SilentProgress:
    """A `Progress` that shows nothing, but pauses the work like `ProgressReporter`."""

    def __init__(self, cancelled: Cancelled, priority: UserPriority) -> None:
        self._cancelled = cancelled
        self._priority = priority

    @property
    def cancelled(self) -> bool:
        self._priority.give_way(self._cancelled)
        return self._cancelled()

    def report(self, done: int, total: int, what: str) -> None:
        pass


def start_thread(
    screen: Screen[None], job: Callable[[], None], name: str, group: str = "", *, exclusive: bool = True
) -> Worker[None]:
    """Start a job; if `exclusive`, cancel the earlier jobs of its group."""
    return screen.run_worker(
        job, name=name, group=group or name, exclusive=exclusive, thread=True, exit_on_error=False
    )


def cancel_check() -> Callable[[], bool]:
    """Return a function that says whether the worker of this thread was cancelled."""
    worker = get_current_worker()
    return lambda: worker.is_cancelled
