"""The history of an open source: records its files at each reload and adds the earlier states as revisions.

The recording is private and disappears with the program. `scope_of` says which files belong to a source.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Final
from weakref import finalize

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.edits import EditRefused, WritePolicy
from ctxview.core.findings import Finding
from ctxview.core.prompt import Prompt, PromptError
from ctxview.core.revision_signs import SEEN
from ctxview.core.state import ContextState
from ctxview.files.system_calls import close
from ctxview.formats.interface import (
    AS_ON_DISK,
    Abilities,
    Fork,
    Lens,
    Publication,
    Publisher,
    Reading,
    Revision,
    Signature,
    Source,
)
from ctxview.formats.recording.checkout import remove_left_over_folders
from ctxview.formats.recording.moment_reader import MomentReader, MomentSource, empty_moment_state
from ctxview.recording.manifest import moment_clock_text, moment_time_text, recording_info
from ctxview.recording.reader import Recording
from ctxview.recording.recorder import Recorder, RecordingScope
from ctxview.recording.writer import RecordingError, open_private

LEND_ABOVE: Final = 4 * 1024 * 1024
"""Larger files are borrowed from the source instead of being copied."""
MOST_BYTES: Final = 256 * 1024 * 1024
MOST_MOMENTS: Final = 20_000
"""At one of these bounds a new recording is begun, and the one before the current is dropped."""
READ_ONLY_REASON: Final = "This revision is in the past; only the latest one can be changed."
KIND = "seen"
MOST_SEEN = 1000
"""When there are more, every second one of the older half is dropped."""


def scope_of(source: Source) -> RecordingScope:
    """Return the files of `source` to record: all that it consists of below its path."""
    path = source.path.resolve()
    if not path.is_dir():
        return RecordingScope(path.parent, (path.name,))
    file_scope = source.abilities.file_scope
    made_of = file_scope.made_of if file_scope is not None else (path,)
    below = [each.resolve() for each in made_of if each.resolve().is_relative_to(path)]
    parts = {"" if each == path else str(each.relative_to(path)) for each in below}
    return RecordingScope(path, ("",) if "" in parts or not parts else tuple(sorted(parts)))


def scope_of_path(path: Path) -> RecordingScope:
    """Return the scope of a whole folder, or of one file."""
    path = path.resolve()
    return RecordingScope(path) if path.is_dir() else RecordingScope(path.parent, (path.name,))


def scope_holds(scope: RecordingScope, path: Path) -> bool:
    """Whether a file at `path`, existing or not, would be recorded."""
    real = path.parent.resolve() / path.name
    return any(real.is_relative_to(scope.root / part) for part in scope.parts)


class KeptMoment(Struct, frozen=True):
    """A recorded moment: its recording, its number there, and its time."""

    recording: PrivateRecording
    number: int
    time: int


class MomentNote(Struct, frozen=True):
    """The result of recording the files once: the moment, and which files had changed."""

    moment: KeptMoment
    changed: frozenset[Path]


class PrivateRecording:
    """One private recording; its file is removed from the disk when this object is."""

    def __init__(self, scope: RecordingScope, path: Path) -> None:
        self._writer, self._reader = open_private(recording_info(path, time.time_ns()))
        finalize(self, close, self._writer.descriptor)
        self.recorder = Recorder(scope, self._writer, LEND_ABOVE)
        self.moments = 0

    @property
    def full(self) -> bool:
        return self._writer.end > MOST_BYTES or self.moments >= MOST_MOMENTS

    def read(self, number: int) -> Recording:
        """Return the recording, up to moment `number` at least."""
        if number >= len(self._reader):
            self._reader = self._reader.again()
        return self._reader


class PrivateRecorder:
    """Records the files of a source at each call of `keep`. Safe for several threads."""

    def __init__(self, source: Source) -> None:
        scope = scope_of(source)
        folder = source.path if source.path.is_dir() else source.path.parent
        self._reader = MomentReader(str(folder), READ_ONLY_REASON, source.format, scope.root)
        self._recordings: list[PrivateRecording] = []
        self._last: KeptMoment | None = None
        self._lock = Lock()

    def keep(self, source: Source) -> MomentNote | None:
        """Record the files as they are now; None when that fails."""
        with self._lock:
            try:
                return self._keep(scope_of(source), source.path)
            except (OSError, RecordingError):
                # A full disk must not prevent reading the latest state.
                self._last = None
                return None

    def at(self, moment: KeptMoment) -> MomentSource:
        """Open the files of a recorded moment."""
        return self._reader.at(moment.recording.read(moment.number), moment.number)

    def has(self, moment: KeptMoment) -> bool:
        """Whether the recording of the moment has not been dropped."""
        return moment.recording in self._recordings

    def _keep(self, scope: RecordingScope, path: Path) -> MomentNote | None:
        if self._last is None or self._last.recording.full:
            self._recordings = [*self._recordings[-1:], PrivateRecording(scope, path)]
        recording = self._recordings[-1]
        now = time.time_ns()
        recorded = recording.recorder.record(now, scope)
        if recorded is None:
            return MomentNote(self._last, frozenset()) if self._last is not None else None
        recording.moments = recorded.number
        self._last = KeptMoment(recording, recorded.number - 1, now)
        return MomentNote(self._last, frozenset(scope.root / each.name for each in recorded.changes))


class SeenRevision(Struct, frozen=True):
    """An earlier state: its moment, file and round, and the number of the source's revisions before it."""

    moment: KeptMoment
    file: Path
    round: int | None
    before: int


