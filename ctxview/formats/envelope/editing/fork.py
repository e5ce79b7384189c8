"""A fork: while a draft changes one revision, another program published the next one.

The draft can be carried over to the newer revision, field by field, as long as both did not change the same
field. Nothing is written to disk here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ctxview.core.edits import DeleteValue, Edit, EditRefused, InsertItem, MoveItem, SetValue
from ctxview.files.strict_json.values import same_value
from ctxview.formats.envelope.bundle import Bundle, lineage
from ctxview.formats.envelope.editing.field_changes import (
    OMITTED,
    SELECTED,
    FieldChange,
    follows,
    moved_items,
)
from ctxview.formats.envelope.editing.policy import RecordsPolicy
from ctxview.formats.envelope.editing.publication import EditedFile, all_changes, is_move, own_records
from ctxview.formats.envelope.model import EnvelopeRecords, Record
from ctxview.formats.interface import Fork


def newer_revision(bundle: Bundle, envelope: Record) -> Record | None:
    """The last envelope that is a revision of `envelope`, directly or through others; None without one."""
    if envelope.id is None:
        return None
    for other in reversed(bundle.envelopes):
        if other.id != envelope.id and any(each.id == envelope.id for each in lineage(bundle, other)):
            return other
    return None


def find_fork(
    bundle: Bundle, records: EnvelopeRecords, files: Sequence[EditedFile], editor: str
) -> Fork | None:
    """The fork that saving the edited `files` would make; None when no newer revision is known."""
    newer = newer_revision(bundle, records.envelope) if records.envelope is not None else None
    if newer is None:
        return None
    theirs = next(each for each in bundle.groups if each.envelope is newer)
    before = [*own_records(records, [EditedFile(each.before, each.before) for each in files])]
    edits: dict[str, list[Edit]] = {}
    refused = None
    try:
        for file, edit in _carried_over(all_changes(files), theirs):
            edits.setdefault(file, []).append(edit)
        for file, steps in edits.items():
            data = next(each.data for each in bundle.files if each.file == file)
            for edit in steps:
                data = RecordsPolicy(file, theirs, editor).apply(data, edit)
    except EditRefused as refusal:
        refused = str(refusal)
    return Fork(
        Path(newer.file),
        _as_text(before),
        _as_text(own_records(records, files)),
        _as_text(_in_order_of(before, records.envelope, theirs)),
        {file: tuple(steps) for file, steps in edits.items()},
        refused,
    )


def _carried_over(found: Sequence[FieldChange], theirs: EnvelopeRecords) -> Iterator[tuple[str, Edit]]:
    """Yield the edits, each with its file, that make the same changes in `theirs`; raises `EditRefused`."""
    assert theirs.envelope is not None, "a newer revision is an envelope"
    moved: set[str | None] = set()
    for change in found:
        record, name = change.after, change.name
        target = (
            theirs.envelope
            if change.before is not None and change.before.kind is theirs.envelope.kind
            else theirs.named(record.kind, record.id)
        )
        if follows(change, found):
            continue
        if change.before is None:
            if target is not None:
                raise EditRefused(f"Both added {record.id}.")
            yield theirs.envelope.file, InsertItem("/-", dict(record.value))
        elif target is None:
            raise EditRefused(f"{record.id or record.pointer} is not in the newer revision.")
        elif (name in target.value) != (name in change.before.value) or not same_value(
            target.value.get(name), change.old
        ):
            raise EditRefused(f"Both changed {name} of {record.id or record.pointer}.")
        elif name not in record.value:
            yield target.file, DeleteValue(target.at(name))
        else:
            if is_move(change) and record.id not in moved:
                moved.add(record.id)
                yield from _moves(change, target)
            yield target.file, SetValue(target.at(name), change.new)


def _moves(change: FieldChange, selection: Record) -> Iterator[tuple[str, Edit]]:
    """Yield the moves of items, the last entry of each list first, so that the other indexes stay valid."""
    chosen, left = moved_items(change)
    for name, other, items in ((OMITTED, SELECTED, chosen), (SELECTED, OMITTED, left)):
        for entry in reversed(selection.refs(name)):
            if entry.id in items:
                yield selection.file, MoveItem(selection.at(*entry.path), selection.at(other, "-"))


def _in_order_of(
    before: Sequence[Record], envelope: Record | None, theirs: EnvelopeRecords
) -> Iterator[Record]:
    """The records of `theirs` in the order of `before`, then the new ones, so that few lines differ."""
    found: dict[int, Record] = {}
    for record in before:
        same = theirs.envelope if record is envelope else theirs.named(record.kind, record.id)
        if same is not None:
            found.setdefault(id(same), same)
    found |= {id(each): each for each in theirs.records if id(each) not in found}
    yield from found.values()


def _as_text(records: Iterable[Record]) -> bytes:
    literals = (each.document.literal(each.inner) for each in records if each.inside is None)
    return b"[\n" + b",\n".join(literals) + b"\n]\n"
