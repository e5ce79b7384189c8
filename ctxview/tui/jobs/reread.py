"""Rereads a source that changed, in a thread: the source as it is now, and the reading to show.

Both are posted together, so that what is shown and what may be edited are always of the same state.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic, time
from typing import TYPE_CHECKING

from msgspec import Struct

from ctxview.files.reading import ReadError
from ctxview.formats.revisions import same_revision
from ctxview.tui.jobs.runner import Cancelled, Post, SilentProgress, UserPriority
from ctxview.tui.jobs.watcher import DiskChange
from ctxview.tui.model.drafts import DraftBytes, draft_overlay
from ctxview.tui.model.reading_index import ReadingIndex
from ctxview.tui.model.view_state import ReadingKey

if TYPE_CHECKING:
    from ctxview.formats import Source


class RereadJob(Struct, frozen=True):
    """A source to reread. `key` is its reading that is shown; None when another source is in front."""

    number: int
    source: Source
    key: ReadingKey | None
    newest: bool
    stay: bool
    """Whether the revision has unsaved changes, so that a newer one is not shown in its place."""
    worked: bool
    """Whether the long work was complete; it is then brought up to date before anything is shown."""
    drafts: Mapping[str, DraftBytes]


class SourceReread(Struct, frozen=True, eq=False):
    """A source as it is now. `index` is the reading of `job.key`; None when it is not shown."""

    job: RereadJob
    source: Source
    index: ReadingIndex | None
    revision: int
    on_disk: Mapping[str, bytes | None]
    """The present bytes of the drafted files; None when they cannot be read."""
    at: float
    since: float
    """When the reread began, `at` by the monotonic clock and `since` by the system clock."""


class SourceLost(Struct, frozen=True):
    """A source that cannot be read at present."""

    number: int
    reason: str


def reread(job: RereadJob, priority: UserPriority, post: Post, cancelled: Cancelled) -> None:
    from ctxview.formats import OpenError

    at, since = monotonic(), time()
    try:
        source = _with_past(job).again()
    except OpenError as error:
        post(DiskChange(SourceLost(job.number, str(error))))
        return
    on_disk = {file: _bytes_of(source, file) for file in job.drafts}
    index, revision = None, 0
    if job.key is not None and source is not job.source:
        _bring_up_to_date(job, job.key, source, SilentProgress(cancelled, priority))
        if cancelled():
            return
        revision = (
            len(source.revisions) - 1
            if job.newest and not job.stay
            else same_revision(job.source.revisions, job.key.revision, source.revisions, stay=job.stay)
        )
        overlay = draft_overlay(job.drafts, on_disk)
        index = ReadingIndex(source.reading(revision, job.key.lens(), overlay))
    if not cancelled():
        post(DiskChange(SourceReread(job, source, index, revision, on_disk, at, since)))


def _with_past(job: RereadJob) -> Source:
    """The source, with its past states as revisions if it is the one in front."""
    from ctxview.formats import with_history

    forgets = job.key is not None and bool(job.source.watched) and job.source.abilities.past is None
    return with_history(job.source) if forgets else job.source


def _bring_up_to_date(job: RereadJob, key: ReadingKey, source: Source, progress: SilentProgress) -> None:
    if job.worked and (work := source.abilities.work) is not None:
        work.work(key.lens(rough=True, trial=False), progress)


def _bytes_of(source: Source, file: str) -> bytes | None:
    try:
        return source.bytes_of(file)
    except ReadError:
        return None
