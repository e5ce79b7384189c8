"""Read whole files, or their beginning and end, safely; nothing here writes or changes access times.

Only regular files are read, never a pipe or a device. An untrusted path, such as a reference in a session,
goes through `read_beneath`, which cannot leave the given folder.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from ctxview.core.lazy import lazy_pattern
from ctxview.files.system_calls import FOLDER, open_below, open_quietly, read_at

LIMIT: Final = 64 * 1024 * 1024

_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class ReadError(Exception):
    """A file that cannot be read, with the reason in words.

    The path is untrusted: print it through `visible`.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def read_bytes(path: Path, limit: int = LIMIT) -> bytes:
    """Return the bytes of a regular file, links followed; raises `ReadError`, also over `limit` bytes."""
    try:
        return _read(open_file(path), lambda: path, limit)
    except OSError as error:
        raise ReadError(path, error_text(error)) from None


def open_file(path: Path) -> int:
    """Open `path` for reading, links followed; return a descriptor to close. Raises `ReadError`.

    The result may not be a regular file: see `require_regular`.
    """
    if "\0" in str(path):
        raise ReadError(path, "the path holds a NUL character")
    try:
        return open_quietly(str(path))
    except OSError as error:
        raise ReadError(path, error_text(error)) from None


def read_beneath(root: Path, relative: str, limit: int = LIMIT) -> bytes:
    """Return all bytes of the file `relative` below `root`, without following links; raises `ReadError`."""
    try:
        return _read(open_beneath(root, relative), partial(_beneath, root, relative), limit)
    except OSError as error:
        raise ReadError(_beneath(root, relative), error_text(error)) from None


def open_beneath(root: Path, relative: str) -> int:
    """Open `relative` below `root` without following links; return a descriptor to close. Raises `ReadError`.

    The result may not be a regular file: see `require_regular`.
    """
    if reason := path_problem(relative):
        raise ReadError(_beneath(root, relative), reason)
    try:
        directory = os.open(root, FOLDER)
    except OSError as error:
        raise ReadError(root, error_text(error)) from None
    try:
        return open_below(directory, relative)
    except OSError as error:
        raise ReadError(_beneath(root, relative), error_text(error)) from None
    finally:
        os.close(directory)


def _beneath(root: Path, relative: str) -> Path:
    """The path for an error: joining takes as long as reading a small file."""
    return root / relative if relative and "\0" not in relative else root


def require_regular(status: os.stat_result, path: Path) -> None:
    """Raise `ReadError` unless `status` is that of a regular file."""
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in _KINDS if test(status.st_mode)), "something else")
        raise ReadError(path, f"this is {kind}, not a file")


def path_problem(relative: str) -> str | None:
    """Return why `relative` is not a safe path below a folder, or None when it is."""
    if not relative:
        return "the path is empty"
    if "\0" in relative:
        return "the path holds a NUL character"
    if relative.startswith("/"):
        return "the path is absolute and leaves the folder"
    if ".." in relative.split("/"):
        return "the path goes up with .. and may leave the folder"
    return None


def error_text(error: OSError) -> str:
    """Return a sentence for a failed read."""
    words = {
        errno.ENOENT: "there is no such file",
        errno.EACCES: "reading it is not permitted",
        errno.EPERM: "reading it is not permitted",
        errno.ELOOP: "the path goes through a symbolic link",
        errno.EXDEV: "the path leaves the folder",
        errno.ENOTDIR: "part of the path is not a folder",
        errno.ENXIO: "this is a socket or a pipe, not a file",
        errno.ENAMETOOLONG: "the name is too long",
    }
    return words.get(error.errno or 0) or f"reading failed: {error.strerror or error}"


def _read(descriptor: int, path: Callable[[], Path], limit: int) -> bytes:
    """Return all bytes of a descriptor and close it."""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            require_regular(status, path())
        if status.st_size > limit:
            size = f"{_size(status.st_size)}, more than the limit of {_size(limit)}"
            raise ReadError(path(), f"the file has {size}")
        pieces = []
        left = limit
        # The size is only a hint: the file may grow, and files in /proc report a size of 0.
        while piece := os.read(descriptor, max(status.st_size + 1, 65536)):
            left -= len(piece)
            if left < 0:
                raise ReadError(path(), f"the file grew over the limit of {_size(limit)} while it was read")
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _size(count: int) -> str:
    return f"{count / 1024 / 1024:.1f} MiB" if count >= 1024 * 1024 else f"{count:,} bytes"


class FileEnds(Struct, frozen=True):
    """The beginning and end of a file: `head` is the whole of a small file, else `tail` is its end."""

    size: int
    head: bytes
    tail: bytes
    tail_start: int

    @property
    def whole(self) -> bool:
        return self.tail_start == len(self.head) and not self.tail


def read_ends(path: Path, most: int) -> FileEnds:
    """Return at most `most` bytes of a regular file, half of them from its end; raises `ReadError`."""
    descriptor = open_file(path)
    try:
        status = os.fstat(descriptor)
        require_regular(status, path)
        return _ends(descriptor, status.st_size, most)
    except OSError as error:
        raise ReadError(path, error_text(error)) from None
    finally:
        os.close(descriptor)


def _ends(descriptor: int, size: int, most: int) -> FileEnds:
    if size <= most:
        head = _read_span(descriptor, 0, most)
        return FileEnds(len(head), head, b"", len(head))
    half = most // 2
    return FileEnds(
        size, _read_span(descriptor, 0, half), _read_span(descriptor, size - half, half), size - half
    )


def _read_span(descriptor: int, start: int, count: int) -> bytes:
    pieces = []
    while count > 0 and (piece := read_at(descriptor, start, min(count, 1 << 20))):
        pieces.append(piece)
        start, count = start + len(piece), count - len(piece)
    return b"".join(pieces)


_LEFTOVER: Final = lazy_pattern(r"\.ctxview-[0-9a-f]{16}(?:-(?P<process>[0-9]{1,10}))?\.tmp")


def is_leftover(name: str) -> bool:
    """Whether a file of this name is one that ctxview itself was writing, now or when it was killed."""
    return _LEFTOVER.fullmatch(name) is not None


def process_of_leftover(name: str) -> int | None:
    """Return the number of the process that was creating the file; None for any other file."""
    found = _LEFTOVER.fullmatch(name)
    return int(found["process"]) if found is not None and found["process"] else None


REVIEW_SUFFIX: Final = ".ctxreview.json"
_REVIEW_SUFFIXES: Final = (REVIEW_SUFFIX, f"{REVIEW_SUFFIX}.sig")


def is_review_file(name: str) -> bool:
    """Whether a file of this name is the record of a review or its signature, and not reviewed content."""
    return name.endswith(_REVIEW_SUFFIXES)


VERSION_CONTROL = frozenset((".git", ".hg", ".svn"))


def is_content(name: str) -> bool:
    """Whether a file or folder of this name can hold reviewed content: records and version control do not."""
    return not (is_review_file(name) or is_leftover(name) or name in VERSION_CONTROL)


SKIPPED_FOLDERS = frozenset(
    (
        *(*VERSION_CONTROL, "node_modules", ".venv", "venv", "__pycache__", "site-packages"),
        *(".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
    )
)
