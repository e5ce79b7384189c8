"""Recognises recordings by their first bytes and opens them."""

from __future__ import annotations

from pathlib import Path

from ctxview.formats.interface import Match, Source
from ctxview.formats.peek import Peek
from ctxview.recording.frames import MAGIC

NAME = "recording"


class RecordingFormat:
    name = NAME

    def recognise(self, peek: Peek) -> Match | None:
        return Match(NAME, 100, "the first bytes of a recording") if peek.head.startswith(MAGIC) else None

    def open(self, path: Path) -> Source:
        from ctxview.formats.recording.source import open_recorded

        return open_recorded(path)


FORMAT = RecordingFormat()
