"""Which limit a figure of a block crossed: beyond it the model is not shown the block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ctxview.analysis.diff.model import Change, Delta
from ctxview.state import ContextState, Limit


def with_limits(changes: Iterable[Change], before: ContextState, after: ContextState) -> Iterator[Change]:
    """The same changes; figures that went beyond a limit of their tier, or came back, say so."""
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
