"""What can be wrong with a recording itself (REC); what is wrong with the recorded is said by its format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from ctxview.analysis.wording import counted, listed, shown
from ctxview.findings import Finding, Hit, Severity, rule, rules_in, run
from ctxview.origin import Origin
from ctxview.quick_dataclass import dataclass
from ctxview.recording.frames import Hole
from ctxview.recording.manifest import Refused
from ctxview.recording.reader import Fault


@dataclass(frozen=True)
class Condition:
    """A recording as far as it was looked at: the whole file, and the moment `label` of it."""

    file: str
    moments: int
    torn: Hole | None = None
    faults: Sequence[Fault] = ()
    label: str = ""
    problem: str | None = None
    """Why nothing can be shown of the moment."""
    lost: Sequence[tuple[str, str]] = field(default_factory=tuple)
    """Files of the moment whose content is not there, and why."""
    left_out: Sequence[tuple[str, str]] = field(default_factory=tuple)
    refused: Sequence[Refused] = ()


def check_recording(condition: Condition) -> Iterator[Finding]:
    yield from run(rules_in(__name__), condition)


@rule("REC001", name="torn-end", severity=Severity.WARNING)
def torn_end(condition: Condition) -> Iterator[Hit]:
    """The recording ends in the middle of something: it was cut, or is being written right now.

    ## Why
    A program that was killed, or a full disk, leaves half a frame at the end. All moments before it are
    whole; what happened after the last of them is not in the file.
    ## Bad
    A recording of 3 moments, of which the last 5 bytes are missing
    ## Good
    A recording of 3 moments
    ## Fix
    Nothing has to be done. `ctxview record` into the same file cuts the half frame off and goes on behind it.
    ## Source
    docs/recording.md, "The end of the file".
    """
    if (torn := condition.torn) is not None:
        size = f"{torn.end - torn.start:,} bytes at the end are not complete"
        whole = f"{counted(condition.moments, 'moment')} before them can be read"
        yield Hit(Origin(condition.file, start=torn.start, end=torn.end), f"{size}; {whole}")


@rule("REC002", name="damaged-bytes", severity=Severity.ERROR)
def damaged_bytes(condition: Condition) -> Iterator[Hit]:
    """Bytes of the recording are not those that were written.

    ## Why
    Every frame has checksums. Where they do not match, a disk or a transfer has changed the file, or somebody
    did. What stood there is not used; moments that need it cannot be shown whole.
    ## Bad
    A recording with a flipped bit in a moment
    ## Good
    A recording of 3 moments
    ## Fix
    Take the recording from a backup. What can be read of it can still be looked at.
    ## Source
    docs/recording.md, "Frames".
    """
    for fault in condition.faults:
        yield Hit(Origin(condition.file, start=fault.place), fault.reason)


@rule("REC003", name="unreadable-moment", severity=Severity.ERROR)
def unreadable_moment(condition: Condition) -> Iterator[Hit]:
    """A moment, or a file in it, cannot be brought back as it was.

    ## Why
    Its content is damaged, is not in the recording, or claims to be larger than it may. Findings and figures
    of the moment cover only what could be brought back.
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
            Origin(f"{condition.file}/{name}"), f"{condition.label}: {shown(name)} is not there: {reason}"
        )


@rule("REC004", name="not-recorded", severity=Severity.INFO)
def not_recorded(condition: Condition) -> Iterator[Hit]:
    """Something in the recorded folder was seen but its content was not kept.

    ## Why
    Only regular files are recorded: links are not followed, since they may lead anywhere, and pipes, sockets
    and devices have no content to keep. A file may also be unreadable or too large. It is missing from what
    is shown, so references to it may look broken.
    ## Bad
    A recording of a folder with a symbolic link
    ## Good
    A recording of 3 moments
    ## Fix
    Record the place where the file really is, or give yourself the right to read it.
    ## Source
    docs/recording.md, "What is recorded".
    """
    for name, reason in condition.left_out:
        yield Hit(
            Origin(f"{condition.file}/{name}"), f"{condition.label}: {shown(name)} was not kept: {reason}"
        )


@rule("REC005", name="refused-name", severity=Severity.ERROR)
def refused_name(condition: Condition) -> Iterator[Hit]:
    """A name in the recording leads out of the recorded folder, or is there twice.

    ## Why
    No recorder writes such a name: somebody made this file to have something written where it does not
    belong. The name is not used.
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
