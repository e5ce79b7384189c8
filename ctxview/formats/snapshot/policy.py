"""Decides whether one version of a file may replace another: only the model's fields may differ.

Compares values, not edits, so that it covers every kind of edit. Bytes outside the JSON must be equal.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from msgspec import Struct

from ctxview.core.edits import DeleteValue, Edit, EditRefused, InsertItem, MoveItem, SetValue
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonDocument
from ctxview.files.strict_json.splice import SpliceError, delete_value, insert_item, move_item, set_value
from ctxview.files.strict_json.tree import join, split
from ctxview.files.strict_json.values import same_value
from ctxview.formats.kit.text_file import checked_edit
from ctxview.formats.snapshot.forms import (
    LOCKED_BLOCK_FIELDS,
    WRITABLE_MEMBERS,
    why_locked,
    why_locked_in_block,
)
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot
from ctxview.formats.snapshot.parser import SnapshotFile, parse_cached
from ctxview.formats.snapshot.runtime.normalisation import CURSOR_FIELDS
from ctxview.formats.snapshot.state import may_be_written

Members = dict[str, JsonValue]


def tampering(file: str, before: bytes, after: bytes) -> str | None:
    """Return why `after` may not replace `before`; None when only writable fields differ."""
    if before == after:
        return None
    old, new = parse_cached(file, before), parse_cached(file, after)
    if old.snapshot is None or old.document is None or not may_be_written(old):
        return "There is no snapshot in this file that may be changed."
    if new.error is not None:
        return f"The file would no longer be readable: {new.error}"
    if new.snapshot is None or new.document is None or new.kind is not old.kind:
        return "The file would no longer hold the same kind of snapshot."
    if old.snapshot.pointer != new.snapshot.pointer:
        return "The snapshot would no longer be at the same place in the file."
    one, other = old.document, new.document
    if old.data[: one.start] != new.data[: other.start] or old.data[one.end :] != new.data[other.end :]:
        return "The text around the snapshot is the model's answer; it cannot be changed."
    # Changing an object with a repeated key would be ambiguous; it may be deleted whole.
    if other.duplicates and Counter(_ambiguous(other)) - Counter(_ambiguous(one)):
        return "An object with a repeated key cannot be changed: it is not clear which value is meant."
    return (
        _outside_snapshot(old, new)
        or _members(old.snapshot.value, new.snapshot.value)
        or _tiers(old.snapshot, new.snapshot)
        or _locked_fields(old.snapshot, new.snapshot)
    )


def _ambiguous(document: JsonDocument) -> list[bytes]:
    parents = {join("", *(split(pointer) or [])[:-1]) for pointer in document.duplicates}
    return [document.literal(parent) for parent in parents]


def _outside_snapshot(old: SnapshotFile, new: SnapshotFile) -> str | None:
    """Compare the siblings of the snapshot at every level of a log or API envelope."""
    pointer = old.snapshot.pointer if old.snapshot is not None else ""
    one: JsonValue = old.document.value if old.document is not None else None
    other: JsonValue = new.document.value if new.document is not None else None
    for token in split(pointer) or []:
        if not isinstance(one, dict) or not isinstance(other, dict) or one.keys() != other.keys():
            return "Only the snapshot in this file may be changed, not the envelope around it."
        for key in one:
            if key != token and not same_value(one[key], other[key]):
                return f"{key} is a record of the runtime; only the stored snapshot may be changed."
        one, other = one[token], other[token]
    return None


def _members(old: Members, new: Members) -> str | None:
    """Compare the top-level members except memory, the cursor and the writable ones."""
    for key in [*old, *(key for key in new if key not in old)]:
        if key in WRITABLE_MEMBERS or key == "memory":
            continue
        if key not in old or key not in new:
            return why_locked(key)
        one, other = old[key], new[key]
        if key == "todo" and isinstance(one, dict) and isinstance(other, dict):
            one, other = _without_cursor(one), _without_cursor(other)
        if not same_value(one, other):
            return why_locked(key, *_first_difference(one, other))
    return None


def _without_cursor(todo: Members) -> Members:
    return {key: value for key, value in todo.items() if key != "cursor"}


def _first_difference(one: JsonValue, other: JsonValue) -> tuple[str, ...]:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return ()
    absent = list(one.keys() ^ other.keys())
    changed = [key for key in one.keys() & other.keys() if not same_value(one[key], other[key])]
    return tuple(sorted(absent or changed)[:1])


def _tiers(old: Snapshot, new: Snapshot) -> str | None:
    """Check that tiers stay lists, that unknown ones only lose blocks, and that no tier is removed."""
    if "memory" not in new.value:
        return why_locked("memory") if "memory" in old.value else None
    before, after = old.value.get("memory", {}), new.value["memory"]
    if not isinstance(before, dict) or not isinstance(after, dict):
        return None if same_value(before, after) else why_locked("memory")
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in after:
            return f"The tier {name} cannot be removed, only its blocks."
        if name in TIERS and isinstance(before.get(name, []), list):
            if not isinstance(after[name], list):
                return f"The tier {name} must stay a list of blocks."
        elif name in TIERS and not same_value(before[name], after[name]):
            return f"The tier {name} is not a list in this file; it cannot be changed."
        elif name not in before or not _only_fewer(before[name], after[name]):
            return f"The tier {name} is unknown; its blocks can only be moved or removed."
    return None


def _only_fewer(before: JsonValue, after: JsonValue) -> bool:
    if not isinstance(before, list) or not isinstance(after, list):
        return same_value(before, after)
    rest = list(before)
    for item in after:
        place = next((index for index, other in enumerate(rest) if same_value(item, other)), None)
        if place is None:
            return False
        del rest[: place + 1]
    return True


def _locked_fields(old: Snapshot, new: Snapshot) -> str | None:
    """Check that each block keeps the system's fields, even under a new id or in another tier."""
    known: dict[str | None, list[Members]] = defaultdict(list)
    for block in old.blocks:
        known[block.id].append(_locked_part(block))
    unmatched = [block for block in new.blocks if not _take(known[block.id], _locked_part(block))]
    removed = [part for parts in known.values() for part in parts]
    for block in unmatched:
        part = _locked_part(block)
        if known[block.id] or (part and not _take(removed, part)):
            fields = ", ".join(part or LOCKED_BLOCK_FIELDS)
            return f"{block.name}: only the system may add, change or remove {fields} on a block."
    return None


