"""What is open and how it is looked at: sources, revision, profile, filter, order, search. No toolkit.

It never reads a file: readings come in from a worker and what to draw goes out as a `Shown`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.findings import Finding, Severity
from ctxview.formats.revisions import is_over
from ctxview.quick_dataclass import dataclass
from ctxview.state import Transcript
from ctxview.tui.marks import Change, Marks, compare, same_revision
from ctxview.tui.query import Facts, Query
from ctxview.tui.search import Hit, Hits, search
from ctxview.tui.sorting import Sort as Sort
from ctxview.tui.sorting import order
from ctxview.tui.things import Index, Kind, Thing
from ctxview.tui.trends import Past, Trends

if TYPE_CHECKING:
    from ctxview.formats import Source


@dataclass(frozen=True, slots=True)
class Look:
    """One look at one source: what a reading is made for. `edits` counts the steps of the draft.

    `budget` is one that is tried out; None for the source's own. `editor` is in whose name one edits; None
    for the first, or where a source does not tell them apart. `seen` counts the earlier looks at the source.
    """

    source: int
    revision: int
    profile: str | None = None
    edits: int = 0
    budget: int | None = None
    editor: str | None = None
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """A path that could not be opened."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Total:
    """How many findings a whole source has. `partly`: its long work was not done just for this number."""

    counts: Mapping[Severity, int]
    partly: bool = False


