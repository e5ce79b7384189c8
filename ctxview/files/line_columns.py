"""The line and column of a byte offset, as a person counts them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from functools import cached_property

from msgspec import Struct

from ctxview.core.lazy import lazy_pattern

_BLOCK = 1024
_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
_NEWLINE = lazy_pattern(rb"\n")


class LineColumn(Struct, frozen=True):
    """One position in a file: byte offset from 0; line and column from 1, the column in characters."""

    offset: int
    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line} column {self.column}"


class LineColumns:
    """The lines and columns of one file. The first call of `at` builds two indexes, later calls are fast."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def at(self, offset: int) -> LineColumn:
        offset = min(max(offset, 0), len(self._data))
        lines_before = bisect_left(self._newlines, offset)
        line_start = self._newlines[lines_before - 1] + 1 if lines_before else 0
        return LineColumn(
            offset, lines_before + 1, self._characters(offset) - self._characters(line_start) + 1
        )

    @cached_property
    def _newlines(self) -> array[int]:
        return array("q", (match.start() for match in _NEWLINE.finditer(self._data)))

    @cached_property
    def _characters_at_block(self) -> array[int] | None:
        """The number of characters before each block of bytes; None when every byte is a character."""
        if self._data.isascii():
            return None
        counts = array("q", [0])
        for start in range(0, len(self._data), _BLOCK):
            counts.append(counts[-1] + _count_characters(self._data[start : start + _BLOCK]))
        return counts

    def _characters(self, offset: int) -> int:
        counts = self._characters_at_block
        if counts is None:
            return offset
        block = offset // _BLOCK
        return counts[block] + _count_characters(self._data[block * _BLOCK : offset])


def _count_characters(piece: bytes) -> int:
    return len(piece.translate(None, _CONTINUATION_BYTES))
