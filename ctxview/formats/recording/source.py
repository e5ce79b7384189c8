"""The `Source` of a recording: its moments are its revisions, each read by the format it had then.

It writes nothing but the private copies of the moments that are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import overload

from msgspec.structs import replace

from ctxview.core.edits import WritePolicy
from ctxview.core.findings import Finding, worst_first
from ctxview.core.origin import Origin
from ctxview.core.prompt import Prompt
from ctxview.core.state import Event
from ctxview.files.reading import ReadError, read_bytes
from ctxview.formats.interface import (
    AS_ON_DISK,
    Abilities,
    Lens,
    OpenError,
    Progress,
    Reading,
    Revision,
    Source,
)
from ctxview.formats.peek import Peek
from ctxview.formats.recording.moment_reader import MomentReader, MomentSource, empty_moment_state
from ctxview.formats.recording.rules import RecordingCondition, check_recording
from ctxview.recording.frames import DamagedRecordingError
from ctxview.recording.manifest import RecordedFile, files_between, moment_time_text
from ctxview.recording.reader import Recording, RecordingFault, open_recording

FORMAT = "recording"
WHY = "This is a recording; it cannot be changed."
KIND = "moment"
MOST_CHANGES = 20
"""The changed files that are listed for one moment."""


def open_recording_source(peek: Peek) -> RecordingSource:
    """Open the recording at `peek`; raises `OpenError`."""
    return _opened(peek.path)


def _opened(path: Path) -> RecordingSource:
    try:
        return RecordingSource(path, open_recording(path), MomentReader(str(path), WHY))
    except ReadError as error:
        raise OpenError(f"{path}: {error.reason}") from None
    except DamagedRecordingError as error:
        raise OpenError(f"{path}: this recording cannot be read: {error}") from None


class RecordingSource:
    """One recording, up to the end it had when it was opened or reloaded."""

    format = FORMAT

    def __init__(self, path: Path, recording: Recording, moments: MomentReader) -> None:
        self._path = path
        self._recording = recording
        self._moments = moments
        self._current: MomentSource | None = None
        self._joint: Source | None = None
        """A source that knows the redactions of all moments."""

    @property
    def path(self) -> Path:
        return self._path

    @property
    def title(self) -> str:
        return self._recording.info.name

    @property
    def abilities(self) -> Abilities:
        # Until a moment is read, its format is not known.
        has_prompt = self._current is None or self._current.abilities.prompt is not None
        return Abilities(work=self, redactor=self, past=self, prompt=self if has_prompt else None)

    @property
    def revisions(self) -> Sequence[Revision]:
        return MomentRevisions(self._path, self._recording)

    @property
    def profiles(self) -> Sequence[str]:
        """The profiles of the recorded format; empty before the first reading, since this must be quick."""
        source = self._current.source if self._current is not None else None
        return source.profiles if source is not None else ()

    @property
    def watched(self) -> Sequence[Path]:
        return (self._path,)

    def again(self) -> RecordingSource:
        """Return the recording with the moments that were added since; raises `OpenError`."""
        try:
            status = self._path.stat()
            if (status.st_dev, status.st_ino) == self._recording.identity:
                return RecordingSource(self._path, self._recording.again(), self._moments)
        except (OSError, ReadError, DamagedRecordingError):
            pass  # Opening it again reports the error.
        return _opened(self._path)

    def bytes_of(self, file: str) -> bytes:
        """Return a file as of the last moment, or the recording itself; raises `ReadError`."""
        return self.bytes_at(len(self.revisions) - 1, file)

    def read_only_reason(self, revision: int) -> str | None:  # noqa: ARG002 - all revisions are read-only
        return WHY

    def bytes_at(self, revision: int, file: str) -> bytes:
        """Return a file as of a moment; raises `ReadError`."""
        return read_bytes(self._path) if file == str(self._path) else self._at(revision).bytes_of(file)

    def withheld(self, file: str, data: bytes | None = None) -> Sequence[tuple[int, int]]:
        """Return the withheld spans of a file, by the format of the moment that was read last."""
        return (self._current or self._at(-1)).withheld(file, data)

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - see `WHY`
        return None

    def reading(
        self,
        revision: int,
        lens: Lens,
        overlay: Mapping[str, bytes] = AS_ON_DISK,  # noqa: ARG002 - a recording has no drafts
    ) -> Reading:
        as_of, label = self._at(revision), self.revisions[revision].label
        self._current = as_of
        reading = as_of.reading(lens)
        if reading is None:
            state = empty_moment_state(as_of, self.title, str(self._path), label, lens)
        else:
            state = replace(reading.state, source=str(self._path), revision=label)
        earlier = (replace(event, revision=None) for event in state.timeline)
        state = replace(state, timeline=(*earlier, *self._file_events(revision)))
        own = self._own_findings(as_of, label, self._recording.faults)
        if reading is None:
            return Reading(state, worst_first(own))
        return replace(reading, state=state, findings=worst_first((*own, *reading.findings)))

    def findings(self, lens: Lens) -> Sequence[Finding]:
        """Return the findings of the whole recording and of its last moment."""
        as_of, label = self._at(-1), self.revisions[-1].label
        own = self._own_findings(as_of, label, self._recording.verify())
        return worst_first((*own, *as_of.findings(lens)))

    def findings_of(
        self,
        revision: int,
        lens: Lens,
        overlay: Mapping[str, bytes],  # noqa: ARG002 - a recording has no drafts
    ) -> Sequence[Finding]:
        as_of, label = self._at(revision), self.revisions[revision].label
        own = self._own_findings(as_of, label, self._recording.faults)
        return worst_first((*own, *as_of.latest_findings(lens)))

    @property
    def targets(self) -> Sequence[str]:
        prompt = (self._current or self._at(-1)).abilities.prompt
        return prompt.targets if prompt is not None else ()

    def prompt(self, revision: int, lens: Lens, target: str | None = None) -> Prompt:
        return self._at(revision).prompt(lens, target)

    def has_work(self, lens: Lens) -> bool:
        work = (self._current or self._at(-1)).abilities.work
        return work is not None and work.has_work(lens)

    def work(self, lens: Lens, progress: Progress) -> None:
        """Do the long work of the moment that was read last."""
        if (work := (self._current or self._at(-1)).abilities.work) is not None:
            work.work(lens, progress)

    def _at(self, revision: int) -> MomentSource:
        found = self._moments.at(self._recording, range(len(self.revisions))[revision])
        joint = found.abilities.joint_redactor
        if self._joint is None and joint is not None:
            # What was redacted at one moment must not be read at any other.
            self._joint = joint.withholding_of(self._versions())
        return found.withholding(self._joint)

    def _versions(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of each file that is new or changed at a moment."""
        before: Mapping[str, object] = {}
        for number in range(len(self._recording)):
            try:
                manifest = self._recording.at(number).manifest
            except DamagedRecordingError:
                continue
            for name, entry in manifest.items():
                if isinstance(entry, RecordedFile) and entry != before.get(name):
                    try:
                        yield name, b"".join(map(self._recording.content, entry.refs))
                    except DamagedRecordingError:
                        continue
            before = manifest

    def _file_events(self, revision: int) -> Iterator[Event]:
        """Yield the changes of files since the moment before."""
        number, recording = range(len(self.revisions))[revision], self._recording
        try:
            after = recording.at(number).manifest
            before = recording.at(number - 1).manifest if number else None
        except DamagedRecordingError:
            return
        origin, time = Origin(str(self._path)), moment_time_text(recording.time(number))
        changes = [*files_between(before, after)] if before is not None else []
        for change in changes[:MOST_CHANGES]:
            unread = f", not recorded: {change.why}" if change.why is not None else ""
            yield Event(f"{change.name} {change.kind}{unread}", f"file {change.kind}", time, number, origin)
        if (more := len(changes) - MOST_CHANGES) > 0:
            label = f"{more:,} more files changed, which are not listed"
            yield Event(label, "left out", time, number, origin)

    def _own_findings(
        self, as_of: MomentSource, label: str, faults: Sequence[RecordingFault]
    ) -> Sequence[Finding]:
        done = as_of.checkout
        condition = RecordingCondition(
            str(self._path),
            len(self._recording),
            self._recording.torn,
            faults,
            label,
            as_of.problem if done is None else None,
            tuple(done.problems) if done is not None else (),
            tuple(done.left_out) if done is not None else (),
            done.refused if done is not None else (),
            tuple(done.limits) if done is not None else (),
        )
        return tuple(check_recording(condition))


class MomentRevisions(Sequence[Revision]):
    """The moments of a recording as revisions, built on access because there may be very many."""

    def __init__(self, path: Path, recording: Recording) -> None:
        self.path = path
        self.recording = recording

    def __len__(self) -> int:
        return max(1, len(self.recording))

    @overload
    def __getitem__(self, number: int) -> Revision: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Revision]: ...
    def __getitem__(self, number: int | slice) -> Revision | Sequence[Revision]:
        if isinstance(number, slice):
            return [self[each] for each in range(len(self))[number]]
        place = range(len(self))[number]
        if not len(self.recording):
            return Revision("no moment", KIND, self.path)
        return Revision(
            f"moment {place + 1}", KIND, self.path, place + 1, moment_time_text(self.recording.time(place))
        )
