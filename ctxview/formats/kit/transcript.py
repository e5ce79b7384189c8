"""The transcript of a history: a row for every line, read and decoded when it is shown.

A transcript of a past revision ends where the history ended then.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

from ctxview.core.transcript import Row
from ctxview.formats.kit.history import FileHistoryStream, HistoryStream
from ctxview.formats.kit.history_line import HistoryLine

STEPS_AT_ONCE = 4
"""Steps of the index that are done before the first rows are shown."""


class HistoryTranscript:
    """A `GrowingTranscript` over a history, or over its first `lines`.

    The format supplies `row_of`, which turns a line and its number into a row, and `text_of`, the text to
    search.
    """

    def __init__(
        self,
        stream: HistoryStream,
        row_of: Callable[[HistoryLine, int], Row],
        text_of: Callable[[HistoryLine], str],
        lines: int | None = None,
    ) -> None:
        self._stream = stream
        self._row_of = row_of
        self._text_of = text_of
        self._lines = lines
        steps = count()
        stream.index(lambda: next(steps) >= STEPS_AT_ONCE)

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
        return self._stream.path if isinstance(self._stream, FileHistoryStream) else None

    def again(self) -> HistoryTranscript:
        if not isinstance(self._stream, FileHistoryStream):
            return self
        stream, _ = self._stream.again()
        if stream is self._stream:
            return self
        if self.complete:
            stream.index()
        return HistoryTranscript(stream, self._row_of, self._text_of, self._lines)

    def row(self, index: int) -> Row:
        return self._row_of(self._line(index), index)

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
            text = self._text_of(self._stream.line(number))
            # The bytes may match in a key or an escape; only the displayed text counts.
            if needle in (text.lower() if any_case else text):
                return number
        return None

    def _line(self, index: int) -> HistoryLine:
        if self._lines is not None:
            index += len(self) if index < 0 else 0
            if not 0 <= index < self._lines:
                raise IndexError(f"line {index} did not exist yet")
        return self._stream.line(index)
