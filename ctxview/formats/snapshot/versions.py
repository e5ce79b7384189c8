"""The layout of each protocol version, and the version that a snapshot declares and has by its shape.

Nothing is rewritten: a file of an old version is read by the layout of that version. The declared number and
the shape may disagree, so there is a function for each.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.origin import JsonValue
from ctxview.formats.snapshot.model import REQUIRED_BLOCK_FIELDS, TIERS, Snapshot, number


class VersionLayout(Struct, frozen=True):
    """Where one version keeps its task and tiers, and the fields that its blocks must have."""

    version: str
    task_path: tuple[str, ...]
    tiers: tuple[str, ...]
    block_fields: tuple[str, ...]
    runtime_fields: tuple[str, ...] = ()
    has_todo: bool = False


_V1_2 = VersionLayout(
    "1.2",
    task_path=("task",),
    tiers=TIERS[:3],
    block_fields=tuple(name for name in REQUIRED_BLOCK_FIELDS if name not in ("confidence", "content")),
)
_V2_1 = replace(
    _V1_2,
    version="2.1",
    task_path=("active_task",),
    block_fields=(*_V1_2.block_fields, "content"),
    runtime_fields=("round", "datetime", "startup_at"),
)
_V2_2 = replace(_V2_1, version="2.2")
_V2_3 = replace(
    _V2_2,
    version="2.3",
    block_fields=REQUIRED_BLOCK_FIELDS,
    runtime_fields=("round", "workspace", "datetime", "startup_at"),
)
_V2_4 = replace(_V2_3, version="2.4", has_todo=True)
_V3_0 = replace(_V2_4, version="3.0", tiers=TIERS)

LAYOUTS = {layout.version: layout for layout in (_V1_2, _V2_1, _V2_2, _V2_3, _V2_4, _V3_0)}
"""Every known version, oldest first."""

CURRENT = "3.0"


def declared_version(snapshot: Snapshot) -> str | None:
    """Return the version a file declares, as text (`3`, `3.0` and `"3.0"` are all 3.0); None without one."""
    value = snapshot.value.get("version")
    found = number(value)
    if found is not None and abs(found) < 1e6:
        return f"{found:.1f}" if float(found) == round(found, 1) else str(found)
    return value.strip() if isinstance(value, str) and value.strip() else None


def shape_version(snapshot: Snapshot) -> str:
    """Return the newest version whose features the snapshot has."""
    if "longterm" in snapshot.section("memory") or any(
        "tag_id" in block.members or "content_state" in block.members for block in snapshot.blocks
    ):
        return "3.0"
    if "todo" in snapshot.value:
        return "2.4"
    # Some files of 2.1 and 2.2 have a workspace; only the version they declare distinguishes them from 2.3.
    has_workspace = "workspace" in snapshot.runtime and declared_version(snapshot) not in ("2.1", "2.2")
    if has_workspace or any("confidence" in block.members for block in snapshot.blocks):
        return "2.3"
    return "2.1" if "runtime" in snapshot.value else "1.2"


def layout_of(snapshot: Snapshot) -> VersionLayout:
    """Return the layout of the newer of shape and declared version; of the shape if that is 1.2."""
    shape, declared = shape_version(snapshot), declared_version(snapshot)
    if declared not in LAYOUTS or shape == "1.2":
        return LAYOUTS[shape]
    order = list(LAYOUTS)
    return LAYOUTS[max(declared, shape, key=order.index)]


def task_of(snapshot: Snapshot) -> JsonValue:
    """Return the current task, from where the snapshot's version keeps it."""
    path = layout_of(snapshot).task_path
    return snapshot.value.get(path[0], snapshot.value.get("task"))


def disagreement(snapshot: Snapshot) -> str | None:
    """Return how declared version and shape contradict each other; None when they do not."""
    shape, declared = shape_version(snapshot), declared_version(snapshot)
    if declared not in LAYOUTS:
        return None
    order = list(LAYOUTS)
    if order.index(shape) > order.index(declared):
        return f"it declares {declared}, but has features of {shape}"
    if shape == "1.2" and declared != "1.2" and "round" in snapshot.value:
        return f"it declares {declared}, but has its round at the top level, as in 1.2"
    return None
