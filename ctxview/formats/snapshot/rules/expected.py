"""What several rules ask of a snapshot: its layout and blocks, a value as it is spelled, a trim."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ctxview.analysis.wording import shown, spelled
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot, text
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.versions import CURRENT, LAYOUTS, Layout, declared_version, layout_of
from ctxview.origin import JsonValue

_NUMBER = re.compile(rb"-?[0-9][0-9.eE+-]*")


def expected_layout(snapshot: Snapshot) -> Layout:
    """The layout whose rules apply. Only what 1.2 alone had is proof of 1.2: missing things are not."""
    layout = layout_of(snapshot)
    flat = "round" in snapshot.value or "task" in snapshot.value
    if layout.version == "1.2" and not flat and declared_version(snapshot) != "1.2":
        return LAYOUTS[CURRENT]
    return layout


def as_written(snapshot: Snapshot, pointer: str, value: JsonValue) -> str:
    """A value for a message; a number as the file spells it, `0.70` and not `0.7`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return spelled(value)
    span = snapshot.document.span(pointer)
    literal = snapshot.document.data[slice(*span)] if span is not None else b""
    return shown(literal.decode(), 24) if _NUMBER.fullmatch(literal) else json.dumps(value)


def tier_blocks(snapshot: Snapshot) -> Iterator[MemoryBlock]:
    """The blocks of the four tiers. What stands under another name nobody reads: SNP014 says so, once."""
    return (block for block in snapshot.blocks if block.tier in TIERS)


def was_trimmed(snapshot: Snapshot, tier: str, profile: Profile) -> bool:
    """Whether the budget of that turn had come to trimming this tier, or further."""
    budget, stages = snapshot.runtime.get("budget"), profile.budget.stages
    stage = text(budget.get("degrade_stage")) if isinstance(budget, dict) else None
    trimming = f"trim_memory_{tier}"
    return stage in stages and trimming in stages and stages.index(stage) >= stages.index(trimming)
