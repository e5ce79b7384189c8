"""Appends to an open recording: chunks, then the moment that needs them. Nothing written is ever changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from ctxview.files.undo_copies import close, flush, write_all
from ctxview.recording.chunks import Ref, digest, pack_chunk
from ctxview.recording.frames import MOST_PAYLOAD, Kind, frame_bytes
from ctxview.recording.manifest import Changes, Manifest, pack_moment

_REMEMBERED: Final = 8192
_WHOLE_AFTER: Final = 64 * 1024
_LONGEST_CHAIN: Final = 1024


class CannotRecord(Exception):
    """Why nothing can be written to a file; nothing was changed."""


class Writer:
    """The one that writes to an open recording. Not for several threads at once."""

    def __init__(self, descriptor: int, salt: int, end: int) -> None:
        self.descriptor = descriptor
        self.salt = salt
        self.end = end
        self._recent: dict[bytes, Ref] = {}
        self._last = 0
        self._before: Manifest = {}
        self._whole, self._since_whole, self._chain = 0, 0, 0

    def put(self, content: bytes, known: Mapping[bytes, Ref]) -> Ref:
        """Where `content` stands, written if it is neither among `known` nor among the latest chunks."""
        hashed = digest(content)
        found = known.get(hashed) or self._recent.pop(hashed, None)
        if found is None:
            found = Ref(self._append(Kind.CHUNK, pack_chunk(content, hashed)), len(content), hashed)
        self._recent[hashed] = found
        if len(self._recent) > _REMEMBERED:
            self._recent.pop(next(iter(self._recent)))
        return found

    def moment(self, time: int, changes: Changes, note: str = "") -> None:
        """Write down what changed, or everything when the changes since the last time have become many."""
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
        self._last = self._append(Kind.MOMENT, payload)
        if whole:
            self._whole, self._since_whole, self._chain = len(payload), 0, 0
        else:
            self._since_whole += len(payload)
            self._chain += 1

    def know(self, refs: Iterable[Ref]) -> None:
        """Chunks that are there already and need not be written again."""
        for ref in refs:
            self._recent[ref.hash] = ref

    def about(self, payload: bytes) -> None:
        self._append(Kind.ABOUT, payload)

    def close(self) -> None:
        """Wait for the disk, then let go."""
        with suppress(OSError):
            flush(self.descriptor)
        close(self.descriptor)

    def _append(self, kind: Kind, payload: bytes) -> int:
        if len(payload) > MOST_PAYLOAD:
            raise CannotRecord("there is more to write down than one frame may hold")
        start = self.end
        frame = frame_bytes(kind, payload, self.salt)
        try:
            os.lseek(self.descriptor, start, os.SEEK_SET)
            write_all(self.descriptor, frame)
        except OSError:
            # A full disk: leave no half of a frame, so that the recording ends as it should.
            with suppress(OSError):
                os.ftruncate(self.descriptor, start)
            raise
        self.end += len(frame)
        return start
