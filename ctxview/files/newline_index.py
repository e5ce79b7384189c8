"""An index of the lines of a file: the number of newlines before each block, and the blank lines.

A gigabyte needs 32 KB of memory, for lines of any length. One thread may build the index while others use it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from threading import Lock
from typing import Final, NamedTuple

from ctxview.files.open_file import OpenFile
from ctxview.files.reading import ReadError

BLOCK: Final = 256 * 1024  # fits the processor's own cache

_MANY: Final = 512


class NewlineIndex:
    """The newlines of one file, counted from its start. Counted bytes are expected not to change."""

    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self._counts = array("Q", [0])  # [k] = newlines before byte k × BLOCK, the last one: before `reached`
        self._blanks = array("Q")
        self._unfinished_is_blank = True
        self._cached = _Positions(0, 0, ())
        self._buffer = bytearray()
        self._stepping = Lock()
        self.reached = 0
        self.cut_short = False

    def copy(self) -> NewlineIndex:
        """Return an independent copy that continues from here, for the same file after it only grew."""
        made = NewlineIndex.__new__(NewlineIndex)
        with self._stepping:
            made.__dict__.update(self.__dict__)
            made._counts, made._blanks = self._counts[:], self._blanks[:]
            made.cut_short = False
        return made

    @property
    def newlines(self) -> int:
        """The number of newlines known so far."""
        return self._counts[-1]

    @property
    def blanks(self) -> Sequence[int]:
        """The numbers, from 0, of the known and finished lines that hold only white space."""
        return self._blanks

    def step(self, size: int) -> bool:
        """Count to the end of a block, or to `size`; return False when nothing is left to count."""
        with self._stepping:
            start = self.reached
            wanted = min(size, (start // BLOCK + 1) * BLOCK) - start
            if wanted <= 0:
                return False
            # The buffer lives only as long as there is something to count: many files are open at once.
            self._buffer = self._buffer or bytearray(BLOCK)
            read = self._file.read_into(memoryview(self._buffer)[:wanted], start)
            if read and start % BLOCK == 0:
                self._counts.append(self._counts[-1])
            newlines = self._count(read)
            # In this order: other threads must find every counted newline before `reached`.
            self.reached += read
            self._counts[-1] = newlines
            self.cut_short = read < wanted
            if self.cut_short or self.reached >= size:
                self._buffer = bytearray()
            return not self.cut_short

    def newline(self, number: int) -> int:
        """Return the offset of newline `number`, counted from 1, which must be known already."""
        block = bisect_left(self._counts, number) - 1
        positions = self._positions(block)
        try:
            return positions[number - self._counts[block] - 1]
        except IndexError:
            raise ReadError(self._file.path, "the file was changed while it was read") from None

    def before(self, offset: int) -> int:
        """Count the newlines before `offset`, which must be indexed already."""
        block = min(offset // BLOCK, len(self._counts) - 1)
        return self._counts[block] + bisect_left(self._positions(block), offset)

    def _count(self, end: int) -> int:
        """Index the first `end` bytes of the buffer; return the number of newlines up to there."""
        buffer, begun_blank, first = self._buffer, self._unfinished_is_blank, self._counts[-1]
        start = 0
        for number in range(first, first + _MANY):
            newline = buffer.find(b"\n", start, end)
            if newline < 0:
                break
            # No JSON begins with a byte below 33, so the first byte mostly decides.
            if buffer[start] < 33 and (number > first or begun_blank) and not buffer[start:newline].strip():
                self._blanks.append(number)
            start = newline + 1
        else:
            # Searching for each newline is faster for long lines only.
            *lines, rest = bytes(memoryview(buffer)[start:end]).split(b"\n")
            number, start = first + _MANY, end - len(rest)
            self._blanks.extend(number + place for place, line in enumerate(lines) if not line.strip())
            number += len(lines)
        rest_is_blank = start == end or (buffer[start] < 33 and not buffer[start:end].strip())
        self._unfinished_is_blank = rest_is_blank and (number > first or begun_blank)
        return number

    def _positions(self, block: int) -> Sequence[int]:
        """Return the offsets of the newlines of a block; one block is cached for reading neighbours."""
        start, end = block * BLOCK, min((block + 1) * BLOCK, self.reached)
        cached = self._cached
        if (cached.start, cached.end) != (start, end):
            lengths = map(len, split_at_newlines(self._file.read(start, end)))
            positions = [start + number + length for number, length in enumerate(accumulate(lengths))]
            self._cached = cached = _Positions(start, end, positions[:-1])
        return cached.newlines


class _Positions(NamedTuple):
    """The offsets of the newlines in a part of a file."""

    start: int
    end: int
    newlines: Sequence[int]


def split_at_newlines(data: bytes) -> list[bytes]:
    """Return `data.split(b"\\n")`, searching each newline while they are far apart, which is faster."""
    pieces = []
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        pieces.append(data[start:end])
        start = end + 1
        if len(pieces) == _MANY:
            return pieces + data[start:].split(b"\n")
    pieces.append(data[start:])
    return pieces
