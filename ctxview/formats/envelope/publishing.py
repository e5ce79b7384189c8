"""A new revision of an envelope that is no longer a draft: one file of its own, with the changes and events.

The files that were edited stay as they are. Nothing is written to disk here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path

from ctxview.edits import Refused
from ctxview.files.json_document import parse
from ctxview.files.splice import SpliceError, set_value
from ctxview.formats.envelope.changes import OMITTED, SELECTED, Changed, TooFar, changes, moved_items
from ctxview.formats.envelope.model import Dossier, Record, text
from ctxview.formats.envelope.ownership import OWN_KEY, Right, ownership
from ctxview.formats.envelope.read import Layout, RecordFile, read_again
from ctxview.formats.envelope.vocabulary import OWN_ID, Kind
from ctxview.formats.interface import Publication, Signature
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass

PRODUCER = "ctxview"
_NUMBERED = re.compile(r"(?P<stem>.*?)\.r(?P<number>\d+)")
_EVENTS: Mapping[Kind, str] = {
    Kind.SURFACE: "context.surface.updated",
    Kind.BUDGET: "context.budget.applied",
    Kind.ASSEMBLY: "context.assembly.created",
    Kind.COMPACTION: "context.compaction.completed",
    Kind.SUMMARY: "context.summary.created",
}
_SELECTION_EVENTS = ("context.selection.started", "context.selection.completed")
_MISSING_EVENTS = {"resolved": "context.missing.resolved", "open": "context.missing.detected"}


@dataclass(frozen=True, slots=True)
class Edited:
    """A file of the dossier as it was read and as it was edited."""

    before: RecordFile
    after: RecordFile


def edited(files: Sequence[RecordFile], drafts: Mapping[str, bytes]) -> tuple[Edited, ...]:
    """Every file with its draft, or with itself when there is none."""
    return tuple(Edited(file, read_again(file.file, drafts.get(file.file, file.data))) for file in files)


def all_changes(files: Iterable[Edited]) -> tuple[Changed, ...]:
    """Raises `Refused` when a draft moved what must stay."""
    try:
        return tuple(change for file in files for change in changes(file.before, file.after))
    except TooFar as reason:
        raise Refused(str(reason)) from None


def reason_asked(found: Sequence[Changed]) -> str | None:
    """Why somebody must say why; None when only free fields changed."""
    for change in found:
        kind, name = change.after.kind, change.name
        if change.before is not None and ownership(kind, name).right is Right.GUARDED:
            if _is_move(change):
                return "Another choice of items is made: say why."
            return f"{name} of {change.after.id or kind} is guarded: say why it changes."
    return None


def publish(
    dossier: Dossier,
    files: Sequence[Edited],
    signature: Signature,
    taken: Callable[[Path], bool],
    now: datetime,
) -> Publication:
    """The next revision of the dossier's envelope; raises `Refused`."""
    found = all_changes(files)
    envelope = dossier.envelope
    if envelope is None or not found:
        raise Refused("Nothing was changed, so there is nothing to save.")
    if not signature.reason.strip() and (why := reason_asked(found)):
        raise Refused(why)
    path, number = _free_name(Path(envelope.file), taken)
    revision = _Revision(dossier, files, signature, number, now.isoformat(timespec="seconds"))
    layout = next(file.before.layout for file in files if file.before.file == envelope.file)
    lines = layout is Layout.LINES and len({each.file for each in dossier.records}) == 1
    pieces = revision.pieces(found)
    return Publication(path if lines else path.with_suffix(".json"), _joined(pieces, lines))


