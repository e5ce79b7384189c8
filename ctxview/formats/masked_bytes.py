"""Masked bytes: withheld spans and secrets are replaced by marks, line by line.

All code that shows, searches, copies or compares the bytes of a file takes them from here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from ctxview.formats.interface import Source


MASK = b"[withheld]"

Spans: TypeAlias = Sequence[tuple[int, int]]
MarkedSpan: TypeAlias = tuple[int, int, bytes]
"""Start and end of a span, and the mark that replaces it."""


class MaskedBytes(Struct, frozen=True):
    """Bytes that may be shown. `moved` holds the old and new offset of both ends of each replaced span."""

    data: bytes
    size: int
    """The number of bytes before masking."""
    hidden: int = 0
    """The number of withheld spans."""
    secrets: int = 0
    """The number of masked secrets."""
    moved: tuple[tuple[int, int], ...] = ()

    def place(self, offset: int) -> int:
        """Return the masked offset of an original offset; inside a mark, the start of the mark."""
        at = bisect_right(self.moved, offset, key=lambda pair: pair[0])
        if at == 0:
            return offset
        before, after = self.moved[at - 1]
        return after if at % 2 else after + offset - before

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the masked span of an original span, extended to every mark that it touches."""
        at = bisect_right(self.moved, end - 1, key=lambda pair: pair[0])
        return self.place(start), self.moved[at][1] if at % 2 and end > start else self.place(end)


def mask_bytes(data: bytes, spans: Spans, secrets: Sequence[MarkedSpan] = ()) -> MaskedBytes:
    """Replace each span by a mark; line ends inside a span are kept, so that line numbers do not change."""
    withheld = [(start, end, MASK) for start, end in spans]
    pieces: list[bytes] = []
    moved: list[tuple[int, int]] = []
    done = length = hidden = 0
    for start, end, replacement in sorted([*withheld, *secrets]):
        start, end = max(start, done), min(end, len(data))
        if start >= end:
            continue
        hidden += replacement is MASK
        mark = b"\n".join(replacement if line else b"" for line in data[start:end].split(b"\n"))
        pieces += [data[done:start], mark]
        length += start - done
        moved += [(start, length), (end, length + len(mark))]
        length += len(mark)
        done = end
    pieces.append(data[done:])
    return MaskedBytes(b"".join(pieces), len(data), hidden, len(moved) // 2 - hidden, tuple(moved))


def showable_bytes(source: Source, file: str, data: bytes, also: Spans = ()) -> MaskedBytes:
    """Mask the bytes of a file of `source`, or of a draft of that file; `also` are more withheld spans."""
    from ctxview.analysis.secrets import secrets_in_bytes

    redactor = source.abilities.redactor
    withheld = redactor.withheld(file, data) if redactor is not None else ()
    return mask_bytes(data, [*withheld, *also], secrets_in_bytes(data))
