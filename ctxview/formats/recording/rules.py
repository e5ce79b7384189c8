"""The rules about recordings themselves (REC); the recorded files are checked by their own format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from ctxview.analysis.wording import counted, excerpt, listed
from ctxview.core.findings import Finding, Hit, Severity, rule, rules_in, run
from ctxview.core.origin import Origin
from ctxview.recording.frames import DamagedRange
from ctxview.recording.manifest import RefusedName
from ctxview.recording.reader import RecordingFault

MOST_LISTED = 100
"""The entries that a rule reports one by one."""


class RecordingCondition(Struct, frozen=True):
    """The state of a recording: of the whole file, and of the moment `label`."""

    file: str
    moments: int
    torn: DamagedRange | None = None
    faults: Sequence[RecordingFault] = ()
    label: str = ""
    problem: str | None = None
    """Why the moment cannot be shown."""
    lost: Sequence[tuple[str, str]] = field(default_factory=tuple)
    """Files of the moment without content, and why."""
    left_out: Sequence[tuple[str, str]] = field(default_factory=tuple)
    refused: Sequence[RefusedName] = ()
    limits: Sequence[str] = ()
    """The limits that were reached when the moment was restored."""


def check_recording(condition: RecordingCondition) -> Iterator[Finding]:
    yield from run(rules_in(__name__), condition)


@rule("REC001", name="torn-end", severity=Severity.WARNING)
def torn_end(condition: RecordingCondition) -> Iterator[Hit]:
    """The recording ends in the middle of a frame: it was cut, or is being written now.

    ## Why
    A program that was killed, or a full disk, leaves half a frame at the end. All moments before it are
    whole; what happened after the last of them is not in the file.
    ## Bad
    A recording of 3 moments, of which the last 5 bytes are missing
    ## Good
    A recording of 3 moments
    ## Fix
    Nothing has to be done. `ctxview record` into the same file cuts the half frame off and continues there.
    ## Source
    docs/recording.md, "The end of the file".
    """
    if (torn := condition.torn) is not None:
        size = f"{torn.end - torn.start:,} bytes at the end are not complete"
        whole = f"{counted(condition.moments, 'moment')} before them can be read"
        yield Hit(Origin(condition.file, start=torn.start, end=torn.end), f"{size}; {whole}")


@rule("REC002", name="damaged-bytes", severity=Severity.ERROR)
def damaged_bytes(condition: RecordingCondition) -> Iterator[Hit]:
    """Bytes of the recording are not those that were written.

    ## Why
    Every frame has checksums. Where they do not match, a disk, a transfer or a person has changed the file.
    The damaged frame is not used; moments that need it cannot be shown whole.
    ## Bad
    A recording with a flipped bit in a moment
    ## Good
    A recording of 3 moments
    ## Fix
    Take the recording from a backup. The undamaged moments can still be opened.
    ## Source
    docs/recording.md, "Frames".
    """
    for fault in condition.faults:
        yield Hit(Origin(condition.file, start=fault.place), fault.reason)


@rule("REC003", name="unreadable-moment", severity=Severity.ERROR)
def unreadable_moment(condition: RecordingCondition) -> Iterator[Hit]:
    """A moment, or a file in it, cannot be restored.

    ## Why
    Its content is damaged, is not in the recording, or claims to be larger than it may. Findings and figures
    of the moment cover only the files that could be restored.
    ## Bad
    A recording with a flipped bit in a chunk
    ## Good
    A recording of 3 moments
    ## Fix
    Look at another moment, or take the recording from a backup.
    ## Source
    docs/recording.md, "Moments".
    """
    if condition.problem is not None:
        yield Hit(Origin(condition.file), f"{condition.label}: {condition.problem}")
    for name, reason in condition.lost:
        yield Hit(
            Origin(f"{condition.file}/{name}"), f"{condition.label}: {excerpt(name)} is missing: {reason}"
        )


@rule("REC004", name="not-recorded", severity=Severity.INFO)
def not_recorded(condition: RecordingCondition) -> Iterator[Hit]:
    """The content of an entry in the recorded folder was not recorded.

    ## Why
    Only regular files are recorded: links are not followed, since they may lead anywhere, and pipes, sockets
    and devices have no content to record. A file may also be unreadable or too large. It is missing from the
    moment, so references to it may look broken.
    ## Bad
    A recording of a folder with a symbolic link
    ## Good
    A recording of 3 moments
    ## Fix
    Record the place where the file really is, or give yourself the right to read it.
    ## Source
    docs/recording.md, "What is recorded".
    """
    for name, reason in condition.left_out[:MOST_LISTED]:
        yield Hit(
            Origin(f"{condition.file}/{name}"),
            f"{condition.label}: {excerpt(name)} was not recorded: {reason}",
        )
    if (more := len(condition.left_out) - MOST_LISTED) > 0:
        yield Hit(Origin(condition.file), f"{condition.label}: {more:,} more were not recorded")


@rule("REC005", name="refused-name", severity=Severity.ERROR)
def refused_name(condition: RecordingCondition) -> Iterator[Hit]:
    """A name in the recording leads out of the recorded folder, or occurs twice.

    ## Why
    No recorder writes such a name: the file was made to get something written where it does not belong. The
    name is not used.
    ## Bad
    A recording with a file called ../../.bashrc
    ## Good
    A recording of 3 moments
    ## Fix
    Do not trust the recording; find out where it came from.
    ## Source
    docs/recording.md, "Names".
    """
    if condition.refused:
        first = condition.refused[0]
        names = listed(each.name for each in condition.refused)
        yield Hit(Origin(condition.file), f"{condition.label}: not used: {names} ({first.reason})")


@rule("REC006", name="limit-reached", severity=Severity.ERROR)
def limit_reached(condition: RecordingCondition) -> Iterator[Hit]:
    """A moment has more bytes or files than are restored, or restoring it takes too long.

    ## Why
    A small recording can be made so that its files fill a disk. So a checkout may have 200 times the bytes of
    the recording, at least 256 MiB, 20,000 files and folders, and 30 seconds.
    Findings and figures of the moment cover only the files that were restored.
    ## Bad
    A recording of 300 KB with a file of 2 GB
    ## Good
    A recording of 3 moments
    ## Fix
    Find out where the recording came from. No recorder writes so many files; a file that consists of
    repetitions can be this small, and can only be read where it was recorded.
    ## Source
    docs/recording.md, "How to look at it".
    """
    for limit in condition.limits:
        yield Hit(Origin(condition.file), f"{condition.label}: not restored: {limit}")
