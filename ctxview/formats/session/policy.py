"""The write policies of a session: summary, facts, decisions, todo, references, pinned files and budget.

Texts are replaced whole, records line by line so that the bytes of all other lines stay. Nothing is written
to disk here, and the histories have no policy.
"""

from __future__ import annotations

from msgspec import Struct

from ctxview.core.edits import DeleteValue, Edit, EditRefused, InsertItem, MoveItem, SetValue, WritePolicy
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
from ctxview.files.strict_json.tree import split
from ctxview.formats.kit.json_records import line_spans
from ctxview.formats.kit.text_file import NO_TEXT, EditMode, TextPolicy, checked_edit, is_text
from ctxview.formats.session.forms import file_ownership

LARGEST_BUDGET = 2**64 - 1


def policy_for(name: str) -> WritePolicy | None:
    """Return the policy for a file by its relative name, or None when the file is read-only."""
    match file_ownership(name).editing:
        case EditMode.TEXT:
            return TextPolicy()
        case EditMode.NUMBER:
            return BudgetFilePolicy()
        case EditMode.RECORDS:
            return RecordPolicy()
    return None


class BudgetFilePolicy(Struct, frozen=True):
    """A file with one unsigned number on a line, or an empty file; its pointer is empty."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        if not isinstance(edit, SetValue) or edit.pointer != "":
            raise EditRefused("The budget is one number.")
        value = edit.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None:
            new = b""
        elif isinstance(value, int) and not isinstance(value, bool):
            new = f"{value}\n".encode()
        else:
            raise EditRefused("The budget is a whole number of tokens; 0 means no limit.")
        return checked_edit(self, data, lambda: new)

    def tampering(self, _before: bytes, after: bytes) -> str | None:
        lines = [line for line in after.split(b"\n") if line.strip()]
        if not lines:
            return None
        digits = lines[0]
        sound = len(lines) == 1 and digits.isdigit() and len(digits) <= 20 and int(digits) <= LARGEST_BUDGET
        return None if sound else "The budget is a whole number of tokens; 0 means no limit."


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
                raise EditRefused(
                    "A record cannot be moved: facts, decisions and references are different kinds."
                )
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
