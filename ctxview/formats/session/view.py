"""What a state of a session is built from: a look, the counter, and the moment it is looked at."""

from __future__ import annotations

from functools import cached_property

from ctxview.analysis.tokens import TokenCounter
from ctxview.formats.session.candidates import Choice, candidates, first_fit
from ctxview.formats.session.compactions import Compaction
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.history_tokens import RoleTokens
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import PackItem
from ctxview.formats.session.names import MESSAGES, Cited, SourceKind, tail_count
from ctxview.formats.session.packed import Section, packed_sections, source_text
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.runs import Run
from ctxview.quick_dataclass import dataclass

LARGEST_COUNTED = 128 * 1024
"""A longer text is not counted while somebody waits."""


@dataclass(frozen=True)
class AsOf:
    """A moment in the past: the end of a run, or a compaction in it. `line` is the last message line, from 0.

    It is -1 when there was no message yet, and None when nobody can tell which runs the messages belong to.
    """

    run: Run
    number: int
    line: int | None
    event: int = 0
    """The last event line of that time."""
    compaction: Compaction | None = None

    @property
    def label(self) -> str:
        if self.compaction is not None:
            return f"compaction {self.compaction.number}"
        return f"run {self.number} {self.run.id[:12]}"

    @property
    def told(self) -> str:
        where = f"run {self.number}"
        return f"the end of {where}" if self.compaction is None else f"the compaction in {where}"


@dataclass(frozen=True)
class View:
    look: Look
    counter: TokenCounter
    as_of: AsOf | None = None
    trial: int | None = None
    """A budget to try out; None for the session's own."""
    history: tuple[RoleTokens, ...] | None = None
    """What all messages cost by role; None while nobody has counted."""

    @property
    def budget(self) -> int | None:
        return self.trial if self.trial is not None else self.look.session.budget

    @property
    def profile(self) -> Profile:
        return self.look.profile

    @cached_property
    def packed(self) -> frozenset[str] | None:
        """The sources in the pack; None when there is no pack to look into."""
        pack = self.look.session.pack
        if not pack.json.is_object:
            return None
        return frozenset(item.source for item in pack.items if item.source is not None)

    @cached_property
    def rebuilt(self) -> list[Choice]:
        """What the builder would take for the budget, and what it would leave out; empty if unknown."""
        session, profile = self.look.session, self.profile
        if profile.pack.estimator is None:
            return []
        taken = (tail_count(item.range or "") for item in session.pack.items if item.source == MESSAGES)
        offered = candidates(session, self.look.history.messages, profile, next(taken, None))
        return first_fit(offered, self.budget)

    @cached_property
    def recent_count(self) -> int:
        """How many messages count as recent: as many as the pack takes, or as the profile says."""
        items = self.look.session.pack.items
        told = (tail_count(item.range or "") for item in items if item.source == MESSAGES)
        count = next((each for each in told if each), self.profile.pack.recent_messages)
        return max(1, min(count, 200))

    @cached_property
    def recent(self) -> list[HistoryLine]:
        """The last messages, of now or of the moment that is looked at."""
        stream = self.look.history.messages
        if self.as_of is None:
            return stream.tail(self.recent_count)
        last = self.as_of.line
        if last is None or not stream.complete:
            return []
        first = max(0, last + 1 - self.recent_count)
        return [stream.line(number) for number in range(first, min(last + 1, len(stream)))]

    @property
    def messages_then(self) -> int | None:
        """How many messages there were, blank lines not counted; None when nobody can tell."""
        survey = self.look.survey
        if survey is None:
            return None
        if self.as_of is None:
            return survey.messages.records
        return None if self.as_of.line is None else survey.messages.record_at(self.as_of.line)

    @property
    def events_then(self) -> int | None:
        survey = self.look.survey
        if survey is None:
            return None
        return survey.events.records if self.as_of is None else survey.events.record_at(self.as_of.event)

    def is_later(self, where: Cited) -> bool:
        """Whether lines are cited that had not been written yet at the moment that is looked at."""
        counts = {SourceKind.MESSAGES: self.messages_then, SourceKind.EVENTS: self.events_then}
        then = counts.get(where.kind) if self.as_of is not None else None
        return then is not None and where.last is not None and where.last > then

    @property
    def lines_then(self) -> int | None:
        """How many lines of messages there were at a moment in the past; None for now, or if unknown."""
        return None if self.as_of is None or self.as_of.line is None else self.as_of.line + 1

    @cached_property
    def sections(self) -> dict[str, Section]:
        """The sections of pack.md by source."""
        return packed_sections(self.look)

    def content(self, item: PackItem) -> str | None:
        """The present text of a pack item's source, read once."""
        if item.index not in self._contents:
            self._contents[item.index] = source_text(self.look, item)
        return self._contents[item.index]

    @cached_property
    def _contents(self) -> dict[int, str | None]:
        return {}

    def tokens(self, text: str) -> int | None:
        return self.counter.count(text) if len(text) <= LARGEST_COUNTED else None
