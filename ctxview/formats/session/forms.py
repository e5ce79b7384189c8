"""The owner and the edit form of each file of a session, and why a locked field cannot be edited.

One table decides both the locked fields in the editor and the refused edits. Histories are always locked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ctxview.core.fields import ChoiceShape, Field, FieldShape, Form, NumberShape, Owner, TextShape
from ctxview.core.origin import JsonValue
from ctxview.formats.kit.folder import FolderFile
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.kit.json_records import JsonRecord, JsonRecordFile
from ctxview.formats.kit.ownership import EditMode, FileOwnership, OwnershipTable
from ctxview.formats.kit.record_file import new_record_form, record_form, unused_record_id
from ctxview.formats.kit.text_file import text_form
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.model import Session
from ctxview.formats.session.profile import Profile

SYSTEM, DERIVED = Owner.SYSTEM, Owner.DERIVED
_HISTORY: Final = "Histories only grow, and only the runtime writes them: they are never opened for writing."
_RUNTIME: Final = "The runtime writes this file itself; a change would contradict the histories."
_LOCKED: Final = (
    (rf"{re.escape(MESSAGES)}|{re.escape(EVENTS)}|raw|\.store/.*", Owner.APPEND_ONLY, _HISTORY),
    (r"latest\.md|state|cwd|(?:created|updated)_at|current_run|(?:meta|state)\.json", SYSTEM, _RUNTIME),
    (r"AGENTS\.md|SKILLS\.md", SYSTEM, "The runtime copies this file for every run; change the original."),
)
_LOCKED_CONTEXT: Final = (
    (r"pack\.(?:json|md)", DERIVED, "The pack is built from its sources: change those and rebuild it."),
    ("swap/.*", DERIVED, "A chunk is named by its hash; `ctxview swap` writes it."),
    ("dedup/.*", DERIVED, "A blob is named by its hash; `ctxview dedup` writes it."),
    (r"plan\.json", SYSTEM, "The parent agent writes this schedule; the runtime takes it as a whole."),
    ("child/.*", SYSTEM, "Parent and child communicate through this channel; the runtime records it."),
    (r"gc\.policy", SYSTEM, "This policy decides what may be deleted: the user changes it in a text editor."),
)
OWNERSHIP: Final = OwnershipTable(
    (
        (r"context/(?:summary\.md|todo\.md|pinned/[^/]+)", FileOwnership(Owner.MODEL, EditMode.TEXT)),
        (r"context/budget", FileOwnership(Owner.MODEL, EditMode.NUMBER)),
        (r"context/(?:facts|decisions|refs)\.jsonl", FileOwnership(Owner.MODEL, EditMode.RECORDS)),
        *((name, FileOwnership(owner, why=why)) for name, owner, why in _LOCKED),
        *((f"context/{name}", FileOwnership(owner, why=why)) for name, owner, why in _LOCKED_CONTEXT),
    ),
    FileOwnership(SYSTEM, EditMode.NOT, "This file is not one of the session files that a person edits."),
)
"""The owner and the edit mode of every file, by its name in the session."""
LARGEST_BUDGET = 2**63 - 1
LONGEST_MESSAGE = 64 * 1024
REF_FIELDS: Final = ("id", "path", "kind", "summary")


def text_form_of(part: FolderFile) -> Form | None:
    """Return the form of a text file of a session, or None when the file does not exist."""
    return text_form(part, OWNERSHIP.of(part.name))


def session_record_form(
    records: JsonRecordFile, record: JsonRecord, expected: Sequence[str], profile: Profile
) -> Form:
    """Return the form of one record: the fields in `expected`, then its other members."""
    return record_form(records, record, OWNERSHIP.of(records.part.name), expected, _shapes(profile))


def new_session_record_form(
    records: JsonRecordFile, expected: Sequence[str], profile: Profile, prefix: str
) -> Form | None:
    """Return the form of a new record at the end of the file, or None when the file is read-only."""
    values: dict[str, JsonValue] = dict.fromkeys(expected, "")
    values["id"] = unused_record_id(records, prefix)
    if "kind" in values:
        values["kind"] = profile.words.ref_kinds[0] if profile.words.ref_kinds else "file"
    return new_record_form(records, OWNERSHIP.of(records.part.name), values, _shapes(profile))


def message_form(line: HistoryLine, text: str) -> Form:
    """Return the locked form of a line of a history."""
    pointer = line.origin().pointer or ""
    members: dict[str, JsonValue] = {"message": text[:LONGEST_MESSAGE]}
    return OWNERSHIP.of(line.stream).locked_form(line.file, pointer, members)


def session_form(session: Session) -> Form:
    """Return the form of the whole session: the budget, which can be set, and locked runtime fields."""
    part = session.part("context/budget")
    shape = NumberShape(0, LARGEST_BUDGET, integer=True, nullable=True) if part.exists else None
    why = "" if part.exists else "There is no context/budget yet; the runtime creates it."
    fields = [Field("budget", session.budget, Owner.MODEL, "", shape, why, present=part.exists)]
    for name in ("state", "cwd", "created_at", "updated_at", "current_run"):
        locked = session.part(name)
        if locked.exists:
            fields.append(Field(name, locked.value, Owner.SYSTEM, f"/{name}", why=OWNERSHIP.of(name).why))
    why = OWNERSHIP.of("meta.json").why
    for name, value in session.meta.members.items():
        fields.append(Field(f"meta.{name}", value, Owner.SYSTEM, f"/meta/{name}", why=why))
    return Form(part.file, "", tuple(fields))


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
