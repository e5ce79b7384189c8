"""Cuts content into pieces at places that the content itself decides: an edit changes the pieces it touches.

Pieces of small files are small, so that a small edit costs little; those of large files are larger, so that
there are not too many. Knows no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from zlib import crc32

from ctxview.quick_dataclass import dataclass

LONGEST: Final = 256 * 1024

_WINDOW: Final = 32
# Where a cut may be: behind what ends a word, a line or a value, if one of some arbitrary characters comes
# before it. The rest of the choice is made by a checksum of the bytes before that place.
_PLACES: Final = re.compile(rb"[%\-5=EMU\]emu}][\n,} ]")


@dataclass(frozen=True, slots=True)
class Measure:
    """How long pieces are: at least, at most, and one in how many places is a cut."""

    least: int
    most: int
    one_in: int


SMALL: Final = Measure(1024, 16 * 1024, 128)
LARGE: Final = Measure(16 * 1024, LONGEST, 2048)
LARGE_FROM: Final = 1024 * 1024


def measure_for(size: int) -> Measure:
    return LARGE if size >= LARGE_FROM else SMALL


class Pieces:
    """Content that comes bit by bit, cut into pieces; `rest` gives what is left at its end."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._left = b""

    def add(self, content: bytes) -> Iterator[bytes]:
        content = self._left + content
        start = 0
        while len(content) - start >= self._measure.most:
            end = self._cut(content, start)
            yield content[start:end]
            start = end
        self._left = content[start:]

    def rest(self) -> Iterator[bytes]:
        content, self._left = self._left, b""
        start = 0
        while start < len(content):
            end = min(self._cut(content, start), len(content))
            yield content[start:end]
            start = end

    def _cut(self, content: bytes, start: int) -> int:
        measure = self._measure
        for found in _PLACES.finditer(content, start + measure.least, start + measure.most):
            end = found.end()
            if crc32(content[end - _WINDOW : end]) % measure.one_in == 0:
                return end
        return start + measure.most
