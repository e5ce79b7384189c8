"""Why a block is hidden or shown in part, as a group of equal reasons.

The one place that reads the texts of reasons and the figures of blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from ctxview.analysis.wording import excerpt
from ctxview.core.state import Block

_LIMIT = re.compile(r"(\w+) ([\d.]+) ([<>]=?) ([\d.]+)( rounds)?(?: \(\w+\))?")
_DONE = re.compile(r"(\w+) status")
_PARTS = frozenset({"tag_ref", "masked", "truncated", "cut", "preview"})
"""States of blocks of which the model is shown only a part or a reference."""


class HiddenReason(Struct, frozen=True):
    """A reason without the value of one block: `confidence below 0.55`.

    `figure`, `value` and `limit` are those of the block, when a figure decided.
    """

    text: str
    figure: str | None = None
    value: float | None = None
    limit: float | None = None

    @property
    def bound(self) -> str:
        """The limit in words: `minimum is 0.55`."""
        if self.limit is None:
            return ""
        side = "minimum" if " below " in self.text else "limit"
        return f"{side} is {self.limit:g}"


class ReasonGroup(Struct, frozen=True):
    """The blocks that are hidden for one reason."""

    reason: str
    ids: tuple[str, ...]


def reason_of(block: Block) -> HiddenReason:
    return parse_reason(block.reason or "")


def parse_reason(text: str) -> HiddenReason:
    if found := _LIMIT.fullmatch(text):
        name, value, sign, limit = found[1], float(found[2]), found[3], float(found[4])
        if name == "age":
            return HiddenReason(f"older than {found[4]} rounds", name, value, limit)
        side = "above" if sign.startswith(">") else "below"
        return HiddenReason(f"{name} {side} {found[4]}", name, value, limit)
    if found := _DONE.fullmatch(text):
        return HiddenReason(f"status is {found[1]}")
    return HiddenReason(excerpt(text, 80) or "no reason is recorded")


def figures_of(block: Block) -> tuple[tuple[str, float], ...]:
    """The figures of a block by name, as far as it has them."""
    named = (("decay", block.decay), ("confidence", block.confidence))
    return tuple((name, value) for name, value in named if value is not None)


def is_shown_in_part(block: Block) -> bool:
    """Whether the model is shown only a part of the block, or only a reference to it."""
    return block.visible is True and bool(_PARTS & set(re.split(r"[\s,]+", block.state or "")))


def reason_groups(blocks: Iterable[Block]) -> tuple[ReasonGroup, ...]:
    """The hidden blocks by reason, the largest group first."""
    groups: dict[str, list[str]] = {}
    for block in blocks:
        if block.visible is False:
            groups.setdefault(reason_of(block).text, []).append(block.id)
    found = (ReasonGroup(reason, tuple(sorted(ids))) for reason, ids in groups.items())
    return tuple(sorted(found, key=lambda each: -len(each.ids)))
