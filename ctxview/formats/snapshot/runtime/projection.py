"""Computes which blocks of a snapshot reach the model, in which order, and which of them storage keeps.

Changes nothing; the names of the drop reasons are those of the runtime.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property

from msgspec import Struct

from ctxview.core.figures import Reason, ReasonKind, figure_text
from ctxview.core.origin import JsonValue
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot
from ctxview.formats.snapshot.profile import Profile, TierPolicy
from ctxview.formats.snapshot.runtime.javascript import collation_key
from ctxview.formats.snapshot.runtime.normalisation import StoredBlock, normalise, why_invalid


class DropReason(StrEnum):
    """Why a block is hidden, in the order in which the runtime checks. It does not count the last two."""

    INVALID = "invalid_block"
    TERMINAL = "working_status_terminal"
    DECAY = "threshold_decay"
    CONFIDENCE = "threshold_confidence"
    EXPIRED = "expired_by_round"
    OVER_MAX = "over_max_items"
    DUPLICATE = "duplicate_id"
    UNKNOWN_TIER = "unknown_tier"


COUNTED_DROPS = (
    DropReason.INVALID,
    DropReason.TERMINAL,
    DropReason.DECAY,
    DropReason.CONFIDENCE,
    DropReason.EXPIRED,
    DropReason.OVER_MAX,
)
"""The reasons that a runtime counts in `projectionDebug.droppedByReason`."""


class HideVerdict(Struct, frozen=True):
    """Why a block is hidden: the runtime's word, and the reason for people."""

    drop: DropReason
    reason: Reason

    @property
    def text(self) -> str:
        return self.reason.text


class ShownBlock(Struct, frozen=True):
    """A visible block, as written and as the model sees it."""

    block: MemoryBlock
    normal: StoredBlock


class HiddenBlock(Struct, frozen=True):
    """A block that the model does not see, and why."""

    block: MemoryBlock
    verdict: HideVerdict


class TierProjection(Struct, frozen=True):
    """One tier, split into visible and hidden blocks."""

    name: str
    raw_count: int
    shown: tuple[ShownBlock, ...]
    hidden: tuple[HiddenBlock, ...]


class Projection(Struct, frozen=True, dict=True):
    """The four tiers as the model sees them; `elsewhere` holds the blocks of unknown tiers."""

    round: int | None
    tiers: tuple[TierProjection, ...]
    elsewhere: tuple[HiddenBlock, ...]

    def tier(self, name: str) -> TierProjection:
        return next((tier for tier in self.tiers if tier.name == name), TierProjection(name, 0, (), ()))

    def hidden(self) -> Iterator[HiddenBlock]:
        for tier in self.tiers:
            yield from tier.hidden
        yield from self.elsewhere

    def verdict_of(self, pointer: str) -> HideVerdict | None:
        return self._verdicts.get(pointer)

    def rank_of(self, pointer: str) -> int | None:
        """Return the position among all visible blocks, tier after tier; None for a hidden one."""
        return self._ranks.get(pointer)

    def dropped(self, drop: DropReason) -> int:
        return sum(hidden.verdict.drop is drop for hidden in self.hidden())

    @cached_property
    def _verdicts(self) -> dict[str, HideVerdict]:
        return {hidden.block.pointer: hidden.verdict for hidden in self.hidden()}

    @cached_property
    def _ranks(self) -> dict[str, int]:
        shown = (shown for tier in self.tiers for shown in tier.shown)
        return {each.block.pointer: rank for rank, each in enumerate(shown)}


def project(snapshot: Snapshot, profile: Profile) -> Projection:
    """Compute which blocks the runtime of `profile` puts into the prompt."""
    tiers = tuple(_project_tier(name, snapshot.tier(name), profile, snapshot.round) for name in TIERS)
    unknown = tuple(
        HiddenBlock(block, _verdict(DropReason.UNKNOWN_TIER, f"the tier {block.tier} is unknown"))
        for block in snapshot.blocks
        if block.tier not in TIERS
    )
    return Projection(snapshot.round, tiers, unknown)


def verdict(block: MemoryBlock, profile: Profile, current_round: int | None) -> HideVerdict | None:
    """Return why this block alone would be hidden, without duplicates and caps; None when it passes."""
    judged = _judge(block, profile, current_round)
    return judged if isinstance(judged, HideVerdict) else None


def visible_order(normal: StoredBlock) -> tuple[float, int, object]:
    """Return a sort key: better quality first, then newer, then by id."""
    return (-normal.quality, -normal.round, collation_key(normal.id))


def preferred_block(first: StoredBlock, second: StoredBlock) -> StoredBlock:
    """Return the copy of an id that wins: better quality, then newer, then the later one."""
    if first.quality != second.quality:
        return first if first.quality > second.quality else second
    return second if second.round >= first.round else first


def _judge(block: MemoryBlock, profile: Profile, current_round: int | None) -> HideVerdict | StoredBlock:
    normal = normalise(block.value, block.tier, current_round, profile)
    if normal is None:
        return _verdict(DropReason.INVALID, f"invalid: {why_invalid(block.value, profile)}")
    if current_round is None and profile.needs_round:
        return _verdict(DropReason.INVALID, "runtime.round is missing")
    return _beyond_limits(normal, profile.tier(block.tier), current_round) or normal