def _take(parts: list[Members], wanted: Members) -> bool:
    """Remove the first of `parts` that equals `wanted`; return whether there was one."""
    for index, part in enumerate(parts):
        if same_value(part, wanted):
            del parts[index]
            return True
    return False


def _locked_part(block: MemoryBlock) -> Members:
    return {key: block.members[key] for key in LOCKED_BLOCK_FIELDS if key in block.members}


class SnapshotPolicy(Struct, frozen=True):
    file: str

    def apply(self, data: bytes, edit: Edit) -> bytes:
        found = parse_cached(self.file, data)
        snapshot = found.snapshot
        if snapshot is None or not may_be_written(found):
            raise EditRefused("There is no snapshot in this file that may be changed.")
        path = _path(snapshot, edit.pointer)
        match edit:
            case MoveItem(to=to):
                _demand_move(path, _path(snapshot, to))
            case InsertItem(value=value):
                _demand_insert(path, value)
            case DeleteValue():
                _demand_delete(path)
            case SetValue():
                _demand_set(path)
        return checked_edit(self, data, lambda: _spliced(snapshot, edit))

    def tampering(self, before: bytes, after: bytes) -> str | None:
        return tampering(self.file, before, after)


def _path(snapshot: Snapshot, pointer: str) -> list[str]:
    """Return the path of `pointer` inside the snapshot; refuse one outside of it."""
    tokens, base = split(pointer), split(snapshot.pointer) or []
    if tokens is None:
        raise EditRefused(f"{pointer!r} is not a JSON pointer.")
    if tokens[: len(base)] != base or len(tokens) == len(base):
        raise EditRefused("Only the snapshot in this file may be changed, not the envelope around it.")
    return tokens[len(base) :]


