"""Chunks of content: where it is cut, and how a chunk and its references are packed.

The content itself decides where it is cut, so an edit changes only the chunks it touches. Small files have
small chunks, so that a small edit costs little; large files have larger ones, so that there are not too many.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from typing import Final
from zlib import crc32

from msgspec import Struct

from ctxview.recording.frames import DamagedRecordingError

LONGEST: Final = 256 * 1024
DIGEST: Final = 16

_WINDOW: Final = 32
# A cut may be behind the end of a word, a line or a value, after one of some arbitrary characters. A checksum
# of the bytes before such a place then decides.
_PLACES: Final = re.compile(rb"[%\-5=EMU\]emu}][\n,} ]")
_CHUNK: Final = struct.Struct(f"<BI{DIGEST}s")
_REF: Final = struct.Struct(f"<QI{DIGEST}s")
_PLAIN, _ZLIB = 0, 1
_LEVEL: Final = 3

REF_SIZE: Final = _REF.size


class CutSizes(Struct, frozen=True):
    """The least and largest size of a chunk; one in `one_in` possible places is a cut."""

    least: int
    most: int
    one_in: int


SMALL: Final = CutSizes(1024, 16 * 1024, 128)
LARGE: Final = CutSizes(16 * 1024, LONGEST, 2048)
LARGE_FROM: Final = 1024 * 1024


def cut_sizes(size: int) -> CutSizes:
    return LARGE if size >= LARGE_FROM else SMALL


class ContentCutter:
    """Cuts content that arrives piece by piece into chunks; `rest` yields the last ones."""

    def __init__(self, sizes: CutSizes) -> None:
        self._sizes = sizes
        self._left = b""

    def add(self, content: bytes) -> Iterator[bytes]:
        content = self._left + content
        start = 0
        while len(content) - start >= self._sizes.most:
            end = self._cut(content, start)
            yield content[start:end]
            start = end
        self._left = content[start:]

    def rest(self) -> Iterator[bytes]:
        content, self._left = self._left, b""
        start = 0
        while start < len(content):
            end = min(self._cut(content, start), len(content))
            yield content[start:end]
            start = end

    def _cut(self, content: bytes, start: int) -> int:
        sizes = self._sizes
        for found in _PLACES.finditer(content, start + sizes.least, start + sizes.most):
            end = found.end()
            if crc32(content[end - _WINDOW : end]) % sizes.one_in == 0:
                return end
        return start + sizes.most


def chunk_digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=DIGEST).digest()


class ChunkRef(Struct, frozen=True):
    """A reference to a chunk: the start of its frame, the length of its content, and its hash."""

    place: int
    length: int
    hash: bytes


class ChunkRefs(Struct, frozen=True):
    """The references to the chunks of one content, packed because a large file has many."""

    packed: bytes = b""

    @classmethod
    def of(cls, refs: Iterator[ChunkRef] | list[ChunkRef]) -> ChunkRefs:
        return cls(b"".join(_REF.pack(ref.place, ref.length, ref.hash) for ref in refs))

    def __len__(self) -> int:
        return len(self.packed) // _REF.size

    def __iter__(self) -> Iterator[ChunkRef]:
        return (ChunkRef(*fields) for fields in _REF.iter_unpack(self.packed))

    def __getitem__(self, number: int) -> ChunkRef:
        return ChunkRef(*_REF.unpack_from(self.packed, (number % len(self)) * _REF.size))

    def first(self, count: int) -> ChunkRefs:
        return ChunkRefs(self.packed[: count * _REF.size])

    def behind(self, count: int) -> ChunkRefs:
        return ChunkRefs(self.packed[count * _REF.size :])

    def __add__(self, other: ChunkRefs) -> ChunkRefs:
        return ChunkRefs(self.packed + other.packed)

    def shared(self, other: ChunkRefs) -> int:
        """Count the references that both begin with."""
        known, wanted = memoryview(self.packed), memoryview(other.packed)
        low, high = 0, min(len(self), len(other))
        while low < high:
            middle = (low + high + 1) // 2
            span = slice(low * _REF.size, middle * _REF.size)
            if known[span] == wanted[span]:
                low = middle
            else:
                high = middle - 1
        return low


def pack_chunk(content: bytes, hashed: bytes) -> bytes:
    """Return the payload of a chunk: compressed, unless that saves little."""
    compressed = zlib.compress(content, _LEVEL)
    is_shorter = len(compressed) < len(content) - len(content) // 16
    method, data = (_ZLIB, compressed) if is_shorter else (_PLAIN, content)
    return _CHUNK.pack(method, len(content), hashed) + data


def unpack_chunk(payload: bytes, ref: ChunkRef) -> bytes:
    """Return the content of a chunk; raises `DamagedRecordingError` unless it matches `ref`."""
    if len(payload) < _CHUNK.size:
        raise DamagedRecordingError(f"the chunk at byte {ref.place:,} is too short")
    method, length, hashed = _CHUNK.unpack_from(payload)
    if (length, hashed) != (ref.length, ref.hash) or length > LONGEST or method not in (_PLAIN, _ZLIB):
        raise DamagedRecordingError(f"the chunk at byte {ref.place:,} is not the expected one")
    data = payload[_CHUNK.size :]
    content = data if method == _PLAIN else _inflated(data, length, ref.place)
    if len(content) != length or chunk_digest(content) != hashed:
        raise DamagedRecordingError(f"the content of the chunk at byte {ref.place:,} does not match its hash")
    return content


def _inflated(data: bytes, length: int, place: int) -> bytes:
    """Decompress at most one byte more than `length`, so that hostile data cannot fill the memory."""
    try:
        return zlib.decompressobj().decompress(data, length + 1)
    except zlib.error:
        raise DamagedRecordingError(f"the chunk at byte {place:,} cannot be decompressed") from None
