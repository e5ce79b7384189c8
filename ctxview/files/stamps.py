"""When a file was last touched, as the system tells it: enough to notice a change without reading."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import Final, NamedTuple

GRAIN: Final = 0.1
"""Systems count the time of a change in steps: within one, a second change leaves no trace."""
SETTLES_AFTER = 1.0
"""Seconds after its last change in which a file that cannot be read is taken to be half-written."""


class Stamp(NamedTuple):
    """Which file has a name, and when it was written. Two equal ones mean the same bytes: see `lasting`."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int
    """Times in nanoseconds: of the bytes, and of anything about the file, which nobody can set back."""
    link: int = 0
    """The inode of the symbolic link that leads there."""
    folder: bool = False

    def fresh(self, now: float) -> bool:
        """Whether it was made so lately that the next change could look the same."""
        return abs(now - self.changed / 1e9) < GRAIN


def stamp_of(path: Path) -> Stamp | None:
    """Of what `path` leads to, of the link itself when it leads nowhere; None when nothing can be seen."""
    try:
        found = path.lstat()
        link = found.st_ino if stat.S_ISLNK(found.st_mode) else 0
        if link:
            try:
                found = path.stat()
            except OSError:
                return stamp_from(found, link)
        return stamp_from(found, link)
    except (OSError, ValueError):
        return None


def stamp_from(found: os.stat_result, link: int = 0) -> Stamp:
    """Of a status that somebody asked for themselves."""
    return Stamp(
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
        link,
        stat.S_ISDIR(found.st_mode),
    )


def lasting(stamp: Stamp | None) -> Stamp | None:
    """What to keep of a stamp taken before a file is read: it equals a later one only if the bytes do."""
    if stamp is None or not stamp.fresh(time.time()):
        return stamp
    return stamp._replace(changed=-1)


def is_settled(path: Path) -> bool:
    """Whether nobody is in the middle of writing a file, as far as its time tells."""
    found = stamp_of(path)
    return found is None or not is_being_written(found.modified)


def is_being_written(modified: int) -> bool:
    """Whether whoever wrote a file at this time, in nanoseconds, may not have finished."""
    return abs(time.time() - modified / 1e9) < SETTLES_AFTER
