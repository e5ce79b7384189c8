"""The snapshot after a reply: as the runtime keeps it, and with all that the reply states.

A reply is a change of what it answers. Blocks and fields that it leaves out stay; fields of the system that
it changes are put back. Both snapshots are in no file, so their origins have no place.
"""

from __future__ import annotations

from msgspec import Struct

from ctxview.core.origin import JsonValue, Origin
from ctxview.files.strict_json.document import JsonDocument
from ctxview.files.strict_json.values import same_value
from ctxview.formats.snapshot.model import TIERS, Snapshot, SnapshotRole
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.runtime.merge import merge
from ctxview.formats.snapshot.runtime.merge_fields import deep_merge
from ctxview.formats.snapshot.runtime.normalisation import normalise


class ReplyOutcome(Struct, frozen=True):
    """The snapshot after a reply; `stated` differs in the fields of the system that the reply changes."""

    stated: Snapshot
    kept: Snapshot


def outcome_of(received: Snapshot, emitted: Snapshot | None, profile: Profile) -> ReplyOutcome:
    """Apply a reply to the snapshot it answers; a reply that the runtime refuses (None) changes nothing."""
    if emitted is None:
        unchanged = _in_no_file(received, received.value)
        return ReplyOutcome(unchanged, unchanged)
    merged = merge(received, emitted, profile).value
    memory = {tier: _unaltered(received, tier, merged["memory"], profile) for tier in TIERS}
    kept: dict[str, JsonValue] = {**merged, "memory": {**memory}}
    stated = dict(kept)
    if "version" in emitted.value:
        stated["version"] = emitted.value["version"]
    for name in ("runtime", "todo"):
        own = {key: value for key, value in emitted.section(name).items() if key != "cursor"}
        if own:
            stated[name] = deep_merge(kept.get(name), own)
    return ReplyOutcome(_in_no_file(emitted, stated), _in_no_file(emitted, kept))


def _unaltered(received: Snapshot, tier: str, memory: JsonValue, profile: Profile) -> list[JsonValue]:
    """Return the merged blocks of a tier; one that only took its stored form is as it was received."""
    merged = memory.get(tier) if isinstance(memory, dict) else None
    known: dict[str | None, tuple[JsonValue, JsonValue]] = {}
    for block in received.tier(tier):
        normal = normalise(block.value, tier, received.round, profile)
        if normal is not None:
            known[normal.id] = normal.value, block.value
    found: list[JsonValue] = []
    for value in merged if isinstance(merged, list) else []:
        name = value.get("id") if isinstance(value, dict) else None
        stored, raw = known.get(name if isinstance(name, str) else None, (None, None))
        found.append(raw if same_value(stored, value) else value)
    return found


def _in_no_file(source: Snapshot, value: dict[str, JsonValue]) -> Snapshot:
    return Snapshot(source.file, _NoDocument(value), "", value, SnapshotRole.STORED)


class _NoDocument(JsonDocument):
    """The document of a snapshot that is in no file: origins have a pointer, but no place."""

    def __init__(self, value: dict[str, JsonValue]) -> None:
        # The parent's constructor is not called, because it parses JSON.
        self.data, self.start, self.end = b"", 0, 0
        self.__dict__["value"] = value

    def span(self, pointer: str) -> tuple[int, int] | None:  # noqa: ARG002 - part of the interface
        return None

    def origin(self, file: str, pointer: str) -> Origin:
        return Origin(file, pointer)
