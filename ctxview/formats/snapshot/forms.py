"""The owner of each field of a snapshot, the reasons why fields are locked, and the forms to edit blocks.

Locked fields in the editor, refused edits, tampering and the merge preview all use these tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxview.core.fields import (
    ChoiceShape,
    Field,
    FieldShape,
    Form,
    JsonShape,
    NumberShape,
    Owner,
    TagsShape,
    TextShape,
)
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.tree import join
from ctxview.formats.snapshot.model import PHASES, STATUSES, TIERS, MemoryBlock, Snapshot, integer, member_at
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.runtime.normalisation import ACTIONS

WRITABLE_MEMBERS = ("capabilities", "active_task")
"""Top-level members that the model may replace, in addition to the tiers and the cursor."""

UNGUARDED_MEMBERS = ("active_task_meta", "last_task", "task_checkpoint")
"""Task records of the system that the runtime nevertheless accepts from a model unchecked."""

LOCKED_BLOCK_FIELDS = (
    "task_id",
    "closed_at",
    "content_state",
    "tag_id",
    "tag_summary",
    "rehydrated_at",
    "persistent_block_id",
    "persistent_score",
)

KNOWN_MEMBERS = ("version", "runtime", "memory", "todo", *WRITABLE_MEMBERS, *UNGUARDED_MEMBERS)

_TASK = "The system writes this when it closes a working block."
_COLD = "The memory store links cold content by this field; a changed value would break the link."
_RECALL = "The system writes this on blocks it recalls from its memory store."
_TODO = "The system computes this from its own todo list; the model may write only the cursor."
_RECORDS = "The system keeps its task records here; it cannot be changed, as the runtime would accept it."

_REASONS: dict[str, str] = {
    "version": "The system writes the protocol version; the runtime puts a changed one back.",
    "runtime": "Everything under runtime belongs to the system; the runtime puts changes back.",
    "runtime.round": "The system counts the rounds; the runtime puts a changed number back.",
    "runtime.workspace": "The system sets its workspace; the runtime puts a changed path back.",
    "runtime.datetime": "The system writes the time every turn.",
    "runtime.startup_at": "The system writes its start time once; it distinguishes one run from another.",
    "runtime.token_usage": "The system records the provider's token counts here.",
    "runtime.budget": "The system records here how it fitted the prompt into the window.",
    "todo": _TODO,
    "todo.summary": _TODO,
    "todo.total": _TODO,
    "todo.step": _TODO,
    "active_task_meta": _RECORDS,
    "last_task": _RECORDS,
    "task_checkpoint": _RECORDS,
    "memory": "Only blocks inside the four tiers may be changed, not the tiers themselves.",
    "task_id": _TASK,
    "closed_at": _TASK,
    "content_state": _COLD,
    "tag_id": _COLD,
    "tag_summary": _COLD,
    "rehydrated_at": _COLD,
    "persistent_block_id": _RECALL,
    "persistent_score": _RECALL,
}


def why_locked(*path: str) -> str:
    """Return why the member at `path` of a snapshot is locked, by the reason for its nearest parent."""
    for length in range(len(path), 0, -1):
        if reason := _REASONS.get(".".join(path[:length])):
            return reason
    return f"The protocol does not know the key {'.'.join(path)!r}; only the model's fields can be changed."


def why_locked_in_block(field: str) -> str | None:
    """Return why the field of a block is locked; None when the model may write it."""
    return _REASONS[field] if field in LOCKED_BLOCK_FIELDS else None


PREFIXES = {"core": "core", "working": "work", "ephemeral": "temp", "longterm": "longterm"}
NO_LIMIT = 1000
"""The limit of a tag list or tag when the profile has none."""

DERIVED_VIEW = "The runtime derived this from its stored snapshot; change the stored one instead."


class BlockForms:
    """Builds the forms for the blocks of one snapshot."""

    def __init__(self, snapshot: Snapshot, profile: Profile, writable: bool) -> None:
        self._file = snapshot.file
        self._writable = writable
        self._shapes = _shapes(snapshot, profile)
        self._fields_by_tier = {
            tier: [name for name in self._shapes if name != "status" or tier == "working"] for tier in TIERS
        }

    def form(self, block: MemoryBlock) -> Form:
        """Return the fields of one block; in an unknown tier it can only be removed."""
        members = block.value if isinstance(block.value, dict) else None
        fields = tuple(self._fields(block, members)) if members is not None else ()
        return Form(self._file, block.pointer, fields, removable=self._writable)

    def _fields(self, block: MemoryBlock, members: dict[str, JsonValue]) -> Iterator[Field]:
        expected = self._fields_by_tier.get(block.tier, ())
        writable = self._writable and block.tier in TIERS
        why = "" if writable else DERIVED_VIEW
        for name in expected:
            present = name in members
            value = members.get(name)
            shape = _fitting(self._shapes[name], value, present) if writable else None
            yield Field(name, value, Owner.MODEL, f"{block.pointer}/{name}", shape, why, present)
        for name, value in members.items():
            if name not in expected:
                yield self._other_field(name, value, block.pointer, writable)

    def _other_field(self, name: str, value: JsonValue, pointer: str, writable: bool) -> Field:
        place = join(pointer, name)
        if (why := why_locked_in_block(name)) is not None:
            return Field(name, value, Owner.SYSTEM, place, why=why)
        if not writable:
            return Field(name, value, Owner.MODEL, place, why=DERIVED_VIEW)
        return Field(name, value, Owner.MODEL, place, self._shapes.get(name, JsonShape()))


def new_block_form(snapshot: Snapshot, tier: str, profile: Profile) -> Form:
    """Return the form of a new block: an unused id, the current round, figures within the tier's limits."""
    pointer = snapshot.at("memory", tier, "-")
    policy = profile.tier(tier)
    values: dict[str, JsonValue] = {
        "id": unused_block_id(snapshot, tier),
        "type": "note",
        "decay": 0.3 if policy.max_decay is None else round(min(0.3, policy.max_decay), 2),
        "confidence": 0.8 if policy.min_confidence is None else round(max(0.8, policy.min_confidence), 2),
        "round": snapshot.round or 1,
        "tags": [],
        "content": "",
    }
    shapes = _shapes(snapshot, profile)
    fields = tuple(
        Field(name, value, Owner.MODEL, f"{pointer}/{name}", shapes[name], present=False)
        for name, value in values.items()
    )
    return Form(snapshot.file, pointer, fields, exists=False)