def _beyond_limits(block: StoredBlock, policy: TierPolicy, current_round: int | None) -> HideVerdict | None:
    age = current_round - block.round if current_round is not None else None
    if policy.hides_terminal and block.terminal:
        return _verdict(DropReason.TERMINAL, f"status {block.status}", summary=f"status is {block.status}")
    most, least, oldest = policy.max_decay, policy.min_confidence, policy.max_age_shown
    if most is not None and block.decay > most:
        text = f"decay {figure_text(block.decay)} > {figure_text(most)}"
        return _verdict(DropReason.DECAY, text, "decay", block.decay, most)
    if least is not None and block.confidence < least:
        text = f"confidence {figure_text(block.confidence)} < {figure_text(least)}"
        return _verdict(DropReason.CONFIDENCE, text, "confidence", block.confidence, least)
    if oldest is not None and age is not None and age > oldest:
        text, summary = f"age {age} > {oldest} rounds", f"older than {oldest} rounds"
        return _verdict(DropReason.EXPIRED, text, "age", age, oldest, summary)
    return None


_KINDS = {
    DropReason.TERMINAL: ReasonKind.FINISHED,
    DropReason.DECAY: ReasonKind.ABOVE,
    DropReason.CONFIDENCE: ReasonKind.BELOW,
    DropReason.EXPIRED: ReasonKind.EXPIRED,
    DropReason.OVER_MAX: ReasonKind.NO_ROOM,
    DropReason.DUPLICATE: ReasonKind.DUPLICATE,
}


def _verdict(
    drop: DropReason,
    text: str,
    figure: str | None = None,
    value: float | None = None,
    limit: float | None = None,
    summary: str = "",
) -> HideVerdict:
    kind = _KINDS.get(drop, ReasonKind.INVALID)
    return HideVerdict(drop, Reason(kind, text, figure, value, limit, summary))


def _project_tier(
    name: str, blocks: Sequence[MemoryBlock], profile: Profile, current_round: int | None
) -> TierProjection:
    policy = profile.tier(name)
    chosen: dict[str, ShownBlock] = {}
    hidden: list[HiddenBlock] = []
    for block in blocks:
        judged = _judge(block, profile, current_round)
        if isinstance(judged, HideVerdict):
            hidden.append(HiddenBlock(block, judged))
            continue
        candidate, rival = ShownBlock(block, judged), chosen.get(judged.id)
        if rival is None:
            chosen[judged.id] = candidate
            continue
        winner = candidate if preferred_block(rival.normal, judged) is judged else rival
        loser = rival if winner is candidate else candidate
        chosen[judged.id] = winner
        text = f"same id as element {winner.block.index}, which is the better copy"
        hidden.append(HiddenBlock(loser.block, _verdict(DropReason.DUPLICATE, text)))
    ordered = sorted(chosen.values(), key=lambda shown: visible_order(shown.normal))
    if policy.max_shown is not None:
        surplus = _verdict(DropReason.OVER_MAX, f"over the {policy.max_shown} shown")
        hidden.extend(HiddenBlock(shown.block, surplus) for shown in ordered[policy.max_shown :])
        ordered = ordered[: policy.max_shown]
    return TierProjection(name, len(blocks), tuple(ordered), tuple(hidden))


class TierCompaction(Struct, frozen=True):
    """The stored blocks of a tier in storage order, and the deleted ones with their reasons."""

    kept: tuple[StoredBlock, ...]
    expired: tuple[tuple[StoredBlock, str], ...]
    surplus: tuple[tuple[StoredBlock, str], ...]


def compact(
    values: Iterable[JsonValue], tier: str, current_round: int | None, profile: Profile
) -> TierCompaction:
    """Normalise the blocks, collapse copies, and delete first by age, then by count."""
    policy = profile.tier(tier)
    alive: list[StoredBlock] = []
    expired: list[tuple[StoredBlock, str]] = []
    normal = (normalise(value, tier, current_round, profile) for value in values)
    for block in distinct((block for block in normal if block is not None), tier):
        reason = past_retention(block, policy, current_round)
        if reason is None:
            alive.append(block)
        else:
            expired.append((block, reason))
    over = f"over the {policy.raw_cap} kept"
    surplus = alive[policy.raw_cap :] if policy.raw_cap is not None else []
    kept = alive[: policy.raw_cap]
    return TierCompaction(tuple(kept), tuple(expired), tuple((block, over) for block in surplus))


def distinct(blocks: Iterable[StoredBlock], tier: str) -> list[StoredBlock]:
    """Return one block for each id, in storage order."""
    by_id: dict[str, StoredBlock] = {}
    for block in blocks:
        rival = by_id.get(block.id)
        by_id[block.id] = block if rival is None else preferred_in_storage(tier, rival, block)
    return sorted(by_id.values(), key=lambda block: storage_order(block, tier))


def past_retention(block: StoredBlock, policy: TierPolicy, current_round: int | None) -> str | None:
    """Return why storage deletes this block; None when it keeps it."""
    if policy.raw_age is None or current_round is None:
        return None
    age = current_round - block.round
    if age <= policy.raw_age or (policy.raw_age_terminal_only and not block.terminal):
        return None
    return f"age {age} > {policy.raw_age} rounds kept"


def storage_order(block: StoredBlock, tier: str) -> tuple[bool, int, tuple[float, int, object]]:
    """Return a sort key: open before finished in working, then newer rounds, then the order of the model."""
    return (tier == "working" and block.terminal, -block.round, visible_order(block))


def preferred_in_storage(tier: str, first: StoredBlock, second: StoredBlock) -> StoredBlock:
    """Return the copy of an id that is stored: the unfinished one in working, else the better one."""
    if tier == "working" and first.terminal != second.terminal:
        return second if first.terminal else first
    return preferred_block(first, second)
