"""Two Linux system calls that Python lacks. On other systems and old kernels they fail with ENOSYS."""

from __future__ import annotations

import errno
import os
import platform
import sys
from typing import Final

RESOLVE_NO_SYMLINKS: Final = 0x04
RESOLVE_BENEATH: Final = 0x08

_OPENAT2: Final = 437  # the same on every architecture
_RENAMEAT2: Final = {"x86_64": 316, "aarch64": 276, "riscv64": 276}
_RENAME_EXCHANGE: Final = 2


def openat2(directory: int, name: str, flags: int, resolve: int) -> int:
    """Open `name` below an open directory under the conditions of `resolve`; return the descriptor."""
    import ctypes

    # struct open_how: flags, mode, resolve
    how = (ctypes.c_uint64 * 3)(flags | os.O_CLOEXEC, 0, resolve)
    return _call(_OPENAT2, directory, os.fsencode(name), ctypes.addressof(how), ctypes.sizeof(how))


def exchange(directory: int, one: str, other: str) -> None:
    """Swap two names of one open directory in a single step: neither is missing at any moment."""
    number = _RENAMEAT2.get(platform.machine(), -1)
    _call(number, directory, os.fsencode(one), directory, os.fsencode(other), _RENAME_EXCHANGE)


def _call(number: int, *arguments: int | bytes) -> int:
    """Make one raw system call; raises `OSError`. Byte strings become C strings; they must not hold a NUL."""
    if not sys.platform.startswith("linux") or number < 0:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    import ctypes

    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    converted = [
        ctypes.c_char_p(item) if isinstance(item, bytes) else ctypes.c_long(item) for item in arguments
    ]
    result: int = syscall(ctypes.c_long(number), *converted)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
