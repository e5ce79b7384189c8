"""Builds the tiers and decides which blocks the model sees: as recorded in the log, else as computed.

Where the record and the computation differ, the record counts and the reason says so.
"""

from __future__ import annotations

import json

from msgspec import Struct

from ctxview.analysis.tokens import TokenCounter
from ctxview.analysis.wording import beginning
from ctxview.core.fields import Form
from ctxview.core.figures import Figure, Limit, Reason, ReasonKind
from ctxview.core.origin import JsonValue
from ctxview.core.state import Block, Tier
from ctxview.formats.snapshot.forms import BlockForms, new_block_form
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot, SnapshotRole
from ctxview.formats.snapshot.parser import SnapshotFile, SnapshotFileKind
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.runtime.javascript import cut, finite_number, trim
from ctxview.formats.snapshot.runtime.normalisation import normalise, quality
from ctxview.formats.snapshot.runtime.projection import Projection, project
from ctxview.formats.snapshot.versions import layout_of


class BlockVisibility(Struct, frozen=True):
    """Whether one block is visible, its rank among the visible ones, and why it is hidden."""

    visible: bool
    rank: int | None
    reason: Reason | None


class Visibility(Struct, frozen=True):
    """The visibility of every block by pointer, and the blocks that are only in the injected snapshot."""

    snapshot: Snapshot
    projection: Projection
    reach: dict[str, BlockVisibility]
    only_injected: tuple[MemoryBlock, ...] = ()


def block_visibility(file: SnapshotFile, snapshot: Snapshot, profile: Profile) -> Visibility:
    """Return which blocks of `snapshot`, the main one of `file`, reach the model."""
    projection = project(snapshot, profile)
    if file.salvaged is not None or (file.reply is not None and file.reply.error is not None):
        refused = BlockVisibility(False, None, REFUSED)
        return Visibility(snapshot, projection, {block.pointer: refused for block in snapshot.blocks})
    injected = file.log.injected if file.log is not None else None
    if snapshot.role is SnapshotRole.INJECTED or file.kind is SnapshotFileKind.PROMPT:
        return Visibility(snapshot, projection, _as_recorded(snapshot, projection, profile))
    if injected is None:
        recomputed = {block.pointer: _by_projection(block, projection) for block in snapshot.blocks}
        return Visibility(snapshot, projection, recomputed)
    return _compared(snapshot, injected, projection, profile)


def _by_projection(block: MemoryBlock, projection: Projection) -> BlockVisibility:
    verdict = projection.verdict_of(block.pointer)
    if verdict is not None:
        return BlockVisibility(False, None, verdict.reason)
    return BlockVisibility(True, projection.rank_of(block.pointer), None)


def _as_recorded(snapshot: Snapshot, projection: Projection, profile: Profile) -> dict[str, BlockVisibility]:
    """Mark all blocks of an injected snapshot as visible, even those that the profile would hide."""
    reach = {}
    for rank, block in enumerate(snapshot.blocks):
        verdict = projection.verdict_of(block.pointer)
        doubt = _note(f"shown, although {profile.name} would hide it: {verdict.text}") if verdict else None
        reach[block.pointer] = BlockVisibility(True, rank, doubt)
    return reach


def _compared(snapshot: Snapshot, injected: Snapshot, projection: Projection, profile: Profile) -> Visibility:
    recorded = {(block.tier, block.id): rank for rank, block in enumerate(injected.blocks)}
    reach: dict[str, BlockVisibility] = {}
    matched: set[tuple[str, str | None]] = set()
    # Of several copies of one id, the one the projection shows is the one that was injected.
    for block in sorted(snapshot.blocks, key=lambda block: projection.verdict_of(block.pointer) is not None):
        computed = _by_projection(block, projection)
        normal = normalise(block.value, block.tier, snapshot.round, profile)
        key = (block.tier, normal.id if normal is not None else block.id)
        if key in recorded and key not in matched:
            matched.add(key)
            hides = computed.reason
            doubt = _note(f"shown, although {profile.name} hides it: {hides.text}") if hides else None
            reach[block.pointer] = BlockVisibility(True, recorded[key], doubt)
        elif computed.visible:
            text = f"not in the injected snapshot, although {profile.name} would show it"
            reach[block.pointer] = BlockVisibility(False, None, Reason(ReasonKind.NOT_CHOSEN, text))
        else:
            reach[block.pointer] = computed
    extra = tuple(block for block in injected.blocks if (block.tier, block.id) not in matched)
    return Visibility(snapshot, projection, reach, extra)


