"""Which blocks of a file the model really sees: by what was injected where that is recorded, else recomputed.

Where the record and the recomputation differ, the record counts and the reason says so.
"""

from __future__ import annotations

from ctxview.formats.snapshot.model import MemoryBlock, Role, Snapshot
from ctxview.formats.snapshot.normalise import normalise
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.projection import Projection, project
from ctxview.formats.snapshot.read import Kind, SnapshotFile
from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Sight:
    """Whether one block is seen, at which place among those that are, and why (not)."""

    visible: bool
    rank: int | None
    reason: str | None


@dataclass(frozen=True)
class Visibility:
    """The sight of every block, by pointer, and the blocks that only the injected snapshot has."""

    snapshot: Snapshot
    projection: Projection
    sights: dict[str, Sight]
    only_injected: tuple[MemoryBlock, ...] = ()


def look(file: SnapshotFile, snapshot: Snapshot, profile: Profile) -> Visibility:
    """What of `snapshot`, the one shown of `file`, reaches the model."""
    projection = project(snapshot, profile)
    if file.salvaged is not None or (file.reply is not None and file.reply.error is not None):
        return Visibility(snapshot, projection, _refused(snapshot))
    injected = file.log.injected if file.log is not None else None
    if snapshot.role is Role.INJECTED or file.kind is Kind.PROMPT:
        return Visibility(snapshot, projection, _as_recorded(snapshot, projection, profile))
    if injected is None:
        return Visibility(snapshot, projection, _recomputed(snapshot, projection))
    return _compared(snapshot, injected, projection, profile)


def _refused(snapshot: Snapshot) -> dict[str, Sight]:
    sight = Sight(False, None, "the runtime refuses the whole file: it is not strict JSON")
    return {block.pointer: sight for block in snapshot.blocks}


def _recomputed(snapshot: Snapshot, projection: Projection) -> dict[str, Sight]:
    return {block.pointer: _by_projection(block, projection) for block in snapshot.blocks}


def _by_projection(block: MemoryBlock, projection: Projection) -> Sight:
    verdict = projection.verdict_of(block.pointer)
    if verdict is not None:
        return Sight(False, None, verdict.text)
    return Sight(True, projection.rank_of(block.pointer), None)


def _as_recorded(snapshot: Snapshot, projection: Projection, profile: Profile) -> dict[str, Sight]:
    """An injected snapshot is what the model saw, whatever the profile would have done."""
    sights = {}
    for rank, block in enumerate(snapshot.blocks):
        verdict = projection.verdict_of(block.pointer)
        doubt = f"shown, although {profile.name} would hide it: {verdict.text}" if verdict else None
        sights[block.pointer] = Sight(True, rank, doubt)
    return sights


def _compared(snapshot: Snapshot, injected: Snapshot, projection: Projection, profile: Profile) -> Visibility:
    recorded = {(block.tier, block.id): rank for rank, block in enumerate(injected.blocks)}
    sights: dict[str, Sight] = {}
    matched: set[tuple[str, str | None]] = set()
    # Of several copies of one id, the one the projection shows is the one that was injected.
    for block in sorted(snapshot.blocks, key=lambda block: projection.verdict_of(block.pointer) is not None):
        computed = _by_projection(block, projection)
        normal = normalise(block.value, block.tier, snapshot.round, profile)
        key = (block.tier, normal.id if normal is not None else block.id)
        if key in recorded and key not in matched:
            matched.add(key)
            doubt = (
                None if computed.visible else f"shown, although {profile.name} hides it: {computed.reason}"
            )
            sights[block.pointer] = Sight(True, recorded[key], doubt)
        elif computed.visible:
            doubt = f"not in the injected snapshot, although {profile.name} would show it"
            sights[block.pointer] = Sight(False, None, doubt)
        else:
            sights[block.pointer] = computed
    extra = tuple(block for block in injected.blocks if (block.tier, block.id) not in matched)
    return Visibility(snapshot, projection, sights, extra)
