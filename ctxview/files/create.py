"""Create one new file below a folder, all or nothing, without following links.

The content is written under a hidden name in the same folder. One step gives the file its own name and fails
if that name exists: no file is ever replaced. For an existing file there is `save`.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

from ctxview.files.reading import ReadError, path_problem, process_of_leftover, read_beneath
from ctxview.files.system_calls import CREATE, FOLDER, FOLDER_NO_LINK, close, flush, write_all
from ctxview.files.write_lock import write_refusal

_ABANDONED: Final = 60
"""Seconds after which a hidden file of an ended process is removed."""
_NO_LINKS: Final = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)


class CreateRefused(Exception):
    """A file that was not created, with the reason; nothing was changed."""


def create(
    root: Path, relative: str, content: bytes, *, mode: int = 0o600, modified: int | None = None
) -> bool:
    """Create `relative` below `root` with `content`; False when it already has it. Raises `CreateRefused`.

    Missing folders are created, for the owner only. `modified` is in nanoseconds.
    """
    if reason := write_refusal() or path_problem(relative):
        raise CreateRefused(reason)
    path = PurePosixPath(relative)
    try:
        with folder_beneath(root, str(path.parent), make=True) as folder:
            return _create(folder, path.name, content, mode, modified)
    except FileExistsError:
        return _already_there(root, relative, content)
    except OSError as error:
        raise CreateRefused(f"creating it failed: {error.strerror or error}") from None


def remove_leftovers(root: Path, relative: str) -> None:
    """Remove the hidden files that killed processes left in a folder below `root`.

    Such a file is never the only copy. A process on another machine is not seen here, so a young file stays.
    """
    with suppress(OSError), folder_beneath(root, relative) as folder, os.scandir(folder) as entries:
        for entry in entries:
            process = process_of_leftover(entry.name)
            if process is None or _is_alive(process) or not entry.is_file(follow_symlinks=False):
                continue
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED:
                os.unlink(entry.name, dir_fd=folder)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def folder_beneath(root: Path, relative: str, *, make: bool = False) -> Iterator[int]:
    """Open a folder below `root` without following links; with `make`, create missing folders."""
    current = os.open(root, FOLDER)
    try:
        for part in PurePosixPath(relative).parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=current)
                    flush(current)
            following = os.open(part, FOLDER_NO_LINK, dir_fd=current)
            close(current)
            current = following
        yield current
    finally:
        close(current)


def _create(folder: int, name: str, content: bytes, mode: int, modified: int | None) -> bool:
    hidden = f".ctxview-{sha256(os.fsencode(name)).hexdigest()[:16]}-{os.getpid()}.tmp"
    with suppress(FileNotFoundError):
        # Only a crash of a process with the same number can have left it.
        os.unlink(hidden, dir_fd=folder)
    descriptor = os.open(hidden, CREATE, 0o600, dir_fd=folder)
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
    """Give the file its name; raises `FileExistsError` when the name is taken."""
    try:
        os.link(hidden, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without hard links: check, then rename. A file created in between would be replaced.
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        os.rename(hidden, name, src_dir_fd=folder, dst_dir_fd=folder)


def _already_there(root: Path, relative: str, content: bytes) -> bool:
    try:
        found = read_beneath(root, relative, limit=len(content))
    except ReadError as error:
        raise CreateRefused(f"the name is taken: {error.reason}") from None
    if found != content:
        raise CreateRefused("a file with this name has other content")
    return False
