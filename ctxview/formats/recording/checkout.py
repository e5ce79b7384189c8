"""Checks out moments of a recording: writes their files to a private folder in the user's cache.

Each process has its own folder and holds a lock in it. A folder whose lock is free was left behind by a
process that has ended, and the next process removes it.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final
from weakref import finalize

from msgspec import Struct, field

from ctxview.files.open_file import open_file_beneath
from ctxview.files.reading import ReadError
from ctxview.files.system_calls import CREATE, UPDATE, close, free_bytes, lock, write_all
from ctxview.files.user_folders import cache_folder
from ctxview.recording.frames import DamagedRecordingError
from ctxview.recording.manifest import (
    BorrowedFile,
    Entry,
    Manifest,
    RecordedFile,
    RecordedFolder,
    RefusedName,
    SkippedFile,
    entry_size,
)
from ctxview.recording.reader import Recording
from ctxview.recording.recorder import MOST_ENTRIES

MOST_BYTES: Final = 64 * 1024**3
LEAST_BYTES: Final = 256 * 1024**2
TIMES_AS_LARGE: Final = 200
"""A checkout may have so many times the bytes of its recording, or `LEAST_BYTES`, but never `MOST_BYTES`."""
MOST_SECONDS: Final = 30.0
MOST_PROBLEMS: Final = 100
"""The files without content that are listed."""

_STALE_SECONDS: Final = 3600
_NAME: Final = "moments"
_LOCK: Final = "lock"
_numbers = count(1)


class Checkout(Struct, frozen=True, weakref=True):
    """The files of a moment on disk; they are removed when this object is.

    `folder` holds the files; `path` is the recorded path: the folder itself or one file in it.
    """

    base: Path
    folder: Path
    path: Path
    manifest: Manifest
    refused: tuple[RefusedName, ...]
    written: dict[str, int] = field(default_factory=dict)
    """The files on disk and their sizes."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Names of files without content, and why; at most `MOST_PROBLEMS`."""
    limits: list[str] = field(default_factory=list)
    """The limits that were reached, with the number of files that are missing for this reason."""

    @property
    def size(self) -> int:
        return sum(self.written.values())

    @property
    def left_out(self) -> Iterator[tuple[str, str]]:
        """Names of files that the recorder could not record, and why."""
        return ((name, each.reason) for name, each in self.manifest.items() if isinstance(each, SkippedFile))


