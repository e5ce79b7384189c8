"""The files of a source: loads them within bounds, keeps unchanged ones on reload, and caches results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct, field

from ctxview.analysis.wording import counted
from ctxview.files.change_detector import Stamp, is_settled, stable_stamp
from ctxview.files.reading import LIMIT, ReadError, error_text, read_beneath, read_bytes, read_ends
from ctxview.formats.interface import Abilities, OpenError

if TYPE_CHECKING:
    from ctxview.core.edits import WritePolicy
    from ctxview.formats.peek import Peek


T = TypeVar("T")


class Memo(Generic[T]):
    """A cache of the last `most` results. Two threads may compute the same one; the first result is kept."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._results: dict[Hashable, T] = {}
        self._lock = Lock()

    def once(self, key: Hashable, work: Callable[[], T]) -> T:
        """Return the cached result for `key`, or compute it with `work`."""
        with self._lock:
            if key in self._results:
                return self._results[key]
        result = work()
        with self._lock:
            if len(self._results) >= self._most:
                self._results.pop(next(iter(self._results)))
            return self._results.setdefault(key, result)


MOST_FILES = 3000
MOST_BYTES = 512 * 1024 * 1024

R = TypeVar("R")

_serials = count()


class FileReader(Struct, Generic[R], frozen=True):
    """The functions of a format that read its files."""

    read: Callable[[str, bytes, bool], R]
    """Read a file, given its name, its bytes, and whether these are the whole file."""
    is_broken: Callable[[R], bool]
    """Whether the result has an error that a half-written file would explain."""
    belongs: Callable[[Peek], bool]
    """Whether a file of a folder belongs to the source, by its content."""
    takes_part: bool = False
    """Whether to read the beginning of a file that is too large."""


class LoadedFile(Struct, Generic[R], frozen=True, eq=False, dict=True):
    """A file of the source: its bytes, or why they could not be read."""

    path: Path
    data: bytes
    reader: FileReader[R]
    problem: str | None = None
    stamp: Stamp | None = None
    size: int = 0
    """The size of the file on disk."""
    serial: int = field(default_factory=_serials.__next__)
    """A different number for every load of every file."""

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
        """Whether the file is unchanged, given its current stamp."""
        return stamp is not None and self.stamp == stamp

    @property
    def half_written(self) -> bool:
        """Whether another program is probably writing the file now."""
        broken = self.problem is None and (not self.data.strip() or self.reader.is_broken(self.found))
        return broken and not is_settled(self.path)


class LoadedFiles(Struct, Generic[R], frozen=True):
    """The files of a source. Two are equal when no file was read again."""

    files: tuple[LoadedFile[R], ...] = ()
    left_out: str | None = None
    foreign: Mapping[Path, Stamp | None] = field(default_factory=dict)
    """The stamps of files in the folder that do not belong to the source by their content."""
    held_back: tuple[Path, ...] = ()


