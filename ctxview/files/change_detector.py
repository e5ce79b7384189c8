"""Stamps of files, and a detector that notices changes by stamps, without reading the files."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

GRAIN: Final = 0.1
"""The step in seconds of the time of a change: a second change within it leaves no trace."""
SETTLES_AFTER = 1.0
"""For so many seconds after its last change, a file that cannot be read counts as half-written."""


class Stamp(NamedTuple):
    """The identity and the times of a file. Equal stamps mean equal bytes: see `stable_stamp`."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int
    """Nanoseconds: `modified` is the time of the bytes, `changed` of any attribute; no program can set it."""
    link: int = 0
    """The inode of the symbolic link that leads to the file, or 0."""
    folder: bool = False

    def fresh(self, now: float) -> bool:
        """Whether the file changed so recently that another change could leave the same stamp."""
        return abs(now - self.changed / 1e9) < GRAIN


def stamp_of(path: Path | str) -> Stamp | None:
    """Return the stamp of `path` with links followed, or of a dangling link itself; None when unreadable."""
    try:
        found = os.lstat(path)
        link = found.st_ino if stat.S_ISLNK(found.st_mode) else 0
        if link:
            try:
                found = os.stat(path)  # noqa: PTH116 - the path may be a string, which is faster
            except OSError:
                return stamp_from(found, link)
        return stamp_from(found, link)
    except (OSError, ValueError):
        return None


def stamp_from(found: os.stat_result, link: int = 0) -> Stamp:
    """Return the stamp of a file whose status is already known."""
    return Stamp(
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
        link,
        stat.S_ISDIR(found.st_mode),
    )


def stable_stamp(stamp: Stamp | None) -> Stamp | None:
    """Return a stamp, taken before reading, that equals a later stamp only if the bytes are equal."""
    if stamp is None or not stamp.fresh(time.time()):
        return stamp
    return stamp._replace(changed=-1)


def is_settled(path: Path) -> bool:
    """Whether a file is not being written, judged by its time."""
    found = stamp_of(path)
    return found is None or not is_being_written(found.modified)


def is_being_written(modified: int) -> bool:
    """Whether a file with this time, in nanoseconds, may still be half-written."""
    return abs(time.time() - modified / 1e9) < SETTLES_AFTER


MOST_WATCHED: Final = 20_000
"""The number of paths that are watched; further paths are not."""
AT_ONCE: Final = 64
"""The number of first paths that are polled every time; as many of the others are polled in turn."""
MOST_NAMES: Final = 20_000


class FileChangeKind(StrEnum):
    """The kind of a change to a file. A folder is rewritten when its entries change."""

    APPENDED = "grew"
    REWRITTEN = "rewritten"
    TRUNCATED = "truncated"
    REPLACED = "replaced"
    APPEARED = "appeared"
    GONE = "gone"


class FileChange(Struct, frozen=True):
    """A change to a path. The bytes may still be the same; only reading the file can show that."""

    path: Path
    kind: FileChangeKind
    sure: bool = True
    """False for a change that is only possible, and for a folder whose entries report their own changes."""

    def __str__(self) -> str:
        return f"{self.path.name} {self.kind}"


class ChangeDetector:
    """Detects changes to paths by their names, so that paths may disappear and return. For one thread."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._known: dict[Path, _Known] = {}
        self._turn = 0

    def watch(self, paths: Iterable[Path], since: float | None = None) -> None:
        """Watch these paths from now on, the busiest first; known stamps are kept.

        A change after `since`, the time at which the files were read, is reported by the next `poll`.
        """
        since = self._clock() if since is None else since
        wanted = dict.fromkeys(
            path for _, path in zip(range(MOST_WATCHED), dict.fromkeys(paths), strict=False)
        )
        self._known = {path: self._known.get(path) or _known(path, since) for path in wanted}

    def poll(self) -> list[FileChange]:
        """Return all changes since the last poll."""
        now = self._clock()
        return [change for path in self._due() for change in self._changes(path, now)]

    def _due(self) -> list[Path]:
        paths = list(self._known)
        first, others = paths[:AT_ONCE], paths[AT_ONCE:]
        if others:
            self._turn %= len(others)
            turn = others[self._turn : self._turn + AT_ONCE]
            self._turn += len(turn)
            first += turn
        return first

    def _changes(self, path: Path, now: float) -> Iterator[FileChange]:
        before, stamp = self._known[path], stamp_of(path)
        if stamp == before.stamp and not before.unsure:
            return
        names = _names(path) if stamp is not None and stamp.folder else frozenset()
        self._known[path] = _Known(stamp, stamp is not None and stamp.fresh(now), names)
        kind = _kind(before.stamp, stamp)
        within = stamp is not None and stamp.folder and kind is FileChangeKind.REWRITTEN
        yield FileChange(path, kind, stamp != before.stamp and not within)
        yield from (FileChange(path / name, FileChangeKind.APPEARED) for name in sorted(names - before.names))
        yield from (FileChange(path / name, FileChangeKind.GONE) for name in sorted(before.names - names))


class _Known(Struct, frozen=True):
    stamp: Stamp | None
    unsure: bool
    """Whether a change could have left the same stamp: then it is reported once."""
    names: frozenset[str]


def _known(path: Path, since: float) -> _Known:
    stamp = stamp_of(path)
    changed_since = stamp is not None and (stamp.changed / 1e9 >= since or stamp.fresh(since))
    return _Known(stamp, changed_since, _names(path) if stamp is not None and stamp.folder else frozenset())


def _kind(before: Stamp | None, now: Stamp | None) -> FileChangeKind:
    if now is None:
        return FileChangeKind.GONE
    if before is None:
        return FileChangeKind.APPEARED
    if (before.device, before.inode, before.link) != (now.device, now.inode, now.link):
        return FileChangeKind.REPLACED
    if now.folder or now.size == before.size:
        return FileChangeKind.REWRITTEN
    return FileChangeKind.APPENDED if now.size > before.size else FileChangeKind.TRUNCATED


def _names(folder: Path) -> frozenset[str]:
    try:
        with os.scandir(folder) as entries:
            return frozenset(entry.name for _, entry in zip(range(MOST_NAMES), entries, strict=False))
    except OSError:
        return frozenset()
