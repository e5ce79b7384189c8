"""Blocks of two states, matched: added, removed, moved, changed, hidden, shown, reordered.

A block is known by its id within its tier; an id found in another tier has moved. Copies of one id are paired
by what they hold first, so neither their order nor that of their neighbours matters. Tokens, quality and age
follow from other things and are not compared. Order is told only where the model sees another one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ctxview.analysis.diff.compaction import with_losses
from ctxview.analysis.diff.limits import with_limits
from ctxview.analysis.diff.matching import paired
from ctxview.analysis.diff.model import Change, Delta, Group, Kind, Sight
from ctxview.analysis.diff.tampering import owner_in
from ctxview.analysis.diff.values import canonical, delta, field_deltas
from ctxview.state import Block, ContextState, Field, JsonValue, Owner

Pair: TypeAlias = tuple[Block | None, Block | None]

_TELLING = 16
"""Letters a text must have to be known by it."""

# Fields of a block's form that the neutral block holds under a name of its own.
_NEUTRAL = frozenset(
    {"id", "tier", "type", "content", "text", "decay", "confidence", "round", "tags", "state"}
)


def block_changes(before: ContextState, after: ContextState) -> Iterator[Change]:
    other_format = before.format != after.format
    pairs = _pairs(list(before.blocks()), list(after.blocks()), by_text=other_format)
    tiers = [tier.name for tier in (*after.tiers, *before.tiers)]
    plain = [change for pair in pairs if (change := _change(*pair))]
    plain = [*with_limits(plain, before, after)]
    found = with_losses(plain, before, after)
    yield from sorted(found, key=lambda each: (tiers.index(each.place), each.subject, each.kind))
    yield from _reordered(pairs)


def _pairs(before: list[Block], after: list[Block], *, by_text: bool) -> list[Pair]:
    """Across formats ids are others; there, what says the same is taken for the same."""
    pairs = paired(before, after, lambda block: (block.tier, block.id), _meaning)
    gone = [old for old, new in pairs if old and not new and old.id.strip()]
    come = [new for old, new in pairs if new and not old and new.id.strip()]
    moved = [(old, new) for old, new in paired(gone, come, lambda block: block.id, _meaning) if old and new]
    taken = {id(block) for pair in moved for block in pair}
    if by_text:
        left, right = ([block for block in side if id(block) not in taken] for side in (gone, come))
        alike = paired(filter(_says, left), filter(_says, right), _says, _meaning)
        moved += [(old, new) for old, new in alike if old and new]
        taken = {id(block) for pair in moved for block in pair}
    stayed = [(old, new) for old, new in pairs if id(old) not in taken and id(new) not in taken]
    return stayed + moved


def _says(block: Block) -> str:
    """A text long enough to know a block by; white space apart."""
    words = " ".join(block.text.split())
    return words if len(words) >= _TELLING else ""


def _meaning(block: Block) -> str:
    """Sorts and compares copies of one id; whatever the model or a person would call the block's content."""
    others: dict[str, JsonValue] = {each.name: each.value for each in _others(block) if each.present}
    return canonical([*(value for _, value in _values(block)), block.visible, block.tier, others])


def _change(old: Block | None, new: Block | None) -> Change | None:
    if old is None:
        return _one_sided(new, Kind.ADDED) if new else None
    if new is None:
        return _one_sided(old, Kind.REMOVED)
    deltas = tuple(_deltas(old, new))
    sight: Sight | None = None
    if old.visible != new.visible and None not in (old.visible, new.visible):
        sight = "shown" if new.visible else "hidden"
    moved = old.tier != new.tier
    if old.id != new.id:
        deltas = (Delta("id", old.id, new.id, "changed"), *deltas)
    if not (deltas or sight or moved):
        return None
    kind = Kind.MOVED if moved else Kind(sight) if sight else Kind.CHANGED
    why = (new.reason or "") if sight == "hidden" else f"was {old.reason}" if sight and old.reason else ""
    return Change(Group.BLOCKS, kind, new.id, new.tier, old.tier if moved else None, deltas, sight, why)


def _one_sided(block: Block, kind: Kind) -> Change:
    pairs = (
        (name, None, value) if kind is Kind.ADDED else (name, value, None) for name, value in _values(block)
    )
    deltas = tuple(found for name, left, right in pairs if (found := delta(name, left, right)))
    why = block.reason or "" if block.visible is False else ""
    kept = kind is Kind.REMOVED and owner_in(block, "text") is Owner.APPEND_ONLY
    return Change(Group.BLOCKS, kind, block.id, block.tier, deltas=deltas, why=why, in_history=kept)


def _deltas(old: Block, new: Block) -> Iterator[Delta]:
    others = tuple(field_deltas(_others(old), _others(new))) if old.form and new.form else ()
    told = any((each.before, each.after) == (old.state, new.state) for each in others)
    for (name, before), (_, after) in zip(_values(old), _values(new), strict=True):
        # A form may hold the state under the format's own word, which says more.
        if not (told and name == "state") and (found := delta(name, before, after, owner_in(new, name))):
            yield found
    yield from others
    if old.visible is False and new.visible is False and _words(old.reason) != _words(new.reason):
        yield Delta("reason", old.reason, new.reason, "changed")


def _values(block: Block) -> Iterator[tuple[str, JsonValue]]:
    yield "type", block.type
    yield "decay", block.decay
    yield "confidence", block.confidence
    yield "round", block.round
    # Tags are a set to every reader of them: their order means nothing.
    yield "tags", [*sorted(block.tags)] or None
    yield "state", block.state
    yield "text", block.text


def _others(block: Block) -> list[Field]:
    """What the form tells beyond the block; formats have names of their own for its text."""
    fields = block.form.fields if block.form else ()
    return [each for each in fields if each.name not in _NEUTRAL and each.value != block.text]


def _words(reason: str | None) -> str:
    """A reason without its figures: an age that grew by one is not another reason."""
    return re.sub(r"[\d.,]+", "#", reason or "")


def _reordered(pairs: Iterable[Pair]) -> Iterator[Change]:
    """Tiers whose blocks, shown before and after, now reach the model in another order."""
    shown: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for old, new in pairs:
        if old and new and old.tier == new.tier and old.rank is not None and new.rank is not None:
            shown[new.tier].append((old.rank, new.rank, new.id))
    for tier, ranks in sorted(shown.items()):
        before = [name for _, _, name in sorted(ranks, key=lambda each: (each[0], each[2]))]
        after = [name for _, _, name in sorted(ranks, key=lambda each: (each[1], each[2]))]
        if before != after:
            order = Delta("shown order", [*before], [*after], "changed")
            yield Change(Group.ORDER, Kind.REORDERED, tier, deltas=(order,))
