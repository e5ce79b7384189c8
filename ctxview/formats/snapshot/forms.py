"""The typed forms of a snapshot: for each field who owns it, how it is edited, or why it is locked.

Says what an editor may offer; `write` decides what is really written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxview.files.json_document import join
from ctxview.formats.snapshot.cursor import ACTIONS
from ctxview.formats.snapshot.model import PHASES, STATUSES, TIERS, MemoryBlock, Snapshot, integer
from ctxview.formats.snapshot.ownership import (
    KNOWN_MEMBERS,
    WRITABLE_MEMBERS,
    why_locked,
    why_locked_in_block,
)
from ctxview.formats.snapshot.profile import Profile, TierPolicy
from ctxview.state import (
    ChoiceShape,
    Field,
    Form,
    JsonShape,
    JsonValue,
    NumberShape,
    Owner,
    Shape,
    TagsShape,
    TextShape,
)

PREFIXES = {"core": "core", "working": "work", "ephemeral": "temp", "longterm": "longterm"}
MANY = 1000
"""Stands for "as many as you like" where an editor needs a number."""

DERIVED_VIEW = "This is what the runtime derived from its stored snapshot; change the stored one instead."


class BlockForms:
    """Makes the form of each block of one snapshot."""

    def __init__(self, snapshot: Snapshot, profile: Profile, writable: bool) -> None:
        self._file = snapshot.file
        self._writable = writable
        self._shapes = _shapes(snapshot, profile)
        self._fields_by_tier = {
            tier: [name for name in self._shapes if name != "status" or tier == "working"] for tier in TIERS
        }

    def form(self, block: MemoryBlock) -> Form:
        """The fields of one block; only removable when it stands in a tier nothing reads."""
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
    """A new block for `tier`: an unused id, the current round, and figures the tier's limits let through."""
    pointer = snapshot.at("memory", tier, "-")
    policy = profile.tier(tier)
    values: dict[str, JsonValue] = {
        "id": unused_id(snapshot, tier),
        "type": "note",
        "decay": _sound_decay(policy),
        "confidence": _sound_confidence(policy),
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
    """The cursor's fields, filled in or blank; None when there is no todo section to put one into."""
    if not isinstance(snapshot.value.get("todo"), dict):
        return None
    cursor = snapshot.todo.get("cursor")
    members = cursor if isinstance(cursor, dict) else {}
    shapes: dict[str, Shape] = {
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
    """The fields that belong to the whole: version, clock, task, and whatever else stands at the top."""
    return Form(snapshot.file, snapshot.pointer, tuple(_snapshot_fields(snapshot, writable)))


def unused_id(snapshot: Snapshot, tier: str) -> str:
    """The next free id of the tier's own kind, such as `work-004`."""
    prefix = PREFIXES.get(tier, tier)
    taken = {block.id for block in snapshot.blocks}
    pattern = re.compile(rf"{re.escape(prefix)}-(\d{{1,9}})")
    alike = (name for name in taken if name is not None and name.startswith(prefix))
    numbers = [int(found[1]) for name in alike if (found := pattern.fullmatch(name))]
    return f"{prefix}-{max(numbers, default=0) + 1:03d}"


# -- fields ------------------------------------------------------------------------------------------------


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
        shape: Shape = TextShape(required=False) if name == "active_task" else JsonShape()
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
    value: JsonValue = snapshot.value
    present = True
    for key in path:
        present = isinstance(value, dict) and key in value
        value = value.get(key) if isinstance(value, dict) else None
    derived = path[0] == "todo"
    owner = Owner.DERIVED if derived else Owner.SYSTEM
    if path[0] not in KNOWN_MEMBERS:
        owner = Owner.MODEL
    return Field(".".join(path), value, owner, snapshot.at(*path), why=why_locked(*path), present=present)


def _shapes(snapshot: Snapshot, profile: Profile) -> dict[str, Shape]:
    limits = profile.limits
    return {
        "id": TextShape(),
        "type": TextShape(),
        "decay": NumberShape(0, 1),
        "confidence": NumberShape(0, 1),
        "round": NumberShape(1, snapshot.round, integer=True),
        "tags": TagsShape(limits.tags or MANY, limits.tag or MANY),
        "content": TextShape(limits.content, multiline=True),
        "status": ChoiceShape(STATUSES),
    }


def _fitting(shape: Shape, value: JsonValue, present: bool) -> Shape:
    """The shape a value is edited with: as JSON when it is not of the kind the shape edits."""
    if not present or value is None:
        return shape
    if isinstance(shape, NumberShape):
        number = integer(value) if shape.integer else value
        return shape if isinstance(number, int | float) and not isinstance(number, bool) else JsonShape()
    if isinstance(shape, TagsShape):
        fits = isinstance(value, list) and all(isinstance(tag, str) for tag in value)
        return shape if fits else JsonShape()
    return shape if isinstance(value, str) or isinstance(shape, JsonShape) else JsonShape()


def _sound_decay(policy: TierPolicy) -> float:
    return 0.3 if policy.max_decay is None else round(min(0.3, policy.max_decay), 2)


def _sound_confidence(policy: TierPolicy) -> float:
    return 0.8 if policy.min_confidence is None else round(max(0.8, policy.min_confidence), 2)
