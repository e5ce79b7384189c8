"""Read a recording: its moments, the files at each of them, and their verified content.

It never writes. Opening reads the headers of the frames and the moments; content is read on request.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Final

from msgspec import Struct, field

from ctxview.files.line_file import never_cancelled
from ctxview.files.open_file import OpenFile, open_file_beneath
from ctxview.recording.chunks import ChunkRef, unpack_chunk
from ctxview.recording.frames import (
    HEAD,
    DamagedRange,
    DamagedRecordingError,
    Frame,
    FrameKind,
    frame_at,
    frames,
    payload_of,
    salt_of,
)
from ctxview.recording.manifest import (
    UNKNOWN_INFO,
    Manifest,
    RecordedMoment,
    RecordingInfo,
    RefusedName,
    apply_moment,
    unpack_info,
    unpack_moment,
)

LONGEST_CHAIN: Final = 4096
"""The most moments that build on each other; no writer makes as many."""

MOST_FAULTS: Final = 100
"""The damaged places that are listed; a recording with more was made to have them."""

_MANIFESTS: Final = 4


class RecordingFault(Struct, frozen=True):
    """Damaged bytes of a recording, and the reason."""

    place: int
    reason: str


class _Contents(Struct):
    """The contents of the frames up to `end`."""

    end: int
    info: RecordingInfo = UNKNOWN_INFO
    places: array[int] = field(default_factory=lambda: array("Q"))
    times: array[int] = field(default_factory=lambda: array("q"))
    faults: list[RecordingFault] = field(default_factory=list)
    torn: DamagedRange | None = None

    def copy(self) -> _Contents:
        return _Contents(self.end, self.info, self.places[:], self.times[:], self.faults[:])


class RecordedFiles(Struct, frozen=True):
    """The files at a moment, and its refused names."""

    manifest: Manifest
    refused: tuple[RefusedName, ...]


class Recording:
    """A recording up to the end it had when it was opened; for any thread."""

    def __init__(self, file: OpenFile, contents: _Contents, salt: int) -> None:
        self._file = file
        self._contents = contents
        self._salt = salt
        self._cached: dict[int, RecordedFiles] = {}
        self._lock = Lock()
        self._verified: tuple[int, tuple[RecordingFault, ...]] = (HEAD.size, ())

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def identity(self) -> tuple[int, int]:
        return self._file.identity

    @property
    def info(self) -> RecordingInfo:
        return self._contents.info

    @property
    def salt(self) -> int:
        return self._salt

    @property
    def end(self) -> int:
        """The end of the last whole frame."""
        return self._contents.end

    @property
    def size(self) -> int:
        """The bytes of the file now."""
        return self._file.status().st_size

    @property
    def torn(self) -> DamagedRange | None:
        """The unfinished end of the file, or None."""
        return self._contents.torn

    @property
    def faults(self) -> tuple[RecordingFault, ...]:
        """Damage to headers and moments; `verify` also checks the content."""
        return tuple(self._contents.faults)

    def __len__(self) -> int:
        """Return the number of moments."""
        return len(self._contents.places)

    def time(self, number: int) -> int:
        """Return the time of a moment in nanoseconds since 1970."""
        return self._contents.times[number]

    def note(self, number: int) -> str:
        return self._moment(self._contents.places[number]).note

    def at(self, number: int) -> RecordedFiles:
        """Return the files at moment `number`, counted from 0; raises `DamagedRecordingError`."""
        if not len(self):
            raise DamagedRecordingError("the recording has no moment yet")
        place = self._contents.places[number]
        with self._lock:
            if place in self._cached:
                return self._cached[place]
        moments, refused = [self._moment(place)], []
        manifest: Manifest = {}
        while (base := moments[-1].base) != 0:
            if base >= place or len(moments) > LONGEST_CHAIN:
                raise DamagedRecordingError("a moment builds on a later one, or on too many")
            with self._lock:
                cached = self._cached.get(base)
            if cached is not None:
                manifest, refused = dict(cached.manifest), list(cached.refused)
                break
            place = base
            moments.append(self._moment(base))
        for moment in reversed(moments):
            refused += apply_moment(moment, manifest)
        with self._lock:
            if len(self._cached) >= _MANIFESTS:
                self._cached.pop(next(iter(self._cached)))
            recorded = RecordedFiles(manifest, tuple(refused))
            return self._cached.setdefault(self._contents.places[number], recorded)

    def content(self, ref: ChunkRef) -> bytes:
        """Return the content of a chunk; raises `DamagedRecordingError` unless it matches `ref`."""
        return read_chunk(self._file, ref, self._salt)

    def again(self) -> Recording:
        """Return the recording with new moments; raises `ReadError` or `DamagedRecordingError`."""
        size = self._file.status().st_size
        if size < self.end:
            return read_recording(self._file)
        contents = self._contents.copy()
        _read_frames(self._file, contents, size, self._salt)
        again = Recording(self._file, contents, self._salt)
        again._cached, again._verified = dict(self._cached), self._verified
        return again

    def verify(self, cancelled: Callable[[], bool] = never_cancelled) -> tuple[RecordingFault, ...]:
        """Return all damage up to the end. After a cancelled call, the next one continues."""
        start, known = self._verified
        faults = list(known)
        for frame in frames(self._file.read, start, self.end, self._salt):
            if cancelled() or len(faults) > MOST_FAULTS:
                break
            if isinstance(frame, Frame):
                try:
                    payload_of(self._file.read, frame, self._salt)
                except DamagedRecordingError as error:
                    _note_fault(faults, RecordingFault(frame.start, str(error)))
            start = frame.end
        self._verified = start, tuple(faults)
        return tuple(sorted({*self.faults, *faults}, key=lambda fault: fault.place))

    def _moment(self, place: int) -> RecordedMoment:
        frame = frame_at(self._file.read, place, FrameKind.MOMENT, self._salt)
        return unpack_moment(payload_of(self._file.read, frame, self._salt))


def open_recording(path: Path) -> Recording:
    """Open a recording; raises `ReadError`, or `DamagedRecordingError` when no part of it is usable."""
    real = path.resolve()
    return read_recording(open_file_beneath(real.parent, real.name))


def read_recording(file: OpenFile) -> Recording:
    salt = salt_of(file.read(0, HEAD.size))
    contents = _Contents(HEAD.size)
    _read_frames(file, contents, file.status().st_size, salt)
    return Recording(file, contents, salt)


def read_chunk(file: OpenFile, ref: ChunkRef, salt: int) -> bytes:
    frame = frame_at(file.read, ref.place, FrameKind.CHUNK, salt)
    return unpack_chunk(payload_of(file.read, frame, salt), ref)


def _note_fault(faults: list[RecordingFault], fault: RecordingFault) -> None:
    if len(faults) == MOST_FAULTS:
        fault = RecordingFault(fault.place, "more bytes are damaged from here on, which are not listed")
    if len(faults) <= MOST_FAULTS:
        faults.append(fault)


def _read_frames(file: OpenFile, contents: _Contents, size: int, salt: int) -> None:
    """Add the frames from the end of `contents` to `size`."""
    for frame in frames(file.read, contents.end, size, salt):
        if isinstance(frame, DamagedRange):
            if frame.torn or frame.end == size:
                contents.torn = frame
                return
            reason = f"{frame.end - frame.start:,} bytes are not a valid frame"
            _note_fault(contents.faults, RecordingFault(frame.start, reason))
        elif frame.kind is not FrameKind.CHUNK:
            try:
                payload = payload_of(file.read, frame, salt)
                if frame.kind is FrameKind.ABOUT:
                    contents.info = unpack_info(payload)
                else:
                    contents.times.append(unpack_moment(payload).time)
                    contents.places.append(frame.start)
            except DamagedRecordingError as error:
                _note_fault(contents.faults, RecordingFault(frame.start, str(error)))
        contents.end = frame.end
