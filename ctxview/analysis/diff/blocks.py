"""Changes of blocks between two states: added, removed, moved, hidden, shown, changed, reordered.

Each change also says which limits its figures crossed, and whether a value was tampered with.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec.structs import replace

from ctxview.analysis.diff.compaction import with_losses
from ctxview.analysis.diff.model import Change, ChangeGroup, ChangeKind, Delta, VisibilityWord
from ctxview.analysis.diff.values import canonical, delta, field_deltas, is_same_but_cut, paired
from ctxview.core.fields import Field, Owner
from ctxview.core.figures import Limit
from ctxview.core.origin import JsonValue
from ctxview.core.state import Block, ContextState

Pair: TypeAlias = tuple[Block | None, Block | None]
_SHORTEST_MATCH = 16
"""Characters a text needs so that blocks of two formats are matched by it."""
# Fields of a block's form that the neutral block already has, perhaps under another name.
_NEUTRAL = frozenset({"id", "tier", "type", "content", "text", "round", "tags", "state"})


def block_changes(before: ContextState, after: ContextState) -> Iterator[Change]:
    other_format = before.format != after.format
    pairs = _pairs(list(before.blocks()), list(after.blocks()), by_text=other_format)
    tiers = [tier.name for tier in (*after.tiers, *before.tiers)]
    ranks = {tier.name: tier.rank for tier in (*before.tiers, *after.tiers)}
    plain = [_with_course(change, ranks) for pair in pairs if (change := _change(*pair))]
    plain = [*_with_limits(plain, before, after)]
    found = with_losses(plain, before, after)
    yield from sorted(found, key=lambda each: (tiers.index(each.place), each.subject, each.kind))
    yield from _reordered(pairs)


def _with_course(change: Change, ranks: Mapping[str, int | None]) -> Change:
    """Say whether a block moved up or down; between tiers without a rank a move has no direction."""
    left, right = ranks.get(change.came_from or ""), ranks.get(change.place)
    if left is None or right is None or left == right:
        return change
    return replace(change, course="promoted" if right > left else "demoted")


def with_tampering(changes: Iterable[Change], after: ContextState) -> Iterator[Change]:
    """Mark the deltas of values that the writer of `after` was not allowed to change."""
    by_model = after.written_by is Owner.MODEL
    for change in changes:
        stayed = change.kind not in (ChangeKind.ADDED, ChangeKind.REMOVED) or change.is_field
        deltas = tuple(_with_verdict(found, by_model) for found in change.deltas) if stayed else change.deltas
        yield replace(change, deltas=deltas) if deltas != change.deltas else change


def _with_verdict(found: Delta, by_model: bool) -> Delta:
    rewritten = found.owner is Owner.APPEND_ONLY and found.word != "added"
    # Values that a reply leaves out keep what the system has.
    forged = by_model and found.owner not in (None, Owner.MODEL) and found.word != "removed"
    return replace(found, tampered=True) if rewritten or forged else found


def _pairs(before: list[Block], after: list[Block], *, by_text: bool) -> list[Pair]:
    """Pair the blocks of both sides by tier and id, then by id, then by text.

    Different formats use different ids, so there (`by_text`) the text alone decides. In one format the text
    shows that the model renamed a block of the same tier and type.
    """
    pairs = paired(before, after, lambda block: (block.tier, block.id), _meaning)
    gone = [old for old, new in pairs if old and not new and old.id.strip()]
    come = [new for old, new in pairs if new and not old and new.id.strip()]
    moved = [(old, new) for old, new in paired(gone, come, lambda block: block.id, _meaning) if old and new]
    taken = {id(block) for pair in moved for block in pair}
    key = _match_text if by_text else _renaming_key
    left, right = ([block for block in side if id(block) not in taken] for side in (gone, come))
    alike = paired(filter(key, left), filter(key, right), key, _meaning)
    moved += [(old, new) for old, new in alike if old and new]
    taken = {id(block) for pair in moved for block in pair}
    stayed = [(old, new) for old, new in pairs if id(old) not in taken and id(new) not in taken]
    return stayed + moved


def _match_text(block: Block) -> str:
    """The text with single spaces; empty when it is too short to match blocks by."""
    words = " ".join(block.text.split())
    return words if len(words) >= _SHORTEST_MATCH else ""


def _renaming_key(block: Block) -> tuple[str, str | None, str] | None:
    """The values that a block keeps when the model renames it; None where ids are not the model's."""
    if not block.text.strip() or _owner_in(block, "id") is not Owner.MODEL:
        return None
    return block.tier, block.type, block.text


def _meaning(block: Block) -> str:
    """All content of a block as one text, to sort and compare copies of one id by."""
    known = {each.name for each in block.figures}
    others: dict[str, JsonValue] = {each.name: each.value for each in _others(block, known) if each.present}
    return canonical([*(value for _, value in _values(block)), block.visible, block.tier, others])


