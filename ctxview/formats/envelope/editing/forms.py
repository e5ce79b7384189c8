"""The form of a record: for each field its owner, how it is edited, or why it is locked.

The form says what an editor may offer; `policy` decides what is written, `withheld` what is not shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ctxview.analysis.rfc3339 import time_sort_key
from ctxview.core.edits import MoveItem
from ctxview.core.fields import (
    ChoiceShape,
    Field,
    FieldShape,
    Form,
    JsonShape,
    Move,
    NumberShape,
    Owner,
    TagsShape,
    TextShape,
)
from ctxview.core.lazy import LazySequence
from ctxview.core.origin import JsonValue
from ctxview.formats.envelope.editing.change_checks import next_states, why_reviewer_only
from ctxview.formats.envelope.editing.field_changes import OMITTED, SELECTED
from ctxview.formats.envelope.editing.fresh_ids import FreshIds
from ctxview.formats.envelope.editing.write_rights import WRITABLE, WriteRight, field_ownership, why_locked
from ctxview.formats.envelope.field_specs import FIELDS, FieldSpec, FieldType
from ctxview.formats.envelope.model import EnvelopeRecords, Record, count, text, texts
from ctxview.formats.envelope.vocabulary import KNOWN, OWN_ID, RecordKind, WordList

LONG = frozenset(("content", "question", "rationale", "needed_for", "redaction_reason"))
MOST_TEXTS = 24
"""A longer list is edited as JSON."""


def envelope_record_form(record: Record, records: EnvelopeRecords, editor: str) -> Form:
    """The form with the fields of its kind that are present or may be written, then the other fields."""
    # There may be ten thousand records, and only a few forms are opened.
    return Form(record.file, record.pointer, LazySequence(lambda: [*_fields(record, records, editor)]))


def moves_by_item(records: EnvelopeRecords) -> Mapping[str, tuple[Move, ...]]:
    """The move of each item to the other list of the latest selection that names it."""
    found: dict[str, tuple[Move, ...]] = {}
    for selection in sorted(
        records.of(RecordKind.SELECTION), key=lambda each: time_sort_key(each.text("created_at"))
    ):
        # The first entry that names an item wins, and selected entries win over omitted ones.
        for name, other, tier in ((OMITTED, SELECTED, "selected"), (SELECTED, OMITTED, "omitted")):
            for entry in reversed(selection.refs(name)):
                step = MoveItem(selection.at(*entry.path), selection.at(other, "-"))
                found[entry.id or ""] = (Move(tier, selection.file, step),)
    return found


def _fields(record: Record, records: EnvelopeRecords, editor: str) -> Iterator[Field]:
    specs = FIELDS[record.kind]
    for name in (*specs, *(name for name in record.value if name not in specs)):
        present = name in record.value
        locked = why_locked(record, name, records) or why_reviewer_only(name, editor)
        if present or locked is None:
            yield _field(record, name, present, locked)


def _field(record: Record, name: str, present: bool, locked: str | None) -> Field:
    owned = field_ownership(record.kind, name)
    spec = FIELDS[record.kind].get(name)
    value = record.value.get(name)
    shape = _shape(record, name, spec, value, present) if locked is None and spec is not None else None
    is_limited = owned.right in (WriteRight.GUARDED, WriteRight.APPEND_ONLY)
    why = locked if locked is not None else owned.why if is_limited else ""
    # A field that is locked now is not marked as writable.
    is_locked = locked is not None and owned.right in WRITABLE
    owner = Owner.SYSTEM if is_locked else owned.owner
    return Field(name, value, owner, record.at(name), shape, why, present)


def _shape(record: Record, name: str, spec: FieldSpec, value: JsonValue, present: bool) -> FieldShape:
    """How to edit a field; a value of another type than the field's own is edited as JSON."""
    if record.kind is RecordKind.MISSING and name == "status":
        return ChoiceShape(next_states(text(value)))
    match spec.type:
        case FieldType.TEXT | FieldType.TIME if not present or isinstance(value, str):
            words = KNOWN[spec.words] if spec.words is not None else ()
            if words and (value is None or value in words):
                return ChoiceShape(words)
            return TextShape(multiline=name in LONG, required=False)
        case FieldType.ANY | FieldType.TEXT_OR_OBJECT if isinstance(value, str) or (
            not present and name == "content"
        ):
            return TextShape(multiline=name in LONG, required=False)
        case FieldType.COUNT if not present or count(value) is not None:
            return NumberShape(0, None, integer=True)
        case FieldType.NUMBER if not present or (
            isinstance(value, int | float) and not isinstance(value, bool)
        ):
            return NumberShape(-1e9, 1e9)
        case FieldType.TEXTS if spec.words is WordList.TARGET and (not present or _are_texts(value)):
            return TagsShape(MOST_TEXTS, 40)
        case FieldType.REFS if not present or _are_texts(value):
            return TagsShape(MOST_TEXTS, 400)
    return JsonShape()


def _are_texts(value: JsonValue) -> bool:
    """Whether a list holds only texts, and few enough for one line."""
    return isinstance(value, list) and len(value) <= MOST_TEXTS and len(texts(value)) == len(value)


def new_note_form(records: EnvelopeRecords, taken: Collection[str]) -> Form | None:
    """The form of a new note in the envelope's file; None when the file cannot take another record.

    `taken` are the ids of all records of the source.
    """
    first = records.envelope or next(iter(records.records), None)
    # A record without a pointer is a whole file, not an element of a list or a line.
    if first is None or not first.pointer:
        return None
    version = records.envelope.text("schema_version") if records.envelope is not None else None
    values: dict[str, tuple[JsonValue, FieldShape | None]] = {
        "schema_version": (version or "0.1.1", None),
        OWN_ID[RecordKind.ITEM]: (FreshIds(taken).numbered("note"), TextShape()),
        "context_kind": ("manual_note", None),
        "content_mode": ("inline", None),
        "title": ("", TextShape(required=False)),
        "content": ("", TextShape(multiline=True)),
        "visibility": (["model"], TagsShape(MOST_TEXTS, 40)),
    }
    fields = (
        Field(
            name,
            value,
            field_ownership(RecordKind.ITEM, name).owner,
            f"/-/{name}",
            shape,
            "" if shape else "Every new note has this value.",
        )
        for name, (value, shape) in values.items()
    )
    return Form(first.file, "/-", tuple(fields), exists=False)
