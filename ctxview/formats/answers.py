"""Remembers what a source worked out, so that each question is answered once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Answers(Generic[T]):
    """The last `most` answers. Two threads that ask at once may both work; the first answer stays."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._known: dict[Hashable, T] = {}
        self._lock = Lock()

    def once(self, question: Hashable, work: Callable[[], T]) -> T:
        """What `work` answered when this was asked first."""
        with self._lock:
            if question in self._known:
                return self._known[question]
        answer = work()
        with self._lock:
            if len(self._known) >= self._most:
                self._known.pop(next(iter(self._known)))
            return self._known.setdefault(question, answer)