def _note(text: str) -> Reason:
    return Reason(ReasonKind.NOTE, text)


REFUSED = Reason(ReasonKind.INVALID, "the runtime refuses the whole file: it is not strict JSON")
HIDDEN = BlockVisibility(False, None, None)
ONLY_INJECTED = BlockVisibility(True, None, _note("only in the injected snapshot, not in the stored one"))
ORDER = ("ephemeral", "working", "longterm", "core")
"""The tiers from dropped first to kept longest."""
MEANINGS = {
    "longterm": "It outlives the task: a later session will know it, too.",
    "core": "It is always shown now, for every task.",
}
LONGEST_ODD_VALUE = 2000
SHARE = (0.0, 1.0)


def build_tiers(
    visibility: Visibility, injected: Snapshot | None, profile: Profile, counter: TokenCounter, writable: bool
) -> tuple[Tier, ...]:
    """Build the tiers of the version in protocol order, then the other members of `memory`."""
    snapshot = visibility.snapshot
    memory = snapshot.section("memory")
    known = [tier for tier in TIERS if tier in memory or tier in layout_of(snapshot).tiers]
    names = [*known, *(name for name in memory if name not in TIERS)]
    stored = _Blocks(snapshot, BlockForms(snapshot, profile, writable), profile, counter)
    blocks = [stored.block(block, visibility.reach.get(block.pointer)) for block in snapshot.blocks]
    if injected is not None:
        derived = _Blocks(injected, BlockForms(injected, profile, writable=False), profile, counter)
        blocks += [derived.block(block, ONLY_INJECTED) for block in visibility.only_injected]
    return tuple(
        tier_of(
            name,
            tuple(block for block in blocks if block.tier == name),
            new_block_form(snapshot, name, profile) if writable and name in TIERS else None,
            (Limit("decay", most=policy.max_decay), Limit("confidence", least=policy.min_confidence)),
        )
        for name, policy in ((name, profile.tier(name)) for name in names)
    )


def tier_of(
    name: str, blocks: tuple[Block, ...], new: Form | None = None, limits: tuple[Limit, ...] = ()
) -> Tier:
    """Return a tier with the rank, meaning and colour that its name has in the protocol."""
    is_known = name in ORDER
    rank, role = (ORDER.index(name), name) if is_known else (None, "")
    return Tier(name, blocks, new, limits, rank, MEANINGS.get(name, ""), role)


def block_figures(decay: float | None, confidence: float | None) -> tuple[Figure, ...]:
    """Return the figures that a block has; its quality follows from the other two."""
    figures = []
    if decay is not None and confidence is not None:
        figures.append(Figure("quality", quality(decay, confidence), better="high", derived=True))
    if decay is not None:
        figures.append(Figure("decay", decay, scale=SHARE, better="low"))
    if confidence is not None:
        figures.append(Figure("confidence", confidence, scale=SHARE, better="high"))
    return tuple(figures)


def prompt_text(content: str, role: SnapshotRole, profile: Profile) -> str:
    """Return a content as the prompt has it: trimmed and cut, unless it is the model's copy already."""
    return content if role is SnapshotRole.INJECTED else cut(trim(content), profile.limits.content)


def _json_text(value: JsonValue) -> str:
    """Return an element that is not a block as JSON text of bounded length."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):
        return "…"
    return text if len(text) <= LONGEST_ODD_VALUE else beginning(text, LONGEST_ODD_VALUE) + "…"


class _Blocks(Struct, frozen=True):
    """Converts the blocks of one snapshot to neutral blocks."""

    snapshot: Snapshot
    forms: BlockForms
    profile: Profile
    counter: TokenCounter

    def block(self, block: MemoryBlock, visibility: BlockVisibility | None) -> Block:
        text = block.content if block.content is not None else _json_text(block.value)
        born, now = block.round, self.snapshot.round
        visibility = visibility or HIDDEN
        return Block(
            id=block.name,
            tier=block.tier,
            type=block.type,
            text=text,
            figures=block_figures(finite_number(block.decay), finite_number(block.confidence)),
            round=born,
            age=now - born if now is not None and born is not None else None,
            tags=block.tags,
            tokens=self.counter.count(prompt_text(text, self.snapshot.role, self.profile)),
            visible=visibility.visible,
            reason=visibility.reason,
            state=_state(block),
            origin=self.snapshot.origin_of(block.pointer),
            form=self.forms.form(block),
            rank=visibility.rank,
        )


def _state(block: MemoryBlock) -> str | None:
    """Return one word for the state of a block: cold, rehydrated, recalled, or its status."""
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
