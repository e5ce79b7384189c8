"""Recognises recordings by their first bytes and opens them."""

from __future__ import annotations

from pathlib import Path

from ctxview.formats.interface import FormatMatch, Source
from ctxview.formats.peek import Peek
from ctxview.recording.frames import MAGIC

NAME = "recording"


class RecordingFormat:
    name = NAME

    def recognise(self, peek: Peek) -> FormatMatch | None:
        return (
            FormatMatch(NAME, 100, "the first bytes of a recording") if peek.head.startswith(MAGIC) else None
        )

    def open(self, path: Path) -> Source:
        from ctxview.formats.recording.source import open_recording_source

        return open_recording_source(path)


FORMAT = RecordingFormat()
