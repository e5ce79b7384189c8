"""The two histories of a session as rows that are read when seen, however long they are. Never writes.

A history is a file of lines, or (see `columnar`) a store behind an empty file. Numbers count lines from 0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from ctxview.files.lines import Growth, LineFile, never, open_lines
from ctxview.files.needles import needle_variants
from ctxview.files.prefix_digest import PrefixDigest
from ctxview.files.reading import Unreadable
from ctxview.formats.session.columnar import ColumnarStore, ColumnarStream
from ctxview.formats.session.folder import EntryKind, SessionFolder
from ctxview.formats.session.history_line import LONGEST_DECODED, HistoryLine
from ctxview.formats.session.model import Session
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.quick_dataclass import dataclass
from ctxview.state import END

Cancelled = Callable[[], bool]
Report = Callable[[int, int], None]
"""Is told how many bytes are done and how many there are."""

MOST_LAST = 1000
REACH_OF_LAST = 4 * 1024 * 1024
"""So many lines in so many bytes at the end can be had before all lines are counted."""


class Stream(Protocol):
    """One history. All but `scan` and `index` answer at once, whatever its length."""

    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int:
        """In bytes."""

    @property
    def complete(self) -> bool:
        """Whether every line has its number; before that only `tail` and `scan` see all."""

    def __len__(self) -> int:
        """The lines known so far."""

    @property
    def ending(self) -> int:
        """How many of the last lines can be had by negative numbers, beside those known from the start."""

    def line(self, number: int, /) -> HistoryLine:
        """A line that is known, or one of the last, counted back from -1; raises `IndexError`."""

    def tail(self, count: int, /) -> list[HistoryLine]: ...
    def scan(self, first: int = 0, /) -> Iterator[HistoryLine]:
        """Every line from `first` on, which must be known unless it is 0, in bounded memory."""

    def index(self, cancelled: Cancelled, report: Report | None = None, /) -> None:
        """Find the numbers of all lines; goes on where it was left."""

    def find(self, text: str, start: int, backwards: bool, cancelled: Cancelled, /) -> Iterator[int]:
        """Numbers of the lines that may hold `text` at or after `start`, or before it, the nearest first.

        A negative `start` counts from the end; `END` is behind the last line.
        """

    def digests(self, lengths: list[int], cancelled: Cancelled, /) -> tuple[str, ...] | None:
        """The SHA-256 of the first bytes for each length, in rising order; None when that cannot be had."""


@dataclass(frozen=True)
class History:
    messages: Stream
    events: Stream
    store: ColumnarStore | None = None

    def again(self, session: Session) -> tuple[History, bool]:
        """A new look at both, and whether they only grew: then all that was known of them is still true."""
        if self.store is not None or session.manifest is not None:
            return open_history(session), False
        messages, events = (_again(stream, session.folder) for stream in (self.messages, self.events))
        if (messages[0], events[0]) == (self.messages, self.events):
            return self, True
        return History(messages[0], events[0]), messages[1] and events[1]

    @property
    def held_back(self) -> tuple[str, ...]:
        """The names of those with a last line that is being written."""
        return tuple(
            stream.name
            for stream in (self.messages, self.events)
            if isinstance(stream, FileStream) and stream.held_back
        )

    @property
    def size(self) -> int:
        return self.messages.size + self.events.size

    def stream(self, name: str) -> Stream:
        return self.events if name == EVENTS else self.messages


def open_history(session: Session) -> History:
    """Both histories, opened; a missing or unreadable one is empty."""
    if session.manifest is not None:
        store = ColumnarStore(session.folder, session.manifest)
        return History(ColumnarStream(store, MESSAGES), ColumnarStream(store, EVENTS), store)
    return History(_open(session.folder, MESSAGES), _open(session.folder, EVENTS))


def _open(folder: SessionFolder, name: str) -> Stream:
    if folder.entry(name).kind is not EntryKind.FILE:
        return EmptyStream(name)
    try:
        return FileStream(open_lines(folder.root, name), name, folder.file(name))
    except Unreadable as error:
        return EmptyStream(name, error.reason)


def _again(stream: Stream, folder: SessionFolder) -> tuple[Stream, bool]:
    if not isinstance(stream, FileStream):
        opened = _open(folder, stream.name)
        return (stream, True) if isinstance(opened, EmptyStream) else (opened, True)
    if folder.entry(stream.name).kind is not EntryKind.FILE:
        return EmptyStream(stream.name), False
    return stream.again()


class EmptyStream:
    """A history that is not there, or cannot be read for the reason in `problem`."""

    size = 0
    complete = True
    ending = 0

    def __init__(self, name: str, problem: str | None = None) -> None:
        self.name = name
        self.problem = problem

    def __len__(self) -> int:
        return 0

    def line(self, number: int, /) -> HistoryLine:
        raise IndexError(f"line {number} is not known")

    def tail(self, _count: int, /) -> list[HistoryLine]:
        return []

    def scan(self, _first: int = 0, /) -> Iterator[HistoryLine]:
        return iter(())

    def index(self, _cancelled: Cancelled, _report: Report | None = None, /) -> None:
        """There is nothing to count."""

    def find(self, _text: str, _start: int, _backwards: bool, _cancelled: Cancelled, /) -> Iterator[int]:
        return iter(())

    def digests(self, _lengths: list[int], _cancelled: Cancelled, /) -> tuple[str, ...] | None:
        return None


class FileStream:
    """A history in a file of lines."""

    def __init__(self, lines: LineFile, name: str, file: str) -> None:
        self.name = name
        self._lines = lines
        self._file = file
        self._prefix = PrefixDigest()
        self._last: tuple[int, list[tuple[int, int]]] | None = None

    def again(self) -> tuple[FileStream, bool]:
        """A new look, and whether the file only grew."""
        lines, growth = self._lines.again()
        if lines is self._lines:
            return self, True
        grown = growth in (Growth.SAME, Growth.GROWN)
        made = FileStream(lines, self.name, self._file)
        if grown:
            made._prefix = self._prefix.copy()
        return made, grown

    @property
    def path(self) -> Path:
        return self._lines.path

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

    def index(self, cancelled: Cancelled = never, report: Report | None = None, /) -> None:
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
            following = self._offset_of(number + 1)  # whoever gets the number can read the line
            yield number
            # One hit a line is enough: go on at its start or behind its end.
            offset = self._offset_of(number) if backwards else following

    def digests(self, lengths: list[int], cancelled: Cancelled = never, /) -> tuple[str, ...] | None:
        try:
            return self._prefix.digests(self._lines.read, lengths, cancelled)
        except Unreadable:
            return None

    def _last_spans(self) -> list[tuple[int, int]]:
        """Where the last lines are, looked for once for every size of the file."""
        size = self._lines.size
        if self._last is None or self._last[0] != size:
            self._last = size, self._lines.tail(MOST_LAST, REACH_OF_LAST)
        return self._last[1]

    def _line_at(self, spans: list[tuple[int, int]], place: int, number: int | None) -> HistoryLine:
        """One of the last lines of the file, given where they are."""
        start, end = spans[place]
        place %= len(spans)
        following = spans[place + 1][0] if place + 1 < len(spans) else self._lines.size
        content = self._lines.read(start, min(end, start + LONGEST_DECODED))
        return HistoryLine(self.name, self._file, number, start, end, content, following - end)

    def _index_beyond(self, offset: int, cancelled: Cancelled) -> None:
        self._lines.index(lambda: cancelled() or self._lines.indexed > offset)

    def _offset_of(self, number: int) -> int:
        """Where a line begins; the end of the file for one behind the last."""
        if number == END:
            return self._lines.size
        if number < 0:
            return self.line(number).start
        while number >= len(self._lines) and not self._lines.complete:
            self._lines.index(_after_one_look())
        return self._lines.span(number)[0] if 0 <= number < len(self._lines) else self._lines.size


def _after_one_look() -> Cancelled:
    """Lets one step of the index through."""
    looks = iter((False,))
    return lambda: next(looks, True)