def _demand_set(path: list[str]) -> None:
    match path:
        case [member] if member in WRITABLE_MEMBERS:
            return
        case ["todo", "cursor"]:
            return
        case ["todo", "cursor", field] if field in CURSOR_FIELDS:
            return
        case ["memory", tier, index] if tier in TIERS and index != "-":
            return
        case _:
            _demand_inside(path)


def _demand_insert(path: list[str], value: JsonValue) -> None:
    match path:
        case ["memory", tier, _] if tier in TIERS:
            if not isinstance(value, dict):
                raise EditRefused("A memory block is an object.")
            locked = next((reason for key in value if (reason := why_locked_in_block(key))), None)
            if locked is not None:
                raise EditRefused(locked)
        case _:
            _demand_inside(path)


def _demand_delete(path: list[str]) -> None:
    match path:
        case [member] if member in WRITABLE_MEMBERS:
            return
        case ["todo", "cursor"] | ["todo", "cursor", "note"]:
            return
        case ["memory", _, index] if index != "-":
            return
        case _:
            _demand_inside(path)


def _demand_move(path: list[str], to: list[str]) -> None:
    match path, to:
        case ["memory", _, _], ["memory", tier, "-"] if tier in TIERS:
            return
        case ["memory", _, _], ["memory", tier, "-"]:
            raise EditRefused(f"The tier {tier} is unknown; the tiers are {', '.join(TIERS)}.")
        case _:
            raise EditRefused("Only whole memory blocks can be moved, and only from one tier to another.")


def _demand_inside(path: list[str]) -> None:
    """Allow a path inside a writable member, or inside a field of a block that is the model's."""
    match path:
        case [member, _, *_] if member in WRITABLE_MEMBERS:
            return
        case ["memory", tier, _, field, *_] if tier in TIERS:
            if reason := why_locked_in_block(field):
                raise EditRefused(reason)
        case ["memory", tier, *_] if tier not in TIERS:
            raise EditRefused(f"The tier {tier} is unknown; its blocks can only be moved or removed.")
        case _:
            raise EditRefused(why_locked(*path))


def _spliced(snapshot: Snapshot, edit: Edit) -> bytes:
    document = snapshot.document
    match edit:
        case SetValue(pointer, value):
            return set_value(document, pointer, value)
        case DeleteValue(pointer):
            return delete_value(document, pointer)
        case MoveItem(pointer, to):
            return _moved(snapshot, document, pointer, to)
        case InsertItem(pointer, value):
            return _inserted(snapshot, document, pointer, value)


def _inserted(snapshot: Snapshot, document: JsonDocument, pointer: str, value: JsonValue) -> bytes:
    """Insert a new element; a tier that the file lacks is written together with its first block."""
    path = _path(snapshot, pointer)
    if path[0] != "memory" or len(path) != 3:
        return insert_item(document, pointer, value)
    tier = path[1]
    if "memory" not in snapshot.value:
        return set_value(document, snapshot.at("memory"), {tier: [value]})
    if tier not in snapshot.section("memory"):
        return set_value(document, snapshot.at("memory", tier), [value])
    return insert_item(document, pointer, value)


def _moved(snapshot: Snapshot, document: JsonDocument, pointer: str, to: str) -> bytes:
    tier = _path(snapshot, to)[1]
    if tier in snapshot.section("memory"):
        return move_item(document, pointer, to)
    with_tier = set_value(document, snapshot.at("memory", tier), [])
    changed = parse_cached(snapshot.file, with_tier).snapshot
    if changed is None:
        raise SpliceError("the tier could not be added")
    return move_item(changed.document, pointer, to)
