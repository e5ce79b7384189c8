"""The SHA-256 of the beginning of a file that only grows: what was hashed once is not read again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from threading import Lock
from typing import Final

_SLICE: Final = 256 * 1024
_KEPT: Final = 8


class PrefixDigest:
    """Digests of the first bytes, by their number. Any thread may ask."""

    def __init__(self) -> None:
        self._running = sha256()
        self._reached = 0
        self._known: dict[int, str] = {}
        self._working = Lock()

    def copy(self) -> PrefixDigest:
        """One that goes on from here by itself, on a file that begins with the same bytes."""
        made = PrefixDigest()
        with self._working:
            made._running, made._reached = self._running.copy(), self._reached
            made._known = dict(self._known)
        return made

    def digests(
        self, read: Callable[[int, int], bytes], lengths: Sequence[int], cancelled: Callable[[], bool]
    ) -> tuple[str, ...] | None:
        """For lengths in rising order; None when cancelled, or when the file is shorter."""
        found = []
        with self._working:
            for length in lengths:
                digest = self._known.get(length) or self._digest(read, length, cancelled)
                if digest is None:
                    return None
                found.append(digest)
        return tuple(found)

    def _digest(
        self, read: Callable[[int, int], bytes], length: int, cancelled: Callable[[], bool]
    ) -> str | None:
        if length < self._reached:
            self._running, self._reached = sha256(), 0
        while self._reached < length:
            data = read(self._reached, min(self._reached + _SLICE, length))
            if cancelled() or not data:
                return None
            self._running.update(data)
            self._reached += len(data)
        if len(self._known) >= _KEPT:
            self._known.pop(next(iter(self._known)))
        self._known[length] = self._running.hexdigest()
        return self._known[length]
