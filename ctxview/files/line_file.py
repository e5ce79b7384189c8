"""A file of lines that may be huge and may grow: read any line and search, without reading the whole file.

It never writes and does not interpret the lines. A file that changes while it is open gives short or wrong
answers, or `ReadError`, until `again` finds out what happened; it never causes a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from ctxview.files.byte_search import find_bytes
from ctxview.files.change_detector import is_being_written
from ctxview.files.newline_index import NewlineIndex, split_at_newlines
from ctxview.files.open_file import OpenFile, open_file_beneath
from ctxview.files.reading import ReadError

_RUN: Final = 512 * 1024
_REPORT_EVERY: Final = 4 * 1024 * 1024
_INDEX_AT_ONCE: Final = 4 * 1024 * 1024


class LineGrowth(StrEnum):
    """The change of a file since it was last read."""

    SAME = "same"
    GROWN = "grown"
    TRUNCATED = "truncated"
    """The file is shorter than before."""
    REPLACED = "replaced"
    """Another file has the name now; that file is open from here on."""
    REWRITTEN = "rewritten"
    """The same file, but known bytes have changed."""
    GONE = "gone"
    """No readable file has the name now; the old file stays open."""


class FileLine(NamedTuple):
    """One line: its number from 0, its span without the line ending, and its first bytes or all of them."""

    number: int
    start: int
    end: int
    content: bytes

    @property
    def cut(self) -> bool:
        return len(self.content) < self.end - self.start


class LineRun(NamedTuple):
    """Lines in a row, with their carriage returns and without their newlines; `start` is that of the first.

    With `end`, the run is one line of its own kind: it has no newline, or may be longer than what is here.
    """

    number: int
    start: int
    lines: list[bytes]
    end: int | None = None


def never_cancelled() -> bool:
    """Return False, for work that is never cancelled."""
    return False


class LineFile:
    """The lines of a file. They end at newline bytes only; the last line counts even without a newline.

    Opening the file `relative` below `root` follows no link and reads a few samples; it raises `ReadError`.
    Lines get their numbers through `index`, which any thread may run while others read, search or call
    `again`.
    """

    def __init__(self, root: Path, relative: str, view: _View | None = None) -> None:
        self._root = root
        self._relative = relative
        self._view = view or _view(open_file_beneath(root, relative), None)

    @property
    def path(self) -> Path:
        return self._view.file.path

    @property
    def size(self) -> int:
        """The size in bytes when the file was opened or read again."""
        return self._view.size

    @property
    def held_back(self) -> bool:
        """Whether the file ends with a half-written line that is not among these lines."""
        return self._view.size < self._view.on_disk

    @property
    def complete(self) -> bool:
        """Whether all lines are indexed."""
        return self._view.complete

    @property
    def indexed(self) -> int:
        """The number of bytes from the start that are indexed."""
        return self._view.index.reached

    @property
    def unterminated(self) -> bool:
        """Whether the last line has no newline: it is half-written or torn."""
        return self._view.unterminated

    def index(
        self,
        cancelled: Callable[[], bool] = never_cancelled,
        report: Callable[[int, int], None] | None = None,
    ) -> None:
        """Find the lines, from where the last call stopped. `report` gets the indexed bytes and the size."""
        reported = 0
        while not cancelled():
            view = self._view
            more = view.index.step(view.size)
            done = view.index.reached
            if report and (done - reported >= _REPORT_EVERY or not more):
                report(done, view.size)
                reported = done
            if not more:
                return

    def __len__(self) -> int:
        """Return the number of lines known so far."""
        return self._view.lines

    @property
    def blanks(self) -> Sequence[int]:
        """The numbers of the known lines that hold only white space, without a torn last line."""
        return self._view.index.blanks

    def span(self, number: int) -> tuple[int, int]:
        """Return the span of a line without its ending; raises `IndexError` for an unknown line."""
        view = self._view
        return view.trimmed(*view.bounds(number))

    def line(self, number: int, limit: int | None = None) -> bytes:
        """Return a line without its ending, or its first `limit` bytes."""
        view = self._view
        start, end = view.trimmed(*view.bounds(number))
        return view.file.read(start, end if limit is None else min(end, start + limit))

    def ending(self, number: int) -> bytes:
        """Return the ending of a line: a newline, a carriage return with a newline, or nothing."""
        view = self._view
        start, newline = view.bounds(number)
        return view.file.read(view.trimmed(start, newline)[1], min(newline + 1, view.size))

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`; fewer when the file became shorter."""
        view = self._view
        return view.file.read(start, min(end, view.size))

    def lines(self, first: int = 0, stop: int | None = None, limit: int | None = None) -> Iterator[FileLine]:
        """Yield lines from number `first` to `stop` or the end of the file, each with at most `limit` bytes.

        Reading from line 0 needs no index.
        """
        view = self._view
        if first and first >= view.lines:
            return
        start = view.bounds(first)[0] if first else 0
        for line in _walk(view, start, first, limit):
            if stop is not None and line.number >= stop:
                return
            yield line

    def runs(self, first: int = 0, limit: int | None = None) -> Iterator[LineRun]:
        """Yield the lines from number `first` on in runs, which is faster than one by one."""
        view = self._view
        if not first or first < view.lines:
            yield from _runs(view, view.bounds(first)[0] if first else 0, first, limit)

    def tail(self, count: int, reach: int | None = None) -> list[tuple[int, int]]:
        """Return the spans of the last `count` lines in order; needs no index.

        With `reach`, only lines that begin within so many bytes of the end, and always the last line.
        """
        view = self._view
        spans: list[tuple[int, int]] = []
        end = view.size if view.unterminated else view.size - 1
        least = 0 if reach is None else view.size - reach
        while len(spans) < count and end >= max(0, least if spans else 0):
            newline = view.file.previous_newline(end)
            start = 0 if newline is None else newline + 1
            spans.append(view.trimmed(start, end))
            end = start - 1
        return spans[::-1]

    def number_at(self, offset: int) -> int:
        """Return the number of the line that holds this byte; a newline belongs to the line it ends.

        It first indexes the file up to `offset`, if necessary.
        """
        view = self._view
        offset = max(min(offset, view.size - 1), 0)
        while view.index.reached < offset and view.index.step(view.size):
            pass
        return view.index.before(min(offset, view.index.reached))

    def find(
        self,
        needles: bytes | Sequence[bytes],
        start: int,
        *,
        backwards: bool = False,
        ignore_case: bool = False,
        cancelled: Callable[[], bool] = never_cancelled,
    ) -> int | None:
        """Return the offset of the first needle at or after `start`, or `backwards` of the last before it.

        `ignore_case` applies to ASCII letters; `needle_variants` covers the others. None when there is no
        needle, or when cancelled.
        """
        view = self._view
        wanted = [needles] if isinstance(needles, bytes) else needles
        return find_bytes(view.file, view.size, wanted, start, backwards, ignore_case, cancelled)

    def digest(self, upto: int | None = None, cancelled: Callable[[], bool] = never_cancelled) -> str | None:
        """Return the SHA-256 of the first `upto` bytes or of all; None if there are fewer or if cancelled."""
        found = self.digests([self.size if upto is None else upto], cancelled)
        return found[0] if found else None

    def digests(
        self, lengths: Sequence[int], cancelled: Callable[[], bool] = never_cancelled
    ) -> tuple[str, ...] | None:
        """Return the SHA-256 of the first bytes for each of the rising `lengths`, in one pass."""
        return self._view.file.digests(lengths, cancelled)

    def again(self) -> tuple[LineFile, LineGrowth]:
        """Read the file of this name again; return the new lines and the change. This object does not change.

        Known lines are not indexed again when the file only grew. A last line without its newline is held
        back while the file is being written. Changes to known bytes are noticed by samples; compare digests
        to be sure.
        """
        before = self._view
        growth, view = self._view_again(before)
        if view is before:
            return self, growth
        made = LineFile(self._root, self._relative, view)
        if growth is LineGrowth.GROWN and before.complete and view.size - before.size <= _INDEX_AT_ONCE:
            made.index()
        return made, growth

    def _view_again(self, before: _View) -> tuple[LineGrowth, _View]:
        try:
            named = before.file.path.lstat()
            if (named.st_dev, named.st_ino) != before.file.identity:
                return LineGrowth.REPLACED, _view(
                    open_file_beneath(self._root, self._relative), None, patient=True
                )
            return _view_of_same(before)
        except (OSError, ReadError):
            return LineGrowth.GONE, before


