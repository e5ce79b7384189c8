"""A private folder in the user's cache for as long as this program runs; what others left behind is removed.

Every program holds a lock in its own folder: a folder whose lock is free belongs to nobody any more.
"""

from __future__ import annotations

import atexit
import fcntl
import os
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

from ctxview.files.undo_copies import close
from ctxview.files.user_folders import cache_folder

_NAME: Final = "moments"
_LOCK: Final = "lock"
_numbers = count(1)


def new_folder() -> Path:
    """A new empty folder, for us alone; raises `OSError`."""
    folder = _bench(os.getpid(), cache_folder()) / str(next(_numbers))
    folder.mkdir(mode=0o700)
    return folder


def remove(folder: Path) -> None:
    """A folder of the workshop with all that is in it; what cannot be removed stays."""
    for place, folders, files in os.walk(folder, topdown=False):
        for name in files:
            with suppress(OSError):
                Path(place, name).unlink()
        for name in folders:
            with suppress(OSError):
                Path(place, name).rmdir()
    with suppress(OSError):
        folder.rmdir()


@cache
def _bench(process: int, home: Path) -> Path:
    """The folder of this process, made at the first need."""
    above = home.resolve() / _NAME
    above.mkdir(parents=True, exist_ok=True, mode=0o700)
    _sweep(above)
    bench = above / f"{process}-{os.urandom(6).hex()}"
    bench.mkdir(mode=0o700)
    descriptor = os.open(bench / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    atexit.register(_leave, process, bench, descriptor)
    return bench


def _leave(process: int, bench: Path, descriptor: int) -> None:
    if os.getpid() == process:
        remove(bench)
        close(descriptor)


def _sweep(above: Path) -> None:
    """Remove the folders of programs that have ended without doing so."""
    with suppress(OSError):
        for bench in list(above.iterdir()):
            with suppress(OSError):
                descriptor = os.open(bench / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove(bench)
                finally:
                    close(descriptor)
