"""Previews the merge of a reply: the state that a runtime would store for a received and an emitted snapshot.

Sanitizes the reply, merges each tier by id and compacts the storage. Nothing is written. A reply is a change
of what it answers: blocks and fields that it leaves out stay; fields of the system that it changes are put
back. Merged snapshots are in no file, so their origins have no place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ctxview.core.origin import JsonValue, Origin
from ctxview.files.strict_json.document import JsonDocument
from ctxview.files.strict_json.values import same_value
from ctxview.formats.snapshot.forms import LOCKED_BLOCK_FIELDS
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot, SnapshotRole, utf16_length
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.runtime.javascript import trim
from ctxview.formats.snapshot.runtime.merge_fields import (
    MergeChange,
    MergeEffect,
    deep_merge,
    merge_cursor,
    merge_members,
    merge_system_fields,
)
from ctxview.formats.snapshot.runtime.normalisation import StoredBlock, normalise, why_invalid
from ctxview.formats.snapshot.runtime.projection import TierCompaction, compact, distinct

__all__ = ["MergeChange", "MergeResult", "merge"]

Members = dict[str, JsonValue]


class MergeResult(Struct, frozen=True):
    """The snapshot after the merge, and every change that led to it."""

    value: Members
    changes: tuple[MergeChange, ...]

    def of(self, *kinds: MergeEffect) -> tuple[MergeChange, ...]:
        return tuple(change for change in self.changes if change.kind in kinds)


def merge(received: Snapshot, emitted: Snapshot, profile: Profile) -> MergeResult:
    """Merge `emitted` into `received` as the runtime of `profile` does."""
    changes = list(merge_system_fields(received, emitted))
    todo, cursor_changes = merge_cursor(received, emitted, profile)
    members, member_changes = merge_members(received, emitted)
    changes += cursor_changes + member_changes
    changes += _ignored_memory(emitted)
    memory: Members = {}
    for tier in TIERS:
        merged = _TierMerge(received, emitted, tier, profile)
        memory[tier] = merged.values
        changes += merged.changes
    value = {**received.value, **members, "memory": memory}
    if todo is not None:
        value["todo"] = todo
    return MergeResult(value, tuple(changes))


class _TierMerge:
    """The merge of one tier: stored and incoming blocks, and the ones that storage keeps."""

    def __init__(self, received: Snapshot, emitted: Snapshot, tier: str, profile: Profile) -> None:
        self._received, self._emitted = received, emitted
        self._tier, self._profile = tier, profile
        self._round = received.round
        self._answered: set[str] = set()
        self.changes: list[MergeChange] = []
        old = received.tier(tier)
        memory = emitted.section("memory")
        sent = isinstance(memory.get(tier), list)
        merged = self._merged(old, emitted.tier(tier)) if sent else [block.value for block in old]
        stored = compact(merged, tier, self._round, profile)
        self._note_kept(old, {block.id for block in stored.kept})
        self._note_compaction(merged, stored)
        self.values: JsonValue = [block.value for block in stored.kept]

    def _merged(self, old: Sequence[MemoryBlock], sent: Sequence[MemoryBlock]) -> list[JsonValue]:
        incoming = self._incoming(sent)
        if not incoming:
            self._note_wiped(old, sent)
            return []
        self._answered = {block.id for _, block in incoming}
        by_id = {block.id or block.pointer: block.value for block in old}
        for origin, block in incoming:
            before = by_id.get(block.id)
            after = {**before, **block.value} if isinstance(before, dict) else block.value
            by_id[block.id] = after
            self._note_block(block, before, after, origin)
        return list(by_id.values())

    def _incoming(self, sent: Sequence[MemoryBlock]) -> list[tuple[Origin, StoredBlock]]:
        """Return the valid blocks of the reply, one for each id, with their origins."""
        valid: list[tuple[Origin, MemoryBlock, StoredBlock]] = []
        for block in sent:
            origin = self._emitted.origin_of(block.pointer)
            normal = normalise(block.value, self._tier, self._round, self._profile)
            if normal is None:
                why = why_invalid(block.value, self._profile)
                self._note(
                    MergeEffect.DROPPED, block.name, f"{block.name} is dropped: {why}", origin, block.value
                )
            else:
                valid.append((origin, block, normal))
        winners = {block.id: block for block in distinct((normal for *_, normal in valid), self._tier)}
        for origin, block, normal in valid:
            winner = winners[normal.id]
            if winner is normal:
                self._note_alterations(block, normal, origin)
            else:
                message = f"{normal.id} appears twice in {self._tier}; the better copy is kept"
                self._note(MergeEffect.COLLAPSED, normal.id, message, origin, block.value, winner.value)
        places = {normal.id: origin for origin, _, normal in valid if winners[normal.id] is normal}
        return [(places[block.id], block) for block in winners.values()]

    # -- changes ---------------------------------------------------------------------------------------

    def _note(
        self,
        kind: MergeEffect,
        name: str,
        message: str,
        origin: Origin,
        before: JsonValue = None,
        after: JsonValue = None,
    ) -> None:
        self.changes.append(MergeChange(kind, name, message, origin, self._tier, before, after))

    def _note_alterations(self, block: MemoryBlock, normal: StoredBlock, origin: Origin) -> None:
        limit = self._profile.limits.content
        length = utf16_length(trim(block.content or ""))
        if limit is not None and length > limit:
            message = f"{normal.id} is cut from {length} to {limit} characters"
            self._note(MergeEffect.TRUNCATED, normal.id, message, origin, block.content, normal.content)
        altered = [
            key
            for key in ("id", "type", "decay", "confidence", "round", "tags", "status", "content")
            if not same_value(block.members.get(key), normal.value.get(key))
            and not (key == "content" and limit is not None and length > limit)
            and not (key == "status" and "status" not in block.members)
        ]
        if altered:
            before: Members = {key: block.members[key] for key in altered if key in block.members}
            after: Members = {key: normal.value[key] for key in altered}
            message = f"{normal.id}: {', '.join(altered)} normalised"
            self._note(MergeEffect.NORMALISED, normal.id, message, origin, before, after)

    def _note_block(self, block: StoredBlock, before: JsonValue, after: JsonValue, origin: Origin) -> None:
        if not isinstance(before, dict) or not isinstance(after, dict):
            self._note(
                MergeEffect.ADDED, block.id, f"{block.id} is added to {self._tier}", origin, None, after
            )
            self._note_locked(block, {}, block.value, origin)
            return
        old = normalise(before, self._tier, self._round, self._profile)
        known = old.value if old is not None else before
        differing = [key for key in after if key not in known or not same_value(known[key], after[key])]
        if self._tier == "working" and old is not None and old.terminal and not block.terminal:
            message = f"{block.id} was {old.status} and is open again"
            self._note(MergeEffect.REOPENED, block.id, message, origin, before, after)
        elif differing:
            message = f"{block.id} is updated: {', '.join(differing)}"
            self._note(MergeEffect.UPDATED, block.id, message, origin, before, after)
        else:
            self._note(MergeEffect.UNCHANGED, block.id, f"{block.id} is unchanged", origin, before, after)
        self._note_locked(block, before, after, origin)

    def _note_locked(self, block: StoredBlock, before: Members, after: Members, origin: Origin) -> None:
        for key in LOCKED_BLOCK_FIELDS:
            if key in after and not same_value(before.get(key), after[key]):
                message = f"{block.id}: {key} is the system's, but the runtime accepts the model's value"
                self._note(
                    MergeEffect.OVERWRITTEN,
                    block.id,
                    message,
                    origin,
                    {key: before.get(key)},
                    {key: after[key]},
                )

    def _note_kept(self, old: Sequence[MemoryBlock], stored: set[str]) -> None:
        for block in old:
            name = trim(block.id or "")
            if name in stored and name not in self._answered:
                origin = self._received.origin_of(block.pointer)
                message = f"{block.name} is not in the reply and is kept"
                self._note(MergeEffect.KEPT, block.name, message, origin, block.value, block.value)

    def _note_wiped(self, old: Sequence[MemoryBlock], sent: Sequence[MemoryBlock]) -> None:
        if not old:
            return
        cause = "only invalid blocks came back" if sent else "an empty list came back"
        names = ", ".join(block.name for block in old[:5]) + (" …" if len(old) > 5 else "")
        message = f"{self._tier} is erased, {len(old)} lost ({names}): {cause}"
        origin = self._emitted.origin("memory", self._tier)
        self._note(MergeEffect.WIPED, self._tier, message, origin, [block.value for block in old], [])

    def _note_compaction(self, merged: Sequence[JsonValue], stored: TierCompaction) -> None:
        for block, reason in (*stored.expired, *stored.surplus):
            origin = self._origin_of(block.id)
            message = f"{block.id} is deleted from storage: {reason}"
            self._note(MergeEffect.DELETED, block.id, message, origin, block.value)
        for value in merged:
            if (why := why_invalid(value, self._profile)) is not None:
                origin = self._received.origin("memory", self._tier)
                message = f"a stored block is dropped: {why}"
                self._note(MergeEffect.DROPPED, self._tier, message, origin, value)

    def _origin_of(self, block_id: str) -> Origin:
        for snapshot in (self._emitted, self._received):
            for block in snapshot.tier(self._tier):
                if block.id is not None and trim(block.id) == block_id:
                    return snapshot.origin_of(block.pointer)
        return self._received.origin("memory", self._tier)


def _ignored_memory(emitted: Snapshot) -> Iterator[MergeChange]:
    memory = emitted.value.get("memory")
    if memory is not None and not isinstance(memory, dict):
        yield MergeChange(
            MergeEffect.IGNORED, "memory", "memory is not an object and is ignored", emitted.origin("memory")
        )
    for name, items in emitted.section("memory").items():
        origin = emitted.origin("memory", name)
        if name not in TIERS:
            message = f"the tier {name} is unknown; its blocks are ignored"
            yield MergeChange(MergeEffect.IGNORED, name, message, origin, name, None, items)
        elif not isinstance(items, list):
            yield MergeChange(
                MergeEffect.IGNORED, name, f"{name} is not a list and is ignored", origin, name, None, items
            )


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
