"""Files of JSON lines that a person edits record by record: their forms and their write policy.

The bytes of all other lines stay as they are. Nothing is written to disk here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from ctxview.core.edits import DeleteValue, Edit, EditRefused, InsertItem, MoveItem, SetValue, WritePolicy
from ctxview.core.fields import Field, FieldShape, Form, JsonShape, TextShape
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.files.strict_json.splice import (
    append_line,
    delete_value,
    insert_item,
    is_object_text,
    on_one_line,
    set_value,
    spelled_like,
)
from ctxview.files.strict_json.tree import join, split
from ctxview.formats.kit.json_records import JsonRecord, JsonRecordFile, line_spans
from ctxview.formats.kit.ownership import EditMode, FileOwnership
from ctxview.formats.kit.text_file import NO_TEXT, TextPolicy, checked_edit, is_text


def policy_for(owned: FileOwnership) -> WritePolicy | None:
    """Return the policy of a text file or a file of records, or None for any other."""
    if owned.editing is EditMode.TEXT:
        return TextPolicy()
    return RecordPolicy() if owned.editing is EditMode.RECORDS else None


def record_form(
    records: JsonRecordFile,
    record: JsonRecord,
    owned: FileOwnership,
    expected: Sequence[str],
    shapes: Mapping[str, FieldShape],
) -> Form:
    """Return the form of one record: the fields in `expected`, then its other members.

    `shapes` are the types of known fields; any other member is edited as JSON.
    """
    writable = owned.editing is EditMode.RECORDS
    fields = []
    for name in (*expected, *(name for name in record.members if name not in expected)):
        value, present = record.members.get(name), name in record.members
        shape = shapes.get(name, JsonShape()) if writable else None
        if not isinstance(value, str | None) and not isinstance(shape, JsonShape | None):
            shape = JsonShape()
        pointer = join(record.pointer, name)
        fields.append(Field(name, value, owned.owner, pointer, shape, owned.why, present))
    return Form(records.file, record.pointer, tuple(fields), removable=writable)


def new_record_form(
    records: JsonRecordFile,
    owned: FileOwnership,
    values: Mapping[str, JsonValue],
    shapes: Mapping[str, FieldShape],
) -> Form | None:
    """Return the form of a new last record with the first `values`, or None when the file is read-only."""
    if owned.editing is not EditMode.RECORDS or not records.part.readable:
        return None
    fields = (
        Field(name, value, owned.owner, f"/-/{name}", shapes.get(name, TextShape()), present=False)
        for name, value in values.items()
    )
    return Form(records.file, "/-", tuple(fields), exists=False)


def unused_record_id(records: JsonRecordFile, prefix: str) -> str:
    """Return the next free id in the file, such as `f12`."""
    pattern = re.compile(rf"{re.escape(prefix)}-?(\d{{1,9}})")
    taken = [record.text("id") or "" for record in records.records]
    numbers = [int(found[1]) for name in taken if (found := pattern.fullmatch(name))]
    return f"{prefix}{max(numbers, default=0) + 1}"


class RecordPolicy(Struct, frozen=True):
    """A file of JSON lines. A pointer begins with the line's index: `/3/text`; `/-` is a new last line."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        return checked_edit(self, data, lambda: self._changed(data, edit))

    def tampering(self, _before: bytes, after: bytes) -> str | None:
        return None if is_text(after) else NO_TEXT

    def _changed(self, data: bytes, edit: Edit) -> bytes:
        tokens = split(edit.pointer)
        if not tokens:
            raise EditRefused(
                f"{edit.pointer!r} does not name a record; a pointer begins with the index of its line."
            )
        line, inner = tokens[0], edit.pointer[len(tokens[0]) + 1 :]
        match edit:
            case MoveItem():
                raise EditRefused("A record cannot be moved: the order of the lines is their history.")
            case InsertItem(value=value) if inner:
                return on_one_line(data, insert_item(_document(data, line), inner, value))
            case InsertItem(value=value) if line == "-":
                return append_line(data, _spelled(data, value))
            case InsertItem(value=value):
                new, (start, _) = _spelled(data, value), _whole_line(data, line)
                return data[:start] + new + b"\n" + data[start:]
            case DeleteValue() if not inner:
                start, end = _whole_line(data, line)
                return data[:start] + data[end:]
            case DeleteValue():
                return delete_value(_document(data, line), inner)
            case SetValue(value=value) if not inner:
                start, end = _span(data, line)
                return data[:start] + _spelled(data, value) + data[end:]
            case SetValue(value=value):
                return on_one_line(data, set_value(_document(data, line), inner, value))


def _document(data: bytes, line: str) -> JsonDocument:
    start, end = _span(data, line)
    try:
        return parse(data, start, end)
    except JsonError as error:
        raise EditRefused(
            f"Line {int(line) + 1} is not JSON ({error.reason}); it can only be replaced or removed whole."
        ) from None


def _span(data: bytes, line: str) -> tuple[int, int]:
    """Return where a line starts and ends, without its line ending."""
    for index, start, end in line_spans(data):
        if str(index) == line:
            return start, end
    raise EditRefused(f"There is no line {line} in this file.")


def _whole_line(data: bytes, line: str) -> tuple[int, int]:
    """Return where a line starts and ends, with its line ending."""
    start, end = _span(data, line)
    newline = data.find(b"\n", end)
    return start, len(data) if newline < 0 else newline + 1


def _spelled(data: bytes, value: JsonValue) -> bytes:
    """Write a record on one line, spaced like the other records of the file."""
    if not isinstance(value, dict):
        raise EditRefused("A record must be a JSON object.")
    lines = (data[start:end] for _, start, end in line_spans(data))
    neighbour = next((line for line in lines if is_object_text(line)), b'{"id":"x","text":"y"}')
    return spelled_like(neighbour, value)
