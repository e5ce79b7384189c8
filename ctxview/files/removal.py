"""Remove files from a folder so that they can be restored: they move to the user's state folder.

One batch of removals is undone together. Its journal names each file before the file moves, so that a crash
loses nothing. The callers decide which files to remove.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from ctxview.files.create import CreateRefused, create, folder_beneath
from ctxview.files.system_calls import APPEND, READ_NO_LINK, close, flush, has_writer, read_all, write_all
from ctxview.files.undo_copies import write_new
from ctxview.files.user_folders import state_folder
from ctxview.files.write_lock import write_refusal

KEPT: Final = 20
"""The number of batches of one folder that are kept."""

_CANNOT_LINK: Final = (errno.EXDEV, errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)
_UNTIDY: Final = re.compile(r"[^A-Za-z0-9._-]+")
_JOURNAL: Final = "journal.jsonl"


class RemovalRefused(Exception):
    """A file that was not removed, with the reason."""


class FileIdentity(Struct, frozen=True):
    """The identity of a file when it was chosen for removal; any change gives another identity."""

    device: int
    inode: int
    size: int
    modified: int
    """The time in nanoseconds."""


class RemovedFile(Struct, frozen=True):
    """A line of the journal: the name in the folder, the name in the batch (`kept`), and the attributes."""

    name: str
    kept: str
    mode: int
    modified: int


class RestoredFile(Struct, frozen=True):
    """The result of restoring one file; `problem` is None on success."""

    name: str
    problem: str | None


def identify(root: Path, relative: str) -> FileIdentity | None:
    """Return the identity of a file below `root`; None when it does not exist or its path has a link."""
    path = PurePosixPath(relative)
    try:
        with folder_beneath(root, str(path.parent)) as folder:
            return _identity(os.stat(path.name, dir_fd=folder, follow_symlinks=False))
    except (OSError, ValueError):
        return None


class RemovalBatch:
    """Removals from one folder that are undone together. `begin_batch` makes a new batch."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.folder = folder
        self._taken = 0

    def take(self, relative: str, expected: FileIdentity) -> None:
        """Move the file into the batch if its identity is still `expected`; raises `RemovalRefused`."""
        if (reason := write_refusal()) is not None:
            raise RemovalRefused(reason)
        path = PurePosixPath(relative)
        try:
            with folder_beneath(self.root, str(path.parent)) as folder:
                held = os.open(path.name, READ_NO_LINK, dir_fd=folder)
                try:
                    self._take(folder, path.name, relative, held, expected)
                finally:
                    close(held)
        except OSError as error:
            raise RemovalRefused(f"it could not be moved: {error.strerror or error}") from None

    def entries(self) -> Iterator[RemovedFile]:
        """Yield the entries of the journal in order."""
        try:
            lines = (self.folder / _JOURNAL).read_text("utf-8").splitlines()
        except OSError:
            return
        for line in lines:
            with suppress(ValueError, TypeError):
                yield RemovedFile(**json.loads(line))

    def restore(self) -> list[RestoredFile]:
        """Restore all files that are still in the batch; delete the batch when it is empty."""
        found = [
            RestoredFile(each.name, self._put_back(each))
            for each in self.entries()
            if (self.folder / each.kept).exists()
        ]
        if not any(each.problem for each in found):
            _delete(self.folder)
        return found

    def _take(self, folder: int, name: str, relative: str, held: int, expected: FileIdentity) -> None:
        status = os.fstat(held)
        if _identity(status) != expected or not stat.S_ISREG(status.st_mode):
            raise RemovalRefused("it changed after it was chosen")
        if has_writer(held):
            raise RemovalRefused("a program has it open for writing")
        kept = f"{self._taken:06}"
        self._taken += 1
        self._write_entry(RemovedFile(relative, kept, stat.S_IMODE(status.st_mode), status.st_mtime_ns))
        target = self.folder / kept
        try:
            os.rename(name, target, src_dir_fd=folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            # A rename cannot reach another file system.
            write_new(target, read_all(held))
            now = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if _identity(now) != expected:
                target.unlink()
                raise RemovalRefused("another program changed it at the same moment") from None
            os.unlink(name, dir_fd=folder)
            return
        if not os.path.samestat(os.fstat(held), target.lstat()):
            os.rename(target, name, dst_dir_fd=folder)
            raise RemovalRefused("another program replaced it at the same moment")

    def _write_entry(self, entry: RemovedFile) -> None:
        descriptor = os.open(self.folder / _JOURNAL, APPEND | os.O_CREAT, 0o600)
        try:
            write_all(descriptor, f"{json.dumps(asdict(entry))}\n".encode())
            flush(descriptor)
        finally:
            close(descriptor)

    def _put_back(self, entry: RemovedFile) -> str | None:
        kept, path = self.folder / entry.kept, PurePosixPath(entry.name)
        try:
            with folder_beneath(self.root, str(path.parent), make=True) as folder:
                os.link(kept, path.name, dst_dir_fd=folder, follow_symlinks=False)
                flush(folder)
        except FileExistsError:
            return f"a new file has this name; the removed one is in {kept}"
        except OSError as error:
            if error.errno not in _CANNOT_LINK:
                return f"{error.strerror or error}; the removed file is in {kept}"
            try:
                create(self.root, entry.name, kept.read_bytes(), mode=entry.mode, modified=entry.modified)
            except (CreateRefused, OSError) as failure:
                return f"{failure}; the removed file is in {kept}"
        kept.unlink()
        return None


def begin_batch(root: Path) -> RemovalBatch:
    """Create an empty batch for a folder; delete the oldest batches over the limit."""
    batches = _batches_folder(root)
    batches.mkdir(parents=True, exist_ok=True, mode=0o700)
    for old in _batches(root)[: -(KEPT - 1)]:
        _delete(old)
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    folder = batches / f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(seconds))}.{nanoseconds:09d}Z"
    folder.mkdir(mode=0o700)
    return RemovalBatch(root, folder)


def latest_batch(root: Path) -> RemovalBatch | None:
    """Return the last batch that still holds a file."""
    for folder in reversed(_batches(root)):
        batch = RemovalBatch(root, folder)
        if any((folder / each.kept).exists() for each in batch.entries()):
            return batch
    return None


def _batches_folder(root: Path) -> Path:
    real = os.path.realpath(root)
    tidy = _UNTIDY.sub("_", root.name)[:60]
    return state_folder() / "removed" / f"{tidy}-{sha256(os.fsencode(real)).hexdigest()[:16]}"


def _batches(root: Path) -> list[Path]:
    try:
        return sorted(each for each in _batches_folder(root).iterdir() if each.is_dir())
    except OSError:
        return []


def _delete(folder: Path) -> None:
    with suppress(OSError):
        for each in folder.iterdir():
            each.unlink()
        folder.rmdir()


def _identity(status: os.stat_result) -> FileIdentity:
    return FileIdentity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
