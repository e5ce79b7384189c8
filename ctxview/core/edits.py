"""Edits of one file, and the policy through which a format says which of them are allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from ctxview.core.origin import JsonValue


class SetValue(Struct, frozen=True):
    """Replace the value at `pointer`, or add that member to its object."""

    pointer: str
    value: JsonValue


class InsertItem(Struct, frozen=True):
    """Add an element to an array: before the element at `pointer`, or at the end when it ends in `/-`."""

    pointer: str
    value: JsonValue


class DeleteValue(Struct, frozen=True):
    """Remove a member or an element."""

    pointer: str


class MoveItem(Struct, frozen=True):
    """Move an element, byte for byte, from its array to the end of another one (`to` ends in `/-`)."""

    pointer: str
    to: str


Edit: TypeAlias = SetValue | InsertItem | DeleteValue | MoveItem


class EditRefused(Exception):
    """An edit that is not allowed; the message tells the person why."""


Spans: TypeAlias = Sequence[tuple[int, int]]


@runtime_checkable
class RedactingPolicy(Protocol):
    """A write policy with which content can be redacted."""

    def withheld(self, before: bytes, after: bytes) -> tuple[Spans, Spans]:
        """Return the byte spans of two versions that the redactions of either withhold."""


class WritePolicy(Protocol):
    """The fields of one file that a format lets a person write."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        """Return `data` after `edit`; raises `EditRefused` when the edit is not allowed or not possible."""

    def tampering(self, before: bytes, after: bytes) -> str | None:
        """Return why `after` may not replace `before`, or None when only writable fields differ."""
