"""What an edit did to the records of a file: one entry for each field that differs, or why it went too far.

Compares meaning, not bytes. Records keep their places; new ones may only follow at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxview.files.json_values import same_value
from ctxview.formats.envelope.limits import refusal
from ctxview.formats.envelope.model import Dossier, Record, text
from ctxview.formats.envelope.read import RecordFile
from ctxview.formats.envelope.rights import metadata_tampering, why_locked
from ctxview.formats.envelope.vocabulary import OWN_ID, Kind
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass

COUNTED = ("token_estimate", "byte_size")
"""Figures that are counted anew when the content changes."""
BY_HAND = "human_curated_summary"
OMITTED, SELECTED = "omitted_item_refs", "selected_item_refs"
BLOCK_FIELDS = ("position", "wrapper", "visibility", "redaction_state")


class TooFar(Exception):
    """A difference that no edit may make; the message is for the person who tried."""


@dataclass(frozen=True, slots=True)
class Changed:
    """One field of one record, before and after. `before` is None for a record that is new."""

    before: Record | None
    after: Record
    name: str

    @property
    def old(self) -> JsonValue:
        return self.before.value.get(self.name) if self.before is not None else None

    @property
    def new(self) -> JsonValue:
        return self.after.value.get(self.name)


def changes(before: RecordFile, after: RecordFile) -> tuple[Changed, ...]:
    """Every field that differs, and every record that is new; raises `TooFar` when places moved."""
    if before.layout is not after.layout and before.records:
        raise TooFar("The file would be laid out differently.")
    if len(before.problems) != len(after.problems) or len(before.strays) != len(after.strays):
        raise TooFar("What is no record would be changed, and nobody knows what it means.")
    if any(not same_value(a.value, b.value) for a, b in zip(before.strays, after.strays, strict=True)):
        raise TooFar("What is no record would be changed, and nobody knows what it means.")
    old = {record.pointer: record for record in before.records}
    new = {record.pointer: record for record in after.records}
    if gone := [record for pointer, record in old.items() if pointer not in new]:
        raise TooFar(f"{_called(gone[0])} would be gone; records are kept.")
    found: list[Changed] = []
    for pointer, record in new.items():
        was = old.get(pointer)
        if was is None:
            found.append(Changed(None, record, OWN_ID[record.kind]))
        else:
            found += _fields(was, record)
    return tuple(found)


def judge(found: tuple[Changed, ...], dossier: Dossier, editor: str) -> str | None:
    """Why these changes may not be made by that editor; None when they may."""
    return next((why for each in found if (why := _refused(each, found, dossier, editor))), None)


def moved_items(change: Changed) -> tuple[frozenset[str], frozenset[str]]:
    """The items that a selection newly chose and newly left out."""
    assert change.before is not None, "a new selection moves nothing"
    old, new = _named(change.before, SELECTED), _named(change.after, SELECTED)
    return new - old, old - new


def _refused(change: Changed, all_: tuple[Changed, ...], dossier: Dossier, editor: str) -> str | None:
    record, was, name = change.after, change.before, change.name
    if was is None:
        return _new_record(record)
    if was.kind is not record.kind or was.id != record.id:
        return f"{_called(was)} keeps its kind and its id."
    if name == "metadata":
        return metadata_tampering(change.old, change.new)
    if _follows(change, all_):
        return None
    if why := why_locked(was, name, dossier):
        return f"{name} of {_called(was)} is locked. {why}"
    if was.kind is Kind.SELECTION and name in (SELECTED, OMITTED):
        return _selection(was, record)
    if name == "ordered_blocks":
        return _blocks(was, record, editor)
    return refusal(was, name, change.new, editor)


def _follows(change: Changed, all_: tuple[Changed, ...]) -> bool:
    """Whether a derived or locked field changed only because what it depends on did."""
    record = change.after
    if record.kind is Kind.ITEM and change.name in COUNTED:
        return any(each.after is record and each.name == "content" for each in all_)
    summaries = [each.after.id for each in all_ if each.after.kind is Kind.SUMMARY and each.name == "content"]
    if record.kind is Kind.COMPACTION and change.name == "method" and change.new == BY_HAND:
        return any(each.id in summaries for each in record.refs("summary_ref"))
    return False


def _new_record(record: Record) -> str | None:
    if record.inside is not None:
        return "A new record stands on its own, not inside another."
    if record.kind is Kind.EVENT:
        return None
    if record.kind is Kind.ITEM and record.text("context_kind") == "manual_note":
        return None
    return "Only notes (items of the kind manual_note) may be added by hand."


def _selection(was: Record, now: Record) -> str | None:
    """Items move between the two lists, and reasons may be put right; nothing appears or disappears."""
    before = sorted([*_named(was, SELECTED), *_named(was, OMITTED)])
    after = sorted(
        [*(each.id or "" for each in now.refs(SELECTED)), *(each.id or "" for each in now.refs(OMITTED))]
    )
    if before == after:
        return None
    return "Items only move between selected and omitted: each stays in one of the two lists, once."


def _placed(selection: Record) -> list[str]:
    return sorted(each.id or "" for name in (SELECTED, OMITTED) for each in selection.refs(name))


def _blocks(was: Record, now: Record, editor: str) -> str | None:
    old = {text(block.get("block_id")): block for _, block in was.objects("ordered_blocks")}
    new = {text(block.get("block_id")): block for _, block in now.objects("ordered_blocks")}
    if old.keys() != new.keys() or len(was.objects("ordered_blocks")) != len(now.objects("ordered_blocks")):
        return "Blocks may be put in another order; none is added or taken away."
    for name, block in new.items():
        why = _block(old[name], block, was, editor)
        if why:
            return f"Block {name}: {why}"
    return None


def _block(
    old: Mapping[str, JsonValue], new: Mapping[str, JsonValue], assembly: Record, editor: str
) -> str | None:
    for name in {**old, **new}:
        if same_value(old.get(name), new.get(name)):
            continue
        if name not in BLOCK_FIELDS:
            return f"{name} is locked. It was recorded when the block was put together."
        if name in ("visibility", "redaction_state"):
            stands_for = Record(assembly.kind, old, assembly.file, assembly.document, assembly.inner)
            if why := refusal(stands_for, name, new.get(name), editor):
                return why
    return None


def _fields(was: Record, now: Record) -> Iterator[Changed]:
    """The fields that differ, apart from records inside them, which are compared by themselves."""
    old, new = _without_inner_records(was), _without_inner_records(now)
    for name in {**old, **new}:
        if (name in old) != (name in new) or not same_value(old.get(name), new.get(name)):
            yield Changed(was, now, name)


def _without_inner_records(record: Record) -> dict[str, JsonValue]:
    from ctxview.formats.envelope.read import embedded

    whole = dict(record.value)
    for reference in record.references:
        if (found := embedded(reference)) is not None:
            whole = _with(whole, found[2], f"a record of its own: {found[0]}")
    return whole


def _with(value: dict[str, JsonValue], path: tuple[str | int, ...], new: JsonValue) -> dict[str, JsonValue]:
    """`value` with `new` at the end of `path`; only what lies on the way is copied."""
    from ctxview.files.json_values import with_value

    changed = with_value(value, [str(part) for part in path], new)
    assert isinstance(changed, dict), "a member was replaced, not the whole"
    return changed


def _named(selection: Record, name: str) -> frozenset[str]:
    return frozenset(each.id or "" for each in selection.refs(name))


def _called(record: Record) -> str:
    return f"{record.kind.value.removeprefix('context_').replace('_', ' ')} {record.id or record.pointer}"
