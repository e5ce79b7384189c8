"""A file of lines that may be huge and may still grow: any line, any search, without reading it whole.

Never writes. What the lines mean is others' business. A file that changes under our eyes gives short or odd
answers, or `Unreadable`, until `again` is asked what happened; it never gives a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from ctxview.files.held_file import HeldFile, hold_beneath
from ctxview.files.needles import search
from ctxview.files.newline_index import NewlineIndex, split_at_newlines
from ctxview.files.reading import Unreadable
from ctxview.files.stamps import is_being_written
from ctxview.quick_dataclass import dataclass

_RUN: Final = 512 * 1024
_REPORT_EVERY: Final = 4 * 1024 * 1024
_INDEX_AT_ONCE: Final = 4 * 1024 * 1024


class Growth(StrEnum):
    """What became of a file since it was last looked at."""

    SAME = "same"
    GROWN = "grown"
    TRUNCATED = "truncated"
    """Shorter than before."""
    REPLACED = "replaced"
    """Another file has its name now; that one is open from here on."""
    REWRITTEN = "rewritten"
    """The same file, but other bytes stand where known ones stood."""
    GONE = "gone"
    """Nothing readable has its name now; the file as it was stays open."""


class Line(NamedTuple):
    """One line: its number from 0, its place without the line ending, its bytes or the head of them."""

    number: int
    start: int
    end: int
    content: bytes

    @property
    def cut(self) -> bool:
        return len(self.content) < self.end - self.start


def never() -> bool:
    """For work that nobody wants to cancel."""
    return False


def open_lines(root: Path, relative: str) -> LineFile:
    """The file that `relative` names below `root`, no link followed; raises `Unreadable`."""
    return LineFile(root, relative)


class LineFile:
    """Lines end at newline bytes only. The last one counts even if its newline is missing.

    Opening reads a few samples. Lines get their numbers through `index`, which any thread may run while
    others read, search or look again.
    """

    def __init__(self, root: Path, relative: str, view: _View | None = None) -> None:
        self._root = root
        self._relative = relative
        self._view = view or _look(hold_beneath(root, relative), None)

    @property
    def path(self) -> Path:
        return self._view.held.path

    @property
    def size(self) -> int:
        """In bytes, at this look."""
        return self._view.size

    @property
    def held_back(self) -> bool:
        """Whether there is the beginning of a line behind these, which somebody is writing just now."""
        return self._view.size < self._view.on_disk

    @property
    def complete(self) -> bool:
        """Whether all lines have their numbers: nothing is left to index."""
        return self._view.complete

    @property
    def indexed(self) -> int:
        """How many bytes, from the start, have been looked through for lines."""
        return self._view.index.reached

    @property
    def unterminated(self) -> bool:
        """Whether the last line has no newline: it is being written, or was torn."""
        return self._view.unterminated

    def index(
        self, cancelled: Callable[[], bool] = never, report: Callable[[int, int], None] | None = None
    ) -> None:
        """Find the lines; goes on where it was left. `report` is told the bytes done and those to do."""
        reported = 0
        while not cancelled():
            view = self._view
            going_on = view.index.step(view.size)
            done = view.index.reached
            if report and (done - reported >= _REPORT_EVERY or not going_on):
                report(done, view.size)
                reported = done
            if not going_on:
                return

    def __len__(self) -> int:
        """The number of lines known so far."""
        return self._view.lines

    @property
    def blanks(self) -> Sequence[int]:
        """The numbers of the lines known so far that hold nothing but white space, a torn one left out."""
        return self._view.index.blanks

    def span(self, number: int) -> tuple[int, int]:
        """Where a line is, without its ending; raises `IndexError` for a line that is not known."""
        view = self._view
        return view.trimmed(*view.bounds(number))

    def line(self, number: int, limit: int | None = None) -> bytes:
        """A line without its ending, or its first `limit` bytes."""
        view = self._view
        start, end = view.trimmed(*view.bounds(number))
        return view.held.read(start, end if limit is None else min(end, start + limit))

    def ending(self, number: int) -> bytes:
        """How a line ends: a newline, one after a carriage return, or nothing at all."""
        view = self._view
        start, newline = view.bounds(number)
        return view.held.read(view.trimmed(start, newline)[1], min(newline + 1, view.size))

    def read(self, start: int, end: int) -> bytes:
        """Any bytes of the file; fewer when it became shorter."""
        view = self._view
        return view.held.read(start, min(end, view.size))

    def lines(self, first: int = 0, stop: int | None = None, limit: int | None = None) -> Iterator[Line]:
        """One line after the other, to the end of the file as it is now; of each at most `limit` bytes.

        Lines from the start need no index.
        """
        view = self._view
        if first and first >= view.lines:
            return
        start = view.bounds(first)[0] if first else 0
        for line in _walk(view, start, first, limit):
            if stop is not None and line.number >= stop:
                return
            yield line

    def tail(self, count: int, reach: int | None = None) -> list[tuple[int, int]]:
        """Where the last lines are, the very last one last; needs no index.

        With a `reach`, only those that begin within so many bytes of the end, and the last one in any case.
        """
        view = self._view
        spans: list[tuple[int, int]] = []
        end = view.size if view.unterminated else view.size - 1
        least = 0 if reach is None else view.size - reach
        while len(spans) < count and end >= max(0, least if spans else 0):
            newline = view.held.previous_newline(end)
            start = 0 if newline is None else newline + 1
            spans.append(view.trimmed(start, end))
            end = start - 1
        return spans[::-1]

    def number_at(self, offset: int) -> int:
        """The number of the line that holds this byte; a newline belongs to the line it ends.

        Finds the lines up to there first, if nobody has yet.
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
        cancelled: Callable[[], bool] = never,
    ) -> int | None:
        """The byte offset of the first of some needles at or after `start`, or of the last one before it.

        `ignore_case` means the letters of ASCII; `needle_variants` spells out the others. None when there is
        none, or when cancelled.
        """
        view = self._view
        wanted = [needles] if isinstance(needles, bytes) else needles
        return search(view.held, view.size, wanted, start, backwards, ignore_case, cancelled)

    def digest(self, upto: int | None = None, cancelled: Callable[[], bool] = never) -> str | None:
        """The SHA-256 of the file, or of its first bytes; None when it is shorter, or when cancelled."""
        found = self.digests([self.size if upto is None else upto], cancelled)
        return found[0] if found else None

    def digests(
        self, lengths: Sequence[int], cancelled: Callable[[], bool] = never
    ) -> tuple[str, ...] | None:
        """The SHA-256 of the first bytes for each of some lengths, in rising order, in one reading."""
        return self._view.held.digests(lengths, cancelled)

    def again(self) -> tuple[LineFile, Growth]:
        """A new look at the file of that name, and what became of it since this one, which stays what it is.

        Lines that are known need not be found again when the file only grew. A last line without its newline
        is held back while the file is being written. Changed bytes amid known ones are noticed by samples. To
        be sure, compare digests.
        """
        before = self._view
        growth, view = self._look_again(before)
        if view is before:
            return self, growth
        made = LineFile(self._root, self._relative, view)
        if growth is Growth.GROWN and before.complete and view.size - before.size <= _INDEX_AT_ONCE:
            made.index()
        return made, growth

    def _look_again(self, before: _View) -> tuple[Growth, _View]:
        try:
            named = before.held.path.lstat()
            if (named.st_dev, named.st_ino) != before.held.identity:
                return Growth.REPLACED, _look(hold_beneath(self._root, self._relative), None, patient=True)
            return _look_at_same(before)
        except (OSError, Unreadable):
            return Growth.GONE, before