class _View(Struct, frozen=True):
    """A file as it was when it was read. Its index may have grown since then."""

    file: OpenFile
    index: NewlineIndex
    size: int
    on_disk: int
    modified: int
    unterminated: bool
    fingerprint: bytes

    @property
    def complete(self) -> bool:
        # A truncated file has no more lines to index, until it is read again.
        return self.index.reached >= self.size or self.index.cut_short

    @property
    def lines(self) -> int:
        return self.index.newlines + (self.unterminated and self.complete)

    def bounds(self, number: int) -> tuple[int, int]:
        """Return the span of a line up to its newline, or to the end of the file without one."""
        if not 0 <= number < self.lines:
            raise IndexError(f"line {number} is not known")
        start = self.index.newline(number) + 1 if number else 0
        return start, (self.index.newline(number + 1) if number < self.index.newlines else self.size)

    def trimmed(self, start: int, newline: int) -> tuple[int, int]:
        """Return the span without a carriage return before the newline."""
        carriage = start < newline < self.size and self.file.read(newline - 1, newline) == b"\r"
        return start, newline - carriage


def _view(file: OpenFile, index: NewlineIndex | None, *, patient: bool = False) -> _View:
    """Read the size and samples of a file; `patient` holds back a half-written last line."""
    status = file.status()
    size = status.st_size
    unterminated = bool(size) and file.read(size - 1, size) != b"\n"
    if patient and unterminated and is_being_written(status.st_mtime_ns):
        newline = file.previous_newline(size)
        size, unterminated = 0 if newline is None else newline + 1, False
    return _View(
        file,
        index or NewlineIndex(file),
        size,
        status.st_size,
        status.st_mtime_ns,
        unterminated,
        file.fingerprint(size),
    )


