"""The write policy of record files: applies edits to the bytes of a file, or refuses them.

Nothing is written to disk here. A draft that cannot replace its file becomes a new revision in `publication`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from ctxview.analysis.text_copies import ANYWHERE, CopyFinder
from ctxview.core.edits import DeleteValue, Edit, EditRefused, InsertItem, MoveItem, SetValue, Spans
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonDocument
from ctxview.files.strict_json.splice import (
    append_line,
    delete_value,
    insert_item,
    on_one_line,
    set_value,
    spelled_like,
)
from ctxview.files.strict_json.tree import join, split
from ctxview.files.strict_json.values import path_keys, walk
from ctxview.formats.envelope.editing.change_checks import first_refusal
from ctxview.formats.envelope.editing.field_changes import (
    BLOCKS,
    BY_HAND,
    DIGEST,
    FIELDS_REDACTED,
    OMITTED,
    REDACTING,
    SELECTED,
    ChangeRefused,
    FieldChange,
    block_marks,
    changes,
    newly_redacted,
    newly_redacted_fields,
    original_digest,
)
from ctxview.formats.envelope.field_specs import FIELDS
from ctxview.formats.envelope.model import EnvelopeRecords, Record
from ctxview.formats.envelope.parser import RecordFile, RecordLayout, read_again
from ctxview.formats.envelope.redacted_fields import DEEPEST, EMPTY, field_paths, value_at
from ctxview.formats.envelope.redactions import REPLACED, is_placeholder, is_redacted, withheld_values
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.withheld import WithheldContent, documents_of
from ctxview.formats.envelope.withheld_bytes import withheld_spans
from ctxview.formats.kit.text_file import checked_edit

PLACEHOLDERS = {
    "removed": "[removed]",
    "policy_blocked": "[blocked by policy]",
    "encrypted_ref": "[encrypted]",
    "masked": "[masked]",
    "summarized": "[summarized]",
}
"""What an edit leaves in the place of content that it redacts, by redaction state."""
NOT_VALIDATED = "not validated since it was written by hand"
MOVED_BY_HAND = "custom"
"""The omission reason of an item that a person left out: the draft has no better word."""


class RecordsPolicy(Struct, frozen=True):
    """The policy of one file for one editor; `records` are those on disk, and decide what is allowed."""

    file: str
    records: EnvelopeRecords
    editor: str

    def apply(self, data: bytes, edit: Edit) -> bytes:
        before = read_again(self.file, data)

        def make() -> bytes:
            return self._with_consequences(before, read_again(self.file, self._edited(before, edit)))

        return checked_edit(self, data, make)

    def tampering(self, before: bytes, after: bytes) -> str | None:
        try:
            found = changes(read_again(self.file, before), read_again(self.file, after))
        except ChangeRefused as reason:
            return str(reason)
        return first_refusal(found, self.records, self.editor)

    def withheld(self, before: bytes, after: bytes) -> tuple[Spans, Spans]:
        old, new = read_again(self.file, before), read_again(self.file, after)
        known = None
        # The later version says what is redacted, and the earlier one has the text that must not be shown.
        for file in (new, old):
            known = WithheldContent(documents_of([file]), known).redactions
        return (
            withheld_spans(WithheldContent(documents_of([old]), known), old),
            withheld_spans(WithheldContent(documents_of([new]), known), new),
        )

    def _edited(self, file: RecordFile, edit: Edit) -> bytes:
        match edit:
            case SetValue(pointer=pointer, value=value):
                document, inner = _place(file, pointer)
                return _in_layout(file, set_value(document, inner, value))
            case DeleteValue(pointer=pointer):
                document, inner = _place(file, pointer)
                return _in_layout(file, delete_value(document, inner))
            case InsertItem(pointer="/-", value=value):
                return append_record(file, value)
            case InsertItem(pointer=pointer, value=value):
                document, inner = _place(file, pointer)
                return _in_layout(file, insert_item(document, inner, value))
            case MoveItem(pointer=pointer, to=to):
                return self._moved(file, pointer, to)

    def _moved(self, file: RecordFile, pointer: str, to: str) -> bytes:
        """Move an item to the other list of its selection, written as an entry of that list."""
        record, path = record_at(file, pointer)
        name = to.rpartition("/")[0]
        if record is None or len(path) != 2 or name not in (record.at(SELECTED), record.at(OMITTED)):
            raise EditRefused("Only items of a selection can be moved, between selected and omitted.")
        entry = next((each for each in record.refs(path[0]) if str(each.path[-1]) == path[1]), None)
        if entry is None or entry.id is None:
            raise EditRefused("There is no item at this place.")
        chosen = name == record.at(SELECTED)
        value: JsonValue = entry.id if chosen else {"item_ref": entry.id, "reason": MOVED_BY_HAND}
        document, inner = _place(file, pointer)
        shorter = read_again(self.file, _in_layout(file, delete_value(document, inner)))
        if name.removeprefix(record.pointer + "/") not in record.value:
            document, inner = _place(shorter, name)
            return _in_layout(file, set_value(document, inner, [value]))
        document, inner = _place(shorter, to)
        return _in_layout(file, insert_item(document, inner, value))

    def _with_consequences(self, before: RecordFile, after: RecordFile) -> bytes:
        """Take redacted content out, then update what depends on content: counts, validation of a summary."""
        try:
            for change in changes(before, after):
                if change.before is not None and change.name in REDACTING:
                    after = with_values(after, self._taken_out(change))
                if newly_redacted_fields(change) and not is_redacted(change.after.redaction):
                    after = with_values(after, [(change.after.at("redaction_state"), FIELDS_REDACTED)])
            after = with_marked_blocks(after, changes(before, after))
            for change in changes(before, after):
                if change.before is not None and change.name == BLOCKS:
                    after = with_values(after, self._taken_out(change))
            for change in changes(before, after):
                if change.before is not None and change.name == "content":
                    after = with_values(after, _consequences(change, after))
        except ChangeRefused as reason:
            raise EditRefused(str(reason)) from None
        return after.data

    def _taken_out(self, change: FieldChange) -> Iterator[tuple[str, JsonValue]]:
        """Yield pointer and placeholder of the content that a new redaction withholds."""
        record = change.after
        found = {path: redaction.state for path, _, redaction in withheld_values(record.value)}
        state = record.redaction if is_redacted(record.redaction) else None
        for field in newly_redacted_fields(change):
            found |= dict.fromkeys(field_paths(record.value, field), state or FIELDS_REDACTED)
        on_disk = (each for each in self.records.records if each.pointer == record.pointer)
        original = next((each for each in on_disk if each.file == self.file), None)
        # A content that was written in this draft is the mask.
        is_original = original is not None and original.value.get("content") == record.value.get("content")
        if record.redaction in REPLACED:
            found.pop(("content",), None)
            if change.name == "redaction_state" and is_original:
                found["content",] = record.redaction or ""
        is_removed = is_original and ("content",) in found
        if original is not None and is_removed and (digest := original_digest(original)) is not None:
            yield record.at(DIGEST), digest
        if is_removed:
            found |= dict.fromkeys(_copies(record), found["content",])
        for path, state in found.items():
            value = value_at(record.value, path)
            if value not in EMPTY and not is_placeholder(value):
                yield record.at(*path), PLACEHOLDERS.get(state, PLACEHOLDERS["removed"])


def _copies(record: Record) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of the title, and of texts in metadata and unknown fields, that repeat the content."""
    content = record.text("content")
    finder = CopyFinder([(content, None)] if content else [])
    for way, value in walk(dict(record.value), DEEPEST):
        path = path_keys(way)
        if not path or not isinstance(value, str) or path[0] == "content":
            continue
        if path[0] in FIELDS[record.kind] and path[0] not in ("title", "metadata"):
            continue
        if any(end - start >= ANYWHERE for start, end, _ in finder.find(value)):
            yield path


