"""The owner and the edit form of each file of a session, and why a locked field cannot be edited.

One table decides both the locked fields in the editor and the refused edits. Histories are always locked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ctxview.core.fields import ChoiceShape, Field, FieldShape, Form, JsonShape, NumberShape, Owner, TextShape
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.tree import join
from ctxview.formats.kit.folder import FolderFile
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.kit.json_records import JsonRecord, JsonRecordFile
from ctxview.formats.kit.text_file import EditMode, FileOwnership, text_form
from ctxview.formats.session.grammar import EVENTS, MESSAGES
from ctxview.formats.session.model import Session
from ctxview.formats.session.profile import Profile

_HISTORY: Final = "Histories only grow, and only the runtime writes them: they are never opened for writing."
_RUNTIME: Final = "The runtime writes this file itself; a change would contradict the histories."
_MODEL: Final = {
    "context/summary.md": EditMode.TEXT,
    "context/todo.md": EditMode.TEXT,
    "context/budget": EditMode.NUMBER,
    "context/facts.jsonl": EditMode.RECORDS,
    "context/decisions.jsonl": EditMode.RECORDS,
    "context/refs.jsonl": EditMode.RECORDS,
}
_LOCKED: Final = (
    (rf"{re.escape(MESSAGES)}|{re.escape(EVENTS)}|raw|\.store/.*", Owner.APPEND_ONLY, _HISTORY),
    (
        r"latest\.md|state|cwd|created_at|updated_at|current_run|meta\.json|state\.json",
        Owner.SYSTEM,
        _RUNTIME,
    ),
    (
        r"AGENTS\.md|SKILLS\.md",
        Owner.SYSTEM,
        "The runtime copies this file for every run; change the original.",
    ),
    (
        r"context/pack\.(?:json|md)",
        Owner.DERIVED,
        "The pack is built from its sources: change those and rebuild it.",
    ),
    (r"context/swap/.*", Owner.DERIVED, "A chunk is named by its hash; `ctxview swap` writes it."),
    (
        r"context/dedup/.*",
        Owner.DERIVED,
        "A blob is named by its hash; `ctxview dedup` writes it.",
    ),
    (
        r"context/plan\.json",
        Owner.SYSTEM,
        "The parent agent writes this schedule; the runtime takes it as a whole.",
    ),
    (
        r"context/child/.*",
        Owner.SYSTEM,
        "Parent and child communicate through this channel; the runtime records it.",
    ),
    (
        r"context/gc\.policy",
        Owner.SYSTEM,
        "This policy decides what may be deleted: the user changes it in a text editor.",
    ),
)
_PINNED: Final = re.compile(r"context/pinned/[^/]+")
LARGEST_BUDGET = 2**63 - 1
LONGEST_MESSAGE = 64 * 1024
REF_FIELDS: Final = ("id", "path", "kind", "summary")


def file_ownership(name: str) -> FileOwnership:
    """Return the owner and the edit mode of a file; `name` is relative to the session."""
    if name in _MODEL:
        return FileOwnership(Owner.MODEL, _MODEL[name], "")
    if _PINNED.fullmatch(name):
        return FileOwnership(Owner.MODEL, EditMode.TEXT, "")
    for pattern, owner, why in _LOCKED:
        if re.fullmatch(pattern, name, re.DOTALL):
            return FileOwnership(owner, EditMode.NOT, why)
    return FileOwnership(
        Owner.SYSTEM, EditMode.NOT, "This file is not one of the session files that a person edits."
    )


def text_form_of(part: FolderFile) -> Form | None:
    """Return the form of a text file of a session, or None when there is no such file."""
    return text_form(part, file_ownership(part.name))


def session_record_form(
    records: JsonRecordFile, record: JsonRecord, expected: Sequence[str], profile: Profile
) -> Form:
    """Return the form of one record: the fields in `expected`, then its other members."""
    owned = file_ownership(records.part.name)
    writable = owned.editing is EditMode.RECORDS
    shapes = _shapes(profile)
    names = [*expected, *(name for name in record.members if name not in expected)]
    fields = []
    for name in names:
        value, present = record.members.get(name), name in record.members
        shape = shapes.get(name, JsonShape()) if writable else None
        if not isinstance(value, str | None) and not isinstance(shape, JsonShape | None):
            shape = JsonShape()
        pointer = join(record.pointer, name)
        fields.append(Field(name, value, owned.owner, pointer, shape, owned.why, present))
    return Form(records.file, record.pointer, tuple(fields), removable=writable)


def new_record_form(
    records: JsonRecordFile, expected: Sequence[str], profile: Profile, prefix: str
) -> Form | None:
    """Return the form of a new record at the end of the file, or None when the file is read-only."""
    owned = file_ownership(records.part.name)
    if owned.editing is not EditMode.RECORDS or not records.part.readable:
        return None
    shapes = _shapes(profile)
    values: dict[str, JsonValue] = dict.fromkeys(expected, "")
    values["id"] = unused_record_id(records, prefix)
    if "kind" in values:
        values["kind"] = profile.words.ref_kinds[0] if profile.words.ref_kinds else "file"
    fields = (
        Field(name, value, owned.owner, f"/-/{name}", shapes.get(name, TextShape()), present=False)
        for name, value in values.items()
    )
    return Form(records.file, "/-", tuple(fields), exists=False)


def locked_form(name: str, file: str, pointer: str, members: Mapping[str, JsonValue]) -> Form:
    """Return the form of a record in a file that is read-only here; `name` is relative to the session."""
    owned = file_ownership(name)
    fields = (
        Field(key, value, owned.owner, join(pointer, key), why=owned.why) for key, value in members.items()
    )
    return Form(file, pointer, tuple(fields))


def message_form(line: HistoryLine, text: str) -> Form:
    """Return the locked form of a line of a history."""
    pointer = line.origin().pointer or ""
    return locked_form(line.stream, line.file, pointer, {"message": text[:LONGEST_MESSAGE]})


def session_form(session: Session) -> Form:
    """Return the form of the whole session: the budget, which can be set, and locked runtime fields."""
    part = session.part("context/budget")
    shape = NumberShape(0, LARGEST_BUDGET, integer=True, nullable=True) if part.exists else None
    why = "" if part.exists else "There is no context/budget yet; the runtime creates it."
    fields = [Field("budget", session.budget, Owner.MODEL, "", shape, why, present=part.exists)]
    for name in ("state", "cwd", "created_at", "updated_at", "current_run"):
        locked = session.part(name)
        if locked.exists:
            fields.append(Field(name, locked.value, Owner.SYSTEM, f"/{name}", why=file_ownership(name).why))
    why = file_ownership("meta.json").why
    for name, value in session.meta.members.items():
        fields.append(Field(f"meta.{name}", value, Owner.SYSTEM, f"/meta/{name}", why=why))
    return Form(part.file, "", tuple(fields))


def unused_record_id(records: JsonRecordFile, prefix: str) -> str:
    """Return the next free id in the file, such as `f12`."""
    pattern = re.compile(rf"{re.escape(prefix)}-?(\d{{1,9}})")
    taken = [record.text("id") or "" for record in records.records]
    numbers = [int(found[1]) for name in taken if (found := pattern.fullmatch(name))]
    return f"{prefix}{max(numbers, default=0) + 1}"


def _shapes(profile: Profile) -> dict[str, FieldShape]:
    kinds = profile.words.ref_kinds
    return {
        "id": TextShape(),
        "text": TextShape(multiline=False),
        "decision": TextShape(multiline=False),
        "source": TextShape(),
        "path": TextShape(),
        "summary": TextShape(),
        "kind": ChoiceShape(kinds) if kinds else TextShape(),
    }