def check_out(
    recording: Recording,
    number: int,
    others: Iterable[Checkout] = (),
    lender: Path | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Checkout:
    """Write the files of moment `number` to a new folder, reusing files of `others` where they are equal.

    `lender` is the folder of files that were borrowed instead of copied. Bytes, files and time are limited.
    Raises `DamagedRecordingError` when the moment cannot be read,
    `OSError` when the folder cannot be made.
    """
    recorded = recording.at(number)
    base = new_temp_folder()
    path = base / recording.info.place
    folder = path if recording.info.is_folder else path.parent
    done = Checkout(base, folder, path, recorded.manifest, recorded.refused)
    # Registered before any file is written, so that the folder is removed in every case.
    finalize(done, remove_temp_folder, base)
    done.folder.mkdir(parents=True, mode=0o700)
    near, until = list(others), clock() + MOST_SECONDS
    most = min(MOST_BYTES, max(LEAST_BYTES, TIMES_AS_LARGE * recording.size), free_bytes(base) // 2)
    entries = sorted(recorded.manifest.items())
    left, too_large, failed = most, 0, 0
    for place, (name, entry) in enumerate(entries):
        if place >= MOST_ENTRIES or clock() > until:
            why = (
                f"more than {MOST_ENTRIES:,}"
                if place >= MOST_ENTRIES
                else f"after {MOST_SECONDS:.0f} seconds"
            )
            done.limits.append(f"{len(entries) - place:,} files and folders, {why}")
            break
        # Borrowed files are the person's own, and already on the disk.
        size = entry.size if isinstance(entry, RecordedFile) else 0
        if size > left:
            too_large += 1
            continue
        try:
            _put(recording, done.folder / name, name, entry, near, lender)
            left -= size
            done.written[name] = entry_size(entry) or 0
        except (DamagedRecordingError, ReadError, OSError) as error:
            failed += 1
            if failed <= MOST_PROBLEMS:
                done.problems.append((name, _reason(error)))
    if too_large:
        done.limits.append(f"{too_large:,} files, over {most:,} bytes for a recording of {recording.size:,}")
    if failed > MOST_PROBLEMS:
        done.limits.append(f"{failed - MOST_PROBLEMS:,} more files without content, which are not listed")
    return done


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"it cannot be written: {error.strerror or error}"
    return error.reason if isinstance(error, ReadError) else str(error)


def _put(
    recording: Recording, path: Path, name: str, entry: Entry, near: list[Checkout], lender: Path | None
) -> None:
    match entry:
        case RecordedFolder():
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        case RecordedFile():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not any(_linked(other, name, entry, path) for other in near):
                _write(recording, path, name, entry, near)
        case BorrowedFile():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _borrow(path, name, entry, lender)
        case SkippedFile():
            pass


def _linked(other: Checkout, name: str, entry: RecordedFile, path: Path) -> bool:
    """Hard-link the same file of another moment; False when that is not possible."""
    if name not in other.written or other.manifest.get(name) != entry:
        return False
    with suppress(OSError):
        os.link(other.folder / name, path, follow_symlinks=False)
        return True
    return False


def _write(recording: Recording, path: Path, name: str, entry: RecordedFile, near: list[Checkout]) -> None:
    if sum(ref.length for ref in entry.refs) != entry.size:
        raise DamagedRecordingError("its size is not that of its content")
    with _new_file(path, entry) as descriptor:
        done = _copy_beginning(descriptor, name, entry, near)
        for ref in entry.refs.behind(done):
            write_all(descriptor, recording.content(ref))


def _copy_beginning(descriptor: int, name: str, entry: RecordedFile, near: list[Checkout]) -> int:
    """Copy the chunks that another checkout begins with too; return their number."""
    for other in near:
        earlier = other.manifest.get(name)
        shared = entry.refs.shared(earlier.refs) if isinstance(earlier, RecordedFile) else 0
        if shared * 2 > len(entry.refs):
            length = sum(ref.length for ref in entry.refs.first(shared))
            with suppress(ReadError):
                if open_file_beneath(other.folder, name).copy_to(descriptor, length):
                    return shared
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
    return 0


def _borrow(path: Path, name: str, entry: BorrowedFile, lender: Path | None) -> None:
    if lender is None:
        raise DamagedRecordingError("its content is not in the recording")
    held = open_file_beneath(lender, name)
    with _new_file(path, entry) as descriptor:
        copied = held.copy_to(descriptor, entry.size)
        copy = open_file_beneath(path.parent, path.name)
        if not copied or copy.fingerprint(entry.size) != entry.fingerprint:
            raise DamagedRecordingError("it was too large to be copied then, and has been rewritten since")


@contextmanager
def _new_file(path: Path, entry: RecordedFile | BorrowedFile) -> Iterator[int]:
    """Open a new file for writing; it gets the mode and time of `entry`, or is removed on an error."""
    descriptor = os.open(path, CREATE, 0o600)
    try:
        yield descriptor
        os.fchmod(descriptor, entry.mode & 0o777 | 0o400)
        with suppress(OSError, OverflowError):
            os.utime(descriptor, ns=(entry.modified, entry.modified))
    except BaseException:
        path.unlink()
        raise
    finally:
        close(descriptor)


def new_temp_folder() -> Path:
    """Make an empty private folder; raises `OSError`."""
    folder = _process_folder(os.getpid(), cache_folder()) / str(next(_numbers))
    folder.mkdir(mode=0o700)
    return folder


def remove_temp_folder(folder: Path) -> None:
    """Remove a private folder with its content; entries that cannot be removed are left."""
    # `os.walk` recurses, and a tree may be deeper than Python allows.
    places = [str(folder)]
    for place in places:
        with suppress(OSError), os.scandir(place) as entries:
            for each in entries:
                if each.is_dir(follow_symlinks=False):
                    places.append(each.path)
                    continue
                with suppress(OSError):
                    Path(each.path).unlink()
    for place in reversed(places):
        with suppress(OSError):
            Path(place).rmdir()


@cache
def _process_folder(process: int, home: Path) -> Path:
    """The folder of this process, made when it is first needed."""
    above = home.resolve() / _NAME
    above.mkdir(parents=True, exist_ok=True, mode=0o700)
    _sweep(above)
    folder = above / f"{process}-{os.urandom(6).hex()}"
    folder.mkdir(mode=0o700)
    descriptor = os.open(folder / _LOCK, CREATE, 0o600)
    lock(descriptor)
    atexit.register(_remove_at_exit, process, folder, descriptor)
    return folder


def _remove_at_exit(process: int, folder: Path, descriptor: int) -> None:
    if os.getpid() == process:
        remove_temp_folder(folder)
        close(descriptor)


def remove_left_over_folders() -> None:
    """Remove the folders of processes that were killed; quick when there are none."""
    _sweep(cache_folder().resolve() / _NAME)


def _sweep(above: Path) -> None:
    """Remove the folders of processes that ended without doing so."""
    with suppress(OSError):
        for folder in list(above.iterdir()):
            with suppress(OSError):
                try:
                    descriptor = os.open(folder / _LOCK, UPDATE)
                except FileNotFoundError:
                    # Killed before it made the lock, or while the folder was removed.
                    if time.time() - folder.stat().st_mtime > _STALE_SECONDS:
                        remove_temp_folder(folder)
                    continue
                try:
                    lock(descriptor)
                    remove_temp_folder(folder)
                finally:
                    close(descriptor)
