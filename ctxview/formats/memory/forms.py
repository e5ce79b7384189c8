"""The forms of a memory: the context document and tags of entries; raw texts and summaries are locked."""

from __future__ import annotations

from typing import Final

from ctxview.core.fields import Field, Form, JsonShape, Owner, TextShape
from ctxview.core.origin import JsonValue
from ctxview.formats.memory.model import ContextSnapshot, Entry, Place
from ctxview.formats.memory.profile import Profile

IMMUTABLE: Final = "Entries are immutable: the raw text and its summary are the source of truth."
SERVER: Final = "The server gives ids and times."
PAST: Final = "Only the latest context can be edited; saving adds a new snapshot."


def context_form(snapshot: ContextSnapshot, profile: Profile, *, editable: bool) -> Form | None:
    """Return the form of a context document, which is one text; saving it appends a snapshot."""
    pointer, file = _line(snapshot.place)
    if pointer is None:
        return None
    shape = TextShape(max_length=profile.caps.context, multiline=True) if editable else None
    why = "" if editable else PAST
    field = Field("context", snapshot.text, Owner.MODEL, f"{pointer}/context", shape, why)
    return Form(file, pointer, (field,))


def line_form(snapshot: ContextSnapshot, number: int, text: str, *, editable: bool) -> Form | None:
    """Return the form of one line of the context; saving it appends a snapshot with the line changed."""
    pointer, file = _line(snapshot.place)
    if pointer is None:
        return None
    place = f"{pointer}/context/{number}"
    shape = TextShape() if editable else None
    return Form(
        file,
        place,
        (Field("text", text, Owner.MODEL, place, shape, "" if editable else PAST),),
        removable=editable,
    )


def entry_form(entry: Entry, *, editable: bool) -> Form | None:
    """Return the form of an entry: its tags can be changed, which appends a line."""
    pointer, file = _line(entry.place)
    if pointer is None:
        return None
    tags: JsonValue = dict(entry.tags) if entry.tags is not None else {}
    can = editable and entry.id is not None
    why = "" if can else "Tags can be changed in the latest revision, of entries with an id."
    fields = (
        Field(
            "tags",
            tags,
            Owner.MODEL,
            f"{pointer}/tags",
            JsonShape() if can else None,
            why,
            entry.tags is not None,
        ),
        Field("rawEntry", entry.raw, Owner.APPEND_ONLY, f"{pointer}/rawEntry", why=IMMUTABLE),
        Field("summary", entry.summary, Owner.APPEND_ONLY, f"{pointer}/summary", why=IMMUTABLE),
        Field("entryId", entry.id, Owner.SYSTEM, f"{pointer}/entryId", why=SERVER),
        Field("creationTime", entry.time, Owner.SYSTEM, f"{pointer}/creationTime", why=SERVER),
    )
    return Form(file, pointer, fields)


def _line(place: Place) -> tuple[str | None, str]:
    """Return the pointer and the file of the line of a record; no pointer while its number is not known."""
    line = place.line()
    return (None if line.number is None else f"/{line.number}"), line.file
