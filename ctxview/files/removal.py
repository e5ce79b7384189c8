"""Taking files out of a folder so that they can be put back: they move to the user's state folder.

One batch of removals is one undo. Its journal says what is about to move before it moves, so that a crash
loses nothing. Which files may go is for others to know.
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
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

from ctxview.files.create import CreateRefused, create, folder_beneath
from ctxview.files.undo_copies import close, flush, read_all, write_all, write_new
from ctxview.files.user_folders import state_folder
from ctxview.quick_dataclass import dataclass

KEPT: Final = 20
"""So many batches of one folder are kept."""

_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_CANNOT_LINK: Final = (errno.EXDEV, errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)
_UNTIDY: Final = re.compile(r"[^A-Za-z0-9._-]+")
_JOURNAL: Final = "journal.jsonl"


class NotRemoved(Exception):
    """A file that stayed where it was, with the reason."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a file was when somebody decided about it; any change makes it another one."""

    device: int
    inode: int
    size: int
    modified: int
    """In nanoseconds."""


@dataclass(frozen=True, slots=True)
class Removed:
    """A line of the journal: the name in its folder, the name in the batch, and what a copy would lose."""

    name: str
    kept: str
    mode: int
    modified: int


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of one file on its way back; `problem` is None when it is there again."""

    name: str
    problem: str | None


def seen(root: Path, relative: str) -> Seen | None:
    """The file of that name as it is now; None when there is none, or a link on the way."""
    path = PurePosixPath(relative)
    try:
        with folder_beneath(root, str(path.parent)) as folder:
            return _seen(os.stat(path.name, dir_fd=folder, follow_symlinks=False))
    except (OSError, ValueError):
        return None


class Batch:
    """Removals from one folder that are undone together. Files are taken only into a batch that was begun."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.folder = folder
        self._taken = 0

    def take(self, relative: str, expected: Seen) -> None:
        """Move the file into the batch, if it is still the one that was seen; raises `NotRemoved`."""
        path = PurePosixPath(relative)
        try:
            with folder_beneath(self.root, str(path.parent)) as folder:
                held = os.open(path.name, _READ, dir_fd=folder)
                try:
                    self._take(folder, path.name, relative, held, expected)
                finally:
                    close(held)
        except OSError as error:
            raise NotRemoved(f"it could not be moved: {error.strerror or error}") from None

    def entries(self) -> Iterator[Removed]:
        """What the journal tells, the first removal first."""
        try:
            lines = (self.folder / _JOURNAL).read_text("utf-8").splitlines()
        except OSError:
            return
        for line in lines:
            with suppress(ValueError, TypeError):
                yield Removed(**json.loads(line))

    def restore(self) -> list[Restored]:
        """Put back whatever is not there again; the batch goes when nothing is left in it."""
        found = [
            Restored(each.name, self._put_back(each))
            for each in self.entries()
            if (self.folder / each.kept).exists()
        ]
        if not any(each.problem for each in found):
            _delete(self.folder)
        return found

    def _take(self, folder: int, name: str, relative: str, held: int, expected: Seen) -> None:
        status = os.fstat(held)
        if _seen(status) != expected or not stat.S_ISREG(status.st_mode):
            raise NotRemoved("it changed after it was looked at")
        kept = f"{self._taken:06}"
        self._taken += 1
        self._note(Removed(relative, kept, stat.S_IMODE(status.st_mode), status.st_mtime_ns))
        target = self.folder / kept
        try:
            os.rename(name, target, src_dir_fd=folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._copy_away(folder, name, held, target, expected)
            return
        if not os.path.samestat(os.fstat(held), target.lstat()):
            os.rename(target, name, dst_dir_fd=folder)
            raise NotRemoved("another program replaced it at the same moment")

    def _copy_away(self, folder: int, name: str, held: int, target: Path, expected: Seen) -> None:
        """What a rename does, across file systems."""
        write_new(target, read_all(held))
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if _seen(now) != expected:
            target.unlink()
            raise NotRemoved("another program changed it at the same moment")
        os.unlink(name, dir_fd=folder)

    def _note(self, entry: Removed) -> None:
        descriptor = os.open(self.folder / _JOURNAL, _APPEND, 0o600)
        try:
            write_all(descriptor, f"{json.dumps(asdict(entry))}\n".encode())
            flush(descriptor)
        finally:
            close(descriptor)

    def _put_back(self, entry: Removed) -> str | None:
        kept, path = self.folder / entry.kept, PurePosixPath(entry.name)
        try:
            with folder_beneath(self.root, str(path.parent), make=True) as folder:
                os.link(kept, path.name, dst_dir_fd=folder, follow_symlinks=False)
                flush(folder)
        except FileExistsError:
            return f"there is a new file of that name; the old one is {kept}"
        except OSError as error:
            if error.errno not in _CANNOT_LINK:
                return f"{error.strerror or error}; it is in {kept}"
            try:
                create(self.root, entry.name, kept.read_bytes(), mode=entry.mode, modified=entry.modified)
            except (CreateRefused, OSError) as trouble:
                return f"{trouble}; it is in {kept}"
        kept.unlink()
        return None


def begin(root: Path) -> Batch:
    """A new, empty batch for a folder; the oldest ones beyond those kept go."""
    place = _place(root)
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    for old in _batches(root)[: -(KEPT - 1)]:
        _delete(old)
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    folder = place / f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(seconds))}.{nanoseconds:09d}Z"
    folder.mkdir(mode=0o700)
    return Batch(root, folder)


def latest(root: Path) -> Batch | None:
    """The last batch that still holds something."""
    for folder in reversed(_batches(root)):
        batch = Batch(root, folder)
        if any((folder / each.kept).exists() for each in batch.entries()):
            return batch
    return None


def _place(root: Path) -> Path:
    real = os.path.realpath(root)
    tidy = _UNTIDY.sub("_", root.name)[:60]
    return state_folder() / "removed" / f"{tidy}-{sha256(os.fsencode(real)).hexdigest()[:16]}"


def _batches(root: Path) -> list[Path]:
    try:
        return sorted(each for each in _place(root).iterdir() if each.is_dir())
    except OSError:
        return []


def _delete(folder: Path) -> None:
    with suppress(OSError):
        for each in folder.iterdir():
            each.unlink()
        folder.rmdir()


def _seen(status: os.stat_result) -> Seen:
    return Seen(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
