"""Hidden blocks in groups of equal reasons, and blocks that the model is shown only in part."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from ctxview.analysis.wording import excerpt
from ctxview.core.figures import Reason
from ctxview.core.state import Block

_PARTS = frozenset({"tag_ref", "masked", "truncated", "cut", "preview"})
"""States of blocks of which the model is shown only a part or a reference."""


class ReasonGroup(Struct, frozen=True):
    """The blocks that are hidden for one reason."""

    reason: str
    ids: tuple[str, ...]


def group_text(reason: Reason | None) -> str:
    """The text of the group that a reason belongs to: `confidence below 0.55`."""
    return excerpt(reason.group, 80) if reason is not None else "no reason is recorded"


def _in_order(name: str) -> str:
    """A key that sorts `a2` before `a10`."""
    return re.sub(r"\d+", lambda found: found[0].zfill(12), name)


def is_shown_in_part(block: Block) -> bool:
    """Whether the model is shown only a part of the block, or only a reference to it."""
    return block.visible is True and bool(block.state) and _is_part(block.state or "")


@lru_cache(maxsize=256)
def _is_part(state: str) -> bool:
    return not _PARTS.isdisjoint(re.split(r"[\s,]+", state))


def reason_groups(blocks: Iterable[Block]) -> tuple[ReasonGroup, ...]:
    """The hidden blocks by reason, the largest group first."""
    alike: dict[str | None, tuple[Reason | None, list[str]]] = {}
    for block in blocks:
        if block.visible is False:
            name = block.reason.group if block.reason is not None else None
            alike.setdefault(name, (block.reason, []))[1].append(block.id)
    groups: dict[str, list[str]] = {}
    for reason, ids in alike.values():
        groups.setdefault(group_text(reason), []).extend(ids)
    found = (ReasonGroup(reason, tuple(sorted(ids, key=_in_order))) for reason, ids in groups.items())
    return tuple(sorted(found, key=lambda each: -len(each.ids)))