def with_marked_blocks(file: RecordFile, found: Iterable[FieldChange]) -> RecordFile:
    """Mark the blocks of a file that hold a record which these changes redact."""
    redacted = newly_redacted(found)
    assemblies = [each for each in file.records if each.kind is RecordKind.ASSEMBLY]
    return with_values(
        file,
        (
            (assembly.at(BLOCKS, at, "redaction_state"), mark)
            for assembly in assemblies
            for at, mark in block_marks(assembly, redacted).items()
        ),
    )


def with_values(file: RecordFile, values: Iterable[tuple[str, JsonValue]]) -> RecordFile:
    for pointer, value in values:
        document, inner = _place(file, pointer)
        file = read_again(file.file, _in_layout(file, set_value(document, inner, value)))
    return file


def _in_layout(file: RecordFile, new: bytes) -> bytes:
    return on_one_line(file.data, new) if file.layout is RecordLayout.LINES else new


def record_at(file: RecordFile, pointer: str) -> tuple[Record | None, list[str]]:
    """The innermost record that contains `pointer`, and the path from it to there."""
    holding = [each for each in file.records if (pointer + "/").startswith(each.pointer + "/")]
    record = max(holding, key=lambda each: len(each.pointer), default=None)
    return record, (split(pointer[len(record.pointer) :]) or []) if record is not None else []


def _place(file: RecordFile, pointer: str) -> tuple[JsonDocument, str]:
    """The JSON text that contains `pointer`, and the pointer within it; raises `EditRefused`."""
    if file.layout is not RecordLayout.LINES and file.problems:
        raise EditRefused(f"The file is not valid JSON ({file.problems[0].reason}); correct that first.")
    record, _ = record_at(file, pointer)
    if record is None:
        raise EditRefused(f"There is no record at {pointer or 'the top of the file'}.")
    return record.document, pointer[len(record.prefix) :]


def append_record(file: RecordFile, value: JsonValue) -> bytes:
    if file.layout is RecordLayout.OBJECT or not file.records:
        raise EditRefused(
            "This file holds one record; to add another, it must be a list or a file of JSON lines."
        )
    neighbour = next(each for each in reversed(file.records) if each.inside is None)
    if file.layout is RecordLayout.LINES:
        document = neighbour.document
        line = spelled_like(document.data[document.start : document.end], value)
        return append_line(file.data, line)
    document, _ = _place(file, neighbour.pointer)
    return insert_item(document, "/-", value)


def _consequences(change: FieldChange, file: RecordFile) -> list[tuple[str, JsonValue]]:
    record, content = change.after, change.new
    found: list[tuple[str, JsonValue]] = []
    if record.kind is RecordKind.ITEM and isinstance(content, str):
        if "byte_size" in record.value:
            found.append((record.at("byte_size"), len(content.encode("utf-8", "surrogatepass"))))
        if "token_estimate" in record.value:
            from ctxview.analysis.tokens import exact_counter

            found.append((record.at("token_estimate"), exact_counter().count(content)))
    if record.kind is RecordKind.SUMMARY and not is_placeholder(content):
        found.append((record.at("validation"), NOT_VALIDATED))
        for other in file.records:
            named = (
                [each.id for each in other.refs("summary_ref")] if other.kind is RecordKind.COMPACTION else []
            )
            if record.id is not None and record.id in named:
                found.append((join(other.pointer, "method"), BY_HAND))
    return found
