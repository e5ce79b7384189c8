"""Bytes as they may be shown: what a source withholds, and every secret, is replaced by a mark, line by line.

Knows no toolkit. Whatever shows, searches, copies or compares the bytes of a file takes them from here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from ctxview.quick_dataclass import dataclass

if TYPE_CHECKING:
    from ctxview.formats import Source

MARK = b"[withheld]"

Spans: TypeAlias = Sequence[tuple[int, int]]
Marked: TypeAlias = tuple[int, int, bytes]
"""A stretch and what stands in its place."""


@dataclass(frozen=True, slots=True)
class Veiled:
    """`data` may be shown. `moved` are both ends of whatever was replaced: where it was, where it is."""

    data: bytes
    size: int
    """How many bytes there really are."""
    hidden: int = 0
    """How many stretches are withheld."""
    secrets: int = 0
    """How many others are masked."""
    moved: tuple[tuple[int, int], ...] = ()

    def place(self, offset: int) -> int:
        """Where a byte of the real data is now; one that is withheld is at the start of its mark."""
        at = bisect_right(self.moved, offset, key=lambda pair: pair[0])
        if at == 0:
            return offset
        before, after = self.moved[at - 1]
        return after if at % 2 else after + offset - before

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A stretch of the real data where it is now; with the whole of every mark it touches."""
        at = bisect_right(self.moved, end - 1, key=lambda pair: pair[0])
        return self.place(start), self.moved[at][1] if at % 2 and end > start else self.place(end)


def veil(data: bytes, spans: Spans, secrets: Sequence[Marked] = ()) -> Veiled:
    """The data with a mark instead of each span; line ends inside a span stay, so that lines stay lines."""
    withheld = [(start, end, MARK) for start, end in spans]
    pieces: list[bytes] = []
    moved: list[tuple[int, int]] = []
    done = length = hidden = 0
    for start, end, shown in sorted([*withheld, *secrets]):
        start, end = max(start, done), min(end, len(data))
        if start >= end:
            continue
        hidden += shown is MARK
        mark = b"\n".join(shown if line else b"" for line in data[start:end].split(b"\n"))
        pieces += [data[done:start], mark]
        length += start - done
        moved += [(start, length), (end, length + len(mark))]
        length += len(mark)
        done = end
    pieces.append(data[done:])
    return Veiled(b"".join(pieces), len(data), hidden, len(moved) // 2 - hidden, tuple(moved))


def may_be_shown(source: Source, file: str, data: bytes) -> Veiled:
    """The bytes of a file of a source, or of a draft of it."""
    from ctxview.analysis.secrets import secrets_in_bytes
    from ctxview.formats import Withholding

    withheld = source.withheld(file, data) if isinstance(source, Withholding) else ()
    return veil(data, withheld, secrets_in_bytes(data))
