"""Open a recording for writing, and append chunks and moments; written bytes are never changed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from ctxview.files.open_file import OpenFile
from ctxview.files.system_calls import CREATE, UPDATE, close, flush, lock, read_at, write_all
from ctxview.files.user_folders import cache_folder
from ctxview.recording import MAGIC
from ctxview.recording.chunks import ChunkRef, chunk_digest, pack_chunk
from ctxview.recording.frames import (
    HEAD,
    MOST_PAYLOAD,
    DamagedRecordingError,
    FrameKind,
    frame_bytes,
    new_head,
    salt_of,
)
from ctxview.recording.manifest import Changes, Manifest, RecordedFile, RecordingInfo, pack_info, pack_moment
from ctxview.recording.reader import Recording, read_recording

_MOST_RECENT: Final = 8192
_WHOLE_AFTER: Final = 64 * 1024
_LONGEST_CHAIN: Final = 1024


class RecordingError(Exception):
    """A recording that cannot be written, with the reason; no file was changed."""


class RecordingWriter:
    """Appends to an open recording. For one thread at a time."""

    def __init__(self, descriptor: int, salt: int, end: int) -> None:
        self.descriptor = descriptor
        self.salt = salt
        self.end = end
        self._recent: dict[bytes, ChunkRef] = {}
        self._last = 0
        self._before: Manifest = {}
        self._whole, self._since_whole, self._chain = 0, 0, 0

    def put(self, content: bytes, known: Mapping[bytes, ChunkRef]) -> ChunkRef:
        """Return the reference of `content`; write it unless it is in `known` or among the latest chunks."""
        hashed = chunk_digest(content)
        found = known.get(hashed) or self._recent.pop(hashed, None)
        if found is None:
            found = ChunkRef(self._append(FrameKind.CHUNK, pack_chunk(content, hashed)), len(content), hashed)
        self._recent[hashed] = found
        if len(self._recent) > _MOST_RECENT:
            self._recent.pop(next(iter(self._recent)))
        return found

    def moment(self, time: int, changes: Changes, note: str = "") -> None:
        """Write `changes` as a moment, or all entries after many changes since the last full moment."""
        many = self._chain >= _LONGEST_CHAIN or self._since_whole > max(self._whole, _WHOLE_AFTER)
        whole = not self._last or many
        payload = b"" if whole else pack_moment(time, self._last, note, changes, self._before)
        for name, entry in changes.items():
            if entry is None:
                self._before.pop(name, None)
            else:
                self._before[name] = entry
        if whole:
            payload = pack_moment(time, 0, note, self._before, {})
        self._last = self._append(FrameKind.MOMENT, payload)
        if whole:
            self._whole, self._since_whole, self._chain = len(payload), 0, 0
        else:
            self._since_whole += len(payload)
            self._chain += 1

    def know(self, refs: Iterable[ChunkRef]) -> None:
        """Add chunks that are in the recording already, so that they are not written again."""
        for ref in refs:
            self._recent[ref.hash] = ref

    def write_info(self, payload: bytes) -> None:
        self._append(FrameKind.ABOUT, payload)

    def close(self) -> None:
        """Wait until the data is on disk, then close the file."""
        with suppress(OSError):
            flush(self.descriptor)
        close(self.descriptor)

    def _append(self, kind: FrameKind, payload: bytes) -> int:
        if len(payload) > MOST_PAYLOAD:
            raise RecordingError("the data to write is larger than a frame may be")
        start = self.end
        frame = frame_bytes(kind, payload, self.salt)
        try:
            os.lseek(self.descriptor, start, os.SEEK_SET)
            write_all(self.descriptor, frame)
        except OSError:
            # A full disk: remove the half-written frame, so that the recording ends with a whole one.
            with suppress(OSError):
                os.ftruncate(self.descriptor, start)
            raise
        self.end += len(frame)
        return start


class RecordingOutput(Struct, frozen=True):
    """A recording open for writing, the number of its moments, and the number of torn bytes removed."""

    writer: RecordingWriter
    moments: int = 0
    cut_off: int = 0


def open_to_write(path: Path, info: RecordingInfo) -> RecordingOutput:
    """Create a recording, or open an existing one of the same subject; raises `RecordingError`."""
    try:
        return RecordingOutput(_begin(os.open(path, CREATE, 0o600), info))
    except FileExistsError:
        pass
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror or error}") from None
    try:
        descriptor = os.open(path, UPDATE)
    except OSError as error:
        reason = "this is a symbolic link" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise RecordingError(f"{path}: {reason}") from None
    try:
        return _continue(path, descriptor, info)
    except BaseException:
        close(descriptor)
        raise


def open_private(info: RecordingInfo) -> tuple[RecordingWriter, Recording]:
    """Create a nameless recording in the cache folder; the system deletes it when it is closed."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"seen-{os.getpid()}-{os.urandom(8).hex()}"
    descriptor = os.open(path, CREATE, 0o600)
    path.unlink()
    writer = _begin(descriptor, info)
    return writer, read_recording(OpenFile(path, os.dup(descriptor)))


def _begin(descriptor: int, info: RecordingInfo) -> RecordingWriter:
    head = new_head()
    _lock(descriptor)
    write_all(descriptor, head)
    writer = RecordingWriter(descriptor, salt_of(head), len(head))
    writer.write_info(pack_info(info))
    return writer


def _lock(descriptor: int) -> None:
    try:
        lock(descriptor)
    except BlockingIOError:
        raise RecordingError("another ctxview is recording into this file") from None


def _continue(path: Path, descriptor: int, info: RecordingInfo) -> RecordingOutput:
    status = os.fstat(descriptor)
    head = read_at(descriptor, 0, HEAD.size) if stat.S_ISREG(status.st_mode) else None
    if head is None or not (MAGIC.startswith(head[:8]) or head.startswith(MAGIC)):
        raise RecordingError(f"{path}: this is not a recording and is not overwritten; choose another file")
    _lock(descriptor)
    if len(head) < HEAD.size:
        # Empty, or left by a program that was killed before it wrote the whole head.
        os.ftruncate(descriptor, 0)
        return RecordingOutput(_begin(descriptor, info), cut_off=len(head))
    try:
        recording = read_recording(OpenFile(path, os.dup(descriptor)))
    except DamagedRecordingError as error:
        raise RecordingError(f"{path}: {error}") from None
    old = recording.info
    if len(recording) and (old.place, old.is_folder) != (info.place, info.is_folder):
        raise RecordingError(f"{path}: this is a recording of {old.place}; choose another file")
    os.ftruncate(descriptor, recording.end)
    writer = RecordingWriter(descriptor, recording.salt, recording.end)
    if recording.end == HEAD.size:
        writer.write_info(pack_info(info))
    _know_last_chunks(writer, recording)
    return RecordingOutput(writer, len(recording), status.st_size - recording.end)


def _know_last_chunks(writer: RecordingWriter, recording: Recording) -> None:
    """Make the chunks of the last moment known to the writer."""
    if not len(recording):
        return
    try:
        manifest = recording.at(len(recording) - 1).manifest
    except DamagedRecordingError:
        return
    for entry in manifest.values():
        if isinstance(entry, RecordedFile):
            writer.know(entry.refs)
