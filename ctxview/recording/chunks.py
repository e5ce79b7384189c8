"""Pieces of content as they stand in a recording, by hash: packed, unpacked and verified. Knows no file."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

from ctxview.quick_dataclass import dataclass
from ctxview.recording.cutting import LONGEST
from ctxview.recording.frames import Damaged

DIGEST: Final = 16

_CHUNK: Final = struct.Struct(f"<BI{DIGEST}s")
_REF: Final = struct.Struct(f"<QI{DIGEST}s")
_PLAIN, _ZLIB = 0, 1
_LEVEL: Final = 3


def digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=DIGEST).digest()


@dataclass(frozen=True, slots=True)
class Ref:
    """Where a chunk's frame begins, how long its content is, and its hash."""

    place: int
    length: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Refs:
    """The chunks that make up a content, packed: a large file has many."""

    packed: bytes = b""

    @classmethod
    def of(cls, refs: Iterator[Ref] | list[Ref]) -> Refs:
        return cls(b"".join(_REF.pack(ref.place, ref.length, ref.hash) for ref in refs))

    def __len__(self) -> int:
        return len(self.packed) // _REF.size

    def __iter__(self) -> Iterator[Ref]:
        return (Ref(*fields) for fields in _REF.iter_unpack(self.packed))

    def __getitem__(self, number: int) -> Ref:
        return Ref(*_REF.unpack_from(self.packed, (number % len(self)) * _REF.size))

    def first(self, count: int) -> Refs:
        return Refs(self.packed[: count * _REF.size])

    def behind(self, count: int) -> Refs:
        return Refs(self.packed[count * _REF.size :])

    def __add__(self, other: Refs) -> Refs:
        return Refs(self.packed + other.packed)

    def shared(self, other: Refs) -> int:
        """How many refs both begin with."""
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


REF_SIZE: Final = _REF.size


def pack_chunk(content: bytes, hashed: bytes) -> bytes:
    """A chunk's payload: compressed, unless that makes it hardly shorter."""
    smaller = zlib.compress(content, _LEVEL)
    worth = len(smaller) < len(content) - len(content) // 16
    how, data = (_ZLIB, smaller) if worth else (_PLAIN, content)
    return _CHUNK.pack(how, len(content), hashed) + data


def unpack_chunk(payload: bytes, ref: Ref) -> bytes:
    """The content a chunk's payload stands for; raises `Damaged` unless it is what `ref` promises."""
    if len(payload) < _CHUNK.size:
        raise Damaged(f"the chunk at byte {ref.place:,} is too short")
    how, length, hashed = _CHUNK.unpack_from(payload)
    if (length, hashed) != (ref.length, ref.hash) or length > LONGEST or how not in (_PLAIN, _ZLIB):
        raise Damaged(f"the chunk at byte {ref.place:,} is not the one that was meant")
    data = payload[_CHUNK.size :]
    content = data if how == _PLAIN else _inflated(data, length, ref.place)
    if len(content) != length or digest(content) != hashed:
        raise Damaged(f"the content of the chunk at byte {ref.place:,} does not have its hash")
    return content


def _inflated(data: bytes, length: int, place: int) -> bytes:
    """At most one byte more than promised, whatever the data would blow up to."""
    try:
        return zlib.decompressobj().decompress(data, length + 1)
    except zlib.error:
        raise Damaged(f"the chunk at byte {place:,} cannot be decompressed") from None
