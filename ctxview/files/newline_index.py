"""Where the lines of a file are: how many newlines stand before each block, and which lines are blank.

So a gigabyte costs 32 KB of memory, whatever the length of its lines. One thread may build the index while
others ask it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from threading import Lock
from typing import Final, NamedTuple

from ctxview.files.held_file import HeldFile
from ctxview.files.reading import Unreadable

BLOCK: Final = 256 * 1024  # fits the processor's own cache

_MANY: Final = 512


class NewlineIndex:
    """Counts the newlines of one file from its start; what was counted is taken not to change any more."""

    def __init__(self, held: HeldFile) -> None:
        self._held = held
        self._counts = array("Q", [0])  # [k] = newlines before byte k × BLOCK, the last one: before `reached`
        self._blanks = array("Q")
        self._unfinished_is_blank = True
        self._kept = _Positions(0, 0, ())
        self._buffer = bytearray(BLOCK)
        self._stepping = Lock()
        self.reached = 0
        self.cut_short = False

    def copy(self) -> NewlineIndex:
        """One that goes on from here by itself: for a later look at the same file, which only grew."""
        made = NewlineIndex.__new__(NewlineIndex)
        with self._stepping:
            made.__dict__.update(self.__dict__)
            made._counts, made._blanks = self._counts[:], self._blanks[:]
            made.cut_short = False
        return made

    @property
    def newlines(self) -> int:
        """How many are known so far."""
        return self._counts[-1]

    @property
    def blanks(self) -> Sequence[int]:
        """The numbers, from 0, of the finished lines known so far that hold nothing but white space."""
        return self._blanks

    def step(self, size: int) -> bool:
        """Count to the end of a block, or to `size`; False when there is nothing left to count."""
        with self._stepping:
            start = self.reached
            wanted = min(size, (start // BLOCK + 1) * BLOCK) - start
            if wanted <= 0:
                return False
            read = self._held.read_into(memoryview(self._buffer)[:wanted], start)
            if read and start % BLOCK == 0:
                self._counts.append(self._counts[-1])
            newlines = self._count(read)
            # In this order: whoever sees a newline counted can find it in what was reached.
            self.reached += read
            self._counts[-1] = newlines
            self.cut_short = read < wanted
            return not self.cut_short

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

    def _count(self, end: int) -> int:
        """Take in the first bytes of the buffer; returns the number of newlines up to there."""
        buffer, begun_blank, first = self._buffer, self._unfinished_is_blank, self._counts[-1]
        start = 0
        for number in range(first, first + _MANY):
            newline = buffer.find(b"\n", start, end)
            if newline < 0:
                break
            # No JSON begins with a byte below 33, so mostly the first one tells.
            if buffer[start] < 33 and (number > first or begun_blank) and not buffer[start:newline].strip():
                self._blanks.append(number)
            start = newline + 1
        else:
            # Leaping from newline to newline pays for long lines only.
            *lines, rest = bytes(memoryview(buffer)[start:end]).split(b"\n")
            number, start = first + _MANY, end - len(rest)
            self._blanks.extend(number + place for place, line in enumerate(lines) if not line.strip())
            number += len(lines)
        rest_is_blank = start == end or (buffer[start] < 33 and not buffer[start:end].strip())
        self._unfinished_is_blank = rest_is_blank and (number > first or begun_blank)
        return number

    def _positions(self, block: int) -> Sequence[int]:
        """Where the newlines of a block are; kept for a while, as neighbours are asked for together."""
        start, end = block * BLOCK, min((block + 1) * BLOCK, self.reached)
        kept = self._kept
        if (kept.start, kept.end) != (start, end):
            lengths = map(len, split_at_newlines(self._held.read(start, end)))
            positions = [start + number + length for number, length in enumerate(accumulate(lengths))]
            self._kept = kept = _Positions(start, end, positions[:-1])
        return kept.newlines


class _Positions(NamedTuple):
    """Where the newlines are in a part of a file."""

    start: int
    end: int
    newlines: Sequence[int]


def split_at_newlines(data: bytes) -> list[bytes]:
    """What `data.split` gives, but leaping from newline to newline as long as they are far apart."""
    pieces = []
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        pieces.append(data[start:end])
        start = end + 1
        if len(pieces) == _MANY:
            return pieces + data[start:].split(b"\n")
    pieces.append(data[start:])
    return pieces
