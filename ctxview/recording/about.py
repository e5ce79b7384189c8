"""What a recording is of, as its first frame says it. Only the last names of the path are written down."""

from __future__ import annotations

import os
import struct
from pathlib import Path, PurePosixPath
from typing import Final

from ctxview.files.reading import outside
from ctxview.quick_dataclass import dataclass

PLACE_PARTS: Final = 4
"""Enough for names that come from the folders above, and no more of somebody's disk than that."""

_ABOUT: Final = struct.Struct("<qB")


@dataclass(frozen=True, slots=True)
class About:
    """The last names of the recorded path, and since when, in nanoseconds since 1970."""

    place: PurePosixPath
    is_folder: bool
    since: int

    @property
    def name(self) -> str:
        return self.place.name


UNKNOWN: Final = About(PurePosixPath("recorded"), True, 0)


def about(path: Path, now: int) -> About:
    """Of a file or a folder that is there."""
    parts = path.resolve().parts[1:][-PLACE_PARTS:]
    return About(PurePosixPath(*parts or ("root",)), path.is_dir(), now)


def pack_about(about: About) -> bytes:
    return _ABOUT.pack(about.since, about.is_folder) + os.fsencode(str(about.place))


def unpack_about(payload: bytes) -> About:
    """Names that lead elsewhere are not believed."""
    place = os.fsdecode(payload[_ABOUT.size :])
    if len(payload) < _ABOUT.size or outside(place) is not None or len(place) > 1024:
        return UNKNOWN
    since, folder = _ABOUT.unpack_from(payload)
    return About(PurePosixPath(*PurePosixPath(place).parts[-PLACE_PARTS:]), bool(folder), since)
