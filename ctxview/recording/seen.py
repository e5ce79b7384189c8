"""What a source was while it was open, as further revisions of it: moments of a private recording.

Any source may be wrapped. What it can do beside the common, the wrapped one can too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from ctxview.edits import WritePolicy
from ctxview.findings import Finding
from ctxview.formats.interface import AS_ON_DISK, HoldsBack, Lens, Reading, Revision, Source
from ctxview.quick_dataclass import dataclass
from ctxview.recording.abilities import ABILITIES
from ctxview.recording.moment_names import clock, when
from ctxview.recording.past import AsOf, nothing_there
from ctxview.recording.private_moments import WHY, Mark, Noted, PrivateMoments
from ctxview.state import ContextState

KIND = "seen"
MOST_SEEN = 1000
"""When there are more, every second one of the older half is let go."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A look that is over: where it is kept, what its latest revision was, and how many came before it."""

    mark: Mark
    file: Path
    round: int | None
    before: int


def with_seen(source: Source) -> SeenSource:
    """The source, from now on with all that it was: each `again` adds what went.

    Its files are read and kept right away, so this is no work for the thread of a screen.
    """
    moments = PrivateMoments(source)
    return _class_for(source)(source, moments, (), moments.keep(source))


class SeenSource:
    """A source with the looks at it that are over, each before what came after it."""

    def __init__(
        self, source: Source, moments: PrivateMoments, seen: tuple[Seen, ...], noted: Noted | None
    ) -> None:
        self.source = source
        self._moments = moments
        self._seen = seen
        self._noted = noted
        self._order: tuple[Sequence[Revision], list[Seen | int]] | None = None

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
    def revisions(self) -> Sequence[Revision]:
        own = self.source.revisions
        return [own[each] if isinstance(each, int) else _revision(each) for each in self._ordered()]

    def again(self) -> SeenSource:
        """What is now, and this look among what was seen; raises `CannotOpen`.

        A look whose latest revision is still there, untouched, tells nothing that is lost: it is not added.
        """
        new = self.source.again()
        if new is self.source:
            return self
        if isinstance(new, HoldsBack) and new.held_back:
            return _class_for(new)(new, self._moments, self._seen, self._noted)
        noted = self._moments.keep(new)
        return _class_for(new)(new, self._moments, self._seen_by(new, noted), noted)

    def bytes_of(self, file: str) -> bytes:
        return self.source.bytes_of(file)

    def only_shown(self, revision: int) -> str | None:
        return WHY if self.own_revision(revision) is None else None

    def bytes_at(self, revision: int, file: str) -> bytes:
        """A file as it was at a revision; raises `Unreadable`."""
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
            return Reading(nothing_there(as_of, self.title, str(self.path), label, lens), ())
        state = replace(found.state, revision=label)
        return replace(found, state=self._placed(state, place.before, revision))

    def findings(self, lens: Lens) -> Sequence[Finding]:
        """Of what is now."""
        return self.source.findings(lens)

    def own_revision(self, revision: int) -> int | None:
        """The number a revision has in the source itself; None for one that was only seen."""
        place = self._ordered()[revision]
        return place if isinstance(place, int) else None

    def _ordered(self) -> list[Seen | int]:
        """Revisions of the source by number, and what was seen, in order of time."""
        own = self.source.revisions
        if self._order is None or self._order[0] is not own:
            order: list[Seen | int] = []
            waiting = list(self._seen)
            for number in range(len(own)):
                last = number == len(own) - 1
                while waiting and (last or waiting[0].before <= number):
                    order.append(waiting.pop(0))
                order.append(number)
            self._order = own, order
        return self._order[1]

    def _placed(self, state: ContextState, own: int, revision: int) -> ContextState:
        """With events that lead to revisions as they are numbered here; `own` is shown as `revision`."""
        if not self._seen:
            return state
        places = {each: place for place, each in enumerate(self._ordered()) if isinstance(each, int)}
        places[own] = revision
        events = tuple(
            each if each.revision is None else replace(each, revision=places.get(each.revision))
            for each in state.timeline
        )
        return replace(state, timeline=events)

    def _seen_by(self, new: Source, noted: Noted | None) -> tuple[Seen, ...]:
        kept = tuple(each for each in self._seen if self._moments.remembers(each.mark))
        if len(kept) >= MOST_SEEN:
            kept = (*kept[: MOST_SEEN // 2 : 2], *kept[MOST_SEEN // 2 :])
        if self._noted is None or noted is None or noted.mark == self._noted.mark:
            return kept
        latest = self.source.revisions[-1]
        if _is_there(latest, new, noted):
            return kept
        # One path for all of them, where it is the same: there may be many.
        file = kept[-1].file if kept and kept[-1].file == latest.file else latest.file
        return (*kept, Seen(self._noted.mark, file, latest.round, len(self.source.revisions) - 1))

    def _at(self, seen: Seen) -> AsOf:
        return self._moments.at(seen.mark)


def _revision(seen: Seen) -> Revision:
    label = f"{KIND} {clock(seen.mark.time)}"
    return Revision(label, KIND, seen.file, seen.round, when(seen.mark.time))


def _is_there(latest: Revision, new: Source, noted: Noted) -> bool:
    """Whether what a look showed last can still be had, unchanged, from a later one."""
    file = latest.file.resolve()
    if file.is_dir() or file in noted.changed:
        return False
    return any((each.file, each.round) == (latest.file, latest.round) for each in new.revisions)


@cache
def _class_with(abilities: tuple[type, ...]) -> type[SeenSource]:
    return type(SeenSource.__name__, (SeenSource, *abilities), {})


def _class_for(source: Source) -> type[SeenSource]:
    """The class that can do what this source can."""
    return _class_with(tuple(mixin for ability, mixin in ABILITIES if isinstance(source, ability)))
