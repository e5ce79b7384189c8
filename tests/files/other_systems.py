"""Make Python look as it does on another system, before any module of ctxview is imported."""

from __future__ import annotations

import fcntl
import os
import sys

LINUX_ONLY = (
    *("O_PATH", "O_NOATIME", "copy_file_range", "preadv", "memfd_create"),
    *("listxattr", "getxattr", "setxattr", "removexattr"),
)
POSIX_ONLY = (
    *("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_NDELAY", "O_SYNC"),
    *("pread", "pwrite", "statvfs", "fchmod", "fchown", "fork", "geteuid", "getuid"),
)
MODULES = ("fcntl", "termios", "tty", "pty", "pwd", "grp", "resource", "readline")


def become_macos() -> None:
    for name in LINUX_ONLY:
        vars(os).pop(name, None)
    for name in [name for name in vars(fcntl) if name.startswith(("F_SETLEASE", "F_SETSIG"))]:
        delattr(fcntl, name)

    from ctxview.files import system_calls

    # The two system calls of Linux then fail as they do elsewhere.
    system_calls._RENAMEAT2.clear()
    system_calls._OPENAT2 = -1  # type: ignore[misc]


def become_windows() -> None:
    for name in (*LINUX_ONLY, *POSIX_ONLY):
        vars(os).pop(name, None)
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    sys.platform = "win32"
