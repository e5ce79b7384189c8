"""Where the lines of a file are: the number of newlines up to each block, and no more.

So a gigabyte costs 128 KB of memory, whatever the length of its lines. One thread may build the index while
others ask it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from threading import Lock
from typing import Final

from ctxview.files.held_file import SLICE, HeldFile
from ctxview.files.reading import Unreadable

BLOCK: Final = 64 * 1024

# From so many newlines in a block on, counting byte by byte beats leaping from one to the next.
_DENSE: Final = 512


class NewlineIndex:
    """Counts the newlines of one file from its start; what was counted is taken not to change any more."""

    def __init__(self, held: HeldFile) -> None:
        self._held = held
        self._counts = array("Q", [0])  # [k] = newlines before byte k × BLOCK, the last one: before `reached`
        self._buffer = bytearray(SLICE)
        self._stepping = Lock()
        self.reached = 0

    @property
    def newlines(self) -> int:
        """How many are known so far."""
        return self._counts[-1]

    def step(self, size: int) -> bool:
        """Count a slice further, up to `size`; False when there is nothing left to count."""
        with self._stepping:
            # Slices end where a block does, except at the end of the file.
            end = min(size, (self.reached // SLICE + 1) * SLICE)
            wanted = end - self.reached
            if wanted <= 0:
                return False
            read = self._held.read_into(memoryview(self._buffer)[:wanted], self.reached)
            at = 0
            while at < read:
                at += self._count_in_block(at, read)
            return read == wanted

    def newline(self, number: int) -> int:
        """Where the newline with this number is, counted from 1; it has to be known already."""
        block = bisect_left(self._counts, number) - 1
        data = self._held.read(block * BLOCK, (block + 1) * BLOCK)
        at = -1
        for _ in range(number - self._counts[block]):
            at = data.find(b"\n", at + 1)
            if at < 0:
                raise Unreadable(self._held.path, "the file was changed while it was read")
        return block * BLOCK + at

    def before(self, offset: int) -> int:
        """How many newlines stand before `offset`, which has to be reached already."""
        block = min(offset // BLOCK, len(self._counts) - 1)
        return self._counts[block] + self._held.read(block * BLOCK, offset).count(b"\n")

    def _count_in_block(self, start: int, end: int) -> int:
        """Count to the end of the block that has begun; returns how many bytes that was."""
        inside = self.reached % BLOCK
        if not inside:
            self._counts.append(self._counts[-1])
        end = min(end, start + BLOCK - inside)
        dense = len(self._counts) > 2 and self._counts[-2] - self._counts[-3] > _DENSE
        found = self._buffer.count(b"\n", start, end) if dense else self._leap(start, end)
        self._counts[-1] += found
        self.reached += end - start
        return end - start

    def _leap(self, start: int, end: int) -> int:
        find, found, at = self._buffer.find, 0, start - 1
        while (at := find(b"\n", at + 1, end)) >= 0:
            found += 1
        return found
