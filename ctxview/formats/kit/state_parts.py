"""Builders for parts of a state that several formats share: its counts, and a gap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxview.core.findings import Severity
from ctxview.core.origin import Origin
from ctxview.core.state import Counts, Gap, Tier

if TYPE_CHECKING:
    from ctxview.analysis.tokens import TokenCounter


def count_blocks(tiers: Sequence[Tier], counter: TokenCounter) -> Counts:
    """Count the blocks of all tiers; the tokens are those of visible blocks."""
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


def left_out_gap(question: str, why: str, origin: Origin) -> Gap:
    """The row for what was not read because there is too much of it."""
    return make_gap(f"rest: {why}", question, Severity.WARNING, "left out", why, origin)


def make_gap(
    name: str,
    question: str,
    severity: Severity,
    status: str,
    why: str,
    origin: Origin,
    blocks: tuple[str, ...] = (),
) -> Gap:
    return Gap(name, question, severity.value, status, blocks, why, origin)
