"""Opens any regular file as raw; fits everything a little, so that every other format comes first."""

from __future__ import annotations

from pathlib import Path

from ctxview.files.file_ends import FileEnds, read_ends
from ctxview.files.reading import LIMIT, Unreadable
from ctxview.formats.interface import CannotOpen, Match, Source
from ctxview.formats.peek import Peek

NAME = "raw"


class RawFormat:
    name = NAME

    def recognise(self, peek: Peek) -> Match | None:
        return None if peek.is_folder else Match(NAME, 1, "any file")

    def open(self, path: Path) -> Source:
        from ctxview.formats.raw.source import RawSource

        return RawSource(path, *read_file(path))

    def open_unrecognised(self, path: Path) -> Source:
        from ctxview.formats.raw.source import RawSource

        return RawSource(path, *read_file(path), unrecognised=True)


FORMAT = RawFormat()


def read_file(path: Path) -> tuple[bytes, str | None]:
    """Its bytes, or both ends of them, and what was left out; raises `CannotOpen`."""
    if path.is_dir():
        raise CannotOpen(f"{path}: a folder cannot be opened as raw; name one of its files")
    try:
        ends = read_ends(path, LIMIT)
    except Unreadable as error:
        raise CannotOpen(f"{path}: {error.reason}") from None
    return _joined(ends), _left_out(ends)


def _joined(ends: FileEnds) -> bytes:
    return ends.head if ends.whole else ends.head + b"\n" + ends.tail


def _left_out(ends: FileEnds) -> str | None:
    if ends.whole:
        return None
    middle = ends.size - len(ends.head) - len(ends.tail)
    return f"{middle:,} of {ends.size:,} bytes, in the middle, were not read; places behind them are not true"
