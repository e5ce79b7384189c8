"""Whether one version of a file may replace another: only what is the model's may differ.

Compares values, not edits, so that no way of editing gets round it. Bytes outside the JSON must be equal.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from ctxview.files.json_document import JsonDocument
from ctxview.files.json_tree import join, split
from ctxview.files.json_values import same_value
from ctxview.formats.snapshot.model import TIERS, MemoryBlock, Snapshot
from ctxview.formats.snapshot.ownership import LOCKED_BLOCK_FIELDS, WRITABLE_MEMBERS, why_locked
from ctxview.formats.snapshot.read import SnapshotFile, read_again
from ctxview.formats.snapshot.state import may_be_written
from ctxview.origin import JsonValue

Members = dict[str, JsonValue]


def tampering(file: str, before: bytes, after: bytes) -> str | None:
    """Why `after` may not replace `before`; None when only writable fields differ."""
    if before == after:
        return None
    old, new = read_again(file, before), read_again(file, after)
    if old.snapshot is None or old.document is None or not may_be_written(old):
        return "There is no snapshot in this file that may be changed."
    if new.error is not None:
        return f"The file would no longer be readable: {new.error}"
    if new.snapshot is None or new.document is None or new.kind is not old.kind:
        return "The file would no longer hold the kind of snapshot it holds now."
    if old.snapshot.pointer != new.snapshot.pointer:
        return "The snapshot would no longer stand where it stands now."
    return (
        _around(old, new)
        or _duplicate_keys(old.document, new.document)
        or _outside_snapshot(old, new)
        or _members(old.snapshot.value, new.snapshot.value)
        or _tiers(old.snapshot, new.snapshot)
        or _locked_fields(old.snapshot, new.snapshot)
    )


def _around(old: SnapshotFile, new: SnapshotFile) -> str | None:
    """The prose, the separator and everything else that is not the JSON text."""
    one, other = old.document, new.document
    if one is None or other is None:
        return "There is no snapshot in this file that may be changed."
    if old.data[: one.start] != new.data[: other.start] or old.data[one.end :] != new.data[other.end :]:
        return "The text around the snapshot is the answer the model gave; it is not changed."
    return None


def _duplicate_keys(old: JsonDocument, new: JsonDocument) -> str | None:
    """Objects with a repeated key stay byte for byte, or go whole: an edit inside would be ambiguous."""
    if new.duplicates and Counter(_ambiguous(new)) - Counter(_ambiguous(old)):
        return "An object with a repeated key cannot be changed: it is not clear which of them is meant."
    return None


def _ambiguous(document: JsonDocument) -> list[bytes]:
    parents = {join("", *(split(pointer) or [])[:-1]) for pointer in document.duplicates}
    return [document.literal(parent) for parent in parents]


def _outside_snapshot(old: SnapshotFile, new: SnapshotFile) -> str | None:
    """Log and API envelopes: every sibling of the snapshot, at every level above it."""
    pointer = old.snapshot.pointer if old.snapshot is not None else ""
    one: JsonValue = old.document.value if old.document is not None else None
    other: JsonValue = new.document.value if new.document is not None else None
    for token in split(pointer) or []:
        if not isinstance(one, dict) or not isinstance(other, dict):
            return "What stands around the snapshot may not be changed."
        if one.keys() != other.keys():
            return "What stands around the snapshot may not be changed."
        for key in one:
            if key != token and not same_value(one[key], other[key]):
                return f"{key} is the runtime's own record; only the stored snapshot may be changed."
        one, other = one[token], other[token]
    return None


def _members(old: Members, new: Members) -> str | None:
    """All that stands at the top but memory: the same by value and presence, cursor and task aside."""
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
    """The tiers themselves stay lists; unknown ones may only lose blocks, and none may be added."""
    if "memory" not in new.value:
        return why_locked("memory") if "memory" in old.value else None
    before, after = old.value.get("memory", {}), new.value["memory"]
    if not isinstance(before, dict) or not isinstance(after, dict):
        return None if same_value(before, after) else why_locked("memory")
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in after:
            return f"The tier {name} may lose its blocks, but stays."
        if name in TIERS and isinstance(before.get(name, []), list):
            if not isinstance(after[name], list):
                return f"The tier {name} has to stay a list of blocks."
        elif name in TIERS and not same_value(before[name], after[name]):
            return f"The tier {name} is no list here; it stays as it is."
        elif name not in before or not _only_fewer(before[name], after[name]):
            return f"Nothing reads a tier called {name}; its blocks can only be moved or removed."
    return None


def _only_fewer(before: JsonValue, after: JsonValue) -> bool:
    if not isinstance(before, list) or not isinstance(after, list):
        return same_value(before, after)
    left = list(before)
    for item in after:
        place = next((index for index, other in enumerate(left) if same_value(item, other)), None)
        if place is None:
            return False
        del left[: place + 1]
    return True


def _locked_fields(old: Snapshot, new: Snapshot) -> str | None:
    """The system's fields on blocks: a block keeps all of them, even under a new name or in another tier."""
    known: dict[str | None, list[Members]] = defaultdict(list)
    for block in old.blocks:
        known[block.id].append(_locked_part(block))
    strangers = [block for block in new.blocks if not _take(known[block.id], _locked_part(block))]
    vanished = [part for parts in known.values() for part in parts]
    for block in strangers:
        part = _locked_part(block)
        if known[block.id] or (part and not _take(vanished, part)):
            fields = ", ".join(part or LOCKED_BLOCK_FIELDS)
            return f"{block.name}: {fields} on a block is the system's to write, to change and to remove."
    return None


def _take(parts: list[Members], wanted: Members) -> bool:
    for index, part in enumerate(parts):
        if same_value(part, wanted):
            del parts[index]
            return True
    return False


def _locked_part(block: MemoryBlock) -> Members:
    return {key: block.members[key] for key in LOCKED_BLOCK_FIELDS if key in block.members}
