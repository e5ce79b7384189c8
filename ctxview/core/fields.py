"""The fields of an item: their values, owners and shapes, and the forms in which a person edits them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from ctxview.core.origin import JsonValue as JsonValue

if TYPE_CHECKING:
    from ctxview.core.edits import MoveItem


class Owner(StrEnum):
    """Who may write a field."""

    MODEL = "model"
    SYSTEM = "system"
    DERIVED = "derived"
    APPEND_ONLY = "append-only"


class NumberShape(Struct, frozen=True):
    """A number within a range."""

    minimum: float
    maximum: float | None = None
    integer: bool = False
    nullable: bool = False


class ChoiceShape(Struct, frozen=True):
    """One of a few words."""

    words: tuple[str, ...]


class TagsShape(Struct, frozen=True):
    """A few short words, each once."""

    max_items: int
    max_length: int


class TextShape(Struct, frozen=True):
    """A text; `max_length` is in UTF-16 units."""

    max_length: int | None = None
    multiline: bool = False
    required: bool = True


class JsonShape(Struct, frozen=True):
    """Any JSON value, edited as JSON text."""


FieldShape: TypeAlias = NumberShape | ChoiceShape | TagsShape | TextShape | JsonShape


class Field(Struct, frozen=True):
    """One named value, who owns it, and (when the model may write it) how it is edited.

    `shape` is None for a field that cannot be edited here; `why` then gives the reason in a sentence.
    `present` is False when the file does not contain the key.
    """

    name: str
    value: JsonValue
    owner: Owner
    pointer: str
    shape: FieldShape | None = None
    why: str = ""
    present: bool = True


class Form(Struct, frozen=True):
    """An object that a person may fill in: its file, its pointer (also of a new object) and its typed fields.

    A pointer ending in `/-` names a new element at the end of an array. An object that does not exist yet is
    written whole; in an existing object only the changed fields are written.
    """

    file: str
    pointer: str
    fields: Sequence[Field]
    exists: bool = True
    removable: bool = False

    @property
    def editable(self) -> bool:
        return any(item.shape is not None for item in self.fields)


class Move(Struct, frozen=True):
    """A tier that a block may be moved to, with the file and the edit that move it."""

    tier: str
    file: str
    edit: MoveItem
