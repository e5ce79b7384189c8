"""Brings the files of a source into memory, once: what an earlier look read and nobody changed is taken over.

A file that somebody is in the middle of writing stays as it was at that look, and is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path

from ctxview.files.reading import LIMIT, Unreadable, read_beneath, read_bytes
from ctxview.files.stamps import Stamp, is_settled, lasting, stamp_of
from ctxview.formats.interface import CannotOpen
from ctxview.formats.snapshot.read import SnapshotFile, read

MOST_FILES = 3000
MOST_BYTES = 512 * 1024 * 1024

_serials = count()


@dataclass(frozen=True, eq=False)
class LoadedFile:
    """A file of the source: its bytes, or why they could not be read."""

    path: Path
    data: bytes
    problem: str | None = None
    stamp: Stamp | None = None
    serial: int = field(default_factory=_serials.__next__)
    """Another one for every reading of every file."""

    @cached_property
    def found(self) -> SnapshotFile:
        return read(str(self.path), self.data)

    def is_same(self, stamp: Stamp | None) -> bool:
        """Whether the file is what it was, by its stamp of now."""
        return stamp is not None and self.stamp == stamp

    @property
    def half_written(self) -> bool:
        """Whether this is likely to be a part of what somebody is writing just now."""
        broken = self.problem is None and (self.found.error is not None or not self.data.strip())
        return broken and not is_settled(self.path)


@dataclass(frozen=True)
class Loaded:
    """The files of a source. Two are equal when nothing was read anew."""

    loaded: tuple[LoadedFile, ...]
    left_out: str | None = None
    strangers: Mapping[Path, Stamp | None] = field(default_factory=dict)
    """Files of the folder that are none of its rounds, by what they held."""
    held_back: tuple[Path, ...] = ()

    @property
    def known(self) -> dict[Path, LoadedFile]:
        return {file.path: file for file in self.loaded}


def load_file(path: Path, earlier: Loaded | None) -> Loaded:
    """One file that a person named; raises `CannotOpen`."""
    known = earlier.known.get(path) if earlier is not None else None
    stamp = stamp_of(path)
    if known is not None and known.is_same(stamp):
        return Loaded((known,))
    try:
        loaded = LoadedFile(path, read_bytes(path), stamp=lasting(stamp))
    except Unreadable as error:
        raise CannotOpen(f"{path}: {error.reason}") from None
    if known is not None and loaded.half_written:
        return Loaded((known,), held_back=(path,))
    return Loaded((loaded,))


def load_files(paths: Sequence[Path], earlier: Loaded | None, *, by_content: bool = False) -> Loaded:
    """The rounds among the files of a folder; with `by_content` some may be none."""
    rounds = _Rounds(earlier, by_content)
    for path in paths:
        rounds.add(path, stamp_of(path))
    left_out = f"{rounds.extra} more files of this folder were not read" if rounds.extra else None
    return Loaded(tuple(rounds.loaded), left_out, rounds.strangers, tuple(rounds.held_back))


class _Rounds:
    """Takes the files of a folder one after the other."""

    def __init__(self, earlier: Loaded | None, by_content: bool) -> None:
        self._earlier = earlier or Loaded(())
        self._known = self._earlier.known
        self._patient = earlier is not None
        """At the very first look there is nothing to show instead of a half-written file."""
        self._by_content = by_content
        self._room = MOST_BYTES
        self.loaded: list[LoadedFile] = []
        self.strangers: dict[Path, Stamp | None] = {}
        self.held_back: list[Path] = []
        self.extra = 0

    def add(self, path: Path, stamp: Stamp | None) -> None:
        before = self._known.get(path)
        if before is None and self._by_content and self._is_stranger(path, stamp):
            self.strangers[path] = lasting(stamp)
        elif len(self.loaded) >= MOST_FILES:
            self.extra += 1
        elif (now := self._now(path, stamp, before)) is not None:
            self._room -= len(now.data)
            self.loaded.append(now)

    def _now(self, path: Path, stamp: Stamp | None, before: LoadedFile | None) -> LoadedFile | None:
        if before is not None and before.is_same(stamp):
            return before
        now = _load(path, stamp, self._room)
        if not self._patient or not now.half_written:
            return now
        self.held_back.append(path)
        return before

    def _is_stranger(self, path: Path, stamp: Stamp | None) -> bool:
        from ctxview.formats.snapshot.opening import belongs

        if stamp is not None and self._earlier.strangers.get(path) == stamp:
            return True
        if belongs(path):
            return False
        if self._patient and not is_settled(path):
            self.held_back.append(path)
        return True


def _load(path: Path, stamp: Stamp | None, room: int) -> LoadedFile:
    kept = lasting(stamp)
    try:
        return LoadedFile(path, read_beneath(path.parent, path.name, min(LIMIT, room)), stamp=kept)
    except Unreadable as error:
        return LoadedFile(path, b"", error.reason, kept)
