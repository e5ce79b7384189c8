"""Changing only what may be changed: edits, the draft they build up, and the save at its end.

Knows bytes, pointers and findings. What may be written is the format's to say, through its `WritePolicy`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ctxview import finding_difference
from ctxview.files import line_difference
from ctxview.files.line_difference import Hunk
from ctxview.finding_difference import Reviewed
from ctxview.findings import Finding, Severity
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass

if TYPE_CHECKING:
    from ctxview.files.save import Saved


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
        """The file after `edit`; raises `Refused` when it may not or cannot be made."""

    def tampering(self, before: bytes, after: bytes) -> str | None:
        """Why `after` may not replace `before`, however made; None when only writable fields differ."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What saving a draft would do: the difference in bytes, and in findings.

    `standing` are the errors that were in the file before and still are: they do not stop a save. New
    ones do, and `blocked` then says so.
    """

    hunks: tuple[Hunk, ...]
    added: tuple[Finding, ...]
    removed: tuple[Finding, ...]
    standing: tuple[Finding, ...]
    blocked: str | None


class Draft:
    """One file being edited: nothing is on disk before `save`, and each step can be undone, also after it."""

    def __init__(
        self, file: Path, original: bytes, policy: WritePolicy, review: Callable[[bytes], Sequence[Finding]]
    ) -> None:
        self.file = file
        self._policy = policy
        self._review = review
        self._original = original
        self._steps = [_Step(original, shifts=False)]
        self._position = 0
        self._original_position: int | None = 0
        self._reviews: list[Reviewed] = []

    @property
    def original(self) -> bytes:
        """What the file held when it was loaded or last saved."""
        return self._original

    @property
    def data(self) -> bytes:
        return self._steps[self._position].data

    @property
    def dirty(self) -> bool:
        return self.data != self._original

    @property
    def can_undo(self) -> bool:
        return self._position > 0

    @property
    def can_redo(self) -> bool:
        return self._position < len(self._steps) - 1

    def apply(self, *edits: Edit) -> None:
        """Make all of the edits, as one step, or none of them; raises `Refused`."""
        data = self.data
        for edit in edits:
            data = self._policy.apply(data, edit)
        self._add_step(data, shifts=any(_shifts_elements(edit) for edit in edits))

    def replace(self, data: bytes) -> None:
        """Take over a whole new text, if it changes only what may be changed; raises `Refused`."""
        self._add_step(data, shifts=True)

    def undo(self) -> None:
        if not self.can_undo:
            raise Refused("there is nothing to undo")
        self._position -= 1

    def redo(self) -> None:
        if not self.can_redo:
            raise Refused("there is nothing to redo")
        self._position += 1

    def preview(self) -> Preview:
        before, after = self._reviewed(self._original), self._reviewed(self.data)
        findings = finding_difference.difference(before, after, shifted=self._shifted())
        return Preview(
            hunks=line_difference.difference(self._original, self.data),
            added=findings.added,
            removed=findings.removed,
            standing=_errors(findings.kept),
            blocked=_why_blocked(_errors(findings.added)),
        )

    def save(self) -> Saved:
        """Write the draft to its file; raises `Refused`, or `Conflict` or `SaveRefused` of `files.save`."""
        from ctxview.files.save import save

        if not self.dirty:
            raise Refused("nothing was changed, so there is nothing to save")
        if blocked := self.preview().blocked:
            raise Refused(blocked)
        if reason := self._policy.tampering(self._original, self.data):
            raise Refused(reason)
        saved = save(self.file, self.data, expected=self._original)
        self._original, self._original_position = self.data, self._position
        return saved

    def _add_step(self, data: bytes, *, shifts: bool) -> None:
        if data == self.data:
            return
        if reason := self._policy.tampering(self._original, data):
            raise Refused(reason)
        if self._original_position is not None and self._original_position > self._position:
            self._original_position = None
        self._position += 1
        self._steps[self._position :] = [_Step(data, shifts)]

    def _shifted(self) -> bool:
        """Whether elements may have changed their places since the file was loaded or saved."""
        if self._original_position is None:
            return True
        low, high = sorted((self._position, self._original_position))
        return any(step.shifts for step in self._steps[low + 1 : high + 1])

    def _reviewed(self, data: bytes) -> Reviewed:
        known = next((each for each in self._reviews if each.data == data), None)
        if known is None:
            known = Reviewed(data, tuple(self._review(data)))
            # Two are enough: the original and the last look at the draft.
            self._reviews = [each for each in self._reviews if each.data == self._original] + [known]
        return known


@dataclass(frozen=True, slots=True)
class _Step:
    """The file after one step, and whether that step may have moved elements to other indexes."""

    data: bytes
    shifts: bool


def _shifts_elements(edit: Edit) -> bool:
    return not isinstance(edit, SetValue) or isinstance(edit.value, dict | list)


def _errors(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


def _why_blocked(errors: Sequence[Finding]) -> str | None:
    if not errors:
        return None
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"the change would bring in an error: {errors[0].message} ({errors[0].rule}){more}"
