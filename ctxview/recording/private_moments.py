"""The moments of one source while it is open, in private recordings without a name; bounded, then forgotten.

Large files are not copied but lent: what they were is still in them as long as they only grow.
"""

from __future__ import annotations

import time
from pathlib import Path
from threading import Lock
from typing import Final
from weakref import finalize

from ctxview.files.undo_copies import close
from ctxview.formats.interface import Source
from ctxview.quick_dataclass import dataclass
from ctxview.recording.about import about
from ctxview.recording.past import AsOf, Past
from ctxview.recording.places import open_private
from ctxview.recording.reader import Recording
from ctxview.recording.recorder import Recorder
from ctxview.recording.scope import scope_of
from ctxview.recording.tree import Scope
from ctxview.recording.writer import CannotRecord

LEND_ABOVE: Final = 4 * 1024 * 1024
MOST_BYTES: Final = 256 * 1024 * 1024
MOST_MOMENTS: Final = 20_000
"""When a recording has become so large, another one is begun, and the one before it is forgotten."""
WHY: Final = "This is how it was a while ago; only what is now can be changed."


@dataclass(frozen=True, slots=True)
class Mark:
    """One moment that was kept: in which recording, as which, and when."""

    tape: Tape
    number: int
    time: int


@dataclass(frozen=True, slots=True)
class Noted:
    """What a look at the files brought: where it is kept, and which of them had changed."""

    mark: Mark
    changed: frozenset[Path]


class Tape:
    """One private recording, gone from the disk when nobody refers to it."""

    def __init__(self, scope: Scope, path: Path) -> None:
        self._writer, self._recording = open_private(about(path, time.time_ns()))
        finalize(self, close, self._writer.descriptor)
        self.recorder = Recorder(scope, self._writer, LEND_ABOVE)
        self.moments = 0

    @property
    def full(self) -> bool:
        return self._writer.end > MOST_BYTES or self.moments >= MOST_MOMENTS

    def recording(self, number: int) -> Recording:
        """The recording as far as that moment at least."""
        if number >= len(self._recording):
            self._recording = self._recording.again()
        return self._recording


class PrivateMoments:
    """Keeps the files of a source as they are at each call. Any thread may ask."""

    def __init__(self, source: Source) -> None:
        scope = scope_of(source)
        folder = source.path if source.path.is_dir() else source.path.parent
        self._past = Past(str(folder), WHY, source.format, scope.root)
        self._tapes: list[Tape] = []
        self._last: Mark | None = None
        self._lock = Lock()

    def keep(self, source: Source) -> Noted | None:
        """The files as they are now; None when they cannot be kept."""
        with self._lock:
            try:
                return self._keep(scope_of(source), source.path)
            except (OSError, CannotRecord):
                # A full disk must not keep anybody from looking at what is now.
                self._last = None
                return None

    def at(self, mark: Mark) -> AsOf:
        """The files as they were then, laid out."""
        return self._past.at(mark.tape.recording(mark.number), mark.number)

    def remembers(self, mark: Mark) -> bool:
        return mark.tape in self._tapes

    def _keep(self, scope: Scope, path: Path) -> Noted | None:
        if self._last is None or self._last.tape.full:
            self._tapes = [*self._tapes[-1:], Tape(scope, path)]
        tape = self._tapes[-1]
        now = time.time_ns()
        kept = tape.recorder.look(now, scope)
        if kept is None:
            return Noted(self._last, frozenset()) if self._last is not None else None
        tape.moments = kept.number
        self._last = Mark(tape, kept.number - 1, now)
        return Noted(self._last, frozenset(scope.root / each.name for each in kept.changes))