def cursor_form(snapshot: Snapshot, profile: Profile, writable: bool) -> Form | None:
    """Return the cursor's fields, filled in or blank; None without a todo section."""
    if not isinstance(snapshot.value.get("todo"), dict):
        return None
    cursor = snapshot.todo.get("cursor")
    members = cursor if isinstance(cursor, dict) else {}
    shapes: dict[str, FieldShape] = {
        "v": NumberShape(1, 1, integer=True),
        "phase": ChoiceShape(PHASES),
        "next": ChoiceShape(ACTIONS),
        "targetId": NumberShape(1, integer=True, nullable=True),
        "note": TextShape(profile.limits.note, required=False),
    }
    blank: dict[str, JsonValue] = {"v": 1, "phase": "planning", "next": "none", "targetId": None}
    fields = tuple(
        Field(
            name,
            members.get(name, blank.get(name)),
            Owner.MODEL,
            snapshot.at("todo", "cursor", name),
            shape if writable else None,
            "" if writable else DERIVED_VIEW,
            present=name in members,
        )
        for name, shape in shapes.items()
    )
    exists = isinstance(cursor, dict)
    return Form(
        snapshot.file, snapshot.at("todo", "cursor"), fields, exists=exists, removable=exists and writable
    )


def snapshot_form(snapshot: Snapshot, writable: bool) -> Form:
    """Return the fields of the snapshot itself: version, runtime, task and the other top-level members."""
    return Form(snapshot.file, snapshot.pointer, tuple(_snapshot_fields(snapshot, writable)))


def unused_block_id(snapshot: Snapshot, tier: str) -> str:
    """Return the next free id with the prefix of the tier, such as `work-004`."""
    prefix = PREFIXES.get(tier, tier)
    taken = {block.id for block in snapshot.blocks}
    pattern = re.compile(rf"{re.escape(prefix)}-(\d{{1,9}})")
    numbers = [int(found[1]) for name in taken if name is not None and (found := pattern.fullmatch(name))]
    return f"{prefix}-{max(numbers, default=0) + 1:03d}"


def _snapshot_fields(snapshot: Snapshot, writable: bool) -> Iterator[Field]:
    yield _locked(snapshot, "version")
    if isinstance(snapshot.value.get("runtime"), dict):
        for name in snapshot.runtime:
            yield _locked(snapshot, "runtime", name)
    else:
        yield _locked(snapshot, "runtime")
    for name in WRITABLE_MEMBERS:
        present = name in snapshot.value
        value = snapshot.value.get(name)
        shape: FieldShape = TextShape(required=False) if name == "active_task" else JsonShape()
        if not writable:
            yield Field(name, value, Owner.MODEL, snapshot.at(name), why=DERIVED_VIEW, present=present)
        else:
            fitting = _fitting(shape, value, present)
            yield Field(name, value, Owner.MODEL, snapshot.at(name), fitting, present=present)
    for name in snapshot.value:
        if name not in ("version", "runtime", "memory", "todo", *WRITABLE_MEMBERS):
            yield _locked(snapshot, name)
    if isinstance(snapshot.value.get("todo"), dict):
        for name in snapshot.todo:
            if name != "cursor":
                yield _locked(snapshot, "todo", name)
    elif "todo" in snapshot.value:
        yield _locked(snapshot, "todo")


def _locked(snapshot: Snapshot, *path: str) -> Field:
    present, value = member_at(snapshot.value, path)
    owner = Owner.DERIVED if path[0] == "todo" else Owner.SYSTEM
    if path[0] not in KNOWN_MEMBERS:
        owner = Owner.MODEL
    return Field(".".join(path), value, owner, snapshot.at(*path), why=why_locked(*path), present=present)


def _shapes(snapshot: Snapshot, profile: Profile) -> dict[str, FieldShape]:
    limits = profile.limits
    return {
        "id": TextShape(),
        "type": TextShape(),
        "decay": NumberShape(0, 1),
        "confidence": NumberShape(0, 1),
        "round": NumberShape(1, snapshot.round, integer=True),
        "tags": TagsShape(limits.tags or NO_LIMIT, limits.tag or NO_LIMIT),
        "content": TextShape(limits.content, multiline=True),
        "status": ChoiceShape(STATUSES),
    }


def _fitting(shape: FieldShape, value: JsonValue, present: bool) -> FieldShape:
    """Return `shape` if it can edit `value`, else the shape for any JSON."""
    if not present or value is None:
        return shape
    if isinstance(shape, NumberShape):
        number = integer(value) if shape.integer else value
        return shape if isinstance(number, int | float) and not isinstance(number, bool) else JsonShape()
    if isinstance(shape, TagsShape):
        fits = isinstance(value, list) and all(isinstance(tag, str) for tag in value)
        return shape if fits else JsonShape()
    return shape if isinstance(value, str) or isinstance(shape, JsonShape) else JsonShape()
