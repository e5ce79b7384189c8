"""Stamps and digests of sources on disk: whether one changed, without and with reading its files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from ctxview.files.change_detector import GRAIN
from ctxview.files.reading import SKIPPED_FOLDERS, is_review_file
from ctxview.files.system_calls import open_quietly

SIZE = 16
"""Bytes of a stamp or digest."""
AT_ONCE = 1 << 20


class SourceStamp(Struct, frozen=True):
    """Names, sizes, times and inodes of the files of a source, with the sum and the latest times."""

    text: str
    bytes: int
    modified: float
    changed: float

    def changed_since(self, begun: float) -> bool:
        """Whether a file changed after that time, or so shortly before that the next change is not seen."""
        return self.changed > begun - GRAIN

    @property
    def time(self) -> datetime | None:
        return datetime.fromtimestamp(self.modified, UTC).replace(tzinfo=None) if self.modified else None


class _Part(NamedTuple):
    name: str
    path: str
    status: os.stat_result | None
    """None for a folder, and for a name without a file."""


def stamp_source(path: Path, parts: Sequence[str] | None = None, below: str | None = None) -> SourceStamp:
    """Return the stamp of `parts` of a path, or of all of it; with `below` only of the files directly in it.

    A file is stamped with the folder of the same name, where some agents keep more of it.
    """
    found = blake2b(digest_size=SIZE)
    size, modified, changed = 0, 0, 0
    for name, _, status in _parts(path, parts, below):
        found.update(os.fsencode(name))
        if status is None:
            found.update(b"\0")
            continue
        facts = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
        found.update(b"\0%d %d %d %d\0" % facts)
        size += status.st_size
        modified, changed = max(modified, status.st_mtime_ns), max(changed, status.st_ctime_ns)
    return SourceStamp(found.hexdigest(), size, modified / 1e9, changed / 1e9)


def digest_source(path: Path, parts: Sequence[str] | None = None, below: str | None = None) -> str:
    """Return the digest of what `stamp_source` is about; a file that cannot be read counts as empty."""
    found = blake2b(digest_size=SIZE)
    for name, place, status in _parts(path, parts, below):
        found.update(os.fsencode(name) + b"\0")
        if status is None or not stat.S_ISREG(status.st_mode):
            continue
        try:
            with os.fdopen(open_quietly(place), "rb", buffering=0) as file:
                while chunk := file.read(AT_ONCE):
                    found.update(chunk)
        except OSError:
            continue
    return found.hexdigest()


def digest_bytes(data: bytes) -> str:
    return blake2b(data, digest_size=SIZE).hexdigest()


def _parts(path: Path, parts: Sequence[str] | None, below: str | None) -> Iterator[_Part]:
    """Yield what a source is made of, by names in a fixed order, and the records of its reviews."""
    for record in review_files(path):
        with suppress(OSError):
            yield _Part(f"../{record.name}", str(record), record.lstat())
    for name in ("",) if parts is None else sorted(parts):
        place = path / name
        try:
            status = place.stat()
        except OSError:
            yield _Part(name, str(place), None)
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from _below(str(place), f"{name}/" if name else "", below if parts is None else None)
        else:
            yield _Part(name, str(place), status)
            beside = place.with_suffix("")
            if parts is None and beside != place and beside.is_dir():
                yield from _below(str(beside), f"{beside.name}/", None)


def review_files(path: Path) -> list[Path]:
    """Return the records and signatures that lie beside a source, or beside the store that it is in.

    There may be some of another source among them, with a name that begins in the same way.
    """
    place = path.resolve() if path.is_symlink() else path
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    try:
        found = _review_names(place.parent, place.parent.stat().st_mtime_ns)
    except OSError:
        return []
    names = f"{place.name}.", f"{place.name}-"
    return [place.parent / each for each in found if each.startswith(names)]


@lru_cache(maxsize=8)
def _review_names(folder: Path, changed: int) -> tuple[str, ...]:  # noqa: ARG001 - listed again after a change
    return tuple(sorted(each.name for each in folder.iterdir() if is_review_file(each.name)))


def _below(folder: str, prefix: str, below: str | None) -> Iterator[_Part]:
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = prefix + entry.name
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
            status = None if is_folder else entry.stat(follow_symlinks=False)
        except OSError:
            continue
        yield _Part(name, entry.path, status)
        if is_folder and below is None and entry.name not in SKIPPED_FOLDERS:
            yield from _below(entry.path, f"{name}/", None)