def _view_of_same(before: _View) -> tuple[LineGrowth, _View]:
    status = before.file.status()
    unchanged = (status.st_size, status.st_mtime_ns) == (before.on_disk, before.modified)
    if unchanged and before.size == before.on_disk:
        return LineGrowth.SAME, before
    if status.st_size < before.size:
        return LineGrowth.TRUNCATED, _view(before.file, None, patient=True)
    if before.file.fingerprint(before.size) != before.fingerprint:
        return LineGrowth.REWRITTEN, _view(before.file, None, patient=True)
    now = _view(before.file, before.index.copy(), patient=True)
    return (LineGrowth.SAME if now.size == before.size else LineGrowth.GROWN), now


def _walk(view: _View, start: int, number: int, limit: int | None) -> Iterator[FileLine]:
    """Yield the lines from byte `start`, where line `number` begins."""
    for run in _runs(view, start, number, limit):
        start, number = run.start, run.number
        if run.end is not None:
            yield FileLine(number, start, run.end, run.lines[0])
            continue
        for content in run.lines:
            following = start + len(content) + 1
            content = content.removesuffix(b"\r")
            yield FileLine(number, start, start + len(content), content[:limit])
            start, number = following, number + 1


def _runs(view: _View, start: int, number: int, limit: int | None) -> Iterator[LineRun]:
    """Yield the lines from byte `start` in runs; `limit` bounds the lines that are longer than a run."""
    while start < view.size:
        run = view.file.read(start, min(start + _RUN, view.size))
        if b"\n" in run:
            lines = split_at_newlines(run)
            rest = lines.pop()
            yield LineRun(number, start, lines)
            start, number = start + len(run) - len(rest), number + len(lines)
        elif run:
            newline = view.file.next_newline(start + len(run), view.size)
            _, end = view.trimmed(start, view.size if newline is None else newline)
            content = view.file.read(start, end if limit is None else min(end, start + limit))
            yield LineRun(number, start, [content], end)
            start, number = (view.size if newline is None else newline) + 1, number + 1
        else:
            return
