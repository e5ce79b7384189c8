"""What each version of the protocol keeps where, and which version a snapshot's own shape speaks of.

Nothing is rewritten: a file of an old version is read where that version put things. The number a file
declares and the shape it has may disagree, so both can be asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ctxview.formats.snapshot.model import REQUIRED_BLOCK_FIELDS, TIERS, Snapshot, number
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Layout:
    """Where one version keeps its task and tiers, and what a block of it must have."""

    version: str
    task_path: tuple[str, ...]
    tiers: tuple[str, ...]
    block_fields: tuple[str, ...]
    runtime_fields: tuple[str, ...] = ()
    has_todo: bool = False


def _v1_2(_: Layout | None) -> Layout:
    fields = tuple(name for name in REQUIRED_BLOCK_FIELDS if name not in ("confidence", "content"))
    return Layout("1.2", ("task",), TIERS[:3], fields)


def _v2_1(older: Layout) -> Layout:
    return replace(
        older,
        version="2.1",
        task_path=("active_task",),
        block_fields=(*older.block_fields, "content"),
        runtime_fields=("round", "datetime", "startup_at"),
    )


def _v2_2(older: Layout) -> Layout:
    return replace(older, version="2.2")


def _v2_3(older: Layout) -> Layout:
    runtime = ("round", "workspace", "datetime", "startup_at")
    return replace(older, version="2.3", runtime_fields=runtime, block_fields=REQUIRED_BLOCK_FIELDS)


def _v2_4(older: Layout) -> Layout:
    return replace(older, version="2.4", has_todo=True)


def _v3_0(older: Layout) -> Layout:
    return replace(older, version="3.0", tiers=TIERS)


def _chain(*steps: Callable[[Layout], Layout]) -> dict[str, Layout]:
    layouts = [_v1_2(None)]
    for step in steps:
        layouts.append(step(layouts[-1]))
    return {layout.version: layout for layout in layouts}


LAYOUTS = _chain(_v2_1, _v2_2, _v2_3, _v2_4, _v3_0)
"""Every known version, oldest first."""

CURRENT = "3.0"


def declared_version(snapshot: Snapshot) -> str | None:
    """The version a file says it has, as a word (`3`, `3.0` and `"3.0"` are all 3.0); None without one."""
    value = snapshot.value.get("version")
    found = number(value)
    if found is not None and abs(found) < 1e6:
        return f"{found:.1f}" if float(found) == round(found, 1) else str(found)
    return value.strip() if isinstance(value, str) and value.strip() else None


def shape_version(snapshot: Snapshot) -> str:
    """The newest version whose own features the snapshot shows."""
    signs: tuple[tuple[str, Callable[[Snapshot], bool]], ...] = (
        ("3.0", _has_longterm),
        ("2.4", lambda snapshot: "todo" in snapshot.value),
        ("2.3", _has_confidence),
        ("2.1", lambda snapshot: "runtime" in snapshot.value),
    )
    return next((version for version, sign in signs if sign(snapshot)), "1.2")


def layout_of(snapshot: Snapshot) -> Layout:
    """Where to look in this snapshot: by its shape when that is older or unknown, else as declared."""
    shape, declared = shape_version(snapshot), declared_version(snapshot)
    if declared not in LAYOUTS or shape == "1.2":
        return LAYOUTS[shape]
    order = list(LAYOUTS)
    return LAYOUTS[max(declared, shape, key=order.index)]


def task_of(snapshot: Snapshot) -> JsonValue:
    """The task in hand, wherever this version keeps it."""
    path = layout_of(snapshot).task_path
    return snapshot.value.get(path[0], snapshot.value.get("task"))


def disagreement(snapshot: Snapshot) -> str | None:
    """How declared version and shape contradict each other; None when they can both be true."""
    shape, declared = shape_version(snapshot), declared_version(snapshot)
    if declared not in LAYOUTS:
        return None
    order = list(LAYOUTS)
    if order.index(shape) > order.index(declared):
        return f"it says {declared}, but has what only {shape} brought"
    if shape == "1.2" and declared != "1.2" and "round" in snapshot.value:
        return f"it says {declared}, but keeps its round flat as 1.2 did"
    return None


def _has_longterm(snapshot: Snapshot) -> bool:
    return "longterm" in snapshot.section("memory") or any(
        "tag_id" in block.members or "content_state" in block.members for block in snapshot.blocks
    )


def _has_confidence(snapshot: Snapshot) -> bool:
    return "workspace" in snapshot.runtime or any("confidence" in block.members for block in snapshot.blocks)