@dataclass(frozen=True, slots=True)
class Growth:
    """The messages of a source as they were seen at some time."""

    source: int
    profile: str | None
    transcript: Transcript
    at: float

    def belongs_to(self, look: Look) -> bool:
        return (self.source, self.profile) == (look.source, look.profile)


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Everything the panes draw."""

    look: Look
    index: Index
    draft: bool = False
    blocks: tuple[Thing, ...] = ()
    """The memory rows, after filter and order."""
    marks: Marks = field(default_factory=Marks)
    trends: Trends | None = None
    """How it came to be so; None while nobody knows."""

    @property
    def changes(self) -> Mapping[Thing, Change]:
        return self.marks.changes

    @property
    def gone(self) -> tuple[Thing, ...]:
        return self.marks.gone

    @property
    def past(self) -> Past | None:
        """What led to it; None where nothing is known."""
        if self.trends is None or not self.trends.moments:
            return None
        return self.trends.past(self.look.revision, self.look.seen, self.index.reading.state.revision)

    @property
    def counts(self) -> dict[Severity, int]:
        return count_severities(self.index.reading.findings)


class SessionView:
    """The mutable heart; every method is called on the interface's own thread."""

    def __init__(self, profile: str | None = None) -> None:
        self.sources: list[Source] = []
        self.problems: list[Problem] = []
        self.totals: dict[int, Total] = {}
        """Findings of whole sources, as far as they were counted."""
        self.look = Look(0, 0, profile)
        self.shown: Shown | None = None
        self.query = Query()
        self.sort = Sort.FILE
        self.reverse = False
        self.hits = Hits()
        self.hit: Hit | None = None
        self._looks: dict[int, Look] = {}
        self._revisions: dict[int, int] = {}
        self._seen: dict[int, int] = {}
        self._growth: Growth | None = None
        self._read_at = 0.0

    # -- where we are ----------------------------------------------------------------------------------------

    def found(self, sources: Sequence[Source], problems: Sequence[Problem]) -> None:
        """Takes what was opened; the newest revision of the very first source is looked at."""
        first = not self.sources and bool(sources)
        self.sources += sources
        self.problems += problems
        if first:
            self.look = replace(
                self.look, revision=self.last_revision, profile=self._profile_for(0, self.look.profile)
            )

    @property
    def source(self) -> Source | None:
        return self.sources[self.look.source] if self.sources else None

    @property
    def last_revision(self) -> int:
        """As of when its revisions were last counted: long work may find more of them."""
        if self.source is None:
            return 0
        if self.look.source not in self._revisions:
            self._revisions[self.look.source] = len(self.source.revisions)
        return self._revisions[self.look.source] - 1

    def count_revisions(self) -> None:
        """More of them may be known by now; who looked at the newest goes on looking at the newest."""
        if self.source is None:
            return
        newest = self.look.revision == self.last_revision
        self._revisions[self.look.source] = len(self.source.revisions)
        if newest:
            self.look = replace(self.look, revision=self.last_revision)

    @property
    def only_shown(self) -> str | None:
        """Why what is looked at is not what the files on disk hold; None when it is."""
        from ctxview.formats.interface import KeepsPast

        return self.source.only_shown(self.look.revision) if isinstance(self.source, KeepsPast) else None

    @property
    def as_of(self) -> str | None:
        """The name of the revision looked at when it is one that is over and only shown; None for now."""
        if self.source is None:
            return None
        revisions, number = self.source.revisions, self.look.revision
        is_shown = self.only_shown is not None or is_over(revisions, number, self.last_revision)
        return revisions[number].label if is_shown else None

    @property
    def has_now(self) -> bool:
        """Whether the latest revision is what is now: in a recording, all of them are over."""
        from ctxview.formats.interface import KeepsPast

        if self.source is None or not isinstance(self.source, KeepsPast):
            return True
        return self.source.only_shown(self.last_revision) is None

    @property
    def profile(self) -> str | None:
        """The name of the profile in use, the format's own default when none was chosen."""
        if self.look.profile is not None or self.source is None:
            return self.look.profile
        return next(iter(self.source.profiles), None)

    def go_to_source(self, number: int) -> bool:
        """Another source, where it was left; its newest revision at first. False when it is this one."""
        if number == self.look.source or not 0 <= number < len(self.sources):
            return False
        self._looks[self.look.source] = self.look
        profile = self._profile_for(number, self.look.profile)
        known = self._revisions.setdefault(number, len(self.sources[number].revisions))
        look = self._looks.get(number, Look(number, known - 1, profile))
        self.look = replace(look, seen=self._seen.get(number, 0))
        self._read_at = 0.0
        self.count_revisions()
        return True

    def go_to_revision(self, number: int) -> bool:
        number = min(max(number, 0), self.last_revision)
        if number == self.look.revision:
            return False
        self.look = replace(self.look, revision=number)
        return True

    def next_profile(self) -> bool:
        """False when the source has only one way to be judged."""
        names = list(self.source.profiles) if self.source is not None else []
        if len(names) < 2:
            return False
        at = names.index(self.profile) if self.profile in names else -1
        self.look = replace(self.look, profile=names[(at + 1) % len(names)])
        return True

    def _profile_for(self, number: int, profile: str | None) -> str | None:
        """The profile asked for where the source knows it; a path is the format's to judge."""
        known = profile is None or "/" in profile or profile in self.sources[number].profiles
        return profile if known else None

    def try_budget(self, budget: int | None) -> bool:
        """What if the budget were this; False when it is what is looked at already."""
        if budget == self.look.budget:
            return False
        self.look = replace(self.look, budget=budget)
        return True

    @property
    def editors(self) -> Sequence[str]:
        """In whose name one may edit here; empty where it makes no difference."""
        from ctxview.formats import HasEditors

        return self.source.editors if isinstance(self.source, HasEditors) else ()

    @property
    def editor(self) -> str | None:
        """In whose name one edits; None where it makes no difference."""
        return self.look.editor or next(iter(self.editors), None)

    def edit_as(self, editor: str) -> bool:
        """False when it is who edits already."""
        if editor == self.editor:
            return False
        self.look = replace(self.look, editor=None if editor == self.editors[0] else editor)
        return True

    def edited(self, edits: int) -> None:
        self.look = replace(self.look, edits=edits)

    @property
    def transcript(self) -> Transcript | None:
        return self.shown.index.reading.state.transcript if self.shown is not None else None

    # -- what changes on disk --------------------------------------------------------------------------------

    def looked_again(self, number: int, source: Source) -> None:
        """A source as it is now, in the place of an earlier look at it. What is looked at stays that."""
        before = self.sources[number]
        look = self.look if number == self.look.source else self._looks.get(number)
        known = self._revisions.get(number, len(before.revisions))
        self.sources[number] = source
        self._revisions[number] = len(source.revisions)
        self._seen[number] = self._seen.get(number, 0) + 1
        if look is None:
            return
        revision = same_revision(before.revisions[:known], look.revision, source.revisions)
        look = replace(look, revision=revision, seen=self._seen[number])
        if number == self.look.source:
            self.look = look
        else:
            self._looks[number] = look

    def grown(self, growth: Growth) -> Shown | None:
        """Messages seen later than the reading; None when they are not those of what is shown."""
        shown = self.shown
        if shown is None or not growth.belongs_to(shown.look) or growth.at <= self._read_at:
            return None
        self._growth = growth
        self.shown = replace(shown, index=shown.index.telling(growth.transcript))
        return self.shown

    def faded(self) -> Shown | None:
        """What is shown without the marks of what changed on disk; None when there are none."""
        if self.shown is None or not self.shown.marks.fading:
            return None
        shown = replace(self.shown, marks=Marks())
        return self._keep(replace(shown, blocks=self._rows(shown)))

    # -- what is shown ---------------------------------------------------------------------------------------

    def take(self, look: Look, index: Index, *, draft: bool, at: float = 0.0) -> Shown | None:
        """A reading that arrived; None when it is no longer what is looked at.

        `at` is when its source was looked at: messages that were seen later are not taken back.
        """
        if look != self.look:
            return None
        before = self.shown
        if before is not None and before.look == look and before.index.reading is index.reading:
            return before
        self._read_at = max(self._read_at, at)
        if self._growth is not None and self._growth.at > self._read_at and self._growth.belongs_to(look):
            index = index.telling(self._growth.transcript)
        same = (
            before is not None and before.look.source == look.source and before.look.profile == look.profile
        )
        trends = before.trends if before is not None and same else None
        shown = Shown(look, index, draft, marks=_marks(before, look, index), trends=trends)
        return self._keep(replace(shown, blocks=self._rows(shown)))

    def knows_past(self, trends: Trends) -> Shown | None:
        """How what is shown came to be so; None when that is another source's past."""
        shown = self.shown
        if shown is None or (shown.look.source, shown.look.profile) != (trends.source, trends.profile):
            return None
        self.shown = replace(shown, trends=trends)
        return self.shown

    def rearranged(self) -> Shown | None:
        """The same reading under the present filter and order."""
        if self.shown is None:
            return None
        return self._keep(replace(self.shown, blocks=self._rows(self.shown)))

    def forget(self) -> None:
        """Nothing is shown until the next reading arrives."""
        self.shown = None
        self.hits, self.hit = Hits(self.hits.needle), None

    def _keep(self, shown: Shown) -> Shown:
        self.shown = shown
        if self.hits.needle:
            self.hits = search(self.hits.needle, shown.index)
        return shown

    def _rows(self, shown: Shown) -> tuple[Thing, ...]:
        index, query = shown.index, self.query
        rows = index.of(Kind.BLOCK)
        if query:
            rows = [
                row
                for row in rows
                if query.accepts(index.block(row), Facts(row in shown.changes, bool(index.about(row))))
            ]
        if self.sort is not Sort.FILE:
            tiers = {tier.name: at for at, tier in enumerate(index.reading.state.tiers)}
            rows.sort(key=lambda row: order(self.sort, index.block(row), tiers))
        if self.reverse:
            rows.reverse()
        return tuple(rows)

    # -- order and search ------------------------------------------------------------------------------------

    def next_sort(self) -> None:
        orders = list(Sort)
        self.sort, self.reverse = orders[(orders.index(self.sort) + 1) % len(orders)], False

    def sort_by(self, sort: Sort) -> None:
        """By a column; the same column again turns it around."""
        self.reverse = not self.reverse if sort is self.sort else False
        self.sort = sort

    def look_for(self, needle: str) -> None:
        self.hit = None
        self.hits = search(needle, self.shown.index) if self.shown is not None else Hits(needle)

    def first_hit(self, *, last: bool) -> Hit | None:
        """The first or last of the loaded hits; None when there are none."""
        return self.hits.found[-1 if last else 0] if self.hits.found else None

    def next_hit(self, selected: Thing | None, *, back: bool = False) -> Hit | None:
        self.hit = self.hits.next_after(self.hit, selected, back=back)
        return self.hit


def count_severities(findings: Sequence[Finding]) -> dict[Severity, int]:
    counted = dict.fromkeys(Severity, 0)
    for finding in findings:
        counted[finding.severity] += 1
    return counted


def _marks(before: Shown | None, look: Look, index: Index) -> Marks:
    """What differs from what was shown; the marks stay when nothing but the count of tokens is new."""
    if before is None or before.look.source != look.source:
        return Marks()
    if before.look == look:
        return before.marks
    on_disk = before.look.seen != look.seen
    return compare(before.index, index, fading=on_disk) or (before.marks if on_disk else Marks())
