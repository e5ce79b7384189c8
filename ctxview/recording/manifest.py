"""The data of a recording: its subject, the files at each moment, and the changes between moments."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from msgspec import Struct

from ctxview.files.change_detector import FileChangeKind
from ctxview.files.reading import path_problem
from ctxview.recording.chunks import DIGEST, REF_SIZE, ChunkRefs
from ctxview.recording.frames import DamagedRecordingError

PLACE_PARTS: Final = 4
"""The number of last names of the path that are stored: enough for a title, and no more, for privacy."""
LONGEST_NAME: Final = 8192
DEEPEST_NAME: Final = 64
"""The most folders in a name; no recorder goes as deep."""

_INFO: Final = struct.Struct("<qB")
_MOMENT: Final = struct.Struct("<qQIH")
_NAME: Final = struct.Struct("<HB")
_FILE: Final = struct.Struct("<QqHII")
_REASON: Final = struct.Struct("<H")
_BORROWED: Final = struct.Struct(f"<QqH{DIGEST}s")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class RecordingInfo(Struct, frozen=True):
    """The last names of the recorded path, and the start of the recording in nanoseconds since 1970."""

    place: PurePosixPath
    is_folder: bool
    since: int

    @property
    def name(self) -> str:
        return self.place.name


UNKNOWN_INFO: Final = RecordingInfo(PurePosixPath("recorded"), True, 0)


def recording_info(path: Path, now: int) -> RecordingInfo:
    """Return the info for a recording of the existing file or folder `path`."""
    parts = path.resolve().parts[1:][-PLACE_PARTS:]
    return RecordingInfo(PurePosixPath(*parts or ("root",)), path.is_dir(), now)


def pack_info(info: RecordingInfo) -> bytes:
    return _INFO.pack(info.since, info.is_folder) + os.fsencode(str(info.place))


def unpack_info(payload: bytes) -> RecordingInfo:
    """Return the info of a recording, or `UNKNOWN_INFO` when its path is not safe."""
    place = os.fsdecode(payload[_INFO.size :])
    if len(payload) < _INFO.size or path_problem(place) is not None or len(place) > 1024:
        return UNKNOWN_INFO
    since, folder = _INFO.unpack_from(payload)
    return RecordingInfo(PurePosixPath(*PurePosixPath(place).parts[-PLACE_PARTS:]), bool(folder), since)


class RecordedFile(Struct, frozen=True):
    """A file with its content as chunks; `modified` is in nanoseconds, `mode` are the permissions."""

    size: int
    modified: int
    mode: int
    refs: ChunkRefs


class RecordedFolder(Struct, frozen=True):
    """A folder, which may be empty."""


class SkippedFile(Struct, frozen=True):
    """A path whose content was not recorded, and the reason."""

    reason: str


class BorrowedFile(Struct, frozen=True):
    """A file that is not copied: its first `size` bytes on disk, if they still have this fingerprint.

    Only private recordings, which end with the program, have such entries.
    """

    size: int
    modified: int
    mode: int
    fingerprint: bytes


Entry: TypeAlias = RecordedFile | RecordedFolder | SkippedFile | BorrowedFile
Manifest: TypeAlias = dict[str, Entry]
Changes: TypeAlias = Mapping[str, Entry | None]
"""The new entries by name; None for a deleted file."""


class _EntryKind(IntEnum):
    GONE = 0
    FILE = 1
    FOLDER = 2
    SKIPPED = 3
    BORROWED = 4


class RecordedMoment(Struct, frozen=True):
    """One moment as written: the changes since the moment at `base`, or all entries when `base` is 0."""

    time: int
    base: int
    note: str
    count: int
    entries: bytes


class RefusedName(Struct, frozen=True):
    """A name in a recording that is ignored, and the reason."""

    name: str
    reason: str


def pack_moment(time: int, base: int, note: str, changes: Changes, before: Mapping[str, Entry]) -> bytes:
    """Return the payload of a moment; `time` is in nanoseconds since 1970, `before` is the base."""
    text = note.encode("utf-8", "replace")[:0xFFFF]
    parts = [_MOMENT.pack(time, base, len(changes), len(text)), text]
    for name, entry in changes.items():
        parts.append(_pack_entry(os.fsencode(name), entry, before.get(name)))
    return b"".join(parts)


def unpack_moment(payload: bytes) -> RecordedMoment:
    """Return a moment with its entries still packed; raises `DamagedRecordingError`."""
    if len(payload) < _MOMENT.size:
        raise DamagedRecordingError("a moment is too short")
    time, base, count, length = _MOMENT.unpack_from(payload)
    note = payload[_MOMENT.size : _MOMENT.size + length].decode("utf-8", "replace")
    return RecordedMoment(time, base, note, count, payload[_MOMENT.size + length :])


def apply_moment(moment: RecordedMoment, manifest: Manifest) -> list[RefusedName]:
    """Change `manifest` from the base of the moment to the moment; raises `DamagedRecordingError`.

    Return the refused names, which are not in the manifest.
    """
    if not moment.base:
        manifest.clear()
    refused, seen = [], set[str]()
    for name, entry in _entries(moment, manifest):
        if (reason := _bad_name(name, seen)) is not None:
            refused.append(RefusedName(name, reason))
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
            return _NAME.pack(len(name), _EntryKind.GONE) + name
        case RecordedFolder():
            return _NAME.pack(len(name), _EntryKind.FOLDER) + name
        case SkippedFile(reason):
            text = reason.encode("utf-8", "replace")[:0xFFFF]
            return _NAME.pack(len(name), _EntryKind.SKIPPED) + name + _REASON.pack(len(text)) + text
        case BorrowedFile(size, modified, mode, fingerprint):
            return (
                _NAME.pack(len(name), _EntryKind.BORROWED)
                + name
                + _BORROWED.pack(size, modified, mode, fingerprint)
            )
        case RecordedFile(size, modified, mode, refs):
            kept = refs.shared(before.refs) if isinstance(before, RecordedFile) else 0
            fields = _FILE.pack(size, modified, mode, kept, len(refs) - kept)
            return _NAME.pack(len(name), _EntryKind.FILE) + name + fields + refs.behind(kept).packed


class _Reader:
    """Reads fields from packed bytes in order; raises `DamagedRecordingError` when there are too few."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def take(self, count: int) -> bytes:
        taken = self._data[self._position : self._position + count]
        if len(taken) < count:
            raise DamagedRecordingError("a moment ends in the middle of an entry")
        self._position += count
        return taken

    def fields(self, form: struct.Struct) -> tuple[int, ...]:
        return form.unpack(self.take(form.size))