class FileLoader(Generic[R]):
    """Loads the files of a source one by one; `earlier` are the files of the load before, or None."""

    def __init__(self, reader: FileReader[R], earlier: LoadedFiles[R] | None) -> None:
        self._reader = reader
        self._earlier = earlier or LoadedFiles[R]()
        self._known = {file.path: file for file in self._earlier.files}
        # At the first load there is no earlier content to show for a half-written file.
        self._holds_back = earlier is not None
        self._room = MOST_BYTES
        self._extra = 0
        self._foreign: dict[Path, Stamp | None] = {}
        self.files: list[LoadedFile[R]] = []
        self.held_back: list[Path] = []

    def loaded(self) -> LoadedFiles[R]:
        more = f"{counted(self._extra, 'more file')} of this folder were not read" if self._extra else None
        return LoadedFiles(tuple(self.files), more, self._foreign, tuple(self.held_back))

    def add_named(self, peek: Peek) -> None:
        """Add a file that the user named; raises `OpenError`."""
        self._add(peek, read_bytes)
        if self.files and self.files[-1].problem is not None:
            raise OpenError(f"{peek.path}: {self.files[-1].problem}")

    def add(self, peek: Peek, *, by_content: bool = True) -> None:
        """Add a file of a folder; with `by_content`, only when its content belongs to the source."""
        path = peek.path
        if by_content and path not in self._known and self._is_foreign(peek):
            self._foreign[path] = stable_stamp(peek.stamp)
        elif len(self.files) >= MOST_FILES:
            self._extra += 1
        else:
            self._add(peek, _read_in_folder)

    def load(self, peek: Peek, limit: int) -> LoadedFile[R]:
        """Load a file of a folder without taking it."""
        known = self._known.get(peek.path)
        if known is not None and known.is_same(peek.stamp):
            return known
        return self._load(peek, limit, _read_in_folder)

    def take(self, file: LoadedFile[R]) -> None:
        self._room -= len(file.data)
        self.files.append(file)

    def _add(self, peek: Peek, read: Callable[[Path, int], bytes]) -> None:
        path = peek.path
        before = self._known.get(path)
        if before is not None and before.is_same(peek.stamp):
            self.take(before)
            return
        now = self._load(peek, min(LIMIT, self._room), read)
        if not self._holds_back or not now.half_written:
            self.take(now)
            return
        self.held_back.append(path)
        if before is not None:
            self.take(before)

    def _is_foreign(self, peek: Peek) -> bool:
        path = peek.path
        if peek.stamp is not None and self._earlier.foreign.get(path) == peek.stamp:
            return True
        if self._reader.belongs(peek):
            return False
        if self._holds_back and not is_settled(path):
            self.held_back.append(path)
        return True

    def _load(self, peek: Peek, limit: int, read: Callable[[Path, int], bytes]) -> LoadedFile[R]:
        """Load the whole file, or its beginning when it is too large and the reader takes a part.

        The bytes that were read to recognise the file are taken over.
        """
        path, lasting_stamp = peek.path, stable_stamp(peek.stamp)
        if peek.data is not None and len(peek.data) <= limit:
            return LoadedFile(path, peek.data, self._reader, stamp=lasting_stamp)
        try:
            size = path.stat().st_size if self._reader.takes_part else 0
            if size > limit:
                data = read_ends(path, 2 * limit).head
                return LoadedFile(path, data, self._reader, stamp=lasting_stamp, size=size)
            return LoadedFile(path, read(path, limit), self._reader, stamp=lasting_stamp)
        except ReadError as error:
            return LoadedFile(path, b"", self._reader, error.reason, lasting_stamp)
        except OSError as error:
            return LoadedFile(path, b"", self._reader, error_text(error), lasting_stamp)


def _read_in_folder(path: Path, limit: int) -> bytes:
    """Read a file that the user did not name, without following links."""
    return read_beneath(path.parent, path.name, limit)


class FileSource(Generic[R]):
    """The common part of sources that consist of loaded files. Read-only unless the format says otherwise."""

    profiles: Sequence[str] = ()

    def __init__(self, path: Path, loaded: LoadedFiles[R]) -> None:
        self._path = path
        self._loaded = loaded

    @property
    def path(self) -> Path:
        return self._path

    @property
    def abilities(self) -> Abilities:
        return Abilities(partial_writes=self)

    @cached_property
    def title(self) -> str:
        return self._path.resolve().name

    def bytes_of(self, file: str) -> bytes:
        """Return the loaded bytes of a file; any other file is read now. Raises `ReadError`."""
        known = next((each for each in self._loaded.files if str(each.path) == file), None)
        return known.data if known is not None else read_bytes(Path(file))

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - some formats are read-only
        return None

    @property
    def held_back(self) -> Sequence[Path]:
        return self._loaded.held_back

    @cached_property
    def watched(self) -> Sequence[Path]:
        """The folder, where new files appear, then the files, the latest first because agents write those."""
        folder = self._path if self._path.is_dir() else self._path.parent
        files = (file.path for file in reversed(self._loaded.files))
        return tuple(dict.fromkeys((folder, *files, *self._loaded.foreign)))
