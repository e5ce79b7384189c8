"""The messages of a session as a transcript: a row for every line, read and decoded when it is seen.

A transcript of the past ends where the history ended then; what came later is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

from ctxview.formats.session.history import FileStream, Stream
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import message_in
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.prompt import why_dropped
from ctxview.state import Row

LONGEST_ROW = 256 * 1024
"""How much of a text one row carries; the origin leads to all of it."""
LOOKS_AT_ONCE = 4
"""So many blocks of the file are looked through for rows before anything is shown."""


class SessionTranscript:
    """A `state.GrowingTranscript` over a history, or its first `lines`; some rows are known at once."""

    def __init__(self, stream: Stream, profile: Profile, lines: int | None = None) -> None:
        self._stream = stream
        self._profile = profile
        self._lines = lines
        looks = count()
        stream.index(lambda: next(looks) >= LOOKS_AT_ONCE)

    def __len__(self) -> int:
        known = len(self._stream)
        return known if self._lines is None else min(known, self._lines)

    @property
    def complete(self) -> bool:
        return self._stream.complete or len(self) == self._lines

    @property
    def ending(self) -> int:
        return self._stream.ending if self._lines is None else 0

    @property
    def file(self) -> Path | None:
        return self._stream.path if isinstance(self._stream, FileStream) else None

    def again(self) -> SessionTranscript:
        if not isinstance(self._stream, FileStream):
            return self
        stream, _ = self._stream.again()
        if stream is self._stream:
            return self
        if self.complete:
            stream.index()
        return SessionTranscript(stream, self._profile, self._lines)

    def row(self, index: int) -> Row:
        return row_of(self._line(index), index, self._profile)

    def raw(self, index: int) -> bytes:
        return self._line(index).content

    def find(self, needle: str, start: int, backwards: bool, cancelled: Callable[[], bool]) -> int | None:
        if not needle:
            return None
        any_case = needle == needle.lower()
        if self._lines is not None:
            start = max(0, start + len(self)) if start < 0 else min(start, self._lines)
        for number in self._stream.find(needle, start, backwards, cancelled):
            if self._lines is not None and number >= self._lines:
                return None
            text = message_in(self._stream.line(number)).text
            # The bytes may match in a key or an escape; what counts is the text a person sees.
            if needle in (text.lower() if any_case else text):
                return number
        return None

    def _line(self, index: int) -> HistoryLine:
        if self._lines is not None:
            index += len(self) if index < 0 else 0
            if not 0 <= index < self._lines:
                raise IndexError(f"line {index} was not there yet")
        return self._stream.line(index)


def row_of(line: HistoryLine, index: int, profile: Profile) -> Row:
    """One line as a row, whatever it holds; `index` is its number where the line does not know it."""
    message = message_in(line)
    broken = message.kind in ("broken", "too long")
    return Row(
        index=line.number if line.number is not None else index,
        role=message.role,
        kind=message.kind,
        text=message.text[:LONGEST_ROW],
        run=message.run,
        origin=line.origin(),
        size=line.size,
        problem=line.problem if broken else None,
        unseen=why_dropped(line, profile) if message.kind != "blank" else None,
    )
