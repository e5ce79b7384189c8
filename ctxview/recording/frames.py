"""The outermost bytes of a recording: a head, then frames with a length and checksums. Knows no content.

Every byte is covered by a checksum. The checksums start from a number of the file's own, so that a recording
that stands inside another one is never taken for a part of it.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Final
from zlib import crc32

from ctxview.quick_dataclass import dataclass

MAGIC: Final = b"\x93CTXREC1"
HEAD: Final = struct.Struct("<8sII")
FRAME: Final = struct.Struct("<3sBII")
CHECK: Final = struct.Struct("<I")
MARK: Final = b"\xf5cx"
MOST_PAYLOAD: Final = 64 * 1024 * 1024

_AROUND: Final = FRAME.size + CHECK.size
_SEARCHED_AT_ONCE: Final = 1024 * 1024

Read = Callable[[int, int], bytes]
"""The bytes of the file from one place to another, fewer at its end."""


class Kind(IntEnum):
    ABOUT = 1
    CHUNK = 2
    MOMENT = 3


class Damaged(Exception):
    """Bytes of a recording that are not what was written, with the reason in words."""


@dataclass(frozen=True, slots=True)
class Frame:
    kind: Kind
    start: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.length + _AROUND


@dataclass(frozen=True, slots=True)
class Hole:
    """Bytes that are no frame. A torn one is the unfinished end of the file."""

    start: int
    end: int
    torn: bool


def new_head() -> bytes:
    return _head(int.from_bytes(os.urandom(4), "little"))


def salt_of(head: bytes) -> int:
    """Where the checksums of this file start from; raises `Damaged`."""
    if len(head) < HEAD.size:
        raise Damaged("its head is not complete")
    _, salt, _ = HEAD.unpack(head[: HEAD.size])
    if head[: HEAD.size] != _head(salt):
        raise Damaged("its first 16 bytes are not what was written")
    return int(salt)


def frame_bytes(kind: Kind, payload: bytes, salt: int) -> bytes:
    return b"".join((_header(kind, len(payload), salt), payload, CHECK.pack(crc32(payload, salt))))


def frames(read: Read, start: int, end: int, salt: int) -> Iterator[Frame | Hole]:
    """What stands between two places: frames, and what lies between those that are whole.

    Only the headers are read. After a broken one the next frame is looked for by its mark.
    """
    while start < end:
        frame = _frame_at(read, start, salt)
        if frame is not None and frame.end <= end:
            yield frame
            start = frame.end
        elif frame is not None or end - start < FRAME.size:
            yield Hole(start, end, torn=True)
            return
        else:
            following = _next_whole(read, start + 1, end, salt)
            yield Hole(start, following, torn=False)
            start = following


def payload_of(read: Read, frame: Frame, salt: int) -> bytes:
    """What a frame holds; raises `Damaged`."""
    content = read(frame.start + FRAME.size, frame.end)
    payload, check = content[: frame.length], content[frame.length :]
    if len(check) < CHECK.size or check != CHECK.pack(crc32(payload, salt)):
        raise Damaged(f"the checksum of the frame at byte {frame.start:,} does not match")
    return payload


def frame_at(read: Read, start: int, kind: Kind, salt: int) -> Frame:
    """The frame that is said to begin at `start`; raises `Damaged`."""
    frame = _frame_at(read, start, salt)
    if frame is None or frame.kind is not kind:
        raise Damaged(f"there is no {kind.name.lower()} at byte {start:,}")
    return frame


def _head(salt: int) -> bytes:
    return HEAD.pack(MAGIC, salt, crc32(MAGIC, salt))


def _header(kind: int, length: int, salt: int) -> bytes:
    plain = FRAME.pack(MARK, kind, length, 0)[: -CHECK.size]
    return plain + CHECK.pack(crc32(plain, salt))


def _frame_at(read: Read, start: int, salt: int) -> Frame | None:
    header = read(start, start + FRAME.size)
    if len(header) < FRAME.size or not header.startswith(MARK):
        return None
    _, kind, length, _ = FRAME.unpack(header)
    if header != _header(kind, length, salt) or length > MOST_PAYLOAD or kind not in tuple(Kind):
        return None
    return Frame(Kind(kind), start, length)


def _next_whole(read: Read, start: int, end: int, salt: int) -> int:
    """Where the next frame begins whose header is sound; `end` when there is none."""
    while start < end:
        some = read(start, min(start + _SEARCHED_AT_ONCE, end))
        place = some.find(MARK)
        while place >= 0:
            if _frame_at(read, start + place, salt) is not None:
                return start + place
            place = some.find(MARK, place + 1)
        if len(some) < len(MARK):
            return end
        start += len(some) - len(MARK) + 1
    return end
