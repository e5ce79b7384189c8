"""Reading whole files without being led astray and without leaving a trace; it never writes.

Only regular files are read, never a pipe or a device. A path that somebody else wrote down (a reference
inside a session) goes through `read_beneath`, which cannot leave the folder it is given.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path, PurePosixPath
from typing import Final

from ctxview.files import linux_calls

LIMIT: Final = 64 * 1024 * 1024

# O_NONBLOCK: opening a pipe that nobody writes to must not hang.
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)
_NO_ACCESS_TIME: Final = getattr(os, "O_NOATIME", 0)
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_SUCH_CALL: Final = (errno.ENOSYS, errno.EPERM, errno.EINVAL)
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class Unreadable(Exception):
    """A file that cannot be read, with the reason in words.

    The path may hold anything, so print it through `visible`.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def read_bytes(path: Path, limit: int = LIMIT) -> bytes:
    """All bytes of the regular file at `path`, links followed; raises `Unreadable`, also beyond `limit`."""
    try:
        return _read(open_file(path), path, limit)
    except OSError as error:
        raise Unreadable(path, in_words(error)) from None


def open_file(path: Path) -> int:
    """A descriptor, to read and to close, of what is at `path`, links followed; raises `Unreadable`.

    It may turn out to be no regular file: see `require_regular`.
    """
    if "\0" in str(path):
        raise Unreadable(path, "the path holds a NUL character")
    try:
        return _open(str(path), _FLAGS)
    except OSError as error:
        raise Unreadable(path, in_words(error)) from None


def read_beneath(root: Path, relative: str, limit: int = LIMIT) -> bytes:
    """All bytes of the file that `relative` names below `root`, if it stays there and crosses no link."""
    path = root / relative if relative and "\0" not in relative else root
    try:
        return _read(open_beneath(root, relative), path, limit)
    except OSError as error:
        raise Unreadable(path, in_words(error)) from None


def open_beneath(root: Path, relative: str) -> int:
    """A descriptor, to read and to close, of what `relative` names below `root`; raises `Unreadable`.

    It may turn out to be no regular file: see `require_regular`.
    """
    path = root / relative if relative and "\0" not in relative else root
    if reason := outside(relative):
        raise Unreadable(path, reason)
    try:
        directory = os.open(root, _DIRECTORY)
    except OSError as error:
        raise Unreadable(root, in_words(error)) from None
    try:
        return _open_beneath(directory, relative)
    except OSError as error:
        raise Unreadable(path, in_words(error)) from None
    finally:
        os.close(directory)


def require_regular(status: os.stat_result, path: Path) -> None:
    """Raises `Unreadable` unless `status` is that of a regular file."""
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in _KINDS if test(status.st_mode)), "something else")
        raise Unreadable(path, f"this is {kind}, not a file")


def outside(relative: str) -> str | None:
    """Why a written-down path may not be followed from its folder; None when its words are harmless."""
    if not relative:
        return "the path is empty"
    if "\0" in relative:
        return "the path holds a NUL character"
    if relative.startswith("/"):
        return "the path is absolute and leaves the folder"
    if ".." in PurePosixPath(relative).parts:
        return "the path goes up with .. and may leave the folder"
    return None


def in_words(error: OSError) -> str:
    """Why the system would not let us read something."""
    words = {
        errno.ENOENT: "there is no such file",
        errno.EACCES: "reading it is not permitted",
        errno.EPERM: "reading it is not permitted",
        errno.ELOOP: "a symbolic link stands in the way",
        errno.EXDEV: "the path leaves the folder",
        errno.ENOTDIR: "part of the path is not a folder",
        errno.ENXIO: "this is a socket or a pipe, not a file",
        errno.ENAMETOOLONG: "the name is too long",
    }
    return words.get(error.errno or 0) or f"reading failed: {error.strerror or error}"


def _open(name: str, flags: int, directory: int | None = None) -> int:
    """Open without marking the file as accessed, where the system lets us."""
    if _NO_ACCESS_TIME:
        try:
            return os.open(name, flags | _NO_ACCESS_TIME, dir_fd=directory)
        except PermissionError:
            # Only the owner may ask for that. If we may not read it at all, the next try says so.
            pass
    return os.open(name, flags, dir_fd=directory)


def _open_beneath(directory: int, relative: str) -> int:
    resolve = linux_calls.RESOLVE_BENEATH | linux_calls.RESOLVE_NO_SYMLINKS
    for flags in (_FLAGS | _NO_ACCESS_TIME, _FLAGS):
        try:
            return linux_calls.openat2(directory, relative, flags, resolve)
        except OSError as error:
            if error.errno not in _NO_SUCH_CALL:
                raise
    return _walk_beneath(directory, relative)


def _walk_beneath(directory: int, relative: str) -> int:
    """Open step by step, refusing links at each; what `openat2` does in one step."""
    *folders, name = PurePosixPath(relative).parts or (".",)
    current = os.dup(directory)
    try:
        for folder in folders:
            if stat.S_ISLNK(os.stat(folder, dir_fd=current, follow_symlinks=False).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            following = os.open(folder, _DIRECTORY | os.O_NOFOLLOW, dir_fd=current)
            os.close(current)
            current = following
        return _open(name, _FLAGS | os.O_NOFOLLOW, current)
    finally:
        os.close(current)


def _read(descriptor: int, path: Path, limit: int) -> bytes:
    """All that is behind a descriptor, which is closed in any case."""
    try:
        status = os.fstat(descriptor)
        require_regular(status, path)
        if status.st_size > limit:
            size = f"{_size(status.st_size)}, more than the limit of {_size(limit)}"
            raise Unreadable(path, f"the file has {size}")
        pieces = []
        left = limit
        # The size is only a hint: the file may grow, and files of /proc claim to be empty.
        while piece := os.read(descriptor, max(status.st_size + 1, 65536)):
            left -= len(piece)
            if left < 0:
                raise Unreadable(path, f"the file grew over the limit of {_size(limit)} while it was read")
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _size(count: int) -> str:
    return f"{count / 1024 / 1024:.1f} MiB" if count >= 1024 * 1024 else f"{count:,} bytes"