class _Revision:
    """One new revision in the making."""

    def __init__(
        self, dossier: Dossier, files: Sequence[Edited], signature: Signature, number: int, now: str
    ) -> None:
        assert dossier.envelope is not None, "only an envelope has revisions"
        self._dossier = dossier
        self._envelope = dossier.envelope
        self._after = {each.file: file.after for file in files for each in file.before.records[:1]}
        self._signature = signature
        self._number = number
        self._now = now

    def pieces(self, found: Sequence[Changed]) -> list[bytes]:
        """The JSON texts of all records: the envelope, the others as edited, what is new, the events."""
        moved = _once([each for each in found if _is_move(each)])
        kept = {_place(change.after): change.before for change in moved if change.before is not None}
        pieces = [self._new_envelope(found, moved)]
        others = (each for each in self._own_records() if _place(each) != _place(self._envelope))
        pieces += [_literal(kept.get(_place(each), each)) for each in others]
        pieces += [self._new_selection(each.after) for each in moved]
        return [*pieces, *self._events(found)]

    def _own_records(self) -> Iterable[Record]:
        """What belongs to the envelope, as edited, with the records that are new."""
        known = {_place(each) for each in self._dossier.records if each.inside is None}
        others = {_place(each) for each in self._dossier.others}
        for file in self._after.values():
            old = max((int(_top(pointer)) for name, pointer in known if name == file.file), default=-1)
            for record in file.records:
                place = _place(record)
                new = record.inside is None and place not in others and int(_top(record.pointer)) > old
                if place in known or new:
                    yield record

    def _new_envelope(self, found: Sequence[Changed], moved: Sequence[Changed]) -> bytes:
        file = self._after[self._envelope.file]
        envelope = next(each for each in file.records if each.pointer == self._envelope.pointer)
        data = _literal(envelope)
        note: dict[str, JsonValue] = {
            "revision_of": self._envelope.id,
            "editor": self._signature.editor,
            "reason": self._signature.reason.strip(),
            "changed": [each.after.at(each.name) for each in found],
        }
        data = _set(data, f"/{OWN_ID[Kind.ENVELOPE]}", self.context_id)
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
            fresh = [self._fresh(each.after) for each in moved]
            data = _set(data, "/selection_refs", [*(known if isinstance(known, list) else []), *fresh])
        return data

    @property
    def context_id(self) -> str:
        return self._numbered(self._envelope.id or "context")

    def _new_selection(self, selection: Record) -> bytes:
        data = _set(_literal(selection), f"/{OWN_ID[Kind.SELECTION]}", self._fresh(selection))
        data = _set(data, "/created_at", self._now)
        return _set(data, "/actor_ref", {"kind": self._signature.editor, "id": self._signature.editor})

    def _fresh(self, selection: Record) -> str:
        return self._numbered(selection.id or "selection")

    def _numbered(self, name: str) -> str:
        known = _NUMBERED.fullmatch(name)
        return f"{known['stem'] if known else name}.r{self._number}"

    def _events(self, found: Sequence[Changed]) -> list[bytes]:
        """One for each change; a selection that is made anew begins and ends."""
        told: list[tuple[str, str, str]] = []
        moved = [each for each in found if _is_move(each)]
        for change in _once(moved):
            told += [(kind, self._fresh(change.after), change.name) for kind in _SELECTION_EVENTS]
        for change in found:
            if change not in moved:
                told.append((_event_type(change), change.after.id or change.after.pointer, change.name))
        return [self._event(number, *each) for number, each in enumerate(told, 1)]

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
        event.update(self._runtime_ids())
        event["data"] = {"field": name, "editor": self._signature.editor}
        return _spelled(event)

    def _runtime_ids(self) -> dict[str, JsonValue]:
        found = {text(each.members.get("kind")): each.id for each in self._envelope.refs("runtime_refs")}
        return {
            f"{kind}_id": found[kind] for kind in ("session", "thread", "turn", "task") if found.get(kind)
        }


def _is_move(change: Changed) -> bool:
    known = change.before is not None and change.after.kind is Kind.SELECTION
    return known and change.name in (SELECTED, OMITTED) and any(moved_items(change))


def _once(moved: Sequence[Changed]) -> list[Changed]:
    """One for each selection: a move changes both of its lists."""
    return list({_place(change.after): change for change in moved}.values())


def _place(record: Record) -> tuple[str, str]:
    return record.file, record.pointer


def _event_type(change: Changed) -> str:
    record = change.after
    if record.kind is Kind.ITEM:
        if change.before is None:
            return "context.item.added"
        redacted = change.name.startswith(("redaction_", "redacted_"))
        return "context.redaction.applied" if redacted else "context.item.updated"
    if record.kind is Kind.MISSING:
        state = record.text("status") or ""
        return _MISSING_EVENTS.get(state, "context.missing.requested")
    return _EVENTS.get(record.kind, "context.item.updated")


def _literal(record: Record) -> bytes:
    return record.document.literal(record.inner)


def _set(data: bytes, pointer: str, value: JsonValue) -> bytes:
    try:
        return set_value(parse(data), pointer, value)
    except SpliceError as error:
        raise Refused(f"The new revision cannot be written: {error}") from None


def _spelled(value: JsonValue) -> bytes:
    import orjson

    return orjson.dumps(value)


def _top(pointer: str) -> str:
    """The index of the list element or line that a place belongs to."""
    first = pointer[1:].partition("/")[0]
    return first if first.isdigit() else "0"


def _joined(pieces: Sequence[bytes], lines: bool) -> bytes:
    if lines:
        return b"".join(piece + b"\n" for piece in pieces)
    closing = pieces[0].rpartition(b"\n")[2]
    indent = closing[: len(closing) - len(closing.lstrip())]
    return b"[\n" + b",\n".join(indent + piece for piece in pieces) + b"\n]\n"


def _free_name(file: Path, taken: Callable[[Path], bool]) -> tuple[Path, int]:
    """Beside the file, under the next number that nobody uses, whatever the ending."""
    known = _NUMBERED.fullmatch(file.stem)
    stem = known["stem"] if known else file.stem
    for number in count(int(known["number"]) + 1 if known else 2):
        path = file.with_name(f"{stem}.r{number}{file.suffix}")
        if not any(taken(path.with_suffix(suffix)) for suffix in {path.suffix, ".json"}):
            return path, number
    raise AssertionError("numbers do not end")
