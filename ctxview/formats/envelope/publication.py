"""The publication of an edited envelope that is no longer a draft: a new file with the changes and events.

The edited files are kept unchanged. Nothing is written to disk here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path

from msgspec import Struct

from ctxview.core.edits import EditRefused
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import parse
from ctxview.files.strict_json.splice import SpliceError, set_value
from ctxview.formats.envelope.change_checks import (
    OMITTED,
    SELECTED,
    ChangeRefused,
    FieldChange,
    changes,
    moved_items,
)
from ctxview.formats.envelope.model import EnvelopeRecords, Record, text
from ctxview.formats.envelope.parser import RecordFile, RecordLayout, read_again
from ctxview.formats.envelope.vocabulary import OWN_ID, RecordKind
from ctxview.formats.envelope.write_rights import OWN_KEY, WriteRight, field_ownership
from ctxview.formats.interface import Publication, Signature

PRODUCER = "ctxview"
_NUMBERED = re.compile(r"(?P<stem>.*?)\.r(?P<number>\d+)")
_EVENTS: Mapping[RecordKind, str] = {
    RecordKind.SURFACE: "context.surface.updated",
    RecordKind.BUDGET: "context.budget.applied",
    RecordKind.ASSEMBLY: "context.assembly.created",
    RecordKind.COMPACTION: "context.compaction.completed",
    RecordKind.SUMMARY: "context.summary.created",
}
_SELECTION_EVENTS = ("context.selection.started", "context.selection.completed")
_MISSING_EVENTS = {"resolved": "context.missing.resolved", "open": "context.missing.detected"}


class EditedFile(Struct, frozen=True):
    """A file of the envelope as it was read and as it was edited."""

    before: RecordFile
    after: RecordFile


def edited_files(files: Sequence[RecordFile], drafts: Mapping[str, bytes]) -> tuple[EditedFile, ...]:
    """Return every file with its draft, or unchanged without one."""
    return tuple(EditedFile(file, read_again(file.file, drafts.get(file.file, file.data))) for file in files)


def all_changes(files: Iterable[EditedFile]) -> tuple[FieldChange, ...]:
    """Return all changes; raises `EditRefused` when a draft removed or moved records."""
    try:
        return tuple(change for file in files for change in changes(file.before, file.after))
    except ChangeRefused as reason:
        raise EditRefused(str(reason)) from None


def reason_asked(found: Sequence[FieldChange]) -> str | None:
    """Why the editor must give a reason; None when only editable fields changed."""
    for change in found:
        kind, name = change.after.kind, change.name
        if change.before is not None and field_ownership(kind, name).right is WriteRight.GUARDED:
            if _is_move(change):
                return "The selected items change: say why."
            return f"{name} of {change.after.id or kind} is guarded: say why it changes."
    return None


def make_publication(
    records: EnvelopeRecords,
    files: Sequence[EditedFile],
    signature: Signature,
    taken: Callable[[Path], bool],
    now: datetime,
) -> Publication:
    """Return the next revision of the envelope; raises `EditRefused`."""
    found = all_changes(files)
    envelope = records.envelope
    if envelope is None or not found:
        raise EditRefused("Nothing was changed, so there is nothing to save.")
    if not signature.reason.strip() and (why := reason_asked(found)):
        raise EditRefused(why)
    path, number = _free_name(Path(envelope.file), taken)
    revision = _Revision(records, files, signature, number, now.isoformat(timespec="seconds"))
    layout = next(file.before.layout for file in files if file.before.file == envelope.file)
    lines = layout is RecordLayout.LINES and len({each.file for each in records.records}) == 1
    pieces = revision.pieces(found)
    if lines:
        return Publication(path, b"".join(piece + b"\n" for piece in pieces))
    closing = pieces[0].rpartition(b"\n")[2]
    indent = closing[: len(closing) - len(closing.lstrip())]
    data = b"[\n" + b",\n".join(indent + piece for piece in pieces) + b"\n]\n"
    return Publication(path.with_suffix(".json"), data)


class _Revision:
    """Builds one new revision."""

    def __init__(
        self,
        records: EnvelopeRecords,
        files: Sequence[EditedFile],
        signature: Signature,
        number: int,
        now: str,
    ) -> None:
        assert records.envelope is not None, "only an envelope has revisions"
        self._records = records
        self._envelope = records.envelope
        self._after = {each.file: file.after for file in files for each in file.before.records[:1]}
        self._signature = signature
        self._number = number
        self._now = now

    def pieces(self, found: Sequence[FieldChange]) -> list[bytes]:
        """The JSON texts of all records: the envelope, the others as edited, new selections, the events."""
        moves = [each for each in found if _is_move(each)]
        moved = _once(moves)
        originals = {_place(change.after): change.before for change in moved if change.before is not None}
        pieces = [self._new_envelope(found, moved)]
        others = (each for each in self._own_records() if _place(each) != _place(self._envelope))
        pieces += [_literal(originals.get(_place(each), each)) for each in others]
        events: list[tuple[str, str, str]] = []
        for change in moved:
            new_id = self._new_id(change.after)
            data = _set(_literal(change.after), f"/{OWN_ID[RecordKind.SELECTION]}", new_id)
            data = _set(data, "/created_at", self._now)
            editor = self._signature.editor
            pieces.append(_set(data, "/actor_ref", {"kind": editor, "id": editor}))
            # A new selection has a started and a completed event.
            events += [(kind, new_id, change.name) for kind in _SELECTION_EVENTS]
        for change in found:
            if change not in moves:
                events.append((_event_type(change), change.after.id or change.after.pointer, change.name))
        return [*pieces, *(self._event(number, *each) for number, each in enumerate(events, 1))]

    def _own_records(self) -> Iterable[Record]:
        """The records of the envelope, as edited, with new records."""
        known = {_place(each) for each in self._records.records if each.inside is None}
        others = {_place(each) for each in self._records.others}
        for file in self._after.values():
            old = max((int(_top(pointer)) for name, pointer in known if name == file.file), default=-1)
            for record in file.records:
                place = _place(record)
                new = record.inside is None and place not in others and int(_top(record.pointer)) > old
                if place in known or new:
                    yield record

    def _new_envelope(self, found: Sequence[FieldChange], moved: Sequence[FieldChange]) -> bytes:
        file = self._after[self._envelope.file]
        envelope = next(each for each in file.records if each.pointer == self._envelope.pointer)
        data = _literal(envelope)
        note: dict[str, JsonValue] = {
            "revision_of": self._envelope.id,
            "editor": self._signature.editor,
            "reason": self._signature.reason.strip(),
            "changed": [each.after.at(each.name) for each in found],
        }
        data = _set(data, f"/{OWN_ID[RecordKind.ENVELOPE]}", self.context_id)
        data = _set(data, "/created_at", self._now)
        metadata = envelope.object("metadata")
        data = _set(data, "/metadata", {**metadata, OWN_KEY: note})
        for change in moved:
            if change.before is not None and change.after.inside is not None:
                inner = change.after.inner.removeprefix(envelope.inner)
                data = _set(data, inner, dict(change.before.value))
        if moved:
            listed = parse(data).value
            known = listed.get("selection_refs") if isinstance(listed, dict) else None
            new_ids = [self._new_id(each.after) for each in moved]
            data = _set(data, "/selection_refs", [*(known if isinstance(known, list) else []), *new_ids])
        return data

    @property
    def context_id(self) -> str:
        return self._numbered(self._envelope.id or "context")

    def _new_id(self, selection: Record) -> str:
        return self._numbered(selection.id or "selection")

    def _numbered(self, name: str) -> str:
        known = _NUMBERED.fullmatch(name)
        return f"{known['stem'] if known else name}.r{self._number}"

    def _event(self, number: int, kind: str, subject: str, name: str) -> bytes:
        event: dict[str, JsonValue] = {
            "schema_version": self._envelope.text("schema_version") or "0.1.1",
            "event_id": f"{self.context_id}-{number}",
            "event_type": kind,
            "source": PRODUCER,
            "time": self._now,
            "subject": subject,
            "context_id": self.context_id,
        }
        ids = {text(each.members.get("kind")): each.id for each in self._envelope.refs("runtime_refs")}
        event |= {f"{kind}_id": ids[kind] for kind in ("session", "thread", "turn", "task") if ids.get(kind)}
        event["data"] = {"field": name, "editor": self._signature.editor}
        import orjson

        return orjson.dumps(event)


def _is_move(change: FieldChange) -> bool:
    known = change.before is not None and change.after.kind is RecordKind.SELECTION
    return known and change.name in (SELECTED, OMITTED) and any(moved_items(change))


def _once(moved: Sequence[FieldChange]) -> list[FieldChange]:
    """One change for each selection: a move changes both of its lists."""
    return list({_place(change.after): change for change in moved}.values())


def _place(record: Record) -> tuple[str, str]:
    return record.file, record.pointer


def _event_type(change: FieldChange) -> str:
    record = change.after
    if record.kind is RecordKind.ITEM:
        if change.before is None:
            return "context.item.added"
        redacted = change.name.startswith(("redaction_", "redacted_"))
        return "context.redaction.applied" if redacted else "context.item.updated"
    if record.kind is RecordKind.MISSING:
        state = record.text("status") or ""
        return _MISSING_EVENTS.get(state, "context.missing.requested")
    return _EVENTS.get(record.kind, "context.item.updated")


def _literal(record: Record) -> bytes:
    return record.document.literal(record.inner)


def _set(data: bytes, pointer: str, value: JsonValue) -> bytes:
    try:
        return set_value(parse(data), pointer, value)
    except SpliceError as error:
        raise EditRefused(f"The new revision cannot be written: {error}") from None


def _top(pointer: str) -> str:
    """The index of the list element or line that contains `pointer`."""
    first = pointer[1:].partition("/")[0]
    return first if first.isdigit() else "0"


def _free_name(file: Path, taken: Callable[[Path], bool]) -> tuple[Path, int]:
    """The path beside `file` with the next number that is free with every suffix, and that number."""
    known = _NUMBERED.fullmatch(file.stem)
    stem = known["stem"] if known else file.stem
    for number in count(int(known["number"]) + 1 if known else 2):
        path = file.with_name(f"{stem}.r{number}{file.suffix}")
        if not any(taken(path.with_suffix(suffix)) for suffix in {path.suffix, ".json"}):
            return path, number
    raise AssertionError("numbers do not end")
