"""What a runtime would make of a reply: the received snapshot, the emitted one, and the state after both.

A preview: sanitize, merge each tier by id, compact the storage. Nothing is written anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.files.json_values import same_value
from ctxview.formats.snapshot.javascript import trim
from ctxview.formats.snapshot.merge_fields import (
    Change,
    MergeChange,
    merge_cursor,
    merge_members,
    merge_system_fields,
)
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot, utf16_length
from ctxview.formats.snapshot.normalise import NormalBlock, normalise, why_invalid
from ctxview.formats.snapshot.ownership import LOCKED_BLOCK_FIELDS
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.retention import Compaction, compact, distinct
from ctxview.origin import JsonValue, Origin
from ctxview.quick_dataclass import dataclass

__all__ = ["Change", "MergeChange", "MergeResult", "merge"]

Members = dict[str, JsonValue]


@dataclass(frozen=True)
class MergeResult:
    """The snapshot after the merge, and every single thing that happened on the way."""

    value: Members
    changes: tuple[MergeChange, ...]

    def of(self, *kinds: Change) -> tuple[MergeChange, ...]:
        return tuple(change for change in self.changes if change.kind in kinds)


def merge(received: Snapshot, emitted: Snapshot, profile: Profile) -> MergeResult:
    """What the runtime of `profile` stores when `emitted` comes back for `received`."""
    changes = list(merge_system_fields(received, emitted))
    todo, cursor_changes = merge_cursor(received, emitted, profile)
    members, member_changes = merge_members(received, emitted)
    changes += cursor_changes + member_changes
    changes += _ignored_memory(emitted)
    memory: Members = {}
    for tier in TIERS:
        merge_of_tier = _TierMerge(received, emitted, tier, profile)
        memory[tier] = merge_of_tier.values
        changes += merge_of_tier.changes
    value = {**received.value, **members, "memory": memory}
    if todo is not None:
        value["todo"] = todo
    return MergeResult(value, tuple(changes))


class _TierMerge:
    """One tier: what comes in, what stands there, and what storage keeps of both."""

    def __init__(self, received: Snapshot, emitted: Snapshot, tier: str, profile: Profile) -> None:
        self._received, self._emitted = received, emitted
        self._tier, self._profile = tier, profile
        self._round = received.round
        self.changes: list[MergeChange] = []
        old = received.tier(tier)
        memory = emitted.section("memory")
        sent = isinstance(memory.get(tier), list)
        merged = self._merged(old, emitted.tier(tier)) if sent else [block.value for block in old]
        if not sent:
            self._note_kept(old, ())
        stored = compact(merged, tier, self._round, profile)
        self._note_compaction(merged, stored)
        self.values: JsonValue = [block.value for block in stored.kept]

    def _merged(self, old: Sequence[MemoryBlock], sent: Sequence[MemoryBlock]) -> list[JsonValue]:
        incoming = self._incoming(sent)
        if not incoming:
            self._note_wiped(old, sent)
            return []
        by_id = {block.id or block.pointer: block.value for block in old}
        for origin, block in incoming:
            before = by_id.get(block.id)
            after = {**before, **block.value} if isinstance(before, dict) else block.value
            by_id[block.id] = after
            self._note_block(block, before, after, origin)
        self._note_kept(old, {block.id for _, block in incoming})
        return list(by_id.values())

    def _incoming(self, sent: Sequence[MemoryBlock]) -> list[tuple[Origin, NormalBlock]]:
        """The valid blocks of the reply, one for each id, with where each is written."""
        valid: list[tuple[Origin, MemoryBlock, NormalBlock]] = []
        for block in sent:
            origin = self._emitted.origin_of(block.pointer)
            normal = normalise(block.value, self._tier, self._round, self._profile)
            if normal is None:
                why = why_invalid(block.value, self._profile)
                self._note(Change.DROPPED, block.name, f"{block.name} is dropped: {why}", origin, block.value)
            else:
                valid.append((origin, block, normal))
        winners = {block.id: block for block in distinct((normal for *_, normal in valid), self._tier)}
        for origin, block, normal in valid:
            winner = winners[normal.id]
            if winner is normal:
                self._note_alterations(block, normal, origin)
            else:
                message = f"{normal.id} stands twice in {self._tier}; the better copy stays"
                self._note(Change.COLLAPSED, normal.id, message, origin, block.value, winner.value)
        places = {normal.id: origin for origin, _, normal in valid if winners[normal.id] is normal}
        return [(places[block.id], block) for block in winners.values()]

    # -- telling ---------------------------------------------------------------------------------------

    def _note(
        self,
        kind: Change,
        name: str,
        message: str,
        origin: Origin,
        before: JsonValue = None,
        after: JsonValue = None,
    ) -> None:
        self.changes.append(MergeChange(kind, name, message, origin, self._tier, before, after))

    def _note_alterations(self, block: MemoryBlock, normal: NormalBlock, origin: Origin) -> None:
        limit = self._profile.limits.content
        length = utf16_length(trim(block.content or ""))
        if limit is not None and length > limit:
            message = f"{normal.id} is cut from {length} to {limit} characters"
            self._note(Change.TRUNCATED, normal.id, message, origin, block.content, normal.content)
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
            message = f"{normal.id}: {', '.join(altered)} made regular"
            self._note(Change.NORMALISED, normal.id, message, origin, before, after)

    def _note_block(self, block: NormalBlock, before: JsonValue, after: JsonValue, origin: Origin) -> None:
        if not isinstance(before, dict) or not isinstance(after, dict):
            self._note(Change.ADDED, block.id, f"{block.id} is added to {self._tier}", origin, None, after)
            self._note_locked(block, {}, block.value, origin)
            return
        old = normalise(before, self._tier, self._round, self._profile)
        known = old.value if old is not None else before
        differing = [key for key in after if key not in known or not same_value(known[key], after[key])]
        if self._tier == "working" and old is not None and old.terminal and not block.terminal:
            message = f"{block.id} was {old.status} and is open again"
            self._note(Change.REOPENED, block.id, message, origin, before, after)
        elif differing:
            message = f"{block.id} is updated: {', '.join(differing)}"
            self._note(Change.UPDATED, block.id, message, origin, before, after)
        else:
            self._note(Change.UNCHANGED, block.id, f"{block.id} is as it was", origin, before, after)
        self._note_locked(block, before, after, origin)

    def _note_locked(self, block: NormalBlock, before: Members, after: Members, origin: Origin) -> None:
        for key in LOCKED_BLOCK_FIELDS:
            if key in after and not same_value(before.get(key), after[key]):
                message = f"{block.id}: {key} is the system's, but the runtime takes the model's version"
                self._note(
                    Change.OVERWRITTEN, block.id, message, origin, {key: before.get(key)}, {key: after[key]}
                )

    def _note_kept(self, old: Sequence[MemoryBlock], answered: set[str] | tuple[()]) -> None:
        for block in old:
            if block.id not in answered:
                origin = self._received.origin_of(block.pointer)
                message = f"{block.name} is not in the reply and stays"
                self._note(Change.KEPT, block.name, message, origin, block.value, block.value)

    def _note_wiped(self, old: Sequence[MemoryBlock], sent: Sequence[MemoryBlock]) -> None:
        if not old:
            return
        how = "only invalid blocks came back" if sent else "an empty list came back"
        names = ", ".join(block.name for block in old[:5]) + (" …" if len(old) > 5 else "")
        message = f"{self._tier} is erased, {len(old)} lost ({names}): {how}"
        origin = self._emitted.origin("memory", self._tier)
        self._note(Change.WIPED, self._tier, message, origin, [block.value for block in old], [])

    def _note_compaction(self, merged: Sequence[JsonValue], stored: Compaction) -> None:
        for block, reason in (*stored.outlived, *stored.surplus):
            origin = self._place_of(block.id)
            message = f"{block.id} is deleted from storage: {reason}"
            self._note(Change.DELETED, block.id, message, origin, block.value)
        for value in merged:
            if (why := why_invalid(value, self._profile)) is not None:
                origin = self._received.origin("memory", self._tier)
                message = f"a stored block is dropped: {why}"
                self._note(Change.DROPPED, self._tier, message, origin, value)

    def _place_of(self, block_id: str) -> Origin:
        for snapshot in (self._emitted, self._received):
            for block in snapshot.tier(self._tier):
                if block.id is not None and trim(block.id) == block_id:
                    return snapshot.origin_of(block.pointer)
        return self._received.origin("memory", self._tier)


def _ignored_memory(emitted: Snapshot) -> Iterator[MergeChange]:
    memory = emitted.value.get("memory")
    if memory is not None and not isinstance(memory, dict):
        yield MergeChange(Change.IGNORED, "memory", "memory is no object: ignored", emitted.origin("memory"))
    for name, items in emitted.section("memory").items():
        origin = emitted.origin("memory", name)
        if name not in TIERS:
            message = f"nothing reads a tier called {name}; what it holds is ignored"
            yield MergeChange(Change.IGNORED, name, message, origin, name, None, items)
        elif not isinstance(items, list):
            yield MergeChange(Change.IGNORED, name, f"{name} is no list: ignored", origin, name, None, items)
