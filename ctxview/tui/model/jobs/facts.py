"""The facts of all revisions of the open source: read in the background, and searched. No toolkit."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.analysis.wording import excerpt
from ctxview.tui.model.effects import Cancel, Effects, Show, Start, WakeAfter
from ctxview.tui.model.jobs import Job, JobControl
from ctxview.tui.model.reading_index import ItemId, ItemKind

if TYPE_CHECKING:
    from ctxview.analysis.revisions.search import TimeHit
    from ctxview.formats import Source
    from ctxview.tui.model.inspector_state import InspectorState
    from ctxview.tui.model.view_state import ReadingKey

POST_EVERY = 0.3
"""Seconds between two results while revisions are read."""
REST = 2.0
"""Seconds between two reads of one source while its files change."""
FACTS_TIMER = "revision facts"


class ReadFacts(Job, frozen=True, eq=False):
    """Read the revisions with the counter of the view, the newest first; of very many, a choice."""

    name: ClassVar[str] = "reading all revisions"
    group: ClassVar[str] = "revision facts"
    source: Source
    key: ReadingKey

    def run(self, control: JobControl) -> KnownRevisions | None:
        from ctxview.formats.revisions import choose_revisions, name_revisions, read_facts

        names, chosen = name_revisions(self.source.revisions), choose_revisions(self.source)
        facts = {}
        posted = monotonic()
        for each in read_facts(self.source, self.key.lens(trial=False), control, reversed(chosen)):
            facts[each.number] = each
            if monotonic() - posted > POST_EVERY:
                control.partial(KnownRevisions(names, dict(facts), len(chosen)))
                posted = monotonic()
        return KnownRevisions(names, facts, len(chosen)) if not control.stopped else None


class TimeResult(Struct, frozen=True):
    """The newest item of the other revisions that holds a needle, and what became of it; None without one."""

    hit: TimeHit | None
    ending: str = ""
    count: int = 0
    searched: int = 0
    is_capped: bool = False
    """Whether the search ended early, so that there may be more hits."""

    @property
    def item(self) -> ItemId | None:
        """The block to select; None for a hit that is not a block."""
        if self.hit is None or not self.hit.tier:
            return None
        return ItemId(ItemKind.BLOCK, self.hit.name, self.hit.tier)


class FindInRevisions(Job, frozen=True, eq=False):
    """Search the revisions that are known."""

    name: ClassVar[str] = "the search through time"
    group: ClassVar[str] = "search through time"
    foreground: ClassVar[bool] = True
    known: KnownRevisions
    needle: str

    def run(self, control: JobControl) -> TimeResult:
        from ctxview.analysis.revisions.search import hit_ending, search_revisions

        hits = search_revisions(self.known, self.needle, lambda: control.stopped)
        first = hits.found[0] if hits.found else None
        ending = hit_ending(self.known, first) if first is not None else ""
        return TimeResult(first, ending, len(hits.found), hits.searched, hits.is_capped)

    def notice(self, result: TimeResult) -> str:
        """Where the newest hit was last seen and what removed it, or that there is none."""
        if result.hit is None:
            revisions = f"{result.searched:,} of {len(self.known.names):,} revisions"
            return f"“{self.needle}” was not found in {revisions}."
        least = "at least " if result.is_capped else ""
        others = f" ({least}{result.count - 1:,} more in all revisions)" if result.count > 1 else ""
        return f"{excerpt(result.hit.name)}: {result.ending}{others}."


class FactsLoader:
    """Reads the facts while a pane draws them or a search needs them, and keeps those of each source."""

    def __init__(self, state: InspectorState) -> None:
        self._state = state
        self._known: dict[tuple[int, str | None], tuple[Source, KnownRevisions]] = {}
        self._running: ReadFacts | None = None
        self._begun = 0.0
        self._waiting = False

    @property
    def known(self) -> KnownRevisions | None:
        """The facts of the open source, as far as they were read."""
        found = self._known.get((self._state.key.source, self._state.key.profile))
        return found[1] if found is not None else None

    def update(self, *, wanted: bool, worked: bool) -> Effects:
        """Start or stop reading, or show known facts, after any change of the view or the panes.

        `worked`: no long work is left that would change them.
        """
        state = self._state
        source, key, view = state.source, state.key, state.view
        if source is None or not wanted:
            running, self._running = self._running, None
            return [Cancel(ReadFacts.group)] if running is not None else []
        if view is None or view.key != key or state.awaiting is not None:
            return []
        place = key.source, key.profile
        known = self._known.get(place)
        if known is not None and known[0] is source and (known[1].is_read or self._running is not None):
            return [Show()] if view.known is not known[1] and state.take_known(known[1]) else []
        running = self._running
        if not worked or (running is not None and running.source is source):
            return []
        if known is not None and (left := REST - (monotonic() - self._begun)) > 0:
            waiting, self._waiting = self._waiting, True
            return [] if waiting else [WakeAfter(FACTS_TIMER, left)]
        self._running, self._begun = ReadFacts(source, key), monotonic()
        return [Start(self._running)]

    def take(self, job: ReadFacts, known: KnownRevisions) -> Effects:
        self._known[job.key.source, job.key.profile] = job.source, known
        if known.is_read and job is self._running:
            self._running = None
        here = (self._state.key.source, self._state.key.profile) == (job.key.source, job.key.profile)
        return [Show()] if here and self._state.take_known(known) else []

    def failed(self, job: ReadFacts) -> None:
        """Do not try again while the source is the same."""
        from ctxview.formats.revisions import name_revisions

        self.take(job, KnownRevisions(name_revisions(job.source.revisions)))
        self._running = job

    def next_finding(self, number: int, step: int) -> int | None:
        """The nearest revision with an error, else a warning, in one direction; else in the other."""
        from ctxview.analysis.revisions.log import next_finding

        known = self.known
        if known is None or number >= len(known.names):
            return None
        found = next_finding(known, number, back=step < 0)
        return found if found is not None else next_finding(known, number, back=step > 0)

    def rested(self) -> None:
        self._waiting = False
