"""The memory tiers of a snapshot as neutral blocks: every element of every tier, shown or not, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ctxview.analysis.tokens import TokenCounter
from ctxview.formats.snapshot.forms import block_form, new_block_form
from ctxview.formats.snapshot.javascript import finite_number
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot
from ctxview.formats.snapshot.normalise import quality
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.versions import layout_of
from ctxview.formats.snapshot.visibility import Sight, Visibility
from ctxview.state import Block, JsonValue, Tier

NOT_SEEN = Sight(False, None, None)
LONGEST_ODD_VALUE = 2000


def build_tiers(
    visibility: Visibility, injected: Snapshot | None, profile: Profile, counter: TokenCounter, writable: bool
) -> tuple[Tier, ...]:
    """The tiers of the version in protocol order, then whatever else stands under `memory`."""
    snapshot = visibility.snapshot
    memory = snapshot.section("memory")
    known = [tier for tier in TIERS if tier in memory or tier in layout_of(snapshot).tiers]
    names = [*known, *(name for name in memory if name not in TIERS)]
    return tuple(
        Tier(
            name,
            tuple(_tier_blocks(name, visibility, injected, profile, counter, writable)),
            new_block_form(snapshot, name, profile) if writable and name in TIERS else None,
        )
        for name in names
    )


def odd_text(value: JsonValue) -> str:
    """Something that is no block, as JSON text of bounded length."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):
        return "…"
    return text if len(text) <= LONGEST_ODD_VALUE else text[:LONGEST_ODD_VALUE] + "…"


def _tier_blocks(
    name: str,
    visibility: Visibility,
    injected: Snapshot | None,
    profile: Profile,
    counter: TokenCounter,
    writable: bool,
) -> Iterator[Block]:
    for block in visibility.snapshot.tier(name):
        sight = visibility.sights.get(block.pointer, NOT_SEEN)
        yield _block(visibility.snapshot, block, sight, profile, counter, writable)
    for block in visibility.only_injected:
        if block.tier == name and injected is not None:
            sight = Sight(True, None, "only in the injected snapshot, not in the stored one")
            yield _block(injected, block, sight, profile, counter, writable=False)


def _block(
    snapshot: Snapshot,
    block: MemoryBlock,
    sight: Sight,
    profile: Profile,
    counter: TokenCounter,
    writable: bool,
) -> Block:
    text = block.content if block.content is not None else odd_text(block.value)
    decay, confidence = finite_number(block.decay), finite_number(block.confidence)
    age = snapshot.round - block.round if snapshot.round is not None and block.round is not None else None
    return Block(
        id=block.name,
        tier=block.tier,
        type=block.type,
        text=text,
        decay=decay,
        confidence=confidence,
        quality=quality(decay, confidence) if decay is not None and confidence is not None else None,
        round=block.round,
        age=age,
        tags=block.tags,
        tokens=counter.count(text),
        visible=sight.visible,
        reason=sight.reason,
        state=_state(block),
        origin=snapshot.origin_of(block.pointer),
        form=block_form(snapshot, block, profile, writable),
        rank=sight.rank,
    )


def _state(block: MemoryBlock) -> str | None:
    """One word for what has become of a block: cold, brought back, recalled, or its status."""
    members = block.members
    if block.content_state == "tag_ref":
        return "tag_ref"
    if "rehydrated_at" in members:
        return "rehydrated"
    if block.status is not None:
        return block.status
    if "persistent_block_id" in members:
        return "recalled"
    return "open" if block.tier == "working" and members else block.content_state