def with_history(source: Source) -> ObservedSource:
    """Return `source` with its history: each `again` adds the state it replaces as a revision.

    Its files are read and recorded at once, so do not call this in the thread of a screen.
    """
    remove_left_over_folders()
    moments = PrivateRecorder(source)
    return ObservedSource(source, moments, (), moments.keep(source))


class ObservedSource:
    """A source with its earlier states as revisions, each before the revisions that came later."""

    def __init__(
        self,
        source: Source,
        moments: PrivateRecorder,
        seen: tuple[SeenRevision, ...],
        noted: MomentNote | None,
    ) -> None:
        self.source = source
        self._moments = moments
        self._seen = seen
        self._noted = noted
        self._order: tuple[Sequence[Revision], list[SeenRevision | int]] | None = None

    @property
    def format(self) -> str:
        return self.source.format

    @property
    def path(self) -> Path:
        return self.source.path

    @property
    def title(self) -> str:
        return self.source.title

    @property
    def profiles(self) -> Sequence[str]:
        return self.source.profiles

    @property
    def watched(self) -> Sequence[Path]:
        return self.source.watched

    @property
    def abilities(self) -> Abilities:
        own = self.source.abilities
        publisher = _OwnPublisher(self, own.publisher) if own.publisher is not None else None
        prompt = self if own.prompt is not None else None
        return replace(own, past=self, publisher=publisher, prompt=prompt)

    @property
    def revisions(self) -> Sequence[Revision]:
        own = self.source.revisions
        return [own[each] if isinstance(each, int) else _revision(each) for each in self._ordered()]

    def again(self) -> ObservedSource:
        """Reload the source and add the current state to its history; raises `OpenError`.

        A state that only grew, or whose latest revision still exists unchanged, is not added: it is not lost.
        """
        new = self.source.again()
        if new is self.source:
            return self
        partial_writes = new.abilities.partial_writes
        if partial_writes is not None and partial_writes.held_back:
            return ObservedSource(new, self._moments, self._seen, self._noted)
        noted = self._moments.keep(new)
        return ObservedSource(new, self._moments, self._seen_by(new, noted), noted)

    def bytes_of(self, file: str) -> bytes:
        return self.source.bytes_of(file)

    def read_only_reason(self, revision: int) -> str | None:
        return READ_ONLY_REASON if self.own_revision(revision) is None else None

    def bytes_at(self, revision: int, file: str) -> bytes:
        """Return a file as it was at a revision; raises `ReadError`."""
        place = self._ordered()[revision]
        return self.source.bytes_of(file) if isinstance(place, int) else self._at(place).bytes_of(file)

    def policy(self, file: str) -> WritePolicy | None:
        return self.source.policy(file)

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        place = self._ordered()[revision]
        if isinstance(place, int):
            reading = self.source.reading(place, lens, overlay)
            return replace(reading, state=self._placed(reading.state, place, revision))
        as_of, label = self._at(place), _revision(place).label
        found = as_of.reading(lens)
        if found is None:
            return Reading(empty_moment_state(as_of, self.title, str(self.path), label, lens), ())
        state = replace(found.state, revision=label)
        return replace(found, state=self._placed(state, place.before, revision))

    def findings(self, lens: Lens) -> Sequence[Finding]:
        """Return the findings of the latest state."""
        return self.source.findings(lens)

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Sequence[Finding]:
        place = self._ordered()[revision]
        if isinstance(place, int):
            return self.source.findings_of(place, lens, overlay)
        return self._at(place).latest_findings(lens)

    @property
    def targets(self) -> Sequence[str]:
        prompt = self.source.abilities.prompt
        return prompt.targets if prompt is not None else ()

    def prompt(self, revision: int, lens: Lens, target: str | None = None) -> Prompt:
        place, ability = self._ordered()[revision], self.source.abilities.prompt
        if not isinstance(place, int):
            return self._at(place).prompt(lens, target)
        if ability is None:
            raise PromptError("no prompt can be put together from this source")
        return ability.prompt(place, lens, target)

    def own_revision(self, revision: int) -> int | None:
        """Return the number of a revision in the wrapped source; None for an earlier state."""
        place = self._ordered()[revision]
        return place if isinstance(place, int) else None

    def _ordered(self) -> list[SeenRevision | int]:
        """Numbers of the source's revisions and the earlier states, in order of time."""
        own = self.source.revisions
        if self._order is None or self._order[0] is not own:
            order: list[SeenRevision | int] = []
            waiting = list(self._seen)
            for number in range(len(own)):
                last = number == len(own) - 1
                while waiting and (last or waiting[0].before <= number):
                    order.append(waiting.pop(0))
                order.append(number)
            self._order = own, order
        return self._order[1]

    def _placed(self, state: ContextState, own: int, revision: int) -> ContextState:
        """Renumber the revisions of events; revision `own` of the source is `revision` here."""
        if not self._seen:
            return state
        places = {each: place for place, each in enumerate(self._ordered()) if isinstance(each, int)}
        places[own] = revision
        events = tuple(
            each if each.revision is None else replace(each, revision=places.get(each.revision))
            for each in state.timeline
        )
        return replace(state, timeline=events)

    def _seen_by(self, new: Source, noted: MomentNote | None) -> tuple[SeenRevision, ...]:
        seen = tuple(each for each in self._seen if self._moments.has(each.moment))
        if len(seen) >= MOST_SEEN:
            seen = (*seen[: MOST_SEEN // 2 : 2], *seen[MOST_SEEN // 2 :])
        if self._noted is None or noted is None or noted.moment == self._noted.moment:
            return seen
        latest = self.source.revisions[-1]
        if new.abilities.only_grew or _still_exists(latest, new, noted):
            return seen
        # Share one path object where the file is the same: there may be many revisions.
        file = seen[-1].file if seen and seen[-1].file == latest.file else latest.file
        return (*seen, SeenRevision(self._noted.moment, file, latest.round, len(self.source.revisions) - 1))

    def _at(self, seen: SeenRevision) -> MomentSource:
        return self._moments.at(seen.moment).withholding(self.source)


def _revision(seen: SeenRevision) -> Revision:
    label = f"{KIND} {moment_clock_text(seen.moment.time)}"
    return Revision(label, KIND, seen.file, seen.round, moment_time_text(seen.moment.time), sign=SEEN)


def _still_exists(latest: Revision, new: Source, noted: MomentNote) -> bool:
    """Whether the revision `latest` exists unchanged in the reloaded source."""
    file = latest.file.resolve()
    if file.is_dir() or file in noted.changed:
        return False
    return any((each.file, each.round) == (latest.file, latest.round) for each in new.revisions)


class _OwnPublisher(Struct, frozen=True):
    """Publishes only the source's own revisions; observed revisions are read-only."""

    observed: ObservedSource
    own: Publisher

    def publishes(self, revision: int) -> bool:
        number = self.observed.own_revision(revision)
        return number is not None and self.own.publishes(number)

    def asks_reason(self, revision: int, drafts: Mapping[str, bytes]) -> str | None:
        number = self.observed.own_revision(revision)
        return self.own.asks_reason(number, drafts) if number is not None else None

    def publication(self, revision: int, drafts: Mapping[str, bytes], signature: Signature) -> Publication:
        number = self.observed.own_revision(revision)
        if number is None:
            raise EditRefused(READ_ONLY_REASON)
        return self.own.publication(number, drafts, signature)

    def fork(self, revision: int, drafts: Mapping[str, bytes], editor: str) -> Fork | None:
        number = self.observed.own_revision(revision)
        return self.own.fork(number, drafts, editor) if number is not None else None
