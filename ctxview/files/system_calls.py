"""The calls to the operating system that not every system has, and a substitute where one is missing.

Linux, with WSL, has all of them. macOS lacks `openat2`, `renameat2`, `O_PATH` and some others. On any other
system this module cannot be imported, and the error says in one line what is supported.
"""

from __future__ import annotations

import errno
import os
import platform

# Imported here, because a disk that fails during a save must not fail an import, too.
import signal
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

try:
    import fcntl

    # O_NONBLOCK: opening a pipe without a writer must not hang.
    READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    READ_NO_LINK: Final = READ | os.O_NOFOLLOW
    FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    FOLDER_NO_LINK: Final = FOLDER | os.O_NOFOLLOW
    CREATE: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    UPDATE: Final = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    PIN: Final = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK) | os.O_NOFOLLOW | os.O_CLOEXEC
    _NEEDED: Final = os.pread, os.statvfs, os.fchmod, os.fchown
except (ImportError, AttributeError):
    raise ImportError(
        f"ctxview runs on Linux, macOS and WSL, but not on this system ({sys.platform})"
    ) from None

_NO_ACCESS_TIME: Final = getattr(os, "O_NOATIME", 0)
_RESOLVE: Final = 0x04 | 0x08  # RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH
_OPENAT2: Final = 437  # the same on every architecture
_RENAMEAT2: Final = {"x86_64": 316, "aarch64": 276, "riscv64": 276}
_RENAME_EXCHANGE: Final = 2
_RENAME_SWAP: Final = 2
"""The same for `renameatx_np` of macOS, by chance with the same number."""
_END_WITH_PARENT: Final = 1  # PR_SET_PDEATHSIG
_REFUSED_CALL: Final = (errno.ENOSYS, errno.EPERM, errno.EINVAL)
_CANNOT_COPY: Final = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM)


def open_quietly(name: str, flags: int = READ, directory: int | None = None) -> int:
    """Open for reading without changing the access time, where the system allows it."""
    if _NO_ACCESS_TIME:
        try:
            return os.open(name, flags | _NO_ACCESS_TIME, dir_fd=directory)
        except PermissionError:
            # Only the owner may do this. If the file is not readable at all, the next attempt says so.
            pass
    return os.open(name, flags, dir_fd=directory)


def open_below(directory: int, relative: str) -> int:
    """Open `relative` below an open directory for reading, without following links."""
    for flags in (READ | _NO_ACCESS_TIME, READ):
        try:
            return openat2(directory, relative, flags)
        except OSError as error:
            if error.errno not in _REFUSED_CALL:
                raise
    *folders, name = PurePosixPath(relative).parts or (".",)
    current = os.dup(directory)
    try:
        for folder in folders:
            if stat.S_ISLNK(os.stat(folder, dir_fd=current, follow_symlinks=False).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            following = os.open(folder, FOLDER_NO_LINK, dir_fd=current)
            os.close(current)
            current = following
        return open_quietly(name, READ_NO_LINK, current)
    finally:
        os.close(current)


def openat2(directory: int, name: str, flags: int) -> int:
    """Open `name` in one step, only if it is below `directory` and no link leads there; Linux only."""
    import ctypes

    # struct open_how: flags, mode, resolve
    how = (ctypes.c_uint64 * 3)(flags, 0, _RESOLVE)
    return _call(_OPENAT2, directory, os.fsencode(name), ctypes.addressof(how), ctypes.sizeof(how))


def exchange(directory: int, one: str, other: str) -> None:
    """Swap two names of one open directory in a single step: neither is missing at any moment.

    Raises `OSError` where the system or the file system cannot.
    """
    if sys.platform == "darwin":
        _exchange_on_macos(directory, os.fsencode(one), os.fsencode(other))
        return
    number = _RENAMEAT2.get(platform.machine(), -1)
    _call(number, directory, os.fsencode(one), directory, os.fsencode(other), _RENAME_EXCHANGE)


def read_at(descriptor: int, start: int, count: int) -> bytes:
    """Return at most `count` bytes from `start`, independent of the position of the descriptor."""
    return os.pread(descriptor, count, start)


def read_into(descriptor: int, buffer: memoryview, start: int) -> int:
    """Fill the beginning of `buffer` with the bytes from `start`; return their number."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [buffer], start)
    content = read_at(descriptor, start, len(buffer))
    buffer[: len(content)] = content
    return len(content)


def read_all(descriptor: int) -> bytes:
    """Return all bytes of a descriptor, independent of its position."""
    content = read_at(descriptor, 0, os.fstat(descriptor).st_size + 1)
    while more := read_at(descriptor, len(content), 1 << 20):
        content += more
    return content


def write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def copy_range(source: int, target: int, start: int, count: int) -> int | None:
    """Let the system copy bytes to the position of `target`; None where it cannot."""
    if hasattr(os, "copy_file_range"):
        try:
            return os.copy_file_range(source, target, count, start)
        except OSError as error:
            if error.errno not in _CANNOT_COPY:
                raise
    return None


def copy_attributes(source: int, target: int) -> list[str]:
    """Copy extended attributes, which include access lists; return the names of those that were not copied.

    Python supports this only on Linux.
    """
    failed = []
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(source):
                try:
                    os.setxattr(target, name, os.getxattr(source, name))
                except OSError:
                    failed.append(name)
    return failed


def processors() -> int:
    """Return how many processors this process may use with `fork`; 1 where the system cannot fork safely.

    On macOS a fork of a process that has used system libraries may crash.
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def fork() -> int:
    """Make a copy of this process that ends with it; return 0 in the copy and its number here."""
    parent = os.getpid()
    child = os.fork()
    if child == 0 and sys.platform.startswith("linux"):
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before this call
            os._exit(1)
    return child


def close(descriptor: int) -> None:
    """Close a descriptor that was only read or already flushed; an error then loses no data."""
    with suppress(OSError):
        os.close(descriptor)


def flush(descriptor: int) -> None:
    """Wait until the data is on disk, not only in the cache of the system."""
    full = getattr(fcntl, "F_FULLFSYNC", None)  # macOS: fsync alone stops at the drive's cache
    if full is not None:
        with suppress(OSError):
            fcntl.fcntl(descriptor, full)
            return
    os.fsync(descriptor)


def lock(descriptor: int) -> None:
    """Lock a file until the descriptor is closed; raises `BlockingIOError` if another process has done so."""
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def free_bytes(folder: Path) -> int:
    """Return the free space of the disk that `folder` is on."""
    space = os.statvfs(folder)
    return space.f_bavail * space.f_frsize


def has_writer(descriptor: int) -> bool | None:
    """Whether any program has the file open for writing; None where the system cannot tell.

    `descriptor` must be open for reading only.
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        return None
    try:
        # The signal of a lease ends a process unless it is one that is ignored by default.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False


def _exchange_on_macos(directory: int, one: bytes, other: bytes) -> None:
    import ctypes

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameatx_np", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    rename.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    if rename(directory, one, directory, other, _RENAME_SWAP) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


@cache
def _system_call() -> Callable[..., int]:
    import ctypes

    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    return syscall


def _call(number: int, *arguments: int | bytes) -> int:
    """Make one raw system call; raises `OSError`. Byte strings become C strings; they must not hold a NUL."""
    if not sys.platform.startswith("linux") or number < 0:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    import ctypes

    syscall = _system_call()
    converted = [
        ctypes.c_char_p(item) if isinstance(item, bytes) else ctypes.c_long(item) for item in arguments
    ]
    result = syscall(ctypes.c_long(number), *converted)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
