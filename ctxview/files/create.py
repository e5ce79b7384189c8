"""Creating one file that is not there yet, all or nothing, below a folder and through no link.

The content is written under a hidden name in the same folder and gets its own name in one step that fails if
that name exists by then: nothing is ever replaced. For a file that exists there is `save`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

from ctxview.files.reading import Unreadable, outside, read_beneath
from ctxview.files.undo_copies import close, flush, write_all

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS: Final = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)


class CreateRefused(Exception):
    """A file that was not created, with the reason; nothing was changed."""


def create(
    root: Path, relative: str, content: bytes, *, mode: int = 0o600, modified: int | None = None
) -> bool:
    """Make `relative` below `root` hold `content`; False when it already does, raises `CreateRefused`.

    Missing folders on the way are made, for the owner alone. `modified` is in nanoseconds.
    """
    if reason := outside(relative):
        raise CreateRefused(reason)
    path = PurePosixPath(relative)
    try:
        with folder_beneath(root, str(path.parent), make=True) as folder:
            return _create(folder, path.name, content, mode, modified)
    except FileExistsError:
        return _already_there(root, relative, content)
    except OSError as error:
        raise CreateRefused(f"creating it failed: {error.strerror or error}") from None


@contextmanager
def folder_beneath(root: Path, relative: str, *, make: bool = False) -> Iterator[int]:
    """An open folder below `root`, reached through no link; with `make`, missing ones are made."""
    current = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in PurePosixPath(relative).parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=current)
                    flush(current)
            following = os.open(part, _FOLDER, dir_fd=current)
            close(current)
            current = following
        yield current
    finally:
        close(current)


def _create(folder: int, name: str, content: bytes, mode: int, modified: int | None) -> bool:
    hidden = f".ctxview-{sha256(os.fsencode(name)).hexdigest()[:16]}-{os.getpid()}.tmp"
    with suppress(FileNotFoundError):
        # Only a crash of a process with this very number can have left it.
        os.unlink(hidden, dir_fd=folder)
    descriptor = os.open(hidden, _NEW, 0o600, dir_fd=folder)
    try:
        write_all(descriptor, content)
        os.fchmod(descriptor, mode)
        if modified is not None:
            os.utime(descriptor, ns=(modified, modified))
        flush(descriptor)
        _name(folder, hidden, name)
    finally:
        close(descriptor)
        with suppress(FileNotFoundError):
            os.unlink(hidden, dir_fd=folder)
    flush(folder)
    return True


def _name(folder: int, hidden: str, name: str) -> None:
    """Give the file its name, unless something has it; raises `FileExistsError`."""
    try:
        os.link(hidden, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without hard links: look, then rename, and hope for the microseconds in between.
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        os.rename(hidden, name, src_dir_fd=folder, dst_dir_fd=folder)


def _already_there(root: Path, relative: str, content: bytes) -> bool:
    try:
        found = read_beneath(root, relative, limit=len(content))
    except Unreadable as error:
        raise CreateRefused(f"something else has that name: {error.reason}") from None
    if found != content:
        raise CreateRefused("a file of that name holds something else")
    return False
