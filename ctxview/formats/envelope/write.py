"""Edits of records: made on the bytes of their file, and refused when they go further than their editor may.

Nothing is written to disk here. Whether a draft then replaces its file or becomes a new revision is decided
in `publishing`.
"""

from __future__ import annotations

from ctxview.edits import DeleteValue, Edit, InsertItem, MoveItem, Refused, SetValue
from ctxview.files.json_document import JsonDocument, join
from ctxview.files.json_tree import split
from ctxview.files.line_splice import append_line, on_one_line, spelled_like
from ctxview.files.splice import delete_value, insert_item, set_value
from ctxview.formats.envelope.changes import BY_HAND, OMITTED, SELECTED, Changed, TooFar, changes, judge
from ctxview.formats.envelope.model import Dossier, Record
from ctxview.formats.envelope.read import Layout, RecordFile, read_again
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.formats.writing import proved
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass

NOT_VALIDATED = "not validated since it was written by hand"
MOVED_BY_HAND = "custom"
"""The reason of an item that a person left out: the draft has no better word."""


@dataclass(frozen=True)
class RecordsPolicy:
    """One file of records in the hands of one editor; `dossier` is what was read, and decides."""

    file: str
    dossier: Dossier
    editor: str

    def apply(self, data: bytes, edit: Edit) -> bytes:
        before = read_again(self.file, data)

        def make() -> bytes:
            return self._followed(before, read_again(self.file, self._made(before, edit)))

        return proved(self, data, make)

    def tampering(self, before: bytes, after: bytes) -> str | None:
        try:
            found = changes(read_again(self.file, before), read_again(self.file, after))
        except TooFar as reason:
            return str(reason)
        return judge(found, self.dossier, self.editor)

    def _made(self, file: RecordFile, edit: Edit) -> bytes:
        match edit:
            case SetValue(pointer=pointer, value=value):
                document, inner = _place(file, pointer)
                return self._kept(file, set_value(document, inner, value))
            case DeleteValue(pointer=pointer):
                document, inner = _place(file, pointer)
                return self._kept(file, delete_value(document, inner))
            case InsertItem(pointer="/-", value=value):
                return _appended(file, value)
            case InsertItem(pointer=pointer, value=value):
                document, inner = _place(file, pointer)
                return self._kept(file, insert_item(document, inner, value))
            case MoveItem(pointer=pointer, to=to):
                return self._moved(file, pointer, to)

    def _kept(self, file: RecordFile, new: bytes) -> bytes:
        return on_one_line(file.data, new) if file.layout is Layout.LINES else new

    def _moved(self, file: RecordFile, pointer: str, to: str) -> bytes:
        """An item from one list of a selection to the other, in the words of that list."""
        record, path = record_at(file, pointer)
        name = to.rpartition("/")[0]
        if record is None or len(path) != 2 or name not in (record.at(SELECTED), record.at(OMITTED)):
            raise Refused("Only items of a selection move, between selected and omitted.")
        entry = next((each for each in record.refs(path[0]) if str(each.path[-1]) == path[1]), None)
        if entry is None or entry.id is None:
            raise Refused("There is no item at this place.")
        chosen = name == record.at(SELECTED)
        value: JsonValue = entry.id if chosen else {"item_ref": entry.id, "reason": MOVED_BY_HAND}
        document, inner = _place(file, pointer)
        shorter = read_again(self.file, self._kept(file, delete_value(document, inner)))
        if name.removeprefix(record.pointer + "/") not in record.value:
            document, inner = _place(shorter, name)
            return self._kept(file, set_value(document, inner, [value]))
        document, inner = _place(shorter, to)
        return self._kept(file, insert_item(document, inner, value))

    def _followed(self, before: RecordFile, after: RecordFile) -> bytes:
        """What depends on a text that changed: its figures, and whether a summary still counts as checked."""
        try:
            found = changes(before, after)
        except TooFar as reason:
            raise Refused(str(reason)) from None
        data = after.data
        for change in found:
            if change.before is not None and change.name == "content":
                for pointer, value in _consequences(change, after):
                    document, inner = _place(read_again(self.file, data), pointer)
                    data = self._kept(after, set_value(document, inner, value))
        return data


def record_at(file: RecordFile, pointer: str) -> tuple[Record | None, list[str]]:
    """The innermost record that holds a place, and the way from it to that place."""
    holding = [each for each in file.records if (pointer + "/").startswith(each.pointer + "/")]
    record = max(holding, key=lambda each: len(each.pointer), default=None)
    return record, (split(pointer[len(record.pointer) :]) or []) if record is not None else []


def _place(file: RecordFile, pointer: str) -> tuple[JsonDocument, str]:
    """The JSON text that holds a place, and the pointer within it; raises `Refused`."""
    if file.layout is not Layout.LINES and file.problems:
        raise Refused(f"The file is not sound JSON ({file.problems[0].reason}); mend that first.")
    record, _ = record_at(file, pointer)
    if record is None:
        raise Refused(f"There is no record at {pointer or 'the whole file'}.")
    return record.document, pointer[len(record.prefix) :]


def _appended(file: RecordFile, value: JsonValue) -> bytes:
    if file.layout is Layout.OBJECT or not file.records:
        raise Refused("This file holds one record; a new one needs a list or a file of JSON lines.")
    neighbour = next(each for each in reversed(file.records) if each.inside is None)
    if file.layout is Layout.LINES:
        document = neighbour.document
        line = spelled_like(document.data[document.start : document.end], value)
        return append_line(file.data, line)
    document, _ = _place(file, neighbour.pointer)
    return insert_item(document, "/-", value)


def _consequences(change: Changed, file: RecordFile) -> list[tuple[str, JsonValue]]:
    record, content = change.after, change.new
    found: list[tuple[str, JsonValue]] = []
    if record.kind is Kind.ITEM and isinstance(content, str):
        if "byte_size" in record.value:
            found.append((record.at("byte_size"), len(content.encode("utf-8", "surrogatepass"))))
        if "token_estimate" in record.value:
            found.append((record.at("token_estimate"), _tokens(content)))
    if record.kind is Kind.SUMMARY:
        found.append((record.at("validation"), NOT_VALIDATED))
        for other in file.records:
            named = [each.id for each in other.refs("summary_ref")] if other.kind is Kind.COMPACTION else []
            if record.id is not None and record.id in named:
                found.append((join(other.pointer, "method"), BY_HAND))
    return found


def _tokens(content: str) -> int:
    from ctxview.analysis.tokens import exact_counter

    return exact_counter().count(content)
