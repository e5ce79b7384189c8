"""A draft of one file: its unsaved steps, its preview, and the findings that the edits add and remove.

Which fields may be written is decided by the `WritePolicy` of the format.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.edits import Edit, EditRefused, RedactingPolicy, SetValue, Spans, WritePolicy
from ctxview.core.findings import Finding, Severity
from ctxview.core.lazy import lazy_pattern
from ctxview.files.line_difference import Hunk, line_difference

if TYPE_CHECKING:
    from ctxview.files.save import SavedFile

_INDEX: Final = lazy_pattern(r"/[0-9]+(?=/|$)")


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


class DraftStep(Struct, frozen=True):
    """The edits of one step, and the file after it."""

    edits: tuple[Edit, ...]
    data: bytes


class Draft:
    """One file with unsaved steps. Only `save` writes to disk; each step can be undone, also after a save.

    `review` returns the findings of bytes of the file. `mask` returns bytes of the file as they may be shown;
    its second argument are more spans to withhold.
    """

    def __init__(
        self,
        file: Path,
        original: bytes,
        policy: WritePolicy,
        review: Callable[[bytes], Sequence[Finding]],
        mask: Callable[[bytes, Spans], bytes] = lambda data, _: data,
    ) -> None:
        self.file = file
        self.changes = 0
        """Counts every change, also undo and redo."""
        self.loads = 0
        """Counts how often the content of the file became known here: by a save or by loading it again."""
        self.changed_at = monotonic()
        self.being_edited = False
        """Whether a form or dialog for it is open."""
        self.on_disk: bytes | None = original
        """The bytes of the file when they were seen last; None when they cannot be read."""
        self._policy = policy
        self._review = review
        self._mask = mask
        self._original = original
        self._steps = [DraftStep((), original)]
        self._position = 0
        self._saved: int | None = 0
        """The position of the step that is in the file; None when that step was undone and replaced."""
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
    def is_outdated(self) -> bool:
        """Whether it has nothing to save and the file has other bytes by now, which are then shown."""
        is_idle = not self.dirty and not self.being_edited
        return is_idle and self.on_disk not in (None, self.data)

    @property
    def can_undo(self) -> bool:
        return self._position > 0

    @property
    def can_redo(self) -> bool:
        return self._position < len(self._steps) - 1

    # -- steps -----------------------------------------------------------------------------------------------

    def apply(self, *edits: Edit) -> bool:
        """Apply all `edits` as one step, or none of them; False when they change nothing.

        Raises `EditRefused`.
        """
        data = self.data
        for edit in edits:
            data = self._policy.apply(data, edit)
        if data == self.data:
            return False
        if reason := self._policy.tampering(self._original, data):
            raise EditRefused(reason)
        if self._saved is not None and self._saved > self._position:
            self._saved = None
        self._steps[self._position + 1 :] = [DraftStep(edits, data)]
        self._move(self._position + 1)
        return True

    def undo(self) -> None:
        if not self.can_undo:
            raise EditRefused("there is nothing to undo")
        self._move(self._position - 1)

    def redo(self) -> None:
        if not self.can_redo:
            raise EditRefused("there is nothing to redo")
        self._move(self._position + 1)

    def reload(self, data: bytes, policy: WritePolicy | None = None) -> None:
        """Drop all steps and start again from `data`, the present bytes of the file."""
        self._policy = policy or self._policy
        self._restart([DraftStep((), data)])

    def reapply(self, data: bytes) -> None:
        """Apply the unsaved edits to `data`, the present bytes of the file; raises `EditRefused`."""
        self._restart(self._reapplied(data))

    def cannot_reapply(self, data: bytes) -> str | None:
        """Why the edits cannot be applied to `data`; None when they can."""
        try:
            self._reapplied(data)
        except EditRefused as refusal:
            return str(refusal)
        return None

    # -- questions -------------------------------------------------------------------------------------------

    def findings(self) -> FindingDifference:
        """The findings that saving adds, removes and keeps."""
        before, after = self._reviewed(self._original), self._reviewed(self.data)
        return finding_difference(before, after, shifted=self._shifted())

    def difference(self, old: bytes | None = None, new: bytes | None = None) -> tuple[Hunk, ...]:
        """The masked difference in lines of two versions, by default the original and the draft."""
        old, new = self._original if old is None else old, self.data if new is None else new
        # What a draft redacts is not shown as the old text either.
        policy = self._policy
        spans = policy.withheld(old, new) if isinstance(policy, RedactingPolicy) else ((), ())
        return line_difference(self._mask(old, spans[0]), self._mask(new, spans[1]))

    def preview(self) -> Preview:
        found = self.findings()
        return Preview(self.difference(), found.added, found.removed, found.standing, found.blocked)

    def would_add(self, edits: tuple[Edit, ...]) -> Sequence[Finding]:
        """The findings that `edits` would add; raises `EditRefused`."""
        trial = Draft(self.file, self.data, self._policy, self._review)
        trial.apply(*edits)
        return trial.findings().added

    def save(self) -> SavedFile:
        """Write the draft to its file; raises `EditRefused`, `SaveConflict` or `SaveRefused`."""
        from ctxview.files.save import save

        if not self.dirty:
            raise EditRefused("nothing was changed, so there is nothing to save")
        if blocked := self.findings().blocked:
            raise EditRefused(blocked)
        if reason := self._policy.tampering(self._original, self.data):
            raise EditRefused(reason)
        saved = save(self.file, self.data, expected=self._original)
        self._original, self._saved, self.on_disk = self.data, self._position, self.data
        self.loads += 1
        return saved

    def _move(self, position: int) -> None:
        self._position = position
        self.changes += 1
        self.changed_at = monotonic()

    def _restart(self, steps: list[DraftStep]) -> None:
        self._steps, self._original, self.on_disk = steps, steps[0].data, steps[0].data
        self._saved, self._reviews = 0, []
        self.loads += 1
        self._move(len(steps) - 1)

    def _reapplied(self, data: bytes) -> list[DraftStep]:
        if self._saved is None or self._position < self._saved:
            raise EditRefused(
                "the undone change is already saved in the file; an undo fits only the bytes it was made for"
            )
        trial = Draft(self.file, data, self._policy, self._review)
        for step in self._steps[self._saved + 1 : self._position + 1]:
            trial.apply(*step.edits)
        return trial._steps

    def _shifted(self) -> bool:
        """Whether elements may have changed their indexes since the file was loaded or saved."""
        if self._saved is None:
            return True
        low, high = sorted((self._position, self._saved))
        return any(_shifts_elements(edit) for step in self._steps[low + 1 : high + 1] for edit in step.edits)

    def _reviewed(self, data: bytes) -> ReviewedVersion:
        known = next((each for each in self._reviews if each.data == data), None)
        if known is None:
            known = ReviewedVersion(data, tuple(self._review(data)))
            # Two are enough: the original and the latest version of the draft.
            self._reviews = [each for each in self._reviews if each.data == self._original] + [known]
        return known


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

    @property
    def standing(self) -> tuple[Finding, ...]:
        """The errors that stay; they do not stop a save."""
        return _errors(self.kept)

    @property
    def blocked(self) -> str | None:
        """Why the later version may not be saved: it has a new error. None when it may."""
        return _why_blocked(_errors(self.added))


def finding_difference(
    before: ReviewedVersion, after: ReviewedVersion, *, shifted: bool
) -> FindingDifference:
    """Compare the findings of two versions of a file.

    Offsets and lines move with every edit, so two findings are equal if they have the same message and
    pointer. Where elements may have `shifted` to other indexes, they are also equal if they are about the
    same bytes, or about the same pointer apart from its indexes. One that is no error is also the same when
    only its words changed, which may quote the value.
    """
    gone: Iterable[Finding] = before.findings
    new: Iterable[Finding] = after.findings
    places = (_pointer, _bytes, _pointer_without_indexes) if shifted else (_pointer,)
    for text, place in (*((_text, place) for place in places), (_text_of_error, _pointer)):
        unpaired: dict[Hashable, list[Finding]] = {}
        for finding in gone:
            unpaired.setdefault((text(finding), place(finding, before.data)), []).append(finding)
        new = [each for each in new if not _pair(unpaired, (text(each), place(each, after.data)))]
        gone = [finding for left in unpaired.values() for finding in left]
    added = {id(finding) for finding in new}
    kept = tuple(finding for finding in after.findings if id(finding) not in added)
    return FindingDifference(tuple(new), tuple(gone), kept)


def _text(finding: Finding) -> Hashable:
    return finding.rule, finding.severity, finding.effect, finding.message, finding.origin.file


def _text_of_error(finding: Finding) -> Hashable:
    """What an error says, of other findings only the rule: a wrong value for another is a new error."""
    is_error = finding.severity is Severity.ERROR
    return _text(finding) if is_error else (finding.rule, finding.severity, finding.origin.file)


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
