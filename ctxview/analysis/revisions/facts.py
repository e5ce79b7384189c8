"""Facts about one revision, small enough to keep for thousands: budgets, changes, findings, blocks and texts.

`KnownRevisions` holds the facts that are known so far. Reading a source is done by `formats.revisions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import NamedTuple, TypeAlias, TypeVar

from msgspec import Struct, field

from ctxview.analysis.diff import ChangeGroup, ChangeKind, diff
from ctxview.analysis.diff.model import BlockCounts
from ctxview.analysis.revisions.events import RevisionEvent, compaction_event, find_events
from ctxview.core.figures import Reason
from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.origin import Origin
from ctxview.core.state import Block, Budget, CompactionRecord, ContextState

MOST_FINDINGS = 40
"""Findings of a revision that are kept, the worst first; all are counted."""
MOST_BLOCKS = 250_000
"""Blocks of all revisions together that are kept; of further revisions only the figures are known."""
MOST_TEXT = 48_000_000
"""Characters of all different texts together that are kept."""
_MOST_NEAR = 3
_MOST_HELD = 5
_SHORTEST_WORDS = 4
"""Bytes of the shortest text that is searched for; two Chinese characters have six."""

T = TypeVar("T")
BlockKey: TypeAlias = tuple[str, str]
"""Tier and id."""

_EFFECTS = (Effect.LEAKED, Effect.WIPED, Effect.DELETED, Effect.REJECTED, Effect.DROPPED, Effect.TRUNCATED)


class RevisionName(Struct, frozen=True):
    """How a revision is called, and its place among the others."""

    label: str
    name: str
    """The name in a sentence: `round 9`, `the reply to round 9`."""
    short: str
    """The name in a list: `9`, `reply to 9`."""
    time: str | None
    is_reply: bool
    previous: int | None
    """The revision that it continues, or that a reply answers."""
    is_readable: bool = True
    is_compaction: bool = False
    """Whether the revision is the moment after a compaction."""


class PastBlock(NamedTuple):
    """One block at one revision, without its form."""

    tier: str
    id: str
    type: str | None
    text: str
    visible: bool | None
    reason: Reason | None
    figures: tuple[tuple[str, float], ...]
    tokens: int | None
    rank: int | None
    tags: tuple[str, ...]
    origin: Origin

    @property
    def key(self) -> BlockKey:
        return self.tier, self.id

    @property
    def why(self) -> str:
        """The text of the reason; empty without one."""
        return self.reason.text if self.reason is not None else ""


class TextFacts(NamedTuple):
    """A text that is not a block: a gap, a reference, a todo item, prose."""

    kind: str
    name: str
    text: str
    origin: Origin | None
    target: str = ""
    """What a reference leads to."""


class RevisionFacts(Struct, frozen=True, eq=False, kw_only=True):
    """What is kept of one revision. `counts` and `events` compare it with the previous one."""

    number: int
    budgets: tuple[Budget, ...]
    counts: BlockCounts
    severities: Mapping[Severity, int]
    findings: tuple[Finding, ...]
    finding_hashes: Mapping[Severity, frozenset[int]] = field(default_factory=dict)
    """To count a finding once that several revisions share, because they are read from the same file."""
    events: tuple[RevisionEvent, ...] = ()
    added: tuple[BlockKey, ...] = ()
    changed: tuple[tuple[BlockKey, str], ...] = ()
    """The blocks with another content or visibility: `now hidden`, `now shown` or empty."""
    removed: tuple[BlockKey, ...] = ()
    hidden_before: int = 0
    """How many of the removed blocks were hidden before."""
    left_window: frozenset[BlockKey] = frozenset()
    """The removed blocks that an append-only history still has."""
    compactions: tuple[CompactionRecord, ...] = ()
    whole: bool = True
    """Whether blocks that it lacks are gone: not for copies of the prompt and replies to an unknown state."""
    blocks: Mapping[BlockKey, PastBlock] | None = None
    """None when there were too many blocks to keep."""
    texts: tuple[TextFacts, ...] = ()


class WorstFinding(Struct, frozen=True):
    finding: Finding
    number: int


class KnownRevisions(Struct, frozen=True, eq=False, dict=True):
    """All revisions of a source by name, and the facts of those that were read."""

    names: tuple[RevisionName, ...]
    facts: Mapping[int, RevisionFacts] = field(default_factory=dict)
    chosen: int | None = None
    """How many are read when there are too many to read all; None for all."""

    @property
    def is_complete(self) -> bool:
        return len(self.facts) == len(self.names)

    @property
    def is_read(self) -> bool:
        """Whether all that are read are known, which may be a choice of them."""
        return len(self.facts) == (len(self.names) if self.chosen is None else self.chosen)

    def window_revision(self, number: int) -> int:
        """The revision whose window counts: a reply has that of the prompt it answers."""
        name = self.names[number]
        return name.previous if name.is_reply and name.previous is not None else number

    @cached_property
    def in_order(self) -> tuple[RevisionFacts, ...]:
        """The known facts, the oldest first."""
        return tuple(self.facts[number] for number in sorted(self.facts))

    @cached_property
    def severities(self) -> dict[Severity, tuple[int, int]]:
        """How many different findings of each severity there are, and in how many revisions."""
        found = {}
        for severity in Severity:
            hashes = [each.finding_hashes.get(severity, frozenset()) for each in self.facts.values()]
            found[severity] = len(frozenset().union(*hashes)), sum(map(bool, hashes))
        return found

    @cached_property
    def worst(self) -> WorstFinding | None:
        """The worst finding of all known revisions; of equal ones the newest."""
        found = (WorstFinding(each.findings[0], each.number) for each in self.in_order if each.findings)
        return min(found, key=lambda each: (*finding_rank(each.finding), -each.number), default=None)

    def events_of(self, number: int) -> tuple[RevisionEvent, ...]:
        """The events of a revision, without those that the reply before it caused."""
        facts = self.facts.get(number)
        if facts is None or self.names[number].is_reply:
            return facts.events if facts is not None else ()
        replies = [
            self.facts[place]
            for place in range((self.names[number].previous or 0) + 1, number)
            if place in self.facts and self.names[place].is_reply
        ]
        gone = {key for reply in replies for key in reply.removed}
        known = {(each.kind, each.text) for reply in replies for each in reply.events}
        return tuple(
            each
            for each in facts.events
            if (each.kind, each.text) not in known and not (each.blocks and gone.issuperset(each.blocks))
        )

    def written_again(self, number: int) -> tuple[tuple[BlockKey, ...], tuple[BlockKey, ...]]:
        """Of the blocks removed at a revision, those that come back later and those that never do."""
        facts = self.facts.get(number)
        if facts is None:
            return (), ()
        later = [each.blocks for each in self.in_order if each.number > number and each.blocks is not None]
        back = tuple(key for key in facts.removed if any(key in blocks for blocks in later))
        return back, tuple(key for key in facts.removed if key not in back)


class FoundBlocks(NamedTuple):
    """The blocks that a name means, all tiers of each id, and how many more ids it may mean."""

    keys: tuple[BlockKey, ...]
    more: int = 0


def find_blocks(known: KnownRevisions, name: str) -> FoundBlocks:
    """The blocks with that id in any revision; else without regard to case, else those that end with it.

    Formats without ids of their own make them of the text, so words of it or the name of the file will do.
    """
    every = {key: block for facts in known.in_order for key, block in (facts.blocks or {}).items()}
    word = name.strip()
    folded = word.casefold()
    ends = (f":{folded}", f"/{folded}", f" {folded}")
    exact = [key for key in every if key[1] == word]
    alike = exact or [key for key in every if key[1].casefold() == folded]
    alike = alike or [key for key in every if key[1].casefold().endswith(ends)]
    if alike or len(folded.encode()) < _SHORTEST_WORDS:
        return FoundBlocks(tuple(alike) if folded else ())
    held = [key for key, block in every.items() if folded in " ".join(block.text.split()).casefold()]
    held = held or [key for key, block in every.items() if block.origin.file.casefold().endswith(ends[1])]
    ids = list(dict.fromkeys(key[1] for key in held))
    kept = frozenset(ids[-_MOST_HELD:])
    return FoundBlocks(tuple(key for key in every if key[1] in kept), len(ids) - len(kept))


def near_names(known: KnownRevisions, name: str) -> tuple[str, ...]:
    """The ids that are most like a name that no block has."""
    ids = list(dict.fromkeys(key[1] for facts in known.in_order for key in facts.blocks or ()))
    folded = {each.casefold(): each for each in ids}
    word = name.strip().casefold()
    inside = [each for each in ids if word and word in each.casefold()]
    close = [folded[each] for each in get_close_matches(word, folded, n=_MOST_NEAR, cutoff=0.5)]
    return tuple(dict.fromkeys((*inside, *close)))[:_MOST_NEAR]


def finding_rank(finding: Finding) -> tuple[int, int]:
    """A sort key: the severity, then how much the finding costs the agent."""
    effects = _EFFECTS.index(finding.effect) if finding.effect in _EFFECTS else len(_EFFECTS)
    return finding.severity.rank, effects


class _Shared(dict[T, T]):
    """Returns the first value that was equal, so that later ones are not kept."""

    def __missing__(self, value: T) -> T:
        self[value] = value
        return value


class FactsCollector:
    """Makes the facts of one revision after the other; equal texts of all of them are kept once."""

    def __init__(self, names: Sequence[RevisionName]) -> None:
        self._names = names
        self._keys: _Shared[BlockKey] = _Shared()
        self._all_texts: _Shared[str] = _Shared()
        self._reasons: _Shared[Reason | None] = _Shared()
        self._figures: _Shared[tuple[tuple[str, float], ...]] = _Shared()
        self._tags: _Shared[tuple[str, ...]] = _Shared()
        self._nearest: dict[BlockKey, PastBlock] = {}
        """Each block as it was at the revision that was read before: most do not change."""
        self._blocks = 0
        self._characters = 0

    def collect(
        self, number: int, state: ContextState, findings: Sequence[Finding], before: ContextState | None
    ) -> RevisionFacts:
        """Return the facts of a revision; `before` is the state of the previous one."""
        name = self._names[number]
        change = diff(before, state) if before is not None else None
        whole_state = state.kept
        changes = change.of(ChangeGroup.BLOCKS) if change is not None else ()
        removed = [each for each in changes if each.kind is ChangeKind.REMOVED]
        severities = dict.fromkeys(Severity, 0)
        for finding in findings:
            severities[finding.severity] += 1
        ranked = sorted(findings, key=finding_rank)[:MOST_FINDINGS]
        kept = self._blocks < MOST_BLOCKS and self._characters < MOST_TEXT
        return RevisionFacts(
            number=number,
            budgets=state.budgets,
            counts=change.block_counts() if change is not None else BlockCounts(),
            severities=severities,
            findings=tuple(ranked),
            finding_hashes={
                severity: frozenset(hash(each) for each in findings if each.severity is severity)
                for severity in Severity
                if severities[severity]
            },
            events=(
                *([compaction_event(removed)] if name.is_compaction else []),
                *find_events(change, before, state, name.is_reply, ranked),
            ),
            added=tuple((each.place, each.subject) for each in changes if each.kind is ChangeKind.ADDED),
            changed=tuple(
                ((each.place, each.subject), f"now {each.visibility}" if each.visibility else "")
                for each in changes
                if each.kind not in (ChangeKind.ADDED, ChangeKind.REMOVED)
                and (each.deltas or each.kind is ChangeKind.MOVED)
            ),
            removed=tuple((each.place, each.subject) for each in removed),
            hidden_before=sum(bool(each.why) for each in removed),
            left_window=frozenset((each.place, each.subject) for each in removed if each.in_history),
            compactions=state.compactions,
            whole=not state.shown_only and (not name.is_reply or whole_state is not state),
            blocks=self._block_facts(whole_state.blocks(), state) if kept else None,
            texts=tuple(self._texts(state)) if kept else (),
        )

    def _block_facts(self, blocks: Iterable[Block], written: ContextState) -> dict[BlockKey, PastBlock]:
        """The blocks of a whole state, with the origins of a reply, which has only the blocks it writes."""
        found: dict[BlockKey, PastBlock] = {}
        origins = {(block.tier, block.id): block.origin for block in written.blocks()}
        for block in blocks:
            key = (block.tier, block.id)
            if key not in found:
                figures = tuple((each.name, each.value) for each in block.figures if not each.derived)
                made = PastBlock(
                    block.tier,
                    block.id,
                    block.type,
                    self._text(block.text),
                    block.visible,
                    self._reasons[block.reason],
                    self._figures[figures],
                    block.tokens,
                    block.rank,
                    self._tags[block.tags],
                    origins.get(key, block.origin),
                )
                near = self._nearest.get(key)
                found[self._keys[key]] = self._nearest[key] = near if near == made else made
        self._blocks += len(found)
        return found

    def _texts(self, state: ContextState) -> Iterator[TextFacts]:
        for gap in state.missing:
            if not any(gap.id == name for name in gap.blocks):
                yield TextFacts("missing", gap.id, self._text(f"{gap.question} {gap.why}"), gap.origin)
        for ref in state.refs:
            text = f"{ref.target} {ref.text}" if ref.text else ref.target
            yield TextFacts("reference", ref.id, self._text(text), ref.origin, self._all_texts[ref.target])
        if state.todo is not None:
            for item in state.todo.items:
                yield TextFacts("todo", item.title, "", item.origin)
            cursor = state.todo.cursor
            if cursor is not None and cursor.note:
                yield TextFacts("todo", "note", self._text(cursor.note), cursor.origin)
        if state.text:
            yield TextFacts("text", state.revision, self._text(state.text), None)

    def _text(self, text: str) -> str:
        if text not in self._all_texts:
            self._characters += len(text)
        return self._all_texts[text]
