"""The raw format: fits every file with the lowest score, so that every other format takes precedence."""

from __future__ import annotations

from pathlib import Path

from ctxview.formats.interface import FormatMatch, Source
from ctxview.formats.peek import Peek
from ctxview.formats.raw.parser import read_raw_file

NAME = "raw"


class RawFormat:
    name = NAME

    def recognise(self, peek: Peek) -> FormatMatch | None:
        return None if peek.is_folder else FormatMatch(NAME, 1, "any file")

    def open(self, path: Path) -> Source:
        from ctxview.formats.raw.source import RawSource

        return RawSource(path, *read_raw_file(path))

    def open_unrecognised(self, path: Path) -> Source:
        from ctxview.formats.raw.source import RawSource

        return RawSource(path, *read_raw_file(path), unrecognised=True)


FORMAT = RawFormat()
