"""What stood under which name at one moment, and how that is written down. Opens nothing.

Names come from somebody else's file: those that could lead anywhere else are left out and told.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping
from enum import IntEnum
from pathlib import PurePosixPath
from typing import Final, TypeAlias

from ctxview.files.reading import outside
from ctxview.quick_dataclass import dataclass
from ctxview.recording.chunks import DIGEST, REF_SIZE, Refs
from ctxview.recording.frames import Damaged

LONGEST_NAME: Final = 8192

_MOMENT: Final = struct.Struct("<qQIH")
_NAME: Final = struct.Struct("<HB")
_FILE: Final = struct.Struct("<QqHII")
_REASON: Final = struct.Struct("<H")
_LENT: Final = struct.Struct(f"<QqH{DIGEST}s")


@dataclass(frozen=True, slots=True)
class File:
    """A file's content as chunks; `modified` in nanoseconds, `mode` the permissions."""

    size: int
    modified: int
    mode: int
    refs: Refs


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, which may be empty."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something whose content was not kept, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Lent:
    """The first `size` bytes of the file as it stands on disk, if they still have this fingerprint.

    Only in recordings that end with the program that wrote them.
    """

    size: int
    modified: int
    mode: int
    fingerprint: bytes


Entry: TypeAlias = File | Folder | LeftOut | Lent
Manifest: TypeAlias = dict[str, Entry]
Changes: TypeAlias = Mapping[str, Entry | None]
"""What stands under some names now; None for what is gone."""


class _Word(IntEnum):
    GONE = 0
    FILE = 1
    FOLDER = 2
    LEFT_OUT = 3
    LENT = 4


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment as written: the changes against the moment at `base`, or everything when that is 0."""

    time: int
    base: int
    note: str
    count: int
    entries: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """A name in a recording that is not used, and why."""

    name: str
    reason: str


def pack_moment(time: int, base: int, note: str, changes: Changes, before: Mapping[str, Entry]) -> bytes:
    """`time` in nanoseconds since 1970; `before` is what stood there at `base`."""
    said = note.encode("utf-8", "replace")[:0xFFFF]
    parts = [_MOMENT.pack(time, base, len(changes), len(said)), said]
    for name, entry in changes.items():
        parts.append(_pack_entry(os.fsencode(name), entry, before.get(name)))
    return b"".join(parts)


def unpack_moment(payload: bytes) -> Moment:
    """The head of a moment, its entries still packed; raises `Damaged`."""
    if len(payload) < _MOMENT.size:
        raise Damaged("a moment is too short")
    time, base, count, length = _MOMENT.unpack_from(payload)
    note = payload[_MOMENT.size : _MOMENT.size + length].decode("utf-8", "replace")
    return Moment(time, base, note, count, payload[_MOMENT.size + length :])


def apply_moment(moment: Moment, manifest: Manifest) -> list[Refused]:
    """Make of what stood there at the moment's base what stood there at the moment; raises `Damaged`.

    Returns the names that were refused; nothing is under them.
    """
    if not moment.base:
        manifest.clear()
    refused, seen = [], set[str]()
    for name, entry in _entries(moment, manifest):
        if (reason := _bad_name(name, seen)) is not None:
            refused.append(Refused(name, reason))
            continue
        seen.add(name)
        if entry is None:
            manifest.pop(name, None)
        else:
            manifest[name] = entry
    return refused


def _pack_entry(name: bytes, entry: Entry | None, before: Entry | None) -> bytes:
    match entry:
        case None:
            return _NAME.pack(len(name), _Word.GONE) + name
        case Folder():
            return _NAME.pack(len(name), _Word.FOLDER) + name
        case LeftOut(reason):
            said = reason.encode("utf-8", "replace")[:0xFFFF]
            return _NAME.pack(len(name), _Word.LEFT_OUT) + name + _REASON.pack(len(said)) + said
        case Lent(size, modified, mode, fingerprint):
            return _NAME.pack(len(name), _Word.LENT) + name + _LENT.pack(size, modified, mode, fingerprint)
        case File(size, modified, mode, refs):
            kept = refs.shared(before.refs) if isinstance(before, File) else 0
            fields = _FILE.pack(size, modified, mode, kept, len(refs) - kept)
            return _NAME.pack(len(name), _Word.FILE) + name + fields + refs.behind(kept).packed


class _Reader:
    """Takes fields off the front of packed bytes; raises `Damaged` when there are too few."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def take(self, count: int) -> bytes:
        taken = self._data[self._place : self._place + count]
        if len(taken) < count:
            raise Damaged("a moment ends in the middle of an entry")
        self._place += count
        return taken

    def fields(self, form: struct.Struct) -> tuple[int, ...]:
        return form.unpack(self.take(form.size))


def _entries(moment: Moment, before: Mapping[str, Entry]) -> Iterator[tuple[str, Entry | None]]:
    reader = _Reader(moment.entries)
    for _ in range(moment.count):
        length, word = reader.fields(_NAME)
        name = os.fsdecode(reader.take(length))
        yield name, _entry(word, reader, before.get(name) if moment.base else None)


def _entry(word: int, reader: _Reader, before: Entry | None) -> Entry | None:
    match word:
        case _Word.GONE:
            return None
        case _Word.FOLDER:
            return Folder()
        case _Word.LEFT_OUT:
            (length,) = reader.fields(_REASON)
            return LeftOut(reader.take(length).decode("utf-8", "replace"))
        case _Word.LENT:
            size, modified, mode, fingerprint = _LENT.unpack(reader.take(_LENT.size))
            return Lent(size, modified, mode, fingerprint)
        case _Word.FILE:
            size, modified, mode, kept, added = reader.fields(_FILE)
            earlier = before.refs if isinstance(before, File) else Refs()
            if kept > len(earlier):
                raise Damaged("a moment builds on chunks that are not there")
            refs = earlier.first(kept) + Refs(reader.take(added * REF_SIZE))
            return File(size, modified, mode, refs)
        case _:
            raise Damaged("a moment holds an entry of an unknown kind")


def _bad_name(name: str, seen: set[str]) -> str | None:
    if (reason := outside(name)) is not None:
        return reason
    if name in seen:
        return "the name stands there twice"
    if len(os.fsencode(name)) > LONGEST_NAME:
        return "the name is too long"
    return None if str(PurePosixPath(name)) == name else "the path is not written in its plain form"
