"""Where the lines of a file are: the number of newlines up to each block, and no more.

So a gigabyte costs 128 KB of memory, whatever the length of its lines. One thread may build the index while
others ask it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
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
        self._last: tuple[int, Sequence[int]] = (-1, ())
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
        positions = self._positions(block)
        try:
            return positions[number - self._counts[block] - 1]
        except IndexError:
            raise Unreadable(self._held.path, "the file was changed while it was read") from None

    def before(self, offset: int) -> int:
        """How many newlines stand before `offset`, which has to be reached already."""
        block = min(offset // BLOCK, len(self._counts) - 1)
        return self._counts[block] + bisect_left(self._positions(block), offset)

    def _positions(self, block: int) -> Sequence[int]:
        """Where the newlines of a block are; kept for a while, as neighbours are asked for together."""
        kept, positions = self._last
        if kept != block:
            start, end = block * BLOCK, (block + 1) * BLOCK
            lengths = map(len, self._held.read(start, end).split(b"\n"))
            positions = [start + number + length for number, length in enumerate(accumulate(lengths))][:-1]
            if end <= self.reached:
                self._last = (block, positions)
        return positions

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
