"""Builds the timeline: one event for each file of a source, with its round and the changes since the last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ctxview.core.origin import Origin
from ctxview.core.state import Event
from ctxview.files.strict_json.values import same_value
from ctxview.formats.snapshot.model import Snapshot, SnapshotRole, text
from ctxview.formats.snapshot.parser import SnapshotFileKind
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.runtime.projection import project
from ctxview.formats.snapshot.versions import task_of


class RoundFacts(Struct, frozen=True):
    """The inputs of one event: label, kind, origin, snapshot, and the snapshot to compare with.

    The snapshot of a reply is the whole one that the runtime keeps after it.
    """

    label: str
    kind: str
    origin: Origin
    snapshot: Snapshot | None
    before: Snapshot | None


def build_timeline(rounds: Sequence[RoundFacts], profile: Profile) -> tuple[Event, ...]:
    return tuple(_event(index, facts, profile) for index, facts in enumerate(rounds))


def _event(index: int, facts: RoundFacts, profile: Profile) -> Event:
    snapshot = facts.snapshot
    if snapshot is None:
        return Event(f"{facts.label} · no snapshot", facts.kind, None, index, facts.origin)
    time = text(snapshot.runtime.get("datetime"))
    started = facts.before.startup_at if facts.before is not None else None
    restarted = None not in (started, snapshot.startup_at) and started != snapshot.startup_at
    kind = "restart" if restarted else facts.kind
    parts = [facts.label, "new process"] if restarted else [facts.label]
    if facts.before is not None:
        parts += _block_changes(facts.before, snapshot)
        parts += _task_changes(facts.before, snapshot)
        parts += _cursor_changes(facts.before, snapshot)
    hidden = sum(1 for _ in project(snapshot, profile).hidden())
    if hidden and snapshot.role is SnapshotRole.STORED and facts.kind != SnapshotFileKind.REPLY:
        parts.append(f"{hidden} hidden")
    return Event(" · ".join(parts), kind, time, index, facts.origin)


def _block_changes(before: Snapshot, snapshot: Snapshot) -> Iterator[str]:
    old = {(block.tier, block.id): block.value for block in before.blocks if block.id}
    new = {(block.tier, block.id): block.value for block in snapshot.blocks if block.id}
    added = len(new.keys() - old.keys())
    changed = sum(key in old and not same_value(old[key], value) for key, value in new.items())
    removed = len(old.keys() - new.keys())
    if added:
        yield f"{added} added"
    if changed:
        yield f"{changed} changed"
    if removed:
        yield f"{removed} removed"


def _task_changes(before: Snapshot, snapshot: Snapshot) -> Iterator[str]:
    old, new = task_of(before), task_of(snapshot)
    if not same_value(old, new):
        yield "task ended" if new is None else "task changed" if old is not None else "task started"


def _cursor_changes(before: Snapshot, snapshot: Snapshot) -> Iterator[str]:
    old, new = before.todo.get("cursor"), snapshot.todo.get("cursor")
    if same_value(old, new):
        return
    if not isinstance(new, dict):
        yield "cursor cleared"
    else:
        words = [new.get("phase"), new.get("next"), new.get("targetId")]
        place = " ".join(str(word) for word in words if isinstance(word, str | int))
        yield f"cursor {place or 'moved'}"
