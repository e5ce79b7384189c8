"""Changing only what may be changed: edits, the draft they build up, and the save at its end.

Knows bytes, pointers and findings. What may be written is the format's to say, through its `WritePolicy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ctxview.state import JsonValue


@dataclass(frozen=True, slots=True)
class SetValue:
    """Replace the value at `pointer`, or add that member to its object."""

    pointer: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class InsertItem:
    """Add an element to an array: before the element at `pointer`, or at the end when it ends in `/-`."""

    pointer: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class DeleteValue:
    """Remove a member or an element."""

    pointer: str


@dataclass(frozen=True, slots=True)
class MoveItem:
    """Take an element out of one array and append its very bytes to another (`to` ends in `/-`)."""

    pointer: str
    to: str


Edit: TypeAlias = SetValue | InsertItem | DeleteValue | MoveItem


class Refused(Exception):
    """An edit that must not happen; the message says why, for the person who tried."""


class WritePolicy(Protocol):
    """What a format lets a person write into one file."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        """The file after `edit`; raises `Refused` when the field is not the model's, or the edit makes no sense."""

    def tampering(self, before: bytes, after: bytes) -> str | None:
        """Why `after` may not replace `before`, however it came about; None when only writable fields differ."""
