"""A draft of one file: its unsaved steps, its preview, and the findings that the edits add and remove.

Which fields may be written is decided by the `WritePolicy` of the format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.edits import Edit, EditRefused, SetValue, WritePolicy
from ctxview.core.findings import Finding, Severity
from ctxview.files.line_difference import Hunk, line_difference

if TYPE_CHECKING:
    from ctxview.files.save import SavedFile

_INDEX: Final = re.compile(r"/[0-9]+(?=/|$)")


class Preview(Struct, frozen=True):
    """The effect of saving a draft: the difference in lines and in findings.

    `standing` are the errors that the file had before and still has: they do not stop a save. New errors do,
    and `blocked` then says so.
    """

    hunks: tuple[Hunk, ...]
    added: tuple[Finding, ...]
    removed: tuple[Finding, ...]
    standing: tuple[Finding, ...]
    blocked: str | None


def with_added(preview: Preview, added: Sequence[Finding]) -> Preview:
    """Return the preview with other added findings."""
    return replace(preview, added=tuple(added), blocked=_why_blocked(_errors(added)))


class Draft:
    """One file with unsaved steps. Only `save` writes to disk; each step can be undone, also after a save."""

    def __init__(
        self, file: Path, original: bytes, policy: WritePolicy, review: Callable[[bytes], Sequence[Finding]]
    ) -> None:
        self.file = file
        self._policy = policy
        self._review = review
        self._original = original
        self._steps = [DraftStep(original, shifts=False)]
        self._position = 0
        self._original_position: int | None = 0
        self._reviews: list[ReviewedVersion] = []

    @property
    def original(self) -> bytes:
        """The bytes of the file when it was loaded or last saved."""
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
        """Apply all `edits` as one step, or none of them; raises `EditRefused`."""
        data = self.data
        for edit in edits:
            data = self._policy.apply(data, edit)
        self._add_step(data, shifts=any(_shifts_elements(edit) for edit in edits))

    def replace(self, data: bytes) -> None:
        """Replace the whole text, if only writable fields differ; raises `EditRefused`."""
        self._add_step(data, shifts=True)

    def undo(self) -> None:
        if not self.can_undo:
            raise EditRefused("there is nothing to undo")
        self._position -= 1

    def redo(self) -> None:
        if not self.can_redo:
            raise EditRefused("there is nothing to redo")
        self._position += 1

    def preview(self) -> Preview:
        before, after = self._reviewed(self._original), self._reviewed(self.data)
        findings = finding_difference(before, after, shifted=self._shifted())
        return Preview(
            hunks=line_difference(self._original, self.data),
            added=findings.added,
            removed=findings.removed,
            standing=_errors(findings.kept),
            blocked=_why_blocked(_errors(findings.added)),
        )

    def save(self) -> SavedFile:
        """Write the draft to its file; raises `EditRefused`, `SaveConflict` or `SaveRefused`."""
        from ctxview.files.save import save

        if not self.dirty:
            raise EditRefused("nothing was changed, so there is nothing to save")
        if blocked := self.preview().blocked:
            raise EditRefused(blocked)
        if reason := self._policy.tampering(self._original, self.data):
            raise EditRefused(reason)
        saved = save(self.file, self.data, expected=self._original)
        self._original, self._original_position = self.data, self._position
        return saved

    def _add_step(self, data: bytes, *, shifts: bool) -> None:
        if data == self.data:
            return
        if reason := self._policy.tampering(self._original, data):
            raise EditRefused(reason)
        if self._original_position is not None and self._original_position > self._position:
            self._original_position = None
        self._position += 1
        self._steps[self._position :] = [DraftStep(data, shifts)]

    def _shifted(self) -> bool:
        """Whether elements may have changed their indexes since the file was loaded or saved."""
        if self._original_position is None:
            return True
        low, high = sorted((self._position, self._original_position))
        return any(step.shifts for step in self._steps[low + 1 : high + 1])

    def _reviewed(self, data: bytes) -> ReviewedVersion:
        known = next((each for each in self._reviews if each.data == data), None)
        if known is None:
            known = ReviewedVersion(data, tuple(self._review(data)))
            # Two are enough: the original and the latest version of the draft.
            self._reviews = [each for each in self._reviews if each.data == self._original] + [known]
        return known


class DraftStep(Struct, frozen=True):
    """The file after one step, and whether the step may have moved elements to other indexes."""

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
    return f"the change would add an error: {errors[0].message} ({errors[0].rule}){more}"


class ReviewedVersion(Struct, frozen=True):
    """One version of a file with all its findings."""

    data: bytes
    findings: Sequence[Finding]


class FindingDifference(Struct, frozen=True):
    """The findings that two versions do not share; `kept` are the shared ones, from the later version."""

    added: tuple[Finding, ...]
    removed: tuple[Finding, ...]
    kept: tuple[Finding, ...]


def finding_difference(
    before: ReviewedVersion, after: ReviewedVersion, *, shifted: bool
) -> FindingDifference:
    """Compare the findings of two versions of a file.

    Offsets and lines move with every edit, so two findings are equal if they have the same message and
    pointer. Where elements may have `shifted` to other indexes, they are also equal if they are about the
    same bytes, or about the same pointer apart from its indexes.
    """
    gone: Iterable[Finding] = before.findings
    new: Iterable[Finding] = after.findings
    for place in (_pointer, _bytes, _pointer_without_indexes) if shifted else (_pointer,):
        unpaired: dict[Hashable, list[Finding]] = {}
        for finding in gone:
            unpaired.setdefault((_text(finding), place(finding, before.data)), []).append(finding)
        new = [each for each in new if not _pair(unpaired, (_text(each), place(each, after.data)))]
        gone = [finding for left in unpaired.values() for finding in left]
    added = {id(finding) for finding in new}
    kept = tuple(finding for finding in after.findings if id(finding) not in added)
    return FindingDifference(tuple(new), tuple(gone), kept)


def _text(finding: Finding) -> Hashable:
    return finding.rule, finding.severity, finding.effect, finding.message, finding.origin.file


def _pointer(finding: Finding, _: bytes) -> Hashable:
    return finding.origin.pointer


def _bytes(finding: Finding, data: bytes) -> Hashable:
    return data[finding.origin.start : finding.origin.end]


def _pointer_without_indexes(finding: Finding, _: bytes) -> Hashable:
    return _INDEX.sub("/#", finding.origin.pointer or "")


def _pair(unpaired: dict[Hashable, list[Finding]], key: Hashable) -> bool:
    """Remove one unpaired finding with this `key`; return whether there was one."""
    found = unpaired.get(key)
    if not found:
        return False
    found.pop(0)
    return True