def _change(old: Block | None, new: Block | None) -> Change | None:
    if old is None:
        return _one_sided(new, ChangeKind.ADDED) if new else None
    if new is None:
        return _one_sided(old, ChangeKind.REMOVED)
    deltas = tuple(_deltas(old, new))
    visibility: VisibilityWord | None = None
    if old.visible != new.visible and None not in (old.visible, new.visible):
        visibility = "shown" if new.visible else "hidden"
    moved = old.tier != new.tier
    if old.id != new.id:
        deltas = (Delta("id", old.id, new.id, "changed"), *deltas)
    if not (deltas or visibility or moved):
        return None
    kind = ChangeKind.MOVED if moved else ChangeKind(visibility) if visibility else ChangeKind.CHANGED
    reason = new.reason if visibility == "hidden" else old.reason if visibility == "shown" else None
    why = reason.text if reason is not None else ""
    why = f"was hidden: {why}" if why and visibility == "shown" else why
    left = old.tier if moved else None
    return Change(ChangeGroup.BLOCKS, kind, new.id, new.tier, left, deltas, visibility, why, reason=reason)


def _one_sided(block: Block, kind: ChangeKind) -> Change:
    pairs = (
        (name, None, value) if kind is ChangeKind.ADDED else (name, value, None)
        for name, value in _values(block)
    )
    deltas = tuple(found for name, left, right in pairs if (found := delta(name, left, right)))
    reason = block.reason if block.visible is False else None
    return Change(
        ChangeGroup.BLOCKS,
        kind,
        block.id,
        block.tier,
        deltas=deltas,
        why=reason.text if reason is not None else "",
        in_history=kind is ChangeKind.REMOVED and _owner_in(block, "text") is Owner.APPEND_ONLY,
        reason=reason,
    )


def _deltas(old: Block, new: Block) -> Iterator[Delta]:
    known = {each.name for each in (*old.figures, *new.figures)}
    others = tuple(field_deltas(_others(old, known), _others(new, known))) if old.form and new.form else ()
    in_form = any((each.before, each.after) == (old.state, new.state) for each in others)
    left, right = dict(_values(old)), dict(_values(new))
    for name in {**left, **right}:
        before, after = left.get(name), right.get(name)
        if name == "text" and is_same_but_cut(old.text, new.text):
            continue
        # A form may have the state under the format's own name, which says more.
        if not (in_form and name == "state") and (found := delta(name, before, after, _owner_in(new, name))):
            yield found
    yield from others
    if old.visible is False and new.visible is False and _words(old.why) != _words(new.why):
        yield Delta("reason", old.why or None, new.why or None, "changed")


def _values(block: Block) -> Iterator[tuple[str, JsonValue]]:
    yield "type", block.type
    yield from ((each.name, each.value) for each in block.figures if not each.derived)
    yield "round", block.round
    # Tags are a set: their order has no meaning.
    yield "tags", [*sorted(block.tags)] or None
    yield "state", block.state
    yield "text", block.text


def _others(block: Block, figures: Collection[str]) -> list[Field]:
    """The fields of the form that the neutral block does not have; its text is known by its value."""
    fields = block.form.fields if block.form else ()
    known = _NEUTRAL.union(figures)
    return [each for each in fields if each.name not in known and each.value != block.text]


def _owner_in(block: Block, name: str) -> Owner | None:
    """The owner of the value `name`: of that field in the form, or of all fields when they have one owner."""
    fields = [each for each in block.form.fields if each.present] if block.form is not None else []
    owners = {each.owner for each in fields}
    if len(owners) == 1:
        return owners.pop()
    names = (name, "content") if name == "text" else (name,)
    return next((each.owner for each in fields if each.name in names), None)


def _words(reason: str) -> str:
    """A reason without its figures: an age that grew by one is the same reason."""
    return re.sub(r"[\d.,]+", "#", reason)


def _with_limits(changes: Iterable[Change], before: ContextState, after: ContextState) -> Iterator[Change]:
    """Add to each delta the limit of the tier that its figure crossed, in either direction."""
    old, new = _limits(before), _limits(after)
    for change in changes:
        left, right = old.get(change.came_from or change.place, {}), new.get(change.place, {})
        deltas = tuple(
            _crossing(each, left.get(each.name), right.get(each.name), change.place) for each in change.deltas
        )
        yield replace(change, deltas=deltas) if deltas != change.deltas else change


def _limits(state: ContextState) -> dict[str, dict[str, Limit]]:
    return {tier.name: {each.figure: each for each in tier.limits} for tier in state.tiers}


def _crossing(found: Delta, before: Limit | None, after: Limit | None, tier: str) -> Delta:
    if before is None or after is None:
        return found
    was, is_ = before.is_broken(_number(found.before)), after.is_broken(_number(found.after))
    if was == is_:
        return found
    bound = after.most if after.most is not None else after.least
    side = "over" if after.most is not None else "under"
    return replace(found, crossed=f"{'now' if is_ else 'no longer'} {side} the limit {bound:g} of {tier}")


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _reordered(pairs: Iterable[Pair]) -> Iterator[Change]:
    """Tiers whose blocks, shown on both sides, now reach the model in another order."""
    ranked: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for old, new in pairs:
        if old and new and old.tier == new.tier and old.rank is not None and new.rank is not None:
            ranked[new.tier].append((old.rank, new.rank, new.id))
    for tier, ranks in sorted(ranked.items()):
        before = [name for _, _, name in sorted(ranks, key=lambda each: (each[0], each[2]))]
        after = [name for _, _, name in sorted(ranks, key=lambda each: (each[1], each[2]))]
        if before != after:
            order = Delta("shown order", [*before], [*after], "changed")
            yield Change(ChangeGroup.ORDER, ChangeKind.REORDERED, tier, deltas=(order,))
