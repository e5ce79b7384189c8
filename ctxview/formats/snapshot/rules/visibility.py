"""The rules about which blocks of a tier the model sees and storage keeps (SNP021 to 024).

All limits come from the profile; the protocol alone has none. Each line of an example sets one member of the
template snapshot, `(injected)` makes it the copy a model was given.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ctxview.analysis.wording import excerpt, listed
from ctxview.core.figures import figure_text
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot, SnapshotRole
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules.lookups import as_written, expected_layout, tier_blocks
from ctxview.formats.snapshot.runtime.normalisation import StoredBlock, normalise
from ctxview.formats.snapshot.runtime.projection import DropReason, compact, past_retention, project


@rule("SNP021", name="hidden-by-threshold", severity=Severity.WARNING, effect=Effect.HIDDEN)
def hidden_by_threshold(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A block's decay is too high or its confidence too low for its tier.

    ## Why
    The runtime keeps the block in storage but leaves it out of the prompt: to the model it does not exist.
    Equality passes. Finished working blocks are hidden anyway and not reported, nor is the confidence that
    versions before 2.3 did not have.
    ## Bad
    memory.working[0].decay = 0.70
    ## Good
    memory.working[0].decay = 0.65
    ## Fix
    Lower the decay or raise the confidence if the block still matters; move it to a more patient tier; or
    drop it.
    ## Source
    Context Protocol 3.0, rule 14 (too high, too low); the numbers are the profile's tier table.
    """
    required = expected_layout(snapshot).block_fields
    for block, normal in _candidates(snapshot, profile):
        policy = profile.tier(block.tier)
        if policy.hides_terminal and normal.terminal:
            continue
        if policy.max_decay is not None and normal.decay > policy.max_decay:
            pointer = f"{block.pointer}/decay"
            found = as_written(snapshot, pointer, block.members["decay"])
            limit = f"{block.tier}'s maximum of {figure_text(policy.max_decay)}"
            message = f"{excerpt(block.name)}: decay {found} is above {limit}; the model will not see it"
            yield Hit(snapshot.origin_of(pointer), message)
        if "confidence" not in {*block.members, *required}:
            continue
        if policy.min_confidence is not None and normal.confidence < policy.min_confidence:
            pointer = f"{block.pointer}/confidence"
            found = as_written(snapshot, pointer, block.members.get("confidence", normal.confidence))
            limit = f"{block.tier}'s minimum of {figure_text(policy.min_confidence)}"
            message = f"{excerpt(block.name)}: confidence {found} is below {limit}; the model will not see it"
            yield Hit(snapshot.origin_of(pointer), message)


