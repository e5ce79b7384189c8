"""The totals of a state, which every format counts alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxview.state import Counts, Tier

if TYPE_CHECKING:
    from ctxview.analysis.tokens import TokenCounter


def count_blocks(tiers: Sequence[Tier], counter: TokenCounter) -> Counts:
    """Totals over all tiers; tokens of what the model is shown."""
    blocks = [block for tier in tiers for block in tier.blocks]
    visible = [block for block in blocks if block.visible]
    return Counts(
        blocks=len(blocks),
        visible=len(visible),
        hidden=sum(block.visible is False for block in blocks),
        tokens=sum(block.tokens or 0 for block in visible),
        tokens_exact=counter.exact,
        estimator=counter.name,
    )
