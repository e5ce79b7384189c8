"""The memory tiers of a snapshot as neutral blocks: every element of every tier, shown or not, and why."""

from __future__ import annotations

import json

from ctxview.analysis.tokens import TokenCounter
from ctxview.formats.snapshot.forms import BlockForms, new_block_form
from ctxview.formats.snapshot.javascript import finite_number
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot
from ctxview.formats.snapshot.normalise import quality
from ctxview.formats.snapshot.profile import Profile, TierPolicy
from ctxview.formats.snapshot.versions import layout_of
from ctxview.formats.snapshot.visibility import Sight, Visibility
from ctxview.quick_dataclass import dataclass
from ctxview.state import Block, JsonValue, Limit, Tier

NOT_SEEN = Sight(False, None, None)
ONLY_INJECTED = Sight(True, None, "only in the injected snapshot, not in the stored one")
LONGEST_ODD_VALUE = 2000


def build_tiers(
    visibility: Visibility, injected: Snapshot | None, profile: Profile, counter: TokenCounter, writable: bool
) -> tuple[Tier, ...]:
    """The tiers of the version in protocol order, then whatever else stands under `memory`."""
    snapshot = visibility.snapshot
    memory = snapshot.section("memory")
    known = [tier for tier in TIERS if tier in memory or tier in layout_of(snapshot).tiers]
    names = [*known, *(name for name in memory if name not in TIERS)]
    stored = _Blocks(snapshot, BlockForms(snapshot, profile, writable), counter)
    blocks = [stored.block(block, visibility.sights.get(block.pointer)) for block in snapshot.blocks]
    if injected is not None:
        derived = _Blocks(injected, BlockForms(injected, profile, writable=False), counter)
        blocks += [derived.block(block, ONLY_INJECTED) for block in visibility.only_injected]
    return tuple(
        Tier(
            name,
            tuple(block for block in blocks if block.tier == name),
            new_block_form(snapshot, name, profile) if writable and name in TIERS else None,
            _limits(profile.tier(name)),
        )
        for name in names
    )


def _limits(policy: TierPolicy) -> tuple[Limit, ...]:
    return (Limit("decay", most=policy.max_decay), Limit("confidence", least=policy.min_confidence))


def odd_text(value: JsonValue) -> str:
    """Something that is no block, as JSON text of bounded length."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):
        return "…"
    return text if len(text) <= LONGEST_ODD_VALUE else text[:LONGEST_ODD_VALUE] + "…"


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Turns the blocks of one snapshot into neutral ones."""

    snapshot: Snapshot
    forms: BlockForms
    counter: TokenCounter

    def block(self, block: MemoryBlock, sight: Sight | None) -> Block:
        text = block.content if block.content is not None else odd_text(block.value)
        decay, confidence = finite_number(block.decay), finite_number(block.confidence)
        born, now = block.round, self.snapshot.round
        sight = sight or NOT_SEEN
        return Block(
            id=block.name,
            tier=block.tier,
            type=block.type,
            text=text,
            decay=decay,
            confidence=confidence,
            quality=quality(decay, confidence) if decay is not None and confidence is not None else None,
            round=born,
            age=now - born if now is not None and born is not None else None,
            tags=block.tags,
            tokens=self.counter.count(text),
            visible=sight.visible,
            reason=sight.reason,
            state=_state(block),
            origin=self.snapshot.origin_of(block.pointer),
            form=self.forms.form(block),
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
