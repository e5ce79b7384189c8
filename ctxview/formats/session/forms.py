"""The typed forms of a session: for each field who owns it, how it is edited, or why it is locked.

Says what an editor may offer; `write` decides what is really written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ctxview.formats.session.folder import Part
from ctxview.formats.session.model import Session
from ctxview.formats.session.ownership import Editing, ownership
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.records import Record, RecordFile
from ctxview.state import ChoiceShape, Field, Form, JsonShape, JsonValue, NumberShape, Owner, Shape, TextShape

LARGEST_EDITED = 1024 * 1024
NOT_TEXT = "The file is not UTF-8 text, so it cannot be edited without damage."
TOO_LARGE = "The file is too large for an editor in here."
LARGEST_BUDGET = 2**63 - 1


def text_form(part: Part) -> Form | None:
    """A text file as one field; None when there is no such file."""
    if not part.exists:
        return None
    owned = ownership(part.name)
    why = owned.why or _why_no_text(part)
    shape = TextShape(multiline=True, required=False) if owned.editing is Editing.TEXT and not why else None
    name = part.name.rpartition("/")[2]
    return Form(part.file, "", (Field(name, part.text, owned.owner, "", shape, why),))


def record_form(records: RecordFile, record: Record, expected: Sequence[str], profile: Profile) -> Form:
    """One record: the fields of its kind, then whatever else it has."""
    owned = ownership(records.part.name)
    writable = owned.editing is Editing.RECORDS
    shapes = _shapes(profile)
    names = [*expected, *(name for name in record.members if name not in expected)]
    fields = []
    for name in names:
        value, present = record.members.get(name), name in record.members
        shape = _fitting(shapes.get(name, JsonShape()), value, present) if writable else None
        pointer = f"{record.pointer}/{_escaped(name)}"
        fields.append(Field(name, value, owned.owner, pointer, shape, owned.why, present))
    return Form(records.file, record.pointer, tuple(fields), removable=writable)


def new_record_form(
    records: RecordFile, expected: Sequence[str], profile: Profile, prefix: str
) -> Form | None:
    """A new record at the end of the file; None when nobody may add one."""
    owned = ownership(records.part.name)
    if owned.editing is not Editing.RECORDS or not records.part.readable:
        return None
    shapes = _shapes(profile)
    values: dict[str, JsonValue] = dict.fromkeys(expected, "")
    values["id"] = unused_id(records, prefix)
    if "kind" in values:
        values["kind"] = profile.words.ref_kinds[0] if profile.words.ref_kinds else "file"
    fields = (
        Field(name, value, owned.owner, f"/-/{name}", shapes.get(name, TextShape()), present=False)
        for name, value in values.items()
    )
    return Form(records.file, "/-", tuple(fields), exists=False)


def session_form(session: Session) -> Form:
    """What belongs to the whole: the budget, which can be set, and the runtime's own words, which cannot."""
    part = session.part("context/budget")
    shape = NumberShape(0, LARGEST_BUDGET, integer=True, nullable=True) if part.exists else None
    why = "" if part.exists else "There is no context/budget; the runtime creates it."
    budget = Field("budget", session.budget, Owner.MODEL, "", shape, why, present=part.exists)
    return Form(part.file, "", (budget, *_locked(session)))


def unused_id(records: RecordFile, prefix: str) -> str:
    """The next free id of the file's own kind, such as `f12`."""
    pattern = re.compile(rf"{re.escape(prefix)}-?(\d{{1,9}})")
    taken = [record.text("id") or "" for record in records.records]
    numbers = [int(found[1]) for name in taken if (found := pattern.fullmatch(name))]
    return f"{prefix}{max(numbers, default=0) + 1}"


def _locked(session: Session) -> Iterator[Field]:
    for name in ("state", "cwd", "created_at", "updated_at", "current_run"):
        part = session.part(name)
        if part.exists:
            yield Field(name, part.value, Owner.SYSTEM, f"/{name}", why=ownership(name).why)
    for name, value in session.meta.members.items():
        yield Field(f"meta.{name}", value, Owner.SYSTEM, f"/meta/{name}", why=ownership("meta.json").why)


def _why_no_text(part: Part) -> str:
    if part.data is None:
        return f"The file cannot be read: {part.problem}."
    if len(part.data) > LARGEST_EDITED:
        return TOO_LARGE
    try:
        part.data.decode("utf-8")
    except UnicodeDecodeError:
        return NOT_TEXT
    return ""


def _shapes(profile: Profile) -> dict[str, Shape]:
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


def _fitting(shape: Shape, value: JsonValue, present: bool) -> Shape:
    """The shape a value is edited with: as JSON when it is not of the kind the shape edits."""
    if not present or value is None or isinstance(shape, JsonShape):
        return shape
    return shape if isinstance(value, str) else JsonShape()


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
