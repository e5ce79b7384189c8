"""The job that rereads a source that changed: the source as it is now, and the reading to show.

Both are reported together, so that what is shown and what may be edited are always of the same state.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic, time
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from ctxview.files.reading import ReadError
from ctxview.formats.revisions import same_revision
from ctxview.tui.model.drafts import DraftBytes, draft_overlay
from ctxview.tui.model.jobs import Job, JobControl
from ctxview.tui.model.jobs.watcher import Watcher
from ctxview.tui.model.reading_index import ReadingIndex
from ctxview.tui.model.view_state import ReadingKey

if TYPE_CHECKING:
    from ctxview.formats import Source


class SourceReread(Struct, frozen=True, eq=False):
    """A source as it is now. `index` is the reading of the job's key; None when it is not shown."""

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

    reason: str


class Reread(Job, frozen=True, eq=False):
    """Reread a source. `key` is its reading that is shown; None when another source is in front."""

    group: ClassVar[str] = "reading again"
    exclusive: ClassVar[bool] = False
    watcher: Watcher
    number: int
    source: Source
    key: ReadingKey | None
    newest: bool
    stay: bool
    """Whether the revision has unsaved changes, so that a newer one is not shown in its place."""
    worked: bool
    """Whether the long work was complete; it is then brought up to date before anything is shown."""
    drafts: Mapping[str, DraftBytes]

    def run(self, control: JobControl) -> SourceReread | SourceLost | None:
        from ctxview.formats import OpenError

        self.watcher.take_stamps()
        at, since = monotonic(), time()
        try:
            source = _with_past(self.source, in_front=self.key is not None).again()
        except OpenError as error:
            return SourceLost(str(error))
        on_disk = {file: _bytes_of(source, file) for file in self.drafts}
        if self.key is None or source is self.source:
            return SourceReread(source, None, 0, on_disk, at, since)
        if self.worked and (work := source.abilities.work) is not None:
            work.work(self.key.lens(rough=True, trial=False), control)
        if control.stopped:
            return None
        revision = (
            len(source.revisions) - 1
            if self.newest and not self.stay
            else same_revision(self.source.revisions, self.key.revision, source.revisions, stay=self.stay)
        )
        reading = source.reading(revision, self.key.lens(), draft_overlay(self.drafts, on_disk))
        return SourceReread(source, ReadingIndex(reading), revision, on_disk, at, since)


def _with_past(source: Source, *, in_front: bool) -> Source:
    """The source, with its past states as revisions if it is the one in front."""
    from ctxview.formats import with_history

    forgets = in_front and bool(source.watched) and source.abilities.past is None
    return with_history(source) if forgets else source


def _bytes_of(source: Source, file: str) -> bytes | None:
    try:
        return source.bytes_of(file)
    except ReadError:
        return None
