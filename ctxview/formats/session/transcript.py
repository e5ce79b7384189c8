"""The messages of a session as a transcript: a row for every line, read and decoded when it is seen.

A transcript of the past ends where the history ended then; what came later is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ctxview.formats.session.history import FileStream, Stream
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import message_in
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.prompt import why_dropped
from ctxview.state import Row

LONGEST_ROW = 256 * 1024
"""How much of a text one row carries; the origin leads to all of it."""


class SessionTranscript:
    """Implements `state.GrowingTranscript` over a history, or over its first `lines`."""

    def __init__(self, stream: Stream, profile: Profile, lines: int | None = None) -> None:
        self._stream = stream
        self._profile = profile
        self._lines = lines

    def __len__(self) -> int:
        known = len(self._stream)
        return known if self._lines is None else min(known, self._lines)

    @property
    def complete(self) -> bool:
        return self._stream.complete or len(self) == self._lines

    @property
    def file(self) -> Path | None:
        return self._stream.path if isinstance(self._stream, FileStream) else None

    def again(self) -> SessionTranscript:
        stream = self._stream.again()[0] if isinstance(self._stream, FileStream) else self._stream
        return self if stream is self._stream else SessionTranscript(stream, self._profile, self._lines)

    def row(self, index: int) -> Row:
        return row_of(self._line(index), self._profile)

    def raw(self, index: int) -> bytes:
        return self._line(index).content

    def find(self, needle: str, start: int, backwards: bool, cancelled: Callable[[], bool]) -> int | None:
        if not needle:
            return None
        any_case = needle == needle.lower()
        first = min(start, self._lines) if backwards and self._lines is not None else start
        for number in self._stream.find(needle, first, backwards, cancelled):
            if self._lines is not None and number >= self._lines:
                return None
            text = message_in(self._stream.line(number)).text
            # The bytes may match in a key or an escape; what counts is the text a person sees.
            if needle in (text.lower() if any_case else text):
                return number
        return None

    def _line(self, index: int) -> HistoryLine:
        if self._lines is not None and index >= self._lines:
            raise IndexError(f"line {index} was not there yet")
        return self._stream.line(index)


def row_of(line: HistoryLine, profile: Profile) -> Row:
    """One line as a row, whatever it holds."""
    message = message_in(line)
    broken = message.kind in ("broken", "too long")
    return Row(
        index=line.number if line.number is not None else -1,
        role=message.role,
        kind=message.kind,
        text=message.text[:LONGEST_ROW],
        run=message.run,
        origin=line.origin(),
        size=line.size,
        problem=line.problem if broken else None,
        unseen=why_dropped(line, profile) if message.kind != "blank" else None,
    )
