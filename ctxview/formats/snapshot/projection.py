"""What of a snapshot reaches the model, in which order, and why the rest does not.

Judges only; the words of the drop reasons are the runtime's own. What storage keeps is `retention`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property

from ctxview.formats.snapshot.javascript import collation_key
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot
from ctxview.formats.snapshot.normalise import NormalBlock, normalise, why_invalid
from ctxview.formats.snapshot.profile import Profile, TierPolicy
from ctxview.quick_dataclass import dataclass


class Drop(StrEnum):
    """Why a block is not shown, in the order in which the runtime asks. The last two it does not count."""

    INVALID = "invalid_block"
    TERMINAL = "working_status_terminal"
    DECAY = "threshold_decay"
    CONFIDENCE = "threshold_confidence"
    EXPIRED = "expired_by_round"
    OVER_MAX = "over_max_items"
    DUPLICATE = "duplicate_id"
    UNKNOWN_TIER = "unknown_tier"


COUNTED_DROPS = (Drop.INVALID, Drop.TERMINAL, Drop.DECAY, Drop.CONFIDENCE, Drop.EXPIRED, Drop.OVER_MAX)
"""The reasons a runtime counts in `projectionDebug.droppedByReason`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a block is hidden: the runtime's word for it, and the same for a person."""

    drop: Drop
    text: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A block the model sees, as it sees it."""

    block: MemoryBlock
    normal: NormalBlock


@dataclass(frozen=True, slots=True)
class Hidden:
    """A block the model does not see, and why."""

    block: MemoryBlock
    verdict: Verdict


@dataclass(frozen=True)
class TierProjection:
    """One tier, split into what is shown and what is not."""

    name: str
    raw_count: int
    shown: tuple[Shown, ...]
    hidden: tuple[Hidden, ...]


@dataclass(frozen=True)
class Projection:
    """The four tiers as the model sees them; `elsewhere` holds blocks under names that nothing reads."""

    round: int | None
    tiers: tuple[TierProjection, ...]
    elsewhere: tuple[Hidden, ...]

    def tier(self, name: str) -> TierProjection:
        return next((tier for tier in self.tiers if tier.name == name), TierProjection(name, 0, (), ()))

    def hidden(self) -> Iterator[Hidden]:
        for tier in self.tiers:
            yield from tier.hidden
        yield from self.elsewhere

    def verdict_of(self, pointer: str) -> Verdict | None:
        return self._verdicts.get(pointer)

    def rank_of(self, pointer: str) -> int | None:
        """Position among all that is shown, tier after tier; None for what is hidden."""
        return self._ranks.get(pointer)

    def dropped(self, drop: Drop) -> int:
        return sum(hidden.verdict.drop is drop for hidden in self.hidden())

    @cached_property
    def _verdicts(self) -> dict[str, Verdict]:
        return {hidden.block.pointer: hidden.verdict for hidden in self.hidden()}

    @cached_property
    def _ranks(self) -> dict[str, int]:
        shown = (shown for tier in self.tiers for shown in tier.shown)
        return {each.block.pointer: rank for rank, each in enumerate(shown)}


def project(snapshot: Snapshot, profile: Profile) -> Projection:
    """What the runtime of `profile` would put into the prompt."""
    tiers = tuple(_project_tier(name, snapshot.tier(name), profile, snapshot.round) for name in TIERS)
    unknown = tuple(
        Hidden(block, Verdict(Drop.UNKNOWN_TIER, f"nothing reads a tier called {block.tier}"))
        for block in snapshot.blocks
        if block.tier not in TIERS
    )
    return Projection(snapshot.round, tiers, unknown)


def verdict(block: MemoryBlock, profile: Profile, current_round: int | None) -> Verdict | None:
    """Why this block alone would be hidden; None when it passes. Says nothing about copies and caps."""
    judged = _judge(block, profile, current_round)
    return judged if isinstance(judged, Verdict) else None


def visible_order(normal: NormalBlock) -> tuple[float, int, object]:
    """Sort key: better quality first, then newer, then by id."""
    return (-normal.quality, -normal.round, collation_key(normal.id))


def preferred(first: NormalBlock, second: NormalBlock) -> NormalBlock:
    """Which of two copies of one id wins: better quality, then newer, then the later one."""
    if first.quality != second.quality:
        return first if first.quality > second.quality else second
    return second if second.round >= first.round else first


def _judge(block: MemoryBlock, profile: Profile, current_round: int | None) -> Verdict | NormalBlock:
    normal = normalise(block.value, block.tier, current_round, profile)
    if normal is None:
        return Verdict(Drop.INVALID, f"invalid: {why_invalid(block.value, profile)}")
    return _beyond_limits(normal, block.tier, profile.tier(block.tier), current_round) or normal


def _beyond_limits(
    block: NormalBlock, tier: str, policy: TierPolicy, current_round: int | None
) -> Verdict | None:
    age = current_round - block.round if current_round is not None else None
    if policy.hides_terminal and block.terminal:
        return Verdict(Drop.TERMINAL, f"{block.status} status")
    if policy.max_decay is not None and block.decay > policy.max_decay:
        return Verdict(Drop.DECAY, f"decay {figure(block.decay)} > {figure(policy.max_decay)} ({tier})")
    if policy.min_confidence is not None and block.confidence < policy.min_confidence:
        least = figure(policy.min_confidence)
        return Verdict(Drop.CONFIDENCE, f"confidence {figure(block.confidence)} < {least} ({tier})")
    if policy.max_age_shown is not None and age is not None and age > policy.max_age_shown:
        return Verdict(Drop.EXPIRED, f"age {age} > {policy.max_age_shown} rounds")
    return None


def figure(value: float) -> str:
    """Two decimals, or as many as it takes to be the true number."""
    short = f"{value:.2f}"
    return short if float(short) == value else repr(value)


def _project_tier(
    name: str, blocks: Sequence[MemoryBlock], profile: Profile, current_round: int | None
) -> TierProjection:
    policy = profile.tier(name)
    chosen: dict[str, Shown] = {}
    hidden: list[Hidden] = []
    for block in blocks:
        judged = _judge(block, profile, current_round)
        if isinstance(judged, Verdict):
            hidden.append(Hidden(block, judged))
            continue
        candidate, rival = Shown(block, judged), chosen.get(judged.id)
        if rival is None:
            chosen[judged.id] = candidate
            continue
        winner = candidate if preferred(rival.normal, judged) is judged else rival
        loser = rival if winner is candidate else candidate
        chosen[judged.id] = winner
        hidden.append(Hidden(loser.block, _duplicate(winner.block)))
    ordered = sorted(chosen.values(), key=lambda shown: visible_order(shown.normal))
    if policy.max_shown is not None:
        surplus = Verdict(Drop.OVER_MAX, f"over the {policy.max_shown} shown")
        hidden.extend(Hidden(shown.block, surplus) for shown in ordered[policy.max_shown :])
        ordered = ordered[: policy.max_shown]
    return TierProjection(name, len(blocks), tuple(ordered), tuple(hidden))


def _duplicate(winner: MemoryBlock) -> Verdict:
    return Verdict(Drop.DUPLICATE, f"same id as element {winner.index}, which is the better copy")