@rule("SNP022", name="too-old", severity=Severity.WARNING, effect=Effect.HIDDEN)
def too_old(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A block is older than its tier is shown, or older than it is kept.

    ## Why
    Age is the current round minus the block's round. Past the visible age the model no longer sees the
    block; past the age of storage the runtime deletes it. Decay does not grow by itself: only age removes a
    block.
    ## Bad
    runtime.round = 5
    memory.ephemeral[0].round = 1
    ## Good
    runtime.round = 4
    memory.ephemeral[0].round = 1
    ## Fix
    Re-send the block with the current round if it still holds, or move it to core or longterm, which do not
    age.
    ## Source
    Context Protocol 3.0, structural notes (lifecycle by round); the ages are the profile's tier table.
    """
    now = snapshot.round
    if now is None:
        return
    for block, normal in _candidates(snapshot, profile):
        policy, age, round_at = profile.tier(block.tier), now - normal.round, f"{block.pointer}/round"
        if past_retention(normal, policy, now):
            limit = f"{block.tier} is kept for {policy.raw_age}"
            message = f"{excerpt(block.name)}: {age} rounds old, {limit}; it will be deleted"
            yield Hit(snapshot.origin_of(round_at), message, effect=Effect.DELETED)
        elif policy.hides_terminal and normal.terminal:
            continue
        elif policy.max_age_shown is not None and age > policy.max_age_shown:
            limit = f"{block.tier} is shown for {policy.max_age_shown}"
            message = f"{excerpt(block.name)}: {age} rounds old, {limit}; the model will not see it"
            yield Hit(snapshot.origin_of(round_at), message)


@rule("SNP023", name="tier-over-cap", severity=Severity.WARNING, effect=Effect.HIDDEN)
def tier_over_cap(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A tier holds more blocks than the model is shown, or more than storage keeps.

    ## Why
    Of the blocks that pass, only so many reach the prompt, the best first; the rest is hidden. Beyond the
    cap of storage (an error) the oldest are deleted for good.
    ## Bad
    memory.core = 25 blocks
    ## Good
    memory.core = 24 blocks
    ## Fix
    Merge blocks that say the same, drop what is over, move reference knowledge to longterm.
    ## Source
    Context Protocol 3.0, rules 14 and 16; the caps are the profile's tier table.
    """
    for tier in TIERS:
        policy, blocks = profile.tier(tier), snapshot.tier(tier)
        caps = [cap for cap in (policy.max_shown, policy.raw_cap) if cap is not None]
        if not caps or len(blocks) <= min(caps):
            continue
        origin = snapshot.origin("memory", tier)
        lost = compact((block.value for block in blocks), tier, snapshot.round, profile).surplus
        if lost:
            total, names = len(lost) + (policy.raw_cap or 0), listed(block.id for block, _ in lost)
            message = f"{tier} has {total} blocks, storage keeps {policy.raw_cap}; deleted: {names}"
            yield Hit(origin, message, Severity.ERROR, Effect.DELETED)
        hidden = project(snapshot, profile).tier(tier).hidden
        over = [each.block.name for each in hidden if each.verdict.drop is DropReason.OVER_MAX]
        if over:
            total, names = len(over) + (policy.max_shown or 0), listed(over)
            message = (
                f"{tier} has {total} blocks to show, {policy.max_shown} fit; the model will not see {names}"
            )
            yield Hit(origin, message)


@rule("SNP024", name="not-by-quality", severity=Severity.INFO)
def not_by_quality(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A tier that a model was given or sent back is not ordered by quality.

    ## Why
    The protocol wants the better blocks first: they are read with more attention and survive cuts. Quality
    is half of (1 - decay) plus half of confidence. Storage is ordered by recency and not checked.
    ## Bad
    (injected)
    memory.core[0].confidence = 0.80
    memory.core += {"id": "core-002", "confidence": 0.90}
    ## Good
    (injected)
    memory.core[0].confidence = 0.90
    memory.core += {"id": "core-002", "confidence": 0.90}
    ## Fix
    Sort each tier by quality, best first.
    ## Source
    Context Protocol 3.0, rule 16. Runtime: sorts what it injects, stores by recency.
    """
    if snapshot.role is SnapshotRole.STORED:
        return
    for tier in TIERS:
        ranked = [(block, normal) for block, normal in _candidates(snapshot, profile) if block.tier == tier]
        for (before, worse), (block, better) in pairwise(ranked):
            if better.quality > worse.quality + _NOISE:
                first = f"{excerpt(block.name)} (quality {better.quality:.3f})"
                second = f"{excerpt(before.name)} ({worse.quality:.3f})"
                yield Hit(snapshot.origin_of(block.pointer), f"{tier}: {first} comes after {second}")
                break


_NOISE = 1e-9
"""Qualities that differ by less are equal: decimal fractions are not exact."""


def _candidates(snapshot: Snapshot, profile: Profile) -> Iterator[tuple[MemoryBlock, StoredBlock]]:
    """Yield the valid blocks, each with its normalised form."""
    for block in tier_blocks(snapshot):
        normal = normalise(block.value, block.tier, snapshot.round, profile)
        if normal is not None:
            yield block, normal
