"""The messages of a session as a transcript: a row for every line, read and decoded when it is seen."""

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
    """Implements `state.GrowingTranscript` over a history."""

    def __init__(self, stream: Stream, profile: Profile) -> None:
        self._stream = stream
        self._profile = profile

    def __len__(self) -> int:
        return len(self._stream)

    @property
    def complete(self) -> bool:
        return self._stream.complete

    @property
    def file(self) -> Path | None:
        return self._stream.path if isinstance(self._stream, FileStream) else None

    def again(self) -> SessionTranscript:
        stream = self._stream.again()[0] if isinstance(self._stream, FileStream) else self._stream
        return self if stream is self._stream else SessionTranscript(stream, self._profile)

    def row(self, index: int) -> Row:
        return row_of(self._stream.line(index), self._profile)

    def raw(self, index: int) -> bytes:
        return self._stream.line(index).content

    def find(self, needle: str, start: int, backwards: bool, cancelled: Callable[[], bool]) -> int | None:
        if not needle:
            return None
        any_case = needle == needle.lower()
        for number in self._stream.find(needle, start, backwards, cancelled):
            text = message_in(self._stream.line(number)).text
            # The bytes may match in a key or an escape; what counts is the text a person sees.
            if needle in (text.lower() if any_case else text):
                return number
        return None


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
