"""Brings the files of a source into memory, once: what an earlier look read and nobody changed is taken over.

A file that somebody is in the middle of writing stays as it was at that look, and is named. What the bytes
mean, and which files of a folder belong to the source, is the format's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Generic, TypeVar

from ctxview.analysis.wording import counted
from ctxview.files.file_ends import read_ends
from ctxview.files.reading import LIMIT, Unreadable, in_words, read_beneath, read_bytes
from ctxview.files.stamps import Stamp, is_settled, lasting, stamp_of
from ctxview.formats.interface import CannotOpen
from ctxview.quick_dataclass import dataclass

MOST_FILES = 3000
MOST_BYTES = 512 * 1024 * 1024

R = TypeVar("R")

_serials = count()


@dataclass(frozen=True)
class Reader(Generic[R]):
    """How a format reads its files."""

    read: Callable[[str, bytes, bool], R]
    """A file by its name and bytes; the last says whether these are the whole of it."""
    is_broken: Callable[[R], bool]
    """Whether something is wrong with what was read that half a file would explain."""
    belongs: Callable[[Path], bool]
    """Whether a file of a folder is one of the source's, by what it holds."""
    takes_part: bool = False
    """Whether the beginning of a huge file is better than none of it."""


@dataclass(frozen=True, eq=False)
class LoadedFile(Generic[R]):
    """A file of the source: its bytes, or why they could not be read."""

    path: Path
    data: bytes = field(repr=False)
    reader: Reader[R] = field(repr=False)
    problem: str | None = None
    stamp: Stamp | None = None
    size: int = 0
    """How much there was to read."""
    serial: int = field(default_factory=_serials.__next__)
    """Another one for every reading of every file."""

    @cached_property
    def found(self) -> R:
        return self.reader.read(str(self.path), self.data, self.whole)

    @property
    def whole(self) -> bool:
        return len(self.data) >= self.size

    @property
    def left_out(self) -> str | None:
        return None if self.whole else f"only the first {len(self.data):,} of {self.size:,} bytes were read"

    def is_same(self, stamp: Stamp | None) -> bool:
        """Whether the file is what it was, by its stamp of now."""
        return stamp is not None and self.stamp == stamp

    @property
    def half_written(self) -> bool:
        """Whether this is likely to be a part of what somebody is writing just now."""
        broken = self.problem is None and (not self.data.strip() or self.reader.is_broken(self.found))
        return broken and not is_settled(self.path)


@dataclass(frozen=True)
class Loaded(Generic[R]):
    """The files of a source. Two are equal when nothing was read anew."""

    files: tuple[LoadedFile[R], ...] = ()
    left_out: str | None = None
    strangers: Mapping[Path, Stamp | None] = field(default_factory=dict)
    """Files of the folder that do not belong to the source, by what they held."""
    held_back: tuple[Path, ...] = ()


class Loading(Generic[R]):
    """Takes the files of a source one after the other."""

    def __init__(self, reader: Reader[R], earlier: Loaded[R] | None) -> None:
        self._reader = reader
        self._earlier = earlier or Loaded[R]()
        self._known = {file.path: file for file in self._earlier.files}
        # At the very first look there is nothing to show instead of a half-written file.
        self._patient = earlier is not None
        self._room = MOST_BYTES
        self._extra = 0
        self._strangers: dict[Path, Stamp | None] = {}
        self.files: list[LoadedFile[R]] = []
        self.held_back: list[Path] = []

    def loaded(self) -> Loaded[R]:
        more = f"{counted(self._extra, 'more file')} of this folder were not read" if self._extra else None
        return Loaded(tuple(self.files), more, self._strangers, tuple(self.held_back))

    def add_named(self, path: Path) -> None:
        """A file that a person named; raises `CannotOpen`."""
        self._add(path, stamp_of(path), read_bytes)
        if self.files and self.files[-1].problem is not None:
            raise CannotOpen(f"{path}: {self.files[-1].problem}")

    def add(self, path: Path, *, by_content: bool = True) -> None:
        """A file of a folder, which may turn out not to belong to the source unless its name says so."""
        stamp = stamp_of(path)
        if by_content and path not in self._known and self._is_stranger(path, stamp):
            self._strangers[path] = lasting(stamp)
        elif len(self.files) >= MOST_FILES:
            self._extra += 1
        else:
            self._add(path, stamp, _read_in_folder)

    def look_at(self, path: Path, limit: int) -> LoadedFile[R]:
        """A file of a folder that may or may not be taken."""
        stamp, known = stamp_of(path), self._known.get(path)
        if known is not None and known.is_same(stamp):
            return known
        return self._load(path, stamp, limit, _read_in_folder)

    def take(self, file: LoadedFile[R]) -> None:
        self._room -= len(file.data)
        self.files.append(file)

    def _add(self, path: Path, stamp: Stamp | None, read: Callable[[Path, int], bytes]) -> None:
        before = self._known.get(path)
        if before is not None and before.is_same(stamp):
            self.take(before)
            return
        now = self._load(path, stamp, min(LIMIT, self._room), read)
        if not self._patient or not now.half_written:
            self.take(now)
            return
        self.held_back.append(path)
        if before is not None:
            self.take(before)

    def _is_stranger(self, path: Path, stamp: Stamp | None) -> bool:
        if stamp is not None and self._earlier.strangers.get(path) == stamp:
            return True
        if self._reader.belongs(path):
            return False
        if self._patient and not is_settled(path):
            self.held_back.append(path)
        return True

    def _load(
        self, path: Path, stamp: Stamp | None, limit: int, read: Callable[[Path, int], bytes]
    ) -> LoadedFile[R]:
        """The whole file, or of a huge one the beginning where that is wanted."""
        kept = lasting(stamp)
        try:
            size = path.stat().st_size if self._reader.takes_part else 0
            if size > limit:
                data = read_ends(path, 2 * limit).head
                return LoadedFile(path, data, self._reader, stamp=kept, size=size)
            return LoadedFile(path, read(path, limit), self._reader, stamp=kept)
        except Unreadable as error:
            return LoadedFile(path, b"", self._reader, error.reason, kept)
        except OSError as error:
            return LoadedFile(path, b"", self._reader, in_words(error), kept)


def _read_in_folder(path: Path, limit: int) -> bytes:
    """A file that nobody named is not read through a link."""
    return read_beneath(path.parent, path.name, limit)
