"""A recording as it can be read: its moments, what stood there at each, and every content, verified.

Never writes. Opening reads the headers of the frames and the moments; content is read when it is asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from threading import Lock
from typing import Final

from ctxview.files.held_file import HeldFile, hold_beneath
from ctxview.files.lines import never
from ctxview.quick_dataclass import dataclass
from ctxview.recording.about import UNKNOWN, About, unpack_about
from ctxview.recording.chunks import Ref, unpack_chunk
from ctxview.recording.frames import (
    HEAD,
    Damaged,
    Frame,
    Hole,
    Kind,
    frame_at,
    frames,
    payload_of,
    salt_of,
)
from ctxview.recording.manifest import Manifest, Moment, Refused, apply_moment, unpack_moment

LONGEST_CHAIN: Final = 4096
"""Moments that build on each other; more than any writer makes."""

_MANIFESTS: Final = 4


@dataclass(frozen=True, slots=True)
class Fault:
    """Bytes that are not what was written, and what is wrong with them."""

    place: int
    reason: str


@dataclass
class _Found:
    """What the frames up to `end` hold."""

    end: int
    about: About = UNKNOWN
    places: array[int] = field(default_factory=lambda: array("Q"))
    times: array[int] = field(default_factory=lambda: array("q"))
    faults: list[Fault] = field(default_factory=list)
    torn: Hole | None = None

    def copy(self) -> _Found:
        return _Found(self.end, self.about, self.places[:], self.times[:], self.faults[:])


@dataclass(frozen=True)
class AsRecorded:
    """What stood there at a moment, and names in it that are not used."""

    manifest: Manifest
    refused: tuple[Refused, ...]


class Recording:
    """A recording up to the end it had when it was looked at. Any thread may ask."""

    def __init__(self, held: HeldFile, found: _Found, salt: int) -> None:
        self._held = held
        self._found = found
        self._salt = salt
        self._known: dict[int, AsRecorded] = {}
        self._lock = Lock()
        self._verified: tuple[int, tuple[Fault, ...]] = (HEAD.size, ())

    @property
    def path(self) -> Path:
        return self._held.path

    @property
    def identity(self) -> tuple[int, int]:
        return self._held.identity

    @property
    def about(self) -> About:
        return self._found.about

    @property
    def salt(self) -> int:
        return self._salt

    @property
    def end(self) -> int:
        """Where the last whole frame ends."""
        return self._found.end

    @property
    def torn(self) -> Hole | None:
        """The unfinished end, where there is one."""
        return self._found.torn

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Damage to headers and moments; `verify` also looks at the content."""
        return tuple(self._found.faults)

    def __len__(self) -> int:
        """How many moments there are."""
        return len(self._found.places)

    def time(self, number: int) -> int:
        """When a moment was, in nanoseconds since 1970."""
        return self._found.times[number]

    def note(self, number: int) -> str:
        return self._moment(self._found.places[number]).note

    def at(self, number: int) -> AsRecorded:
        """What stood there at a moment, counted from 0; raises `Damaged`."""
        if not len(self):
            raise Damaged("nothing was recorded yet")
        place = self._found.places[number]
        with self._lock:
            if place in self._known:
                return self._known[place]
        waiting, refused = [self._moment(place)], []
        manifest: Manifest = {}
        while (base := waiting[-1].base) != 0:
            if base >= place or len(waiting) > LONGEST_CHAIN:
                raise Damaged("a moment builds on a later one, or on too many")
            with self._lock:
                known = self._known.get(base)
            if known is not None:
                manifest, refused = dict(known.manifest), list(known.refused)
                break
            place = base
            waiting.append(self._moment(base))
        for moment in reversed(waiting):
            refused += apply_moment(moment, manifest)
        return self._remember(self._found.places[number], AsRecorded(manifest, tuple(refused)))

    def content(self, ref: Ref) -> bytes:
        """What a chunk holds; raises `Damaged` when it is not what `ref` promises."""
        return read_chunk(self._held, ref, self._salt)

    def again(self) -> Recording:
        """The same recording with what was added since; raises `Unreadable` or `Damaged`."""
        size = self._held.status().st_size
        if size < self.end:
            return read_recording(self._held)
        found = self._found.copy()
        _look(self._held, found, size, self._salt)
        again = Recording(self._held, found, self._salt)
        again._known, again._verified = dict(self._known), self._verified
        return again

    def verify(self, cancelled: Callable[[], bool] = never) -> tuple[Fault, ...]:
        """Damage anywhere up to the end. Stopped, it goes on from there the next time."""
        start, known = self._verified
        faults = list(known)
        for frame in frames(self._held.read, start, self.end, self._salt):
            if cancelled():
                break
            if isinstance(frame, Frame):
                try:
                    payload_of(self._held.read, frame, self._salt)
                except Damaged as error:
                    faults.append(Fault(frame.start, str(error)))
            start = frame.end
            self._verified = start, tuple(faults)
        return tuple(sorted({*self.faults, *faults}, key=lambda fault: fault.place))

    def _moment(self, place: int) -> Moment:
        frame = frame_at(self._held.read, place, Kind.MOMENT, self._salt)
        return unpack_moment(payload_of(self._held.read, frame, self._salt))

    def _remember(self, place: int, recorded: AsRecorded) -> AsRecorded:
        with self._lock:
            if len(self._known) >= _MANIFESTS:
                self._known.pop(next(iter(self._known)))
            return self._known.setdefault(place, recorded)


def open_recording(path: Path) -> Recording:
    """Raises `Unreadable`, or `Damaged` when nothing of it can be used."""
    real = path.resolve()
    return read_recording(hold_beneath(real.parent, real.name))


def read_recording(held: HeldFile) -> Recording:
    salt = salt_of(held.read(0, HEAD.size))
    found = _Found(HEAD.size)
    _look(held, found, held.status().st_size, salt)
    return Recording(held, found, salt)


def read_chunk(held: HeldFile, ref: Ref, salt: int) -> bytes:
    frame = frame_at(held.read, ref.place, Kind.CHUNK, salt)
    return unpack_chunk(payload_of(held.read, frame, salt), ref)


def _look(held: HeldFile, found: _Found, size: int, salt: int) -> None:
    """Find out what stands between where `found` ends and `size`."""
    for frame in frames(held.read, found.end, size, salt):
        if isinstance(frame, Hole):
            if frame.torn or frame.end == size:
                found.torn = frame
                return
            found.faults.append(
                Fault(frame.start, f"{frame.end - frame.start:,} bytes cannot be read as what they should be")
            )
        elif frame.kind is not Kind.CHUNK:
            _note(held, found, frame, salt)
        found.end = frame.end


def _note(held: HeldFile, found: _Found, frame: Frame, salt: int) -> None:
    try:
        payload = payload_of(held.read, frame, salt)
        if frame.kind is Kind.ABOUT:
            found.about = unpack_about(payload)
        else:
            found.times.append(unpack_moment(payload).time)
            found.places.append(frame.start)
    except Damaged as error:
        found.faults.append(Fault(frame.start, str(error)))
