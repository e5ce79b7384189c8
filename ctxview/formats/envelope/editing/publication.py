"""The publication of an edited envelope that is no longer a draft: a new file with the changes and events.

The edited files are kept unchanged. Nothing is written to disk here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from ctxview.core.edits import EditRefused
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import parse
from ctxview.files.strict_json.splice import SpliceError, set_value
from ctxview.formats.envelope.bundle import Bundle
from ctxview.formats.envelope.editing.change_checks import TRANSITIONS
from ctxview.formats.envelope.editing.field_changes import (
    OMITTED,
    SELECTED,
    ChangeRefused,
    FieldChange,
    changes,
    follows,
    moved_items,
    tightens_redaction,
)
from ctxview.formats.envelope.editing.fresh_ids import FreshIds, next_revision
from ctxview.formats.envelope.editing.policy import with_marked_blocks
from ctxview.formats.envelope.editing.write_rights import OWN_KEY, WriteRight, field_ownership
from ctxview.formats.envelope.model import EnvelopeRecords, Record, text
from ctxview.formats.envelope.outcomes import outcomes
from ctxview.formats.envelope.parser import RecordFile, RecordLayout, embedded, read_again
from ctxview.formats.envelope.vocabulary import OWN_ID, RecordKind
from ctxview.formats.interface import Publication, Signature

PRODUCER = "ctxview"
_SELECTION_EVENTS = ("context.selection.started", "context.selection.completed")
_MISSING_EVENTS = {"requested": "context.missing.requested", "resolved": "context.missing.resolved"}
_OWN_EVENT = "custom"
"""The prefix of our event types for changes that no listed type describes exactly."""


class EditedFile(Struct, frozen=True):
    """A file of the envelope as it was read and as it was edited."""

    before: RecordFile
    after: RecordFile


def edited_files(files: Sequence[RecordFile], drafts: Mapping[str, bytes]) -> tuple[EditedFile, ...]:
    """Return every file with its draft, and with the marks of blocks that hold what another file redacts."""
    edited = [EditedFile(file, read_again(file.file, drafts.get(file.file, file.data))) for file in files]
    found = all_changes(edited)
    return tuple(EditedFile(each.before, with_marked_blocks(each.after, found)) for each in edited)


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
            if is_move(change):
                return "The selected items change: say why."
            return f"{name} of {change.after.id or kind} is guarded: say why it changes."
    return None


def make_publication(
    records: EnvelopeRecords,
    files: Sequence[EditedFile],
    signature: Signature,
    on_disk: Bundle,
    taken: Callable[[Path], bool],
    now: datetime,
) -> Publication:
    """Return the next revision of the envelope; raises `EditRefused`.

    No id is used again that a record in `on_disk` has: everything beside the new file.
    """
    found = all_changes(files)
    envelope = records.envelope
    if envelope is None or not found:
        raise EditRefused("Nothing was changed, so there is nothing to save.")
    if not signature.reason.strip() and (why := reason_asked(found)):
        raise EditRefused(why)
    if reused := [each.after.id for each in found if each.before is None and each.after.id in on_disk.ids]:
        raise EditRefused(f"The id {reused[0]} is taken: give the new record another one.")
    revision = _Revision(records, files, signature, FreshIds(on_disk.ids), now.isoformat(timespec="seconds"))
    layout = next(file.before.layout for file in files if file.before.file == envelope.file)
    lines = layout is RecordLayout.LINES and len({each.file for each in records.records}) == 1
    path = _free_name(Path(envelope.file), taken)
    pieces = revision.pieces(found)
    if lines:
        return Publication(path, b"".join(piece + b"\n" for piece in pieces))
    closing = pieces[0].rpartition(b"\n")[2]
    indent = closing[: len(closing) - len(closing.lstrip())]
    data = b"[\n" + b",\n".join(indent + piece for piece in pieces) + b"\n]\n"
    return Publication(path.with_suffix(".json"), data)


def own_records(records: EnvelopeRecords, files: Iterable[EditedFile]) -> Iterable[Record]:
    """Yield the records of the envelope, as edited, with new records; without those inside others."""
    known = {_place(each) for each in records.records}
    for file in files:
        old = {each.pointer for each in file.before.records}
        for record in file.after.records:
            if record.inside is None and (_place(record) in known or record.pointer not in old):
                yield record


class _Revision:
    """Builds one new revision."""

    def __init__(
        self,
        records: EnvelopeRecords,
        files: Sequence[EditedFile],
        signature: Signature,
        fresh: FreshIds,
        now: str,
    ) -> None:
        assert records.envelope is not None, "only an envelope has revisions"
        self._records = records
        self._files = files
        self._before = records.envelope
        edited = next(file.after for file in files if file.before.file == self._before.file)
        self._envelope = next(each for each in edited.records if each.pointer == self._before.pointer)
        self._signature = signature
        self._fresh = fresh
        self._now = now
        self._context_id = fresh.revision(self._before.id or "context")

    def pieces(self, found: Sequence[FieldChange]) -> list[bytes]:
        """The JSON texts of all records: the envelope, the others as edited, new selections, the events."""
        # A move changes both lists of its selection, and makes one new selection.
        moved = {_place(change.after): change for change in found if is_move(change)}
        new_ids = {place: self._fresh.revision(each.after.id or "selection") for place, each in moved.items()}
        others = [
            each for each in own_records(self._records, self._files) if _place(each) != _place(self._envelope)
        ]
        tops = {_place(each): at for at, each in enumerate((self._envelope, *others))}
        tops |= {place: len(others) + 1 + at for at, place in enumerate(moved)}
        changed = [_new_pointer(change, tops) for change in found]
        kept = {place: each.before for place, each in moved.items() if each.before is not None}
        pieces = [
            self._new_envelope(changed, [*moved.values()], [*new_ids.values()]),
            *(_literal(kept.get(_place(each), each)) for each in others),
            *(self._new_selection(change.after, new_ids[place]) for place, change in moved.items()),
        ]
        for place, change in moved.items():
            # A new selection has a started and a completed event.
            pieces += [self._event(kind, new_ids[place], change.name) for kind in _SELECTION_EVENTS]
        for change, pointer in zip(found, changed, strict=True):
            # A field that follows from another change, such as removed content, has no event of its own.
            if _place(change.after) not in moved and not follows(change, found):
                is_envelope = _place(change.after) == _place(self._envelope)
                subject = self._context_id if is_envelope else change.after.id or pointer
                pieces.append(self._event(_event_type(change), subject, change.name))
        return pieces

    def _new_envelope(
        self, changed: Sequence[str], moved: Sequence[FieldChange], new_selections: Sequence[str]
    ) -> bytes:
        envelope, metadata = self._envelope, self._envelope.object("metadata")
        note: dict[str, JsonValue] = {
            "revision_of": self._before.id,
            "editor": self._signature.editor,
            "reason": self._signature.reason.strip(),
            "changed": [*changed],
        }
        data = _set(_literal(envelope), f"/{OWN_ID[RecordKind.ENVELOPE]}", self._context_id)
        data = _set(data, "/created_at", self._now)
        data = _set(data, "/metadata", {**metadata, OWN_KEY: note})
        for change in moved:
            if change.before is not None and change.after.inside is not None:
                inner = change.after.inner.removeprefix(envelope.inner)
                data = _set(data, inner, dict(change.before.value))
        if moved:
            present = parse(data).value
            listed = present.get("selection_refs") if isinstance(present, dict) else None
            data = _set(
                data, "/selection_refs", [*(listed if isinstance(listed, list) else []), *new_selections]
            )
            items = self._item_refs(moved)
            if envelope.refs("item_refs") and items != envelope.value["item_refs"]:
                data = _set(data, "/item_refs", items)
        return data

    def _item_refs(self, moved: Sequence[FieldChange]) -> list[JsonValue]:
        """The items of the envelope after moves: with those now selected, without those now left out.

        An item that was injected stays on the list, since the snapshot still shows it.
        """
        pairs = [moved_items(change) for change in moved]
        chosen = dict.fromkeys(name for added, _ in pairs for name in sorted(added))
        left = {name for _, removed in pairs for name in removed}
        injected = {name for name, outcome in outcomes(self._records).items() if outcome.injected}
        references = self._envelope.refs("item_refs")
        kept = [each for each in references if each.id not in left - injected or embedded(each) is not None]
        known = {each.id for each in kept}
        return [*(each.value for each in kept), *(name for name in chosen if name not in known)]

    def _new_selection(self, edited: Record, new_id: str) -> bytes:
        editor = self._signature.editor
        data = _set(_literal(edited), f"/{OWN_ID[RecordKind.SELECTION]}", new_id)
        data = _set(data, "/created_at", self._now)
        return _set(data, "/actor_ref", {"kind": editor, "id": editor})

    def _event(self, kind: str, subject: str, name: str) -> bytes:
        event: dict[str, JsonValue] = {
            "schema_version": self._envelope.text("schema_version") or "0.1.1",
            "event_id": self._fresh.numbered(self._context_id),
            "event_type": kind,
            "source": PRODUCER,
            "time": self._now,
            "subject": subject,
            "context_id": self._context_id,
        }
        ids = {text(each.members.get("kind")): each.id for each in self._envelope.refs("runtime_refs")}
        event |= {f"{kind}_id": ids[kind] for kind in ("session", "thread", "turn", "task") if ids.get(kind)}
        event["data"] = {"field": name, "editor": self._signature.editor}
        import orjson

        return orjson.dumps(event)


def is_move(change: FieldChange) -> bool:
    """Whether a list of a selection changed because items moved to or from the other list."""
    known = change.before is not None and change.after.kind is RecordKind.SELECTION
    return known and change.name in (SELECTED, OMITTED) and any(moved_items(change))


def _place(record: Record) -> tuple[str, str]:
    return record.file, record.pointer


def _new_pointer(change: FieldChange, tops: Mapping[tuple[str, str], int]) -> str:
    """The pointer of a changed field in the new file; `tops` has the index of each record there."""
    record: Record | None = change.after
    while record is not None and _place(record) not in tops:
        record = record.inside
    if record is None:
        name = change.after.id or change.after.pointer
        raise EditRefused(f"{name} does not belong to this envelope, so its new revision cannot contain it.")
    return f"/{tops[_place(record)]}{change.after.at(change.name).removeprefix(record.pointer)}"


def _event_type(change: FieldChange) -> str:
    """A listed type only where it says exactly what happened; a type of our own otherwise."""
    record, name = change.after, change.name
    word = record.kind.value.removeprefix("context_").removesuffix("_context").removesuffix("_ref")
    if change.before is None:
        return "context.item.added" if record.kind is RecordKind.ITEM else f"{_OWN_EVENT}.{word}.added"
    if tightens_redaction(change):
        return "context.redaction.applied"
    if record.kind is RecordKind.ITEM:
        return "context.item.updated"
    if record.kind is RecordKind.SURFACE:
        return "context.surface.updated"
    status = record.text("status") or ""
    if record.kind is RecordKind.MISSING and name == "status" and status in TRANSITIONS:
        return _MISSING_EVENTS.get(status, f"{_OWN_EVENT}.{word}.{status}")
    return f"{_OWN_EVENT}.{word}.updated"


def _literal(record: Record) -> bytes:
    return record.document.literal(record.inner)


def _set(data: bytes, pointer: str, value: JsonValue) -> bytes:
    try:
        return set_value(parse(data), pointer, value)
    except SpliceError as error:
        raise EditRefused(f"The new revision cannot be written: {error}") from None


def _free_name(file: Path, taken: Callable[[Path], bool]) -> Path:
    """The path beside `file` with the next number that is free with every suffix."""

    def is_taken(stem: str) -> bool:
        return any(taken(file.with_name(stem + suffix)) for suffix in {file.suffix, ".json"})

    return file.with_name(next_revision(file.stem, is_taken) + file.suffix)
