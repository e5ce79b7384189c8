"""Lets long computations in background threads give way to a person who waits for something else.

All threads share the lock of the interpreter, so that one that computes doubles the time of one that draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local


class _Thread(local):
    pause: Callable[[], object] | None = None


_thread = _Thread()


def give_way() -> None:
    """Pause for a moment if a person waits; called between the slices of a long computation.

    A caller must not hold a lock that the interface may need.
    """
    if _thread.pause is not None:
        _thread.pause()


@contextmanager
def giving_way(pause: Callable[[], object]) -> Iterator[None]:
    """Let `give_way` call `pause` in this thread while the body runs."""
    before, _thread.pause = _thread.pause, pause
    try:
        yield
    finally:
        _thread.pause = before
