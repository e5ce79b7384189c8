"""Lookups that several rules share: layout and blocks of a snapshot, values as written, trimmed tiers."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import excerpt, json_excerpt
from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot, text
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.versions import CURRENT, LAYOUTS, VersionLayout, declared_version, layout_of

_NUMBER = lazy_pattern(rb"-?[0-9][0-9.eE+-]*")


def expected_layout(snapshot: Snapshot) -> VersionLayout:
    """Return the layout to check by. Only members that only 1.2 had prove 1.2; missing members do not."""
    layout = layout_of(snapshot)
    flat = "round" in snapshot.value or "task" in snapshot.value
    if layout.version == "1.2" and not flat and declared_version(snapshot) != "1.2":
        return LAYOUTS[CURRENT]
    return layout


def as_written(snapshot: Snapshot, pointer: str, value: JsonValue) -> str:
    """Return a value for a message; a number as the file spells it, `0.70` and not `0.7`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return json_excerpt(value)
    span = snapshot.document.span(pointer)
    literal = snapshot.document.data[slice(*span)] if span is not None else b""
    return excerpt(literal.decode(), 24) if _NUMBER.fullmatch(literal) else json_excerpt(value)


def as_object(value: JsonValue) -> dict[str, JsonValue]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def tier_blocks(snapshot: Snapshot) -> Iterator[MemoryBlock]:
    """Return the blocks of the four tiers; SNP014 reports the others once."""
    return (block for block in snapshot.blocks if block.tier in TIERS)


def was_trimmed(snapshot: Snapshot, tier: str, profile: Profile) -> bool:
    """Whether the budget stage of that turn trimmed this tier."""
    stages = profile.budget.stages
    stage = text(as_object(snapshot.runtime.get("budget")).get("degrade_stage"))
    trimming = f"trim_memory_{tier}"
    return stage in stages and trimming in stages and stages.index(stage) >= stages.index(trimming)
