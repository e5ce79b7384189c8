"""The outer structure of a recording: a head, then frames with a length and checksums; it knows no content.

Checksums cover every byte. They start from a random number of each file, its salt, so that a recording inside
another one is never taken for a part of it.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Final
from zlib import crc32

from msgspec import Struct

from ctxview.recording import MAGIC

HEAD: Final = struct.Struct("<8sII")
FRAME: Final = struct.Struct("<3sBII")
CHECK: Final = struct.Struct("<I")
MARK: Final = b"\xf5cx"
MOST_PAYLOAD: Final = 64 * 1024 * 1024

_AROUND: Final = FRAME.size + CHECK.size
_SEARCHED_FIRST: Final = 4096
_SEARCHED_AT_ONCE: Final = 1024 * 1024
_MOST_FALSE_MARKS: Final = 1_000_000

ReadAt = Callable[[int, int], bytes]
"""A function that returns the bytes of the file from one offset to another, fewer at its end."""


class FrameKind(IntEnum):
    ABOUT = 1
    CHUNK = 2
    MOMENT = 3


class DamagedRecordingError(Exception):
    """Damaged bytes of a recording, with the reason in words."""


class Frame(Struct, frozen=True):
    kind: FrameKind
    start: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.length + _AROUND


class DamagedRange(Struct, frozen=True):
    """Bytes that are not a frame; `torn` if they are the unfinished end of the file."""

    start: int
    end: int
    torn: bool


def new_head() -> bytes:
    return _head(int.from_bytes(os.urandom(4), "little"))


def salt_of(head: bytes) -> int:
    """Return the salt of the checksums of this file; raises `DamagedRecordingError`."""
    if len(head) < HEAD.size:
        raise DamagedRecordingError("its head is incomplete")
    _, salt, _ = HEAD.unpack(head[: HEAD.size])
    if head[: HEAD.size] != _head(salt):
        raise DamagedRecordingError("its first 16 bytes are damaged")
    return int(salt)


def frame_bytes(kind: FrameKind, payload: bytes, salt: int) -> bytes:
    return b"".join((_header(kind, len(payload), salt), payload, CHECK.pack(crc32(payload, salt))))


def frames(read: ReadAt, start: int, end: int, salt: int) -> Iterator[Frame | DamagedRange]:
    """Yield the frames between two offsets, and the damaged ranges between whole frames.

    Only the headers are read. After a damaged one the next frame is found by its mark.
    """
    while start < end:
        frame = _frame_at(read, start, salt)
        if frame is not None and frame.end <= end:
            yield frame
            start = frame.end
        elif frame is not None or end - start < FRAME.size:
            yield DamagedRange(start, end, torn=True)
            return
        else:
            following = _next_whole(read, start + 1, end, salt)
            yield DamagedRange(start, following, torn=False)
            start = following


def payload_of(read: ReadAt, frame: Frame, salt: int) -> bytes:
    """Return the payload of a frame; raises `DamagedRecordingError`."""
    content = read(frame.start + FRAME.size, frame.end)
    payload, check = content[: frame.length], content[frame.length :]
    if len(check) < CHECK.size or check != CHECK.pack(crc32(payload, salt)):
        raise DamagedRecordingError(f"the checksum of the frame at byte {frame.start:,} does not match")
    return payload


def frame_at(read: ReadAt, start: int, kind: FrameKind, salt: int) -> Frame:
    """Return the frame of this `kind` that begins at `start`; raises `DamagedRecordingError`."""
    frame = _frame_at(read, start, salt)
    if frame is None or frame.kind is not kind:
        raise DamagedRecordingError(f"there is no {kind.name.lower()} at byte {start:,}")
    return frame


def _head(salt: int) -> bytes:
    return HEAD.pack(MAGIC, salt, crc32(MAGIC, salt))


def _header(kind: int, length: int, salt: int) -> bytes:
    plain = FRAME.pack(MARK, kind, length, 0)[: -CHECK.size]
    return plain + CHECK.pack(crc32(plain, salt))


def _frame_at(read: ReadAt, start: int, salt: int) -> Frame | None:
    header = read(start, start + FRAME.size)
    if len(header) < FRAME.size or not header.startswith(MARK):
        return None
    _, kind, length, _ = FRAME.unpack(header)
    if header != _header(kind, length, salt) or length > MOST_PAYLOAD or kind not in tuple(FrameKind):
        return None
    return Frame(FrameKind(kind), start, length)


def _next_whole(read: ReadAt, start: int, end: int, salt: int) -> int:
    """Return the start of the next frame with a valid header, or `end`, also after too many false marks."""
    false_marks, width = 0, _SEARCHED_FIRST
    while start < end:
        data = read(start, min(start + width, end))
        place = data.find(MARK)
        while place >= 0:
            if _frame_at(read, start + place, salt) is not None:
                return start + place
            false_marks += 1
            if false_marks > _MOST_FALSE_MARKS:
                return end
            place = data.find(MARK, place + 1)
        if len(data) < len(MARK):
            return end
        start += len(data) - len(MARK) + 1
        width = min(width * 4, _SEARCHED_AT_ONCE)
    return end
