"""One event for each file of a source: which round, and what had happened since the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.files.json_values import same_value
from ctxview.formats.snapshot.model import Role, Snapshot, text
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.projection import project
from ctxview.formats.snapshot.versions import task_of
from ctxview.quick_dataclass import dataclass
from ctxview.state import Event, JsonValue, Origin


@dataclass(frozen=True)
class Moment:
    """What an event is made from: a label, where it stands, its snapshot, and the one to compare with."""

    label: str
    kind: str
    origin: Origin
    snapshot: Snapshot | None
    before: Snapshot | None


def build_timeline(moments: Sequence[Moment], profile: Profile) -> tuple[Event, ...]:
    return tuple(_event(index, moment, profile) for index, moment in enumerate(moments))


def _event(index: int, moment: Moment, profile: Profile) -> Event:
    snapshot = moment.snapshot
    if snapshot is None:
        return Event(f"{moment.label} · no snapshot", moment.kind, None, index, moment.origin)
    time = text(snapshot.runtime.get("datetime"))
    restarted = moment.before is not None and _restarted(moment.before, snapshot)
    kind = "restart" if restarted else moment.kind
    label = " · ".join((moment.label, *_happenings(snapshot, moment.before, restarted, profile)))
    return Event(label, kind, time, index, moment.origin)


def _happenings(
    snapshot: Snapshot, before: Snapshot | None, restarted: bool, profile: Profile
) -> Iterator[str]:
    if restarted:
        yield "new process"
    if before is not None:
        yield from _block_changes(before, snapshot)
        yield from _task_changes(before, snapshot)
        yield from _cursor_changes(before, snapshot)
    hidden = sum(1 for _ in project(snapshot, profile).hidden())
    if hidden and snapshot.role is Role.STORED:
        yield f"{hidden} hidden"


def _restarted(before: Snapshot, snapshot: Snapshot) -> bool:
    starts = (before.startup_at, snapshot.startup_at)
    return None not in starts and starts[0] != starts[1]


def _block_changes(before: Snapshot, snapshot: Snapshot) -> Iterator[str]:
    old = {(block.tier, block.id): block.value for block in before.blocks if block.id}
    new = {(block.tier, block.id): block.value for block in snapshot.blocks if block.id}
    added = len(new.keys() - old.keys())
    changed = sum(key in old and not same_value(old[key], value) for key, value in new.items())
    # A reply only sends what it wants to say; what it leaves out is not gone.
    gone = len(old.keys() - new.keys()) if snapshot.role is not Role.EMITTED else 0
    if added:
        yield f"{added} added"
    if changed:
        yield f"{changed} changed"
    if gone:
        yield f"{gone} gone"


def _task_changes(before: Snapshot, snapshot: Snapshot) -> Iterator[str]:
    if snapshot.role is Role.EMITTED and "active_task" not in snapshot.value:
        return
    old, new = task_of(before), task_of(snapshot)
    if not same_value(old, new):
        yield "task ended" if new is None else "task changed" if old is not None else "task started"


def _cursor_changes(before: Snapshot, snapshot: Snapshot) -> Iterator[str]:
    if snapshot.role is Role.EMITTED and "cursor" not in snapshot.todo:
        return
    old, new = before.todo.get("cursor"), snapshot.todo.get("cursor")
    if not same_value(old, new):
        yield f"cursor {_cursor(new)}"


def _cursor(value: JsonValue) -> str:
    if not isinstance(value, dict):
        return "cleared"
    words = [value.get("phase"), value.get("next"), value.get("targetId")]
    return " ".join(str(word) for word in words if isinstance(word, str | int)) or "moved"
