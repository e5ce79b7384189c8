"""The `Source` of a recording: its moments are its revisions, each read by the format it had then.

Nothing is written but the private copies that are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import overload

from ctxview.edits import WritePolicy
from ctxview.files.reading import Unreadable, read_bytes
from ctxview.findings import Finding, worst_first
from ctxview.formats.interface import AS_ON_DISK, CannotOpen, Lens, Progress, Reading, Revision
from ctxview.formats.recording.rules import Condition, check_recording
from ctxview.quick_dataclass import dataclass
from ctxview.recording.changes import between
from ctxview.recording.frames import Damaged
from ctxview.recording.moment_names import when
from ctxview.recording.past import AsOf, Past, has_work_on, nothing_there, work_on
from ctxview.recording.reader import Fault, Recording, open_recording
from ctxview.state import Event, Origin

FORMAT = "recording"
WHY = "A recording shows what was; it cannot be changed."
KIND = "moment"
MOST_TOLD = 20
"""Files whose changes are told at one moment."""


def open_recorded(path: Path) -> RecordingSource:
    """Raises `CannotOpen`."""
    try:
        return RecordingSource(path, open_recording(path), Past(str(path), WHY))
    except Unreadable as error:
        raise CannotOpen(f"{path}: {error.reason}") from None
    except Damaged as error:
        raise CannotOpen(f"{path}: this is no recording that can be read: {error}") from None


class RecordingSource:
    """One recording, up to the end it had at this look."""

    format = FORMAT

    def __init__(self, path: Path, recording: Recording, past: Past) -> None:
        self._path = path
        self._recording = recording
        self._past = past
        self._looked_at: AsOf | None = None

    @property
    def path(self) -> Path:
        return self._path

    @property
    def title(self) -> str:
        return self._recording.about.name

    @property
    def revisions(self) -> Sequence[Revision]:
        return Moments(self._path, self._recording)

    @property
    def profiles(self) -> Sequence[str]:
        """Those of the recorded format; none before a moment was looked at, since this must be quick."""
        source = self._looked_at.source if self._looked_at is not None else None
        return source.profiles if source is not None else ()

    @property
    def watched(self) -> Sequence[Path]:
        return (self._path,)

    def again(self) -> RecordingSource:
        """With the moments that were added since; raises `CannotOpen`."""
        try:
            status = self._path.stat()
            if (status.st_dev, status.st_ino) == self._recording.identity:
                return RecordingSource(self._path, self._recording.again(), self._past)
        except (OSError, Unreadable, Damaged):
            pass  # Opening it anew says what is wrong.
        return open_recorded(self._path)

    def bytes_of(self, file: str) -> bytes:
        """A recorded file as of the last moment, or the recording itself; raises `Unreadable`."""
        return self.bytes_at(len(self.revisions) - 1, file)

    def only_shown(self, revision: int) -> str | None:  # noqa: ARG002 - all of them are
        return WHY

    def bytes_at(self, revision: int, file: str) -> bytes:
        """A recorded file as of a moment; raises `Unreadable`."""
        return read_bytes(self._path) if file == str(self._path) else self._at(revision).bytes_of(file)

    def withheld(self, file: str, data: bytes | None = None) -> Sequence[tuple[int, int]]:
        """As the format of the moment that was looked at last has it."""
        return (self._looked_at or self._at(-1)).withheld(file, data)

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - see `WHY`
        return None

    def reading(
        self,
        revision: int,
        lens: Lens,
        overlay: Mapping[str, bytes] = AS_ON_DISK,  # noqa: ARG002 - nothing here can be drafted
    ) -> Reading:
        as_of, label = self._at(revision), self.revisions[revision].label
        self._looked_at = as_of
        found = list(self._own_findings(as_of, label, self._recording.faults))
        reading = as_of.reading(lens)
        if reading is None:
            state = nothing_there(as_of, self.title, str(self._path), label, lens)
        else:
            found += reading.findings
            state = replace(reading.state, source=str(self._path), revision=label)
        earlier = (replace(event, revision=None) for event in state.timeline)
        state = replace(state, timeline=(*earlier, *self._happened(revision)))
        return Reading(state, worst_first(found), reading is None or reading.judged)

    def findings(self, lens: Lens) -> Sequence[Finding]:
        """What is wrong with the whole recording, and with what it holds as of the last moment."""
        as_of, label = self._at(-1), self.revisions[-1].label
        own = self._own_findings(as_of, label, self._recording.verify())
        return worst_first((*own, *as_of.findings(lens)))

    def has_work(self, lens: Lens) -> bool:
        return has_work_on(self._looked_at or self._at(-1), lens)

    def work(self, lens: Lens, progress: Progress) -> None:
        """The long work of the moment that was looked at last."""
        work_on(self._looked_at or self._at(-1), lens, progress)

    def _at(self, revision: int) -> AsOf:
        return self._past.at(self._recording, range(len(self.revisions))[revision])

    def _happened(self, revision: int) -> Iterator[Event]:
        """What became of the files since the moment before."""
        number, recording = range(len(self.revisions))[revision], self._recording
        try:
            after = recording.at(number).manifest
            before = recording.at(number - 1).manifest if number else None
        except Damaged:
            return
        origin, time = Origin(str(self._path)), when(recording.time(number))
        for change in [*between(before, after)][:MOST_TOLD] if before is not None else ():
            unread = f", not kept: {change.why}" if change.why is not None else ""
            yield Event(f"{change.name} {change.what}{unread}", f"file {change.what}", time, number, origin)

    def _own_findings(self, as_of: AsOf, label: str, faults: Sequence[Fault]) -> Sequence[Finding]:
        done = as_of.laid_out
        condition = Condition(
            str(self._path),
            len(self._recording),
            self._recording.torn,
            faults,
            label,
            as_of.problem if done is None else None,
            tuple(done.problems) if done is not None else (),
            tuple(done.left_out) if done is not None else (),
            done.refused if done is not None else (),
        )
        return tuple(check_recording(condition))


@dataclass(frozen=True, slots=True)
class Moments(Sequence[Revision]):
    """The moments of a recording as revisions, made when asked for: there may be very many."""

    path: Path
    recording: Recording

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
        return Revision(f"moment {place + 1}", KIND, self.path, place + 1, when(self.recording.time(place)))
