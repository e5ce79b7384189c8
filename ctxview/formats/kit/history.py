"""Histories as streams of lines that are read when they are needed, however long the history is.

A history is a file of lines, or a store that a format reads. Lines are numbered from 0. Nothing is written.
A format opens one with `open_stream` and takes over a grown one with `stream_again`; `transcript` shows it,
`history_passes` counts its tokens and checks its texts, both in bounded memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Protocol

from ctxview.core.transcript import END
from ctxview.files.byte_search import needle_variants
from ctxview.files.line_file import LineFile, LineGrowth, LineRun, never_cancelled
from ctxview.files.open_file import PrefixDigest
from ctxview.files.reading import ReadError
from ctxview.formats.kit.folder import EntryKind, SourceFolder
from ctxview.formats.kit.history_line import LONGEST_DECODED, HistoryLine

Cancelled = Callable[[], bool]
Report = Callable[[int, int], None]
"""Receives how many bytes are done and how many there are."""

MOST_LAST = 1000
REACH_OF_LAST = 4 * 1024 * 1024
"""The last `MOST_LAST` lines in this many bytes are available before all lines are counted."""


class HistoryStream(Protocol):
    """One history. All methods but `scan` and `index` return at once, for any length."""

    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int:
        """The size in bytes."""

    @property
    def problem(self) -> str | None:
        """Why the number of its lines is not known: the history, or its end, cannot be read."""

    @property
    def complete(self) -> bool:
        """Whether every line has its number; before that only `tail` and `scan` reach all lines."""

    def __len__(self) -> int:
        """The number of lines known so far."""

    @property
    def ending(self) -> int:
        """How many last lines are available by negative numbers, beyond those known from the start."""

    @property
    def blanks(self) -> Sequence[int]:
        """The numbers of lines that are known to be blank, in order; others may be blank too."""

    def line(self, number: int, /) -> HistoryLine:
        """Return a known line, or one of the last lines by a negative number; raises `IndexError`."""

    def tail(self, count: int, /) -> list[HistoryLine]: ...
    def scan(self, first: int = 0, /) -> Iterator[HistoryLine]:
        """Yield every line from `first` on in bounded memory; `first` must be 0 or a known line."""

    def index(self, cancelled: Cancelled, report: Report | None = None, /) -> None:
        """Number all lines; a later call continues where it stopped."""

    def find(self, text: str, start: int, backwards: bool, cancelled: Cancelled, /) -> Iterator[int]:
        """Yield the numbers of lines that may contain `text` from `start` on, or before it, nearest first.

        A negative `start` counts from the end; `END` is after the last line.
        """

    def digests(self, lengths: list[int], cancelled: Cancelled, /) -> tuple[str, ...] | None:
        """Return the SHA-256 of the first bytes for each length, in ascending order; None on failure."""


class LoadedHistoryStream:
    """A history whose lines all have their numbers; a subclass has `name`, `size`, `line` and `scan`."""

    complete = True
    ending = 0
    blanks: Sequence[int] = ()

    def __len__(self) -> int:
        return 0

    def line(self, number: int, /) -> HistoryLine:
        raise IndexError(f"there is no line {number}")

    def tail(self, count: int, /) -> list[HistoryLine]:
        return [self.line(number) for number in range(max(0, len(self) - count), len(self))]

    def scan(self, _first: int = 0, /) -> Iterator[HistoryLine]:
        return iter(())

    def index(self, _cancelled: Cancelled, _report: Report | None = None, /) -> None:
        """Do nothing: all lines have their numbers."""

    def find(self, text: str, start: int, backwards: bool, cancelled: Cancelled, /) -> Iterator[int]:
        if start < 0:
            start = max(0, start + len(self))
        numbers = range(min(start, len(self)) - 1, -1, -1) if backwards else range(start, len(self))
        any_case = text == text.lower()
        for number in numbers:
            if cancelled():
                return
            content = self.line(number).content.decode("utf-8", "replace")
            # Escapes hide letters, so a line with any is offered too: the caller searches the decoded text.
            if text in (content.lower() if any_case else content) or "\\" in content:
                yield number

    def digests(self, lengths: list[int], cancelled: Cancelled, /) -> tuple[str, ...] | None:
        """Return the hashes of the lines, each with one line feed."""
        running, reached, found = sha256(), 0, []
        wanted = deque(lengths)
        for line in chain(self.scan(), [None]):
            while wanted and reached == wanted[0]:
                wanted.popleft()
                found.append(running.hexdigest())
            if cancelled():
                return None
            if line is not None:
                running.update(line.content + b"\n")
                reached += len(line.content) + 1
        return tuple(found) if not wanted else None


class EmptyHistoryStream(LoadedHistoryStream):
    """A history that is missing, or that cannot be read for the reason in `problem`."""

    size = 0

    def __init__(self, name: str, problem: str | None = None) -> None:
        self.name = name
        self.problem: str | None = problem

    def digests(self, _lengths: list[int], _cancelled: Cancelled, /) -> tuple[str, ...] | None:
        return None


class FileHistoryStream:
    """A history in a file of lines."""

    problem: str | None = None

    def __init__(self, lines: LineFile, name: str, file: str) -> None:
        self.name = name
        self._lines = lines
        self._file = file
        self._prefix = PrefixDigest()
        self._last: tuple[int, list[tuple[int, int]]] | None = None

    def again(self) -> tuple[FileHistoryStream, bool]:
        """Return the stream of the file as it is now, and whether the file only grew."""
        lines, growth = self._lines.again()
        if lines is self._lines:
            return self, True
        grown = growth in (LineGrowth.SAME, LineGrowth.GROWN)
        made = FileHistoryStream(lines, self.name, self._file)
        if grown:
            made._prefix = self._prefix.copy()
        return made, grown

    @property
    def path(self) -> Path:
        return self._lines.path

    @property
    def lines(self) -> LineFile:
        return self._lines

    @property
    def held_back(self) -> bool:
        return self._lines.held_back

    @property
    def size(self) -> int:
        return self._lines.size

    @property
    def complete(self) -> bool:
        return self._lines.complete

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def blanks(self) -> Sequence[int]:
        return self._lines.blanks

    @property
    def ending(self) -> int:
        if self._lines.complete:
            return 0
        known = self._lines.span(len(self._lines) - 1)[1] if len(self._lines) else -1
        spans = self._last_spans()
        return len(spans) - bisect_right(spans, known, key=lambda span: span[0])

    def line(self, number: int, /) -> HistoryLine:
        if number < 0 and not self._lines.complete:
            return self._line_at(self._last_spans(), number, None)
        if number < 0:
            number += len(self._lines)
        start, end = self._lines.span(number)
        content = self._lines.read(start, min(end, start + LONGEST_DECODED))
        ending = len(self._lines.ending(number))
        return HistoryLine(self.name, self._file, number, start, end, content, ending)

    def tail(self, count: int, /) -> list[HistoryLine]:
        spans = self._lines.tail(count)
        first = len(self._lines) - len(spans) if self._lines.complete else None
        return [
            self._line_at(spans, place, None if first is None else first + place)
            for place in range(len(spans))
        ]

    def scan(self, first: int = 0, /) -> Iterator[HistoryLine]:
        held: HistoryLine | None = None
        for line in self._lines.lines(first, limit=LONGEST_DECODED):
            if held is not None:
                held.ending = line.start - held.end
                yield held
            held = HistoryLine(self.name, self._file, line.number, line.start, line.end, line.content)
        if held is not None:
            held.ending = max(0, self._lines.size - held.end)
            yield held

    def runs(self, first: int = 0) -> Iterator[LineRun]:
        """Yield every line from `first` on in runs; `line_of` makes lines of them."""
        return self._lines.runs(first, limit=LONGEST_DECODED)

    def line_of(self, run: LineRun, number: int, start: int, content: bytes) -> HistoryLine:
        """Return a line of a run."""
        if run.end is None:
            trimmed = content.removesuffix(b"\r")
            end, ending = start + len(trimmed), 1 + len(content) - len(trimmed)
            return HistoryLine(self.name, self._file, number, start, end, trimmed, ending)
        following = min(self._lines.size, run.end + 2)
        ending = self._lines.read(run.end, following).find(b"\n") + 1
        return HistoryLine(self.name, self._file, number, start, run.end, content, ending)

    def index(self, cancelled: Cancelled = never_cancelled, report: Report | None = None, /) -> None:
        self._lines.index(cancelled, report)

    def find(self, text: str, start: int, backwards: bool, cancelled: Cancelled, /) -> Iterator[int]:
        ignore_case = text == text.lower()
        needles = needle_variants(text, ignore_case)
        offset = self._offset_of(start)
        while not cancelled():
            found = self._lines.find(
                needles, offset, backwards=backwards, ignore_case=ignore_case, cancelled=cancelled
            )
            if found is None:
                return
            self._index_beyond(found, cancelled)
            if cancelled():
                return
            number = self._lines.number_at(found)
            next_line = self._offset_of(number + 1)  # indexes the line, so that the caller can read it
            yield number
            # One hit per line is enough: continue before or after the line.
            offset = self._offset_of(number) if backwards else next_line

    def digests(
        self, lengths: list[int], cancelled: Cancelled = never_cancelled, /
    ) -> tuple[str, ...] | None:
        try:
            return self._prefix.digests(self._lines.read, lengths, cancelled)
        except ReadError:
            return None

    def _last_spans(self) -> list[tuple[int, int]]:
        """The spans of the last lines, cached for the current size of the file."""
        size = self._lines.size
        if self._last is None or self._last[0] != size:
            self._last = size, self._lines.tail(MOST_LAST, REACH_OF_LAST)
        return self._last[1]

    def _line_at(self, spans: list[tuple[int, int]], place: int, number: int | None) -> HistoryLine:
        """Return one of the last lines, given the spans of all of them."""
        start, end = spans[place]
        place %= len(spans)
        next_line = spans[place + 1][0] if place + 1 < len(spans) else self._lines.size
        content = self._lines.read(start, min(end, start + LONGEST_DECODED))
        return HistoryLine(self.name, self._file, number, start, end, content, next_line - end)

    def _index_beyond(self, offset: int, cancelled: Cancelled) -> None:
        self._lines.index(lambda: cancelled() or self._lines.indexed > offset)

    def _offset_of(self, number: int) -> int:
        """The offset of a line; the end of the file for a number after the last line."""
        if number == END:
            return self._lines.size
        if number < 0:
            return self.line(number).start
        while number >= len(self._lines) and not self._lines.complete:
            self._lines.index(_after_one_step())
        return self._lines.span(number)[0] if 0 <= number < len(self._lines) else self._lines.size


def open_stream(folder: SourceFolder, name: str) -> HistoryStream:
    """Open the history `name` of a folder; a missing or unreadable one is empty."""
    kind = folder.entry(name).kind
    if kind is not EntryKind.FILE:
        return EmptyHistoryStream(name, None if kind is EntryKind.ABSENT else f"this is {kind.description}")
    try:
        return FileHistoryStream(LineFile(folder.root, name), name, folder.file(name))
    except ReadError as error:
        return EmptyHistoryStream(name, error.reason)


def stream_again(stream: HistoryStream, folder: SourceFolder) -> tuple[HistoryStream, bool]:
    """Return the history as it is now, and whether it only grew: then earlier results are still true."""
    if not isinstance(stream, FileHistoryStream):
        opened = open_stream(folder, stream.name)
        return (stream, True) if isinstance(opened, EmptyHistoryStream) else (opened, True)
    if folder.entry(stream.name).kind is not EntryKind.FILE:
        return EmptyHistoryStream(stream.name), False
    return stream.again()


def _after_one_step() -> Cancelled:
    """Return a `Cancelled` that stops the index after one step."""
    steps = iter((False,))
    return lambda: next(steps, True)
