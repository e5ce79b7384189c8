"""The jobs that make the captions of a revision, and search for the next important event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.captions import NOTHING, Caption
from ctxview.analysis.diff.model import Change, ChangeGroup, ChangeKind
from ctxview.tui.model.jobs import Job, JobControl
from ctxview.tui.model.view_state import ReadingKey

if TYPE_CHECKING:
    from ctxview.formats import Source

FIRST = (Caption("This is the first revision."),)
ALONE = (Caption("This revision does not follow another one."),)

CaptionsByRevision: TypeAlias = Mapping[tuple[str | None, int], Sequence[Caption]]
"""The captions of revisions, by profile and number."""


class CaptionsReady(Struct, frozen=True):
    """The captions of some revisions; `go_to` is the revision of an event that was searched for and found."""

    captions: CaptionsByRevision
    go_to: int | None = None


class ReadCaptions(Job, frozen=True, eq=False):
    """Make the captions of one revision."""

    group: ClassVar[str] = "finding events"
    source: Source
    key: ReadingKey

    def run(self, _: JobControl) -> CaptionsReady:
        captions = captions_of(self.source, self.key.revision, self.key)
        return CaptionsReady({(self.key.profile, self.key.revision): captions})


class FindEvent(Job, frozen=True, eq=False):
    """Find the first of `revisions` with an important event; `known` are captions that were made before.

    Without one, going `back` ends at the first revision.
    """

    group: ClassVar[str] = "finding events"
    source: Source
    key: ReadingKey
    revisions: Sequence[int]
    known: CaptionsByRevision
    back: bool

    def run(self, control: JobControl) -> CaptionsReady | None:
        captions = dict(self.known)
        for revision in self.revisions:
            if control.stopped:
                return None
            place = self.key.profile, revision
            if place not in captions:
                captions[place] = captions_of(self.source, revision, self.key)
            if any(each.matters for each in captions[place]):
                return CaptionsReady(captions, revision)
        return CaptionsReady(captions, 0 if self.back and self.key.revision > 0 else None)


def captions_of(source: Source, revision: int, key: ReadingKey) -> Sequence[Caption]:
    """The captions of a revision, compared with the revision it follows; never empty."""
    from ctxview.analysis.captions import captions
    from ctxview.analysis.diff import diff
    from ctxview.formats.revisions import previous_revision
    from ctxview.review.reports.revision_captions import review_captions

    earlier = previous_revision(source.revisions, revision)
    lens = key.lens(rough=True)
    reviews = review_captions(source, revision, lens)
    if earlier is None:
        return reviews or (FIRST if revision == 0 else ALONE)
    old, new = (source.reading(number, lens).state for number in (earlier, revision))
    events = [event for event in new.timeline if event.revision == revision]
    found = diff(old, new)
    # A revision in between, such as the reply, has already said which blocks it removes.
    between = [
        source.reading(number, lens).state
        for number in range(earlier + 1, revision)
        if previous_revision(source.revisions, number) == earlier
    ]
    said = {each.name for state in between for each in diff(old, state).changes if _is_removal(each)}
    changes = tuple(each for each in found.changes if not (_is_removal(each) and each.name in said))
    said_here = (*reviews, *captions(replace(found, changes=changes), new, events))
    return sorted(said_here, key=lambda each: -each.weight) or (Caption(NOTHING),)


def _is_removal(change: Change) -> bool:
    return change.group is ChangeGroup.BLOCKS and change.kind is ChangeKind.REMOVED
