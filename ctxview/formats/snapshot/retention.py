"""What storage keeps of a tier: copies of one id collapsed, the too old and the surplus deleted.

This is the raw side; what the model is shown of it is `projection`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ctxview.formats.snapshot.normalise import NormalBlock, normalise
from ctxview.formats.snapshot.profile import Profile, TierPolicy
from ctxview.formats.snapshot.projection import preferred, visible_order
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Compaction:
    """A tier as stored, in storage order, and what was deleted with the reason."""

    kept: tuple[NormalBlock, ...]
    outlived: tuple[tuple[NormalBlock, str], ...]
    surplus: tuple[tuple[NormalBlock, str], ...]


def compact(
    values: Iterable[JsonValue], tier: str, current_round: int | None, profile: Profile
) -> Compaction:
    """Normalise, collapse copies, delete by age, then by count."""
    policy = profile.tier(tier)
    alive: list[NormalBlock] = []
    outlived: list[tuple[NormalBlock, str]] = []
    normal = (normalise(value, tier, current_round, profile) for value in values)
    for block in distinct((block for block in normal if block is not None), tier):
        reason = past_retention(block, policy, current_round)
        if reason is None:
            alive.append(block)
        else:
            outlived.append((block, reason))
    over = f"over the {policy.raw_cap} kept"
    surplus = alive[policy.raw_cap :] if policy.raw_cap is not None else []
    kept = alive[: policy.raw_cap]
    return Compaction(tuple(kept), tuple(outlived), tuple((block, over) for block in surplus))


def distinct(blocks: Iterable[NormalBlock], tier: str) -> list[NormalBlock]:
    """One block for each id, in storage order."""
    by_id: dict[str, NormalBlock] = {}
    for block in blocks:
        rival = by_id.get(block.id)
        by_id[block.id] = block if rival is None else preferred_in_storage(tier, rival, block)
    return sorted(by_id.values(), key=lambda block: storage_order(block, tier))


def past_retention(block: NormalBlock, policy: TierPolicy, current_round: int | None) -> str | None:
    """Why storage deletes this block; None when it keeps it."""
    if policy.raw_age is None or current_round is None:
        return None
    age = current_round - block.round
    if age <= policy.raw_age or (policy.raw_age_terminal_only and not block.terminal):
        return None
    return f"age {age} > {policy.raw_age} rounds kept"


def storage_order(block: NormalBlock, tier: str) -> tuple[bool, int, tuple[float, int, object]]:
    """Sort key: in working open before finished; then newer rounds; then as the model would see them."""
    return (tier == "working" and block.terminal, -block.round, visible_order(block))


def preferred_in_storage(tier: str, first: NormalBlock, second: NormalBlock) -> NormalBlock:
    """Which of two copies of one id is stored: in working the unfinished one, else the better one."""
    if tier == "working" and first.terminal != second.terminal:
        return second if first.terminal else first
    return preferred(first, second)
