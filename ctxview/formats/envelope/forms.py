"""The typed form of a record: for each field who owns it, how it is edited, or why it is locked.

Says what an editor may offer; `write` decides what is really written, `masking` what is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxview.analysis.rfc3339 import in_time
from ctxview.edits import MoveItem
from ctxview.formats.envelope.changes import OMITTED, SELECTED
from ctxview.formats.envelope.fields import FIELDS, FieldSpec, Type
from ctxview.formats.envelope.limits import next_states
from ctxview.formats.envelope.model import Dossier, Record, count, text
from ctxview.formats.envelope.ownership import REVIEWER, Right, ownership
from ctxview.formats.envelope.rights import why_locked
from ctxview.formats.envelope.vocabulary import KNOWN, OWN_ID, Kind, Words
from ctxview.later import Later
from ctxview.state import (
    ChoiceShape,
    Field,
    Form,
    JsonShape,
    JsonValue,
    Move,
    NumberShape,
    Shape,
    TagsShape,
    TextShape,
)

LONG = frozenset(("content", "question", "rationale", "needed_for", "redaction_reason"))
MOST_TARGETS = 24
ONLY_REVIEWERS = frozenset(("policy_refs", "evidence_refs"))


def record_form(record: Record, dossier: Dossier, editor: str) -> Form:
    """The fields of its kind that are there or may be written, then whatever else the record has."""
    # There may be ten thousand records, and a person looks at a few.
    return Form(record.file, record.pointer, Later(lambda: [*_fields(record, dossier, editor)]))


def moves_by_item(dossier: Dossier) -> Mapping[str, tuple[Move, ...]]:
    """What the latest selection to name it chose or left out may be moved to the other side."""
    found: dict[str, tuple[Move, ...]] = {}
    for selection in sorted(dossier.of(Kind.SELECTION), key=lambda each: in_time(each.text("created_at"))):
        # The first entry that names an item has the last word, and the chosen ones have it before the others.
        for name, other, tier in ((OMITTED, SELECTED, "selected"), (SELECTED, OMITTED, "omitted")):
            for entry in reversed(selection.refs(name)):
                step = MoveItem(selection.at(*entry.path), selection.at(other, "-"))
                found[entry.id or ""] = (Move(tier, selection.file, step),)
    return found


def _fields(record: Record, dossier: Dossier, editor: str) -> Iterator[Field]:
    specs = FIELDS[record.kind]
    for name in (*specs, *(name for name in record.value if name not in specs)):
        present = name in record.value
        locked = why_locked(record, name, dossier) or _not_for(editor, name)
        if present or (locked is None and specs[name].type is not Type.REFS):
            yield _field(record, name, present, locked)


def _field(record: Record, name: str, present: bool, locked: str | None) -> Field:
    owned = ownership(record.kind, name)
    spec = FIELDS[record.kind].get(name)
    value = record.value.get(name)
    shape = _shape(record, name, spec, value, present) if locked is None and spec is not None else None
    why = locked if locked is not None else _limit(owned.right, owned.why)
    return Field(name, value, owned.owner, record.at(name), shape, why, present)


def _limit(right: Right, why: str) -> str:
    return why if right in (Right.GUARDED, Right.APPEND_ONLY) else ""


def _not_for(editor: str, name: str) -> str | None:
    return "Only a reviewer may change this." if name in ONLY_REVIEWERS and editor != REVIEWER else None


def _shape(record: Record, name: str, spec: FieldSpec, value: JsonValue, present: bool) -> Shape:
    """How to edit it; a value of another type than the field's own is edited as JSON."""
    if record.kind is Kind.MISSING and name == "status":
        return ChoiceShape(next_states(text(value)))
    match spec.type:
        case Type.TEXT | Type.TIME if not present or isinstance(value, str):
            return _text_shape(name, spec, text(value))
        case Type.ANY | Type.TEXT_OR_OBJECT if isinstance(value, str) or (not present and name == "content"):
            return TextShape(multiline=name in LONG, required=False)
        case Type.COUNT if not present or count(value) is not None:
            return NumberShape(0, None, integer=True)
        case Type.NUMBER if not present or (isinstance(value, int | float) and not isinstance(value, bool)):
            return NumberShape(-1e9, 1e9)
        case Type.TEXTS if spec.words is Words.TARGET and (not present or _all_texts(value)):
            return TagsShape(MOST_TARGETS, 40)
    return JsonShape()


def _text_shape(name: str, spec: FieldSpec, value: str | None) -> Shape:
    words = KNOWN[spec.words] if spec.words is not None else ()
    if words and (value is None or value in words):
        return ChoiceShape(words)
    return TextShape(multiline=name in LONG, required=False)


def _all_texts(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def new_note_form(dossier: Dossier) -> Form | None:
    """A note to be added to the envelope's file; None where there is no list that could take it."""
    file = _home(dossier)
    if file is None:
        return None
    taken = {each.id for each in dossier.of(Kind.ITEM)}
    number = next(at for at in range(1, len(taken) + 2) if f"note-{at}" not in taken)
    values: dict[str, tuple[JsonValue, Shape | None]] = {
        "schema_version": (_version(dossier), None),
        OWN_ID[Kind.ITEM]: (f"note-{number}", TextShape()),
        "context_kind": ("manual_note", None),
        "content_mode": ("inline", None),
        "title": ("", TextShape(required=False)),
        "content": ("", TextShape(multiline=True)),
        "visibility": (["model"], TagsShape(MOST_TARGETS, 40)),
    }
    fields = (
        Field(name, value, ownership(Kind.ITEM, name).owner, f"/-/{name}", shape, "" if shape else _GIVEN)
        for name, (value, shape) in values.items()
    )
    return Form(file, "/-", tuple(fields), exists=False)


def _home(dossier: Dossier) -> str | None:
    """The file of a record that stands in a list or on a line of its own."""
    first = dossier.envelope or next(iter(dossier.records), None)
    return first.file if first is not None and first.pointer else None


def _version(dossier: Dossier) -> str:
    envelope = dossier.envelope
    return (envelope.text("schema_version") if envelope is not None else None) or "0.1.1"


_GIVEN = "This makes it a note of this version."
