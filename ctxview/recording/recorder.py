"""Record the files in a scope: read their status, and write the changed ones as a moment.

No link is followed, and only files whose status changed are opened.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ctxview.files.change_detector import FileChangeKind, Stamp, stamp_from
from ctxview.files.open_file import OpenFile, open_file_beneath
from ctxview.files.reading import SKIPPED_FOLDERS, ReadError, error_text
from ctxview.recording.chunks import LARGE, ChunkRef, ChunkRefs, ContentCutter, chunk_digest, cut_sizes
from ctxview.recording.frames import DamagedRecordingError
from ctxview.recording.manifest import (
    BorrowedFile,
    Entry,
    FileDelta,
    RecordedFile,
    RecordedFolder,
    SkippedFile,
    entry_size,
)
from ctxview.recording.reader import read_chunk
from ctxview.recording.writer import RecordingWriter

MOST_ENTRIES: Final = 20_000
DEEPEST: Final = 24
LARGEST: Final = 16 * 1024**3
"""A file with more bytes is not recorded."""
GROWS_FROM: Final = 256 * 1024
"""A file of at least this size that seems to have grown is not read again from its beginning."""

_TOO_DEEP: Final = f"deeper than {DEEPEST} folders, not read"
_READ_AT_ONCE: Final = 1024 * 1024
_MERGED_AT_ONCE: Final = 16


class RecordingScope(Struct, frozen=True):
    """The recorded files: the trees and files below the folder `root` that `parts` name ("" is all)."""

    root: Path
    parts: tuple[str, ...] = ("",)


class FileStatus(Struct, frozen=True):
    """The status of a path: a file with its stamp and permissions, a folder, or why it is neither."""

    stamp: Stamp | None = None
    mode: int = 0
    problem: str | None = None

    @property
    def is_folder(self) -> bool:
        return self.stamp is None and self.problem is None


def status_of(status: os.stat_result) -> FileStatus:
    kind = status.st_mode
    if stat.S_ISREG(kind):
        return FileStatus(stamp_from(status), stat.S_IMODE(kind) & 0o777)
    if stat.S_ISLNK(kind):
        return FileStatus(problem="a symbolic link, which is not followed")
    return FileStatus() if stat.S_ISDIR(kind) else FileStatus(problem="neither a file nor a folder")


def status_at(path: Path) -> FileStatus | None:
    """Return the status of `path`; None when it does not exist."""
    try:
        return status_of(os.lstat(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        return FileStatus(problem=error_text(error))


class FileTree(Struct, frozen=True):
    """The status of every path in scope, by name; `notes` name the paths that could not be read."""

    statuses: dict[str, FileStatus]
    notes: tuple[str, ...] = ()


def read_tree(scope: RecordingScope, most: int = MOST_ENTRIES) -> FileTree:
    """Read the status of every path in scope, by name, so that a limit always keeps the same paths."""
    statuses: dict[str, FileStatus] = {}
    notes: list[str] = []
    waiting = [(part, 0) for part in sorted(scope.parts, reverse=True)]
    while waiting:
        name, depth = waiting.pop()
        status = status_at(scope.root / name)
        if status is None:
            continue
        if len(statuses) >= most:
            notes.append(f"only the first {most:,} files and folders are recorded")
            break
        below: list[str] = []
        if status.is_folder:
            below, problem = _names(scope.root / name) if depth < DEEPEST else ([], _TOO_DEEP)
            if problem is not None:
                status = FileStatus(problem=problem)
        if name:
            statuses[name] = status
        elif status.problem is not None:
            notes.append(status.problem)
        waiting += [(f"{name}/{each}" if name else each, depth + 1) for each in reversed(below)]
    return FileTree(statuses, tuple(notes))


def _names(folder: Path) -> tuple[list[str], str | None]:
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if entry.name not in SKIPPED_FOLDERS]
    except FileNotFoundError:
        return [], None
    except OSError as error:
        return [], error_text(error)
    return sorted(found), None


class WrittenMoment(Struct, frozen=True):
    """One written moment with its changes."""

    number: int
    time: int
    changes: tuple[FileDelta, ...]
    notes: tuple[str, ...]


class _KnownFile(Struct, frozen=True):
    """The last known state of a name; `settled` when every further change will change its stamp."""

    status: FileStatus
    entry: Entry
    settled: bool = True
    fingerprint: bytes = b""
    grew: bool = False


class Recorder:
    """Records the files in scope. Files with more than `borrow_above` bytes are borrowed, not copied."""

    def __init__(
        self, scope: RecordingScope, writer: RecordingWriter, borrow_above: int | None = None, first: int = 0
    ) -> None:
        self._scope = scope
        self._writer = writer
        self._recording = OpenFile(scope.root, os.dup(writer.descriptor))
        self._borrow_above = borrow_above
        self._known: dict[str, _KnownFile] = {}
        self._number = first
        self._begun = False
        self._notes: tuple[str, ...] = ()

    def record(self, now: int, scope: RecordingScope | None = None) -> WrittenMoment | None:
        """Write the changes up to `now`, in nanoseconds since 1970, as a moment; None without a change.

        A given `scope` replaces the current one.
        """
        self._scope = scope or self._scope
        tree = read_tree(self._scope)
        before, changes = self._known, dict[str, Entry | None]()
        found = ((name, self._known_file(name, status)) for name, status in tree.statuses.items())
        after = {name: known for name, known in found if known is not None}
        for name, known in after.items():
            if name not in before or known.entry != before[name].entry:
                changes[name] = known.entry
        changes |= {name: None for name in before if name not in after}
        self._known = after
        notes = tuple(note for note in tree.notes if note not in self._notes)
        self._notes = tree.notes
        if not changes and not notes and self._begun:
            return None
        self._writer.moment(now, changes, "; ".join(notes))
        self._begun = True
        self._number += 1
        deltas = tuple(_change(name, before.get(name), after.get(name)) for name in changes)
        return WrittenMoment(self._number, now, tuple(each for each in deltas if each is not None), notes)

    def _known_file(self, name: str, status: FileStatus) -> _KnownFile | None:
        """Return the current state of a name, and record its content; None when the file has gone."""
        known = self._known.get(name)
        if known is not None and known.settled and known.status == status:
            return known
        if status.problem is not None:
            return _KnownFile(status, SkippedFile(status.problem))
        if status.stamp is None:
            return _KnownFile(status, RecordedFolder())
        if status.stamp.size > LARGEST:
            return _KnownFile(status, SkippedFile(f"larger than {LARGEST // 1024**3} GiB"))
        try:
            file = open_file_beneath(self._scope.root, name)
            found = self._read(file, known)
        except ReadError as error:
            gone = status_at(self._scope.root / name) is None
            return None if gone else _KnownFile(status, SkippedFile(error.reason))
        stamp = found.status.stamp
        settled = stamp is not None and not stamp.fresh(time.time())
        if known is not None and _same_content(known.entry, found.entry):
            found = replace(found, entry=known.entry)
        return replace(found, settled=settled)

    def _read(self, file: OpenFile, known: _KnownFile | None) -> _KnownFile:
        """Return the state of an open file, and write its new chunks."""
        found = file.status()
        size, modified, mode = found.st_size, found.st_mtime_ns, found.st_mode & 0o777
        status = status_of(found)
        if self._borrow_above is not None and size > self._borrow_above:
            return _KnownFile(status, BorrowedFile(size, modified, mode, file.fingerprint(size)))
        earlier = known.entry if known is not None and isinstance(known.entry, RecordedFile) else None
        if known is not None and earlier is not None and _begins_as_before(file, status, known, earlier):
            start, earlier_refs, reusable = earlier.size, earlier.refs, dict[bytes, ChunkRef]()
        else:
            start, earlier_refs = 0, ChunkRefs()
            reusable = {ref.hash: ref for ref in earlier.refs} if earlier is not None else {}
        added = ChunkRefs.of(list(self._chunks(file, start, size, reusable)))
        reached = start + sum(ref.length for ref in added)
        entry = RecordedFile(
            reached, modified, mode, self._merged(earlier_refs + added) if len(earlier_refs) else added
        )
        fingerprint = file.fingerprint(reached) if reached >= GROWS_FROM else b""
        return _KnownFile(status, entry, fingerprint=fingerprint, grew=0 < start < reached)

    def _chunks(
        self, file: OpenFile, start: int, size: int, reusable: Mapping[bytes, ChunkRef]
    ) -> Iterator[ChunkRef]:
        pieces = ContentCutter(cut_sizes(size))
        while start < size and (content := file.read(start, min(start + _READ_AT_ONCE, size))):
            start += len(content)
            for piece in pieces.add(content):
                yield self._writer.put(piece, reusable)
        for piece in pieces.rest():
            yield self._writer.put(piece, reusable)

    def _merged(self, refs: ChunkRefs) -> ChunkRefs:
        """Merge many small chunks at the end, which appending makes, into fewer larger ones.

        Sixteen of about the same size become one, so that each byte is written again a few times at most.
        """
        while (run := _small_run(refs)) >= _MERGED_AT_ONCE:
            first = len(refs) - run
            try:
                content = b"".join(
                    read_chunk(self._recording, ref, self._writer.salt) for ref in refs.behind(first)
                )
            except (DamagedRecordingError, ReadError):
                # Another program changed the recording: leave these chunks as they are.
                return refs
            refs = refs.first(first) + ChunkRefs.of([self._writer.put(content, {})])
        return refs


def _begins_as_before(file: OpenFile, status: FileStatus, known: _KnownFile, earlier: RecordedFile) -> bool:
    """Whether a file still begins with its recorded content."""
    now, before = status.stamp, known.status.stamp
    if now is None or before is None or now.size < earlier.size:
        return False
    grew = (now.device, now.inode) == (before.device, before.inode) and now.size > earlier.size
    if known.fingerprint and (grew or status == known.status):
        return file.fingerprint(earlier.size) == known.fingerprint
    start = 0
    for ref in earlier.refs:
        if chunk_digest(file.read(start, start + ref.length)) != ref.hash:
            return False
        start += ref.length
    return True


def _small_run(refs: ChunkRefs) -> int:
    """Count the chunks at the end that are small and of about the same size."""
    order, run = 0, 0
    for number in range(len(refs) - 1, max(len(refs) - _MERGED_AT_ONCE, 0) - 1, -1):
        length = refs[number].length
        if length >= LARGE.least or (run and length.bit_length() // 4 != order):
            break
        order, run = length.bit_length() // 4, run + 1
    return run


def _same_content(before: Entry, after: Entry) -> bool:
    """Whether two entries are equal apart from their times."""
    if isinstance(before, RecordedFile | BorrowedFile) and isinstance(after, RecordedFile | BorrowedFile):
        return replace(after, modified=before.modified) == before
    return before == after


def _change(name: str, before: _KnownFile | None, after: _KnownFile | None) -> FileDelta | None:
    old, new = _size(before), _size(after)
    if after is None:
        return FileDelta(name, FileChangeKind.GONE, old)
    if isinstance(after.entry, SkippedFile):
        return FileDelta(
            name,
            FileChangeKind.APPEARED if before is None else FileChangeKind.REPLACED,
            old,
            None,
            after.entry.reason,
        )
    if new is None:
        return None
    if before is None or old is None:
        return FileDelta(name, FileChangeKind.APPEARED, None, new)
    if _identity(after) != _identity(before):
        kind = FileChangeKind.REPLACED
    elif new < old:
        kind = FileChangeKind.TRUNCATED
    else:
        kind = FileChangeKind.APPENDED if after.grew else FileChangeKind.REWRITTEN
    return FileDelta(name, kind, old, new)


def _identity(known: _KnownFile) -> tuple[int, int] | None:
    stamp = known.status.stamp
    return (stamp.device, stamp.inode) if stamp is not None else None


def _size(known: _KnownFile | None) -> int | None:
    return entry_size(known.entry) if known is not None else None