def _entries(moment: RecordedMoment, before: Mapping[str, Entry]) -> Iterator[tuple[str, Entry | None]]:
    reader = _Reader(moment.entries)
    for _ in range(moment.count):
        length, kind = reader.fields(_NAME)
        name = os.fsdecode(reader.take(length))
        yield name, _entry(kind, reader, before.get(name) if moment.base else None)


def _entry(kind: int, reader: _Reader, before: Entry | None) -> Entry | None:
    match kind:
        case _EntryKind.GONE:
            return None
        case _EntryKind.FOLDER:
            return RecordedFolder()
        case _EntryKind.SKIPPED:
            (length,) = reader.fields(_REASON)
            return SkippedFile(reader.take(length).decode("utf-8", "replace"))
        case _EntryKind.BORROWED:
            size, modified, mode, fingerprint = _BORROWED.unpack(reader.take(_BORROWED.size))
            return BorrowedFile(size, modified, mode, fingerprint)
        case _EntryKind.FILE:
            size, modified, mode, kept, added = reader.fields(_FILE)
            earlier = before.refs if isinstance(before, RecordedFile) else ChunkRefs()
            if kept > len(earlier):
                raise DamagedRecordingError("a moment builds on chunks that do not exist")
            refs = earlier.first(kept) + ChunkRefs(reader.take(added * REF_SIZE))
            return RecordedFile(size, modified, mode, refs)
        case _:
            raise DamagedRecordingError("a moment holds an entry of an unknown kind")


def _bad_name(name: str, seen: set[str]) -> str | None:
    if (reason := path_problem(name)) is not None:
        return reason
    if name in seen:
        return "the name appears twice"
    if len(os.fsencode(name)) > LONGEST_NAME:
        return "the name is too long"
    if name.count("/") > DEEPEST_NAME:
        return "the path is too deep"
    return None if str(PurePosixPath(name)) == name else "the path is not in its normal form"


class FileDelta(Struct, frozen=True):
    """The change of one name; sizes are in bytes, None without content. `why` is why it is not recorded."""

    name: str
    kind: FileChangeKind
    before: int | None = None
    after: int | None = None
    why: str | None = None


def files_between(before: Manifest, after: Manifest) -> Iterator[FileDelta]:
    """Yield the change of every file that differs or is gone, sorted by name."""
    for name in sorted({**before, **after}):
        old, new = before.get(name), after.get(name)
        if old != new and (change := _change(name, old, new)) is not None:
            yield change


def entry_size(entry: Entry | None) -> int | None:
    return entry.size if isinstance(entry, RecordedFile | BorrowedFile) else None


def _change(name: str, old: Entry | None, new: Entry | None) -> FileDelta | None:
    left, right = entry_size(old), entry_size(new)
    if isinstance(new, SkippedFile):
        return FileDelta(
            name, FileChangeKind.APPEARED if old is None else FileChangeKind.REPLACED, left, None, new.reason
        )
    if right is None:
        return FileDelta(name, FileChangeKind.GONE, left) if left is not None else None
    if left is None:
        return FileDelta(name, FileChangeKind.APPEARED, None, right)
    if _begins_as_before(old, new):
        return FileDelta(name, FileChangeKind.APPENDED, left, right) if right > left else None
    return FileDelta(
        name, FileChangeKind.TRUNCATED if right < left else FileChangeKind.REWRITTEN, left, right
    )


def _begins_as_before(old: Entry | None, new: Entry | None) -> bool:
    """Whether a file still begins as before. Appended chunks are merged now and then, so half is enough."""
    if not isinstance(old, RecordedFile) or not isinstance(new, RecordedFile) or new.size < old.size:
        return False
    shared = takewhile(lambda pair: pair[0].hash == pair[1].hash, zip(old.refs, new.refs, strict=False))
    return sum(ref.length for ref, _ in shared) * 2 >= old.size


def moment_time_text(time: int) -> str | None:
    """Return nanoseconds since 1970 as ISO 8601 in UTC, to the millisecond; None outside the calendar."""
    try:
        moment = _EPOCH + timedelta(microseconds=time // 1000)
    except OverflowError:
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment_clock_text(time: int) -> str:
    """Return the local time of day, to the second."""
    try:
        return (_EPOCH + timedelta(microseconds=time // 1000)).astimezone().strftime("%H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return "--:--:--"
