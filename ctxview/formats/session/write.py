"""What a person may write into a session: summary, facts, decisions, todo, references, pinned files, budget.

Texts are replaced whole, records line by line so that the bytes of all other lines stay. Nothing is written
to disk here, and for the histories there is no policy at all.
"""

from __future__ import annotations

from ctxview.edits import DeleteValue, Edit, InsertItem, MoveItem, Refused, SetValue, WritePolicy
from ctxview.files.json_document import JsonDocument, JsonError, parse
from ctxview.files.json_tree import split
from ctxview.files.line_splice import append_line, is_object_text, on_one_line, spelled_like
from ctxview.files.splice import delete_value, insert_item, set_value
from ctxview.formats.session.ownership import Editing, ownership
from ctxview.formats.session.records import line_spans
from ctxview.formats.writing import NO_TEXT, TextPolicy, is_text, proved
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue

LARGEST_BUDGET = 2**64 - 1


def policy_for(name: str) -> WritePolicy | None:
    """The policy for a file by its relative name; None when nobody may write it."""
    match ownership(name).editing:
        case Editing.TEXT:
            return TextPolicy()
        case Editing.NUMBER:
            return BudgetPolicy()
        case Editing.RECORDS:
            return RecordPolicy()
    return None


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """One unsigned number on a line, or nothing at all; its pointer is empty."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        if not isinstance(edit, SetValue) or edit.pointer != "":
            raise Refused("The budget is one number.")
        value = edit.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None:
            new = b""
        elif isinstance(value, int) and not isinstance(value, bool):
            new = f"{value}\n".encode()
        else:
            raise Refused("The budget is a whole number of tokens; 0 means no limit.")
        return proved(self, data, lambda: new)

    def tampering(self, _before: bytes, after: bytes) -> str | None:
        lines = [line for line in after.split(b"\n") if line.strip()]
        if not lines:
            return None
        digits = lines[0]
        sound = len(lines) == 1 and digits.isdigit() and len(digits) <= 20 and int(digits) <= LARGEST_BUDGET
        return None if sound else "The budget is a whole number of tokens; 0 means no limit."


@dataclass(frozen=True, slots=True)
class RecordPolicy:
    """A file of JSON lines. A pointer begins with the line's index: `/3/text`; `/-` is a new last line."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        return proved(self, data, lambda: self._changed(data, edit))

    def tampering(self, _before: bytes, after: bytes) -> str | None:
        return None if is_text(after) else NO_TEXT

    def _changed(self, data: bytes, edit: Edit) -> bytes:
        tokens = split(edit.pointer)
        if not tokens:
            raise Refused(f"{edit.pointer!r} names no record; those are named by their line.")
        line, inner = tokens[0], edit.pointer[len(tokens[0]) + 1 :]
        match edit:
            case MoveItem():
                raise Refused(
                    "A record stays in its file: facts, decisions and references are different kinds."
                )
            case InsertItem(value=value):
                return self._inserted(data, line, inner, value)
            case DeleteValue() if not inner:
                start, end = _whole_line(data, line)
                return data[:start] + data[end:]
            case DeleteValue():
                return delete_value(_document(data, line), inner)
            case SetValue(value=value) if not inner:
                return self._replaced(data, line, value)
            case SetValue(value=value):
                return on_one_line(data, set_value(_document(data, line), inner, value))

    def _inserted(self, data: bytes, line: str, inner: str, value: JsonValue) -> bytes:
        if inner:
            return on_one_line(data, insert_item(_document(data, line), inner, value))
        new = _spelled(data, value)
        if line == "-":
            return append_line(data, new)
        start, _ = _whole_line(data, line)
        return data[:start] + new + b"\n" + data[start:]

    def _replaced(self, data: bytes, line: str, value: JsonValue) -> bytes:
        start, end = _span(data, line)
        return data[:start] + _spelled(data, value) + data[end:]


def _document(data: bytes, line: str) -> JsonDocument:
    start, end = _span(data, line)
    try:
        return parse(data, start, end)
    except JsonError as error:
        raise Refused(
            f"Line {int(line) + 1} is not JSON ({error.reason}); it can only be removed whole."
        ) from None


def _span(data: bytes, line: str) -> tuple[int, int]:
    """Where a line stands, without its ending."""
    for index, start, end in line_spans(data):
        if str(index) == line:
            return start, end
    raise Refused(f"There is no line {line} in this file.")


def _whole_line(data: bytes, line: str) -> tuple[int, int]:
    """Where a line stands, its ending included."""
    start, end = _span(data, line)
    newline = data.find(b"\n", end)
    return start, len(data) if newline < 0 else newline + 1


def _spelled(data: bytes, value: JsonValue) -> bytes:
    """A record on one line, spaced as the other records of the file are."""
    if not isinstance(value, dict):
        raise Refused("A record is an object.")
    lines = (data[start:end] for _, start, end in line_spans(data))
    neighbour = next((line for line in lines if is_object_text(line)), b'{"id":"x","text":"y"}')
    return spelled_like(neighbour, value)
