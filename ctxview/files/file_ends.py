"""The beginning and the end of a file of any size, read without loading what lies between."""

from __future__ import annotations

import os
from pathlib import Path

from ctxview.files.reading import Unreadable, in_words, open_file, require_regular
from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FileEnds:
    """`head` is everything when the file is small enough; else `tail` starts at `tail_start`."""

    size: int
    head: bytes
    tail: bytes
    tail_start: int

    @property
    def whole(self) -> bool:
        return self.tail_start == len(self.head) and not self.tail


def read_ends(path: Path, most: int) -> FileEnds:
    """At most `most` bytes of a regular file, half of them from its end; raises `Unreadable`."""
    descriptor = open_file(path)
    try:
        status = os.fstat(descriptor)
        require_regular(status, path)
        return _ends(descriptor, status.st_size, most)
    except OSError as error:
        raise Unreadable(path, in_words(error)) from None
    finally:
        os.close(descriptor)


def _ends(descriptor: int, size: int, most: int) -> FileEnds:
    if size <= most:
        head = _read(descriptor, 0, most)
        return FileEnds(len(head), head, b"", len(head))
    half = most // 2
    return FileEnds(size, _read(descriptor, 0, half), _read(descriptor, size - half, half), size - half)


def _read(descriptor: int, start: int, count: int) -> bytes:
    pieces = []
    while count > 0 and (piece := os.pread(descriptor, min(count, 1 << 20), start)):
        pieces.append(piece)
        start, count = start + len(piece), count - len(piece)
    return b"".join(pieces)
