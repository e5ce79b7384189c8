"""The inputs of a session state: the facts, the counter, and the point in the history that is shown."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from ctxview.analysis.tokens import TokenCounter
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.kit.history_passes import RoleTokens
from ctxview.formats.session import MESSAGES
from ctxview.formats.session.grammar import CitedRange, SourceKind, tail_count
from ctxview.formats.session.model import PackItem
from ctxview.formats.session.pack_builder import PackSection, packed_sections, source_text
from ctxview.formats.session.pack_candidates import PackDecision, candidates, first_fit
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.survey.compactions import SessionCompaction
from ctxview.formats.session.survey.facts import SessionFacts
from ctxview.formats.session.survey.runs import Run

LARGEST_COUNTED = 128 * 1024
"""A longer text is not counted, so that a reading stays fast."""


class HistoryPoint(Struct, frozen=True):
    """A past point: the end of a run, or a compaction in it. `line` is the last message line, from 0.

    It is -1 when there was no message yet, and None when the runs of the messages are unknown.
    """

    run: Run
    number: int
    line: int | None
    event: int = 0
    """The last event line at that point."""
    compaction: SessionCompaction | None = None

    @property
    def label(self) -> str:
        if self.compaction is not None:
            return f"compaction {self.compaction.number}"
        return f"run {self.number} {self.run.id[:12]}"

    @property
    def description(self) -> str:
        place = "the end of" if self.compaction is None else "the compaction in"
        return f"{place} run {self.number}"


class SessionStateInputs(Struct, frozen=True, dict=True):
    """All inputs of one state, with values that several parts of the state need."""

    facts: SessionFacts
    counter: TokenCounter
    as_of: HistoryPoint | None = None
    trial: int | None = None
    """A budget to try; None for the session's budget."""
    history: tuple[RoleTokens, ...] | None = None
    """The tokens of all messages by role; None until they are counted."""

    @property
    def budget(self) -> int | None:
        return self.trial if self.trial is not None else self.facts.session.budget

    @property
    def profile(self) -> Profile:
        return self.facts.profile

    @cached_property
    def packed(self) -> frozenset[str] | None:
        """The sources in the pack; None without a readable pack."""
        pack = self.facts.session.pack
        if not pack.json.is_object:
            return None
        return frozenset(item.source for item in pack.items if item.source is not None)

    @cached_property
    def rebuilt(self) -> list[PackDecision]:
        """The builder's choices for the budget; empty when the profile has no estimate."""
        session, profile = self.facts.session, self.profile
        if profile.pack.estimator is None:
            return []
        offered = candidates(session, self.facts.history.messages, profile, next(self._pack_tails(), None))
        return list(first_fit(offered, self.budget))

    @cached_property
    def recent_count(self) -> int:
        """How many messages count as recent: as many as the pack takes, or as the profile says."""
        count = next(filter(None, self._pack_tails()), self.profile.pack.recent_messages)
        return max(1, min(count, 200))

    def _pack_tails(self) -> Iterator[int | None]:
        items = self.facts.session.pack.items
        return (tail_count(item.range or "") for item in items if item.source == MESSAGES)

    @cached_property
    def recent(self) -> list[HistoryLine]:
        """The last messages at the point that is shown."""
        stream = self.facts.history.messages
        if self.as_of is None:
            return stream.tail(self.recent_count)
        last = self.as_of.line
        if last is None or not stream.complete:
            return []
        first = max(0, last + 1 - self.recent_count)
        return [stream.line(number) for number in range(first, min(last + 1, len(stream)))]

    @property
    def messages_then(self) -> int | None:
        """How many messages there were, blank lines not counted; None when unknown."""
        survey = self.facts.survey
        if survey is None:
            return None
        if self.as_of is None:
            return survey.messages.records
        return None if self.as_of.line is None else survey.messages.record_at(self.as_of.line)

    @property
    def events_then(self) -> int | None:
        survey = self.facts.survey
        if survey is None:
            return None
        return survey.events.records if self.as_of is None else survey.events.record_at(self.as_of.event)

    def is_later(self, where: CitedRange) -> bool:
        """Return whether `where` cites lines that were not written yet at the point that is shown."""
        counts = {SourceKind.MESSAGES: self.messages_then, SourceKind.EVENTS: self.events_then}
        then = counts.get(where.kind) if self.as_of is not None else None
        return then is not None and where.last is not None and where.last > then

    @property
    def lines_then(self) -> int | None:
        """How many lines of messages there were at a past point; None for now, or when unknown."""
        return None if self.as_of is None or self.as_of.line is None else self.as_of.line + 1

    @cached_property
    def sections(self) -> dict[str, PackSection]:
        """The sections of pack.md by source."""
        return packed_sections(self.facts)

    def content(self, item: PackItem) -> str | None:
        """Return the present text of a pack item's source, read once."""
        if item.index not in self._contents:
            self._contents[item.index] = source_text(self.facts, item)
        return self._contents[item.index]

    @cached_property
    def _contents(self) -> dict[int, str | None]:
        return {}

    def tokens(self, text: str) -> int | None:
        return self.counter.count(text) if len(text) <= LARGEST_COUNTED else None
