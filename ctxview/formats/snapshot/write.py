"""What a person may write into a snapshot file: blocks of the four tiers, the cursor, the task, capabilities.

Every edit is checked twice: by the path it names, and by comparing the whole file before and after. Nothing
is written to disk here.
"""

from __future__ import annotations

from ctxview.edits import DeleteValue, Edit, InsertItem, MoveItem, Refused, SetValue
from ctxview.files.json_document import JsonDocument
from ctxview.files.json_tree import split
from ctxview.files.splice import SpliceError, delete_value, insert_item, move_item, set_value
from ctxview.formats.snapshot.cursor import FIELDS as CURSOR_FIELDS
from ctxview.formats.snapshot.model import TIERS, Snapshot
from ctxview.formats.snapshot.ownership import WRITABLE_MEMBERS, why_locked, why_locked_in_block
from ctxview.formats.snapshot.read import read_again
from ctxview.formats.snapshot.state import may_be_written
from ctxview.formats.snapshot.tampering import tampering
from ctxview.formats.writing import proved
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SnapshotPolicy:
    """The `WritePolicy` of one file."""

    file: str

    def apply(self, data: bytes, edit: Edit) -> bytes:
        snapshot = _writable_snapshot(self.file, data)
        _demand_allowed(snapshot, edit)
        return proved(self, data, lambda: _spliced(snapshot, edit))

    def tampering(self, before: bytes, after: bytes) -> str | None:
        return tampering(self.file, before, after)


def _writable_snapshot(file: str, data: bytes) -> Snapshot:
    found = read_again(file, data)
    if found.snapshot is None or not may_be_written(found):
        raise Refused("There is no snapshot in this file that may be changed.")
    return found.snapshot


# -- which paths -------------------------------------------------------------------------------------------


def _demand_allowed(snapshot: Snapshot, edit: Edit) -> None:
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


def _path(snapshot: Snapshot, pointer: str) -> list[str]:
    """The way from the snapshot to what an edit names; refuses what lies outside of it."""
    tokens, base = split(pointer), split(snapshot.pointer) or []
    if tokens is None:
        raise Refused(f"{pointer!r} is no JSON pointer.")
    if tokens[: len(base)] != base or len(tokens) == len(base):
        raise Refused("Only the snapshot inside this file may be changed, not what stands around it.")
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
                raise Refused("A memory block is an object.")
            locked = next((reason for key in value if (reason := why_locked_in_block(key))), None)
            if locked is not None:
                raise Refused(locked)
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
            raise Refused(f"Nothing reads a tier called {tier}; there are {', '.join(TIERS)}.")
        case _:
            raise Refused("Only whole memory blocks are moved, and only from one tier to another.")


def _demand_inside(path: list[str]) -> None:
    """Anything deeper: inside a writable member, or inside a field of a block that is the model's."""
    match path:
        case [member, _, *_] if member in WRITABLE_MEMBERS:
            return
        case ["memory", tier, _, field, *_] if tier in TIERS:
            if reason := why_locked_in_block(field):
                raise Refused(reason)
        case ["memory", tier, *_] if tier not in TIERS:
            raise Refused(f"Nothing reads a tier called {tier}; its blocks can only be moved or removed.")
        case _:
            raise Refused(why_locked(*path))


# -- the splice --------------------------------------------------------------------------------------------


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
    """A new element; a tier the file leaves out is written together with its first block."""
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
    again = read_again(snapshot.file, with_tier).snapshot
    if again is None:
        raise SpliceError("the tier could not be added")
    return move_item(again.document, pointer, to)
