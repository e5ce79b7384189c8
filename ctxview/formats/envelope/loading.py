"""Brings the files of a source into memory, once: what an earlier look read and nobody changed is taken over.

A file that somebody is in the middle of writing stays as it was at that look, and is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ctxview.analysis.wording import counted
from ctxview.files.file_ends import read_ends
from ctxview.files.reading import LIMIT, Unreadable, in_words, read_beneath, read_bytes
from ctxview.files.stamps import Stamp, is_settled, lasting, stamp_of
from ctxview.formats.envelope.opening import belongs, files_of, revisions_beside
from ctxview.formats.envelope.read import RecordFile, read_file
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.formats.interface import CannotOpen

MOST_FILES = 3000
MOST_BYTES = 512 * 1024 * 1024
MOST_BESIDE = 100
LARGEST_BESIDE = 4 * 1024 * 1024
"""How much is looked at to find what a single file refers to."""


@dataclass(frozen=True, eq=False)
class LoadedFile:
    """A file of the source: its bytes, or why they could not be read."""

    path: Path
    data: bytes = field(repr=False)
    problem: str | None = None
    stamp: Stamp | None = None
    size: int = 0
    """How much there was to read."""

    @property
    def whole(self) -> bool:
        return len(self.data) >= self.size

    @cached_property
    def found(self) -> RecordFile:
        return read_file(str(self.path), self.data, whole=self.whole)

    @property
    def left_out(self) -> str | None:
        if self.whole:
            return self.found.left_out
        return f"only the first {len(self.data):,} of {self.size:,} bytes were read"

    @property
    def half_written(self) -> bool:
        """Whether this is likely to be a part of what somebody is writing just now."""
        broken = self.problem is None and bool(self.found.problems or not self.data.strip())
        return broken and not is_settled(self.path)


@dataclass(frozen=True)
class Loaded:
    """The files of a source, and what else was noticed."""

    files: Sequence[LoadedFile]
    left_out: str | None = None
    strangers: Mapping[Path, Stamp | None] = field(default_factory=dict)
    """Files of the folder that hold no records, by what they held."""
    held_back: Sequence[Path] = ()


def load(path: Path, earlier: Loaded | None = None) -> Loaded:
    """The files of the source at `path`; raises `CannotOpen`."""
    loading = _Loading(earlier)
    if not path.is_dir():
        loading.add_named(path)
        for each in revisions_beside(path):
            loading.add(each)
        loading.add_wanted(files_of(path.parent))
        return loading.loaded()
    for each in files_of(path):
        loading.add(each)
    if not loading.files and not loading.held_back:
        raise CannotOpen(f"{path}: no file in this folder holds records of the Agent Context draft")
    return loading.loaded()


class _Loading:
    """Takes the files of a source one after the other."""

    def __init__(self, earlier: Loaded | None) -> None:
        self._earlier = earlier or Loaded(())
        self._known = {file.path: file for file in self._earlier.files}
        # At the very first look there is nothing to show instead of a half-written file.
        self._patient = earlier is not None
        self._room = MOST_BYTES
        self._extra = 0
        self.files: list[LoadedFile] = []
        self._strangers: dict[Path, Stamp | None] = {}
        self.held_back: list[Path] = []

    def loaded(self) -> Loaded:
        more = f"{counted(self._extra, 'more file')} of this folder were not read" if self._extra else None
        return Loaded(self.files, more, self._strangers, self.held_back)

    def add_named(self, path: Path) -> None:
        """A file that a person named; raises `CannotOpen`."""
        self._add(path, stamp_of(path), read_bytes)
        if self.files and self.files[0].problem is not None:
            raise CannotOpen(f"{path}: {self.files[0].problem}")

    def add(self, path: Path) -> None:
        """A file of a folder, which may turn out to hold something else."""
        stamp = stamp_of(path)
        if path not in self._known and self._is_stranger(path, stamp):
            self._strangers[path] = lasting(stamp)
        elif len(self.files) >= MOST_FILES:
            self._extra += 1
        else:
            self._add(path, stamp, _read_in_folder)

    def add_wanted(self, paths: Sequence[Path]) -> None:
        """Files beside a named one that hold what its records refer to, as long as something is wanted.

        One with an envelope of its own tells of something else.
        """
        taken = {file.path for file in self.files}
        beside: list[LoadedFile] | None = None
        while wanted := _wanted(self.files):
            if beside is None:
                others = [path for path in paths if path not in taken][:MOST_BESIDE]
                beside = [file for file in map(self._beside, others) if file is not None]
            found = [
                file for file in beside if any((each.kind, each.id) in wanted for each in file.found.records)
            ]
            if not found:
                return
            for file in found:
                beside.remove(file)
                self._keep(file)

    def _beside(self, path: Path) -> LoadedFile | None:
        stamp, known = stamp_of(path), self._known.get(path)
        same = known is not None and stamp is not None and known.stamp == stamp
        file = known if same else _load(path, stamp, LARGEST_BESIDE, _read_in_folder)
        if file is None or file.problem is not None or not file.whole:
            return None
        return file if all(each.kind is not Kind.ENVELOPE for each in file.found.records) else None

    def _add(self, path: Path, stamp: Stamp | None, read: Callable[[Path, int], bytes]) -> None:
        before = self._known.get(path)
        if before is not None and stamp is not None and before.stamp == stamp:
            self._keep(before)
            return
        now = _load(path, stamp, min(LIMIT, self._room), read)
        if not self._patient or not now.half_written:
            self._keep(now)
            return
        self.held_back.append(path)
        if before is not None:
            self._keep(before)

    def _keep(self, file: LoadedFile) -> None:
        self._room -= len(file.data)
        self.files.append(file)

    def _is_stranger(self, path: Path, stamp: Stamp | None) -> bool:
        if stamp is not None and self._earlier.strangers.get(path) == stamp:
            return True
        if belongs(path):
            return False
        if self._patient and not is_settled(path):
            self.held_back.append(path)
        return True


def _wanted(files: Sequence[LoadedFile]) -> set[tuple[Kind, str | None]]:
    """What the records of the files refer to and none of them holds."""
    records = [record for file in files for record in file.found.records]
    there = {(record.kind, record.id) for record in records}
    wanted: set[tuple[Kind, str | None]] = set()
    for reference in (each for record in records for each in record.references):
        names = {(kind, reference.id) for kind in reference.leads_to}
        if reference.id is not None and not names & there:
            wanted |= names
    return wanted


def _load(path: Path, stamp: Stamp | None, room: int, read: Callable[[Path, int], bytes]) -> LoadedFile:
    """The whole file, or of a huge one the beginning."""
    stamp = lasting(stamp)
    try:
        size = path.stat().st_size
        if size > room:
            return LoadedFile(path, read_ends(path, 2 * room).head, stamp=stamp, size=size)
        return LoadedFile(path, read(path, room), stamp=stamp)
    except Unreadable as error:
        return LoadedFile(path, b"", error.reason, stamp)
    except OSError as error:
        return LoadedFile(path, b"", in_words(error), stamp)


def _read_in_folder(path: Path, limit: int) -> bytes:
    """A file that nobody named is not read through a link."""
    return read_beneath(path.parent, path.name, limit)
