"""When a long pass over lines looks up from its work: every few milliseconds, be the lines long or short."""

from __future__ import annotations

STEP = 64 * 1024
"""Bytes of a long line, or of several, that take so long."""
LINE = 1024
"""What a line costs for being one, in bytes."""


class Pace:
    """For one pass."""

    def __init__(self) -> None:
        self._walked = 0

    def due(self, size: int) -> bool:
        """After a line of so many bytes: whether it is time."""
        self._walked += size + LINE
        if self._walked < STEP:
            return False
        self._walked = 0
        return True
