"""Another look at a source that changed, in a thread: the source as it is now, and the reading to show.

Both are handed over together, so that what is shown and what may be edited are always of the same look.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic, time
from typing import TYPE_CHECKING

from ctxview.files.reading import Unreadable
from ctxview.quick_dataclass import dataclass
from ctxview.tui.background import Silence
from ctxview.tui.loading import Cancelled, Manner, Post
from ctxview.tui.marks import same_revision
from ctxview.tui.precedence import Precedence
from ctxview.tui.session_view import Look
from ctxview.tui.things import Index
from ctxview.tui.watching import OnDisk

if TYPE_CHECKING:
    from ctxview.formats import Source


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft as it was when the look began. `unsaved` also when somebody is about to change it."""

    data: bytes
    unsaved: bool


@dataclass(frozen=True, slots=True)
class Job:
    """`look` is what is shown of the source; None when another one is looked at."""

    number: int
    source: Source
    look: Look | None
    newest: bool
    worked: bool
    """Whether all the long work had been done: then it is brought up to date before anything is shown."""
    drafts: Mapping[str, Drafted]


@dataclass(frozen=True, slots=True, eq=False)
class Refreshed:
    """A source as it is now, with the reading of `job.look`; None when nothing of it is shown."""

    job: Job
    source: Source
    index: Index | None
    revision: int
    on_disk: Mapping[str, bytes | None]
    """What the drafted files hold now; None when they cannot be read."""
    at: float
    since: float
    """When the look began, by the clock for spans and by the one for dates."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A source cannot be looked at any more, for now."""

    number: int
    reason: str


def look_again(job: Job, manner: Manner, precedence: Precedence, post: Post, cancelled: Cancelled) -> None:
    from ctxview.formats import CannotOpen

    at, since = monotonic(), time()
    try:
        source = _remembering(job).again()
    except CannotOpen as error:
        post(OnDisk(Lost(job.number, str(error))))
        return
    on_disk = {file: _bytes_of(source, file) for file in job.drafts}
    index, revision = None, 0
    if job.look is not None and source is not job.source:
        _bring_up_to_date(job, job.look, source, manner, Silence(cancelled, precedence))
        if cancelled():
            return
        last = len(source.revisions) - 1
        revision = (
            last if job.newest else same_revision(job.source.revisions, job.look.revision, source.revisions)
        )
        index = _read(source, revision, job.look, manner, overlay(job.drafts, on_disk))
    if not cancelled():
        post(OnDisk(Refreshed(job, source, index, revision, on_disk, at, since)))


def _remembering(job: Job) -> Source:
    """The source that is shown, from now on with all that it was; of others nobody sees what they were."""
    from ctxview.formats.interface import KeepsPast
    from ctxview.recording.seen import with_seen

    forgets = job.look is not None and bool(job.source.watched) and not isinstance(job.source, KeepsPast)
    return with_seen(job.source) if forgets else job.source


def overlay(drafts: Mapping[str, Drafted], on_disk: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """The drafts that stand in for their files: one without unsaved changes makes way for another content."""
    return {
        file: draft.data
        for file, draft in drafts.items()
        if draft.unsaved or on_disk.get(file) in (None, draft.data)
    }


def _bring_up_to_date(job: Job, look: Look, source: Source, manner: Manner, progress: Silence) -> None:
    from ctxview.analysis.tokens import ESTIMATES
    from ctxview.formats import Lens, LongWork

    if job.worked and isinstance(source, LongWork):
        source.work(Lens(ESTIMATES["bytes/4"], look.profile, manner.mode), progress)


def _read(source: Source, revision: int, look: Look, manner: Manner, drafts: Mapping[str, bytes]) -> Index:
    from ctxview.analysis.tokens import counter_named
    from ctxview.formats import Lens

    lens = Lens(counter_named(manner.tokens), look.profile, manner.mode, look.budget, look.editor)
    return Index(source.reading(revision, lens, drafts))


def _bytes_of(source: Source, file: str) -> bytes | None:
    try:
        return source.bytes_of(file)
    except Unreadable:
        return None