@dataclass(frozen=True, slots=True)
class _View:
    """A file as it was at one look. Its index may be further on than when the look was taken."""

    held: HeldFile
    index: NewlineIndex
    size: int
    on_disk: int
    modified: int
    unterminated: bool
    fingerprint: bytes

    @property
    def complete(self) -> bool:
        # A file that was cut short has no more lines to wait for, until the next look at it.
        return self.index.reached >= self.size or self.index.cut_short

    @property
    def lines(self) -> int:
        return self.index.newlines + (self.unterminated and self.complete)

    def bounds(self, number: int) -> tuple[int, int]:
        """From the first byte of a line to its newline, or to the end of the file if it has none."""
        if not 0 <= number < self.lines:
            raise IndexError(f"line {number} is not known")
        start = self.index.newline(number) + 1 if number else 0
        return start, (self.index.newline(number + 1) if number < self.index.newlines else self.size)

    def trimmed(self, start: int, newline: int) -> tuple[int, int]:
        """The same without a carriage return before the newline."""
        carriage = start < newline < self.size and self.held.read(newline - 1, newline) == b"\r"
        return start, newline - carriage


def _look(held: HeldFile, index: NewlineIndex | None, *, patient: bool = False) -> _View:
    """With `patient` a last line that is being written is left for later."""
    status = held.status()
    size = status.st_size
    unterminated = bool(size) and held.read(size - 1, size) != b"\n"
    if patient and unterminated and is_being_written(status.st_mtime_ns):
        newline = held.previous_newline(size)
        size, unterminated = 0 if newline is None else newline + 1, False
    return _View(
        held,
        index or NewlineIndex(held),
        size,
        status.st_size,
        status.st_mtime_ns,
        unterminated,
        held.fingerprint(size),
    )


def _look_at_same(before: _View) -> tuple[Growth, _View]:
    status = before.held.status()
    unchanged = (status.st_size, status.st_mtime_ns) == (before.on_disk, before.modified)
    if unchanged and before.size == before.on_disk:
        return Growth.SAME, before
    if status.st_size < before.size:
        return Growth.TRUNCATED, _look(before.held, None, patient=True)
    if before.held.fingerprint(before.size) != before.fingerprint:
        return Growth.REWRITTEN, _look(before.held, None, patient=True)
    now = _look(before.held, before.index.copy(), patient=True)
    return (Growth.SAME if now.size == before.size else Growth.GROWN), now


def _walk(view: _View, start: int, number: int, limit: int | None) -> Iterator[Line]:
    """Each line from `start` on, where the line of that number begins."""
    while start < view.size:
        run = view.held.read(start, min(start + _RUN, view.size))
        if b"\n" in run:
            for content in split_at_newlines(run)[:-1]:
                following = start + len(content) + 1
                content = content.removesuffix(b"\r")
                yield Line(number, start, start + len(content), content[:limit])
                start, number = following, number + 1
        elif run:
            newline = view.held.next_newline(start + len(run), view.size)
            _, end = view.trimmed(start, view.size if newline is None else newline)
            content = view.held.read(start, end if limit is None else min(end, start + limit))
            yield Line(number, start, end, content)
            start, number = (view.size if newline is None else newline) + 1, number + 1
        else:
            return
