"""In which order blocks are shown: what one sorts for comes first. Knows no screen."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from ctxview.state import Block


class Sort(StrEnum):
    FILE = "file order"
    MODEL = "model order"
    QUALITY = "quality"
    DECAY = "decay"
    CONFIDENCE = "confidence"
    AGE = "age"
    TOKENS = "tokens"


def order(sort: Sort, block: Block, tiers: Mapping[str, int]) -> tuple[bool, float, float]:
    """What one sorts for comes first: the best, the most faded, the least sure, the oldest, the heaviest."""
    value = {
        Sort.MODEL: block.rank,
        Sort.QUALITY: _negative(block.quality),
        Sort.DECAY: _negative(block.decay),
        Sort.CONFIDENCE: block.confidence,
        Sort.AGE: _negative(block.age),
        Sort.TOKENS: _negative(block.tokens),
    }[sort]
    tier = tiers[block.tier] if sort is Sort.MODEL else 0
    return (value is None, tier, value or 0)


def _negative(value: float | None) -> float | None:
    return None if value is None else -value
