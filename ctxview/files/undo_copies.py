"""The undo copies of replaced files, in the user's state directory and never beside the file itself.

This module also has the lock that lets only one ctxview save at a time, and the writing of whole files.
"""

from __future__ import annotations

import errno
import os
import re
import time
from calendar import timegm
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from ctxview.files import system_calls
from ctxview.files.system_calls import CREATE, FOLDER, READ_NO_LINK, UPDATE, close, flush, read_all, write_all
from ctxview.files.user_folders import state_folder

KEPT: Final = 20
"""The number of copies of one file that are kept."""

_WAIT_SECONDS: Final = 10.0
_COPY_NAME: Final = re.compile(r"\d{8}T\d{6}\.\d{9}Z")
_COPY_PARTS: Final = re.compile(r"^\d{4}|(?<=\.)\d{9}|\d\d")
_UNTIDY: Final = re.compile(r"[^A-Za-z0-9._-]+")


class LockError(Exception):
    """Another ctxview holds the lock for longer than a save takes."""


@contextmanager
def lock() -> Iterator[None]:
    """Hold the lock for saving, one per user; raises `LockError` or `OSError`."""
    folder = state_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(folder / "save.lock", UPDATE | os.O_CREAT, 0o600)
    try:
        _wait_for(descriptor)
        yield
    finally:
        close(descriptor)


class UndoCopies:
    """The undo copies of the file at one path."""

    def __init__(self, path: Path) -> None:
        real = os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118 - a name may hold anything
        tidy = _UNTIDY.sub("_", path.name)[:60]
        self._folder = state_folder() / "backups" / f"{tidy}-{sha256(os.fsencode(real)).hexdigest()[:16]}"
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def adopt(self, directory: int, name: str) -> Path:
        """Move `name` from an open directory into the copies; after an `OSError` it is still there.

        It is only copied, and stays, if it is on another file system and a program has it open for writing.
        """
        kept = self._new_path()
        try:
            os.rename(name, kept, src_dir_fd=directory)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._copy_away(directory, name, kept)
        return kept

    def link(self, directory: int, name: str) -> Path | None:
        """Give the file `name` a second name among the copies; None where that is not possible."""
        kept = self._new_path()
        with suppress(OSError):
            os.link(name, kept, src_dir_fd=directory, follow_symlinks=False)
            return kept
        return None

    def unlink(self, file: os.stat_result) -> None:
        """Remove the second name that a crash after `link` left; the file keeps its own name."""
        for entry in self._folder.iterdir():
            if os.path.samestat(entry.lstat(), file):
                entry.unlink()

    def add(self, content: bytes) -> Path:
        """Add a new copy with `content`."""
        kept = self._new_path()
        write_new(kept, content)
        self.mark_read(kept)
        return kept

    def mark_read(self, copy: Path) -> None:
        """Note that the bytes of a copy have been read: a later time means that a program wrote into it."""
        with suppress(OSError):
            os.utime(copy, ns=(_time_of(copy.name),) * 2)

    def prune(self, keep: Path) -> None:
        """Delete all but the newest copies, but never `keep`, and none that a program wrote into since."""
        names = sorted(entry.name for entry in self._folder.iterdir() if _COPY_NAME.fullmatch(entry.name))
        for name in names[:-KEPT]:
            copy = self._folder / name
            with suppress(OSError):
                if name != keep.name and copy.stat().st_mtime_ns <= _time_of(name):
                    copy.unlink()

    def _new_path(self) -> Path:
        seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(seconds))
        return self._folder / f"{stamp}.{nanoseconds:09d}Z"

    def _copy_away(self, directory: int, name: str, kept: Path) -> None:
        """Move a file to another file system; delete it only when the copy is complete."""
        descriptor = os.open(name, READ_NO_LINK, dir_fd=directory)
        try:
            content = read_all(descriptor)
            write_new(kept, content)
            self.mark_read(kept)
            if read_all(descriptor) != content:
                kept.unlink()
                raise OSError(errno.EBUSY, "another program is writing into it")
            self.flush()
            if not system_calls.has_writer(descriptor):
                os.unlink(name, dir_fd=directory)
        finally:
            close(descriptor)

    def flush(self) -> None:
        """Wait until the names of the copies are on disk."""
        descriptor = os.open(self._folder, FOLDER)
        try:
            flush(descriptor)
        finally:
            close(descriptor)


def _time_of(name: str) -> int:
    """Return the time in the name of a copy, in nanoseconds since 1970."""
    year, month, day, hour, minute, second, fraction = map(int, _COPY_PARTS.findall(name))
    return timegm((year, month, day, hour, minute, second)) * 1_000_000_000 + fraction


def write_new(path: Path, content: bytes, *, wait: bool = True) -> None:
    """Create `path` with `content`, and `wait` until it is on disk; remove the file when that fails."""
    descriptor = os.open(path, CREATE, 0o600)
    try:
        write_all(descriptor, content)
        if wait:
            flush(descriptor)
    except OSError:
        path.unlink()
        raise
    finally:
        close(descriptor)


def _wait_for(descriptor: int) -> None:
    give_up = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            system_calls.lock(descriptor)
        except BlockingIOError:
            if time.monotonic() > give_up:
                raise LockError from None
            time.sleep(0.01)
        else:
            return


def write_state_file(file: Path, data: bytes) -> None:
    """Replace a file as a whole, so that another process reads either the old or the new content."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft.unlink(missing_ok=True)
        write_new(draft, data)
        draft.replace(file)
