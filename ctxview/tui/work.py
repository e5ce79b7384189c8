"""One draft and the edits that led to it. Judges by the rules of its source, so it belongs into a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic

from ctxview.analysis.tokens import ESTIMATES
from ctxview.edits import Draft, Edit, Preview, Refused, WritePolicy
from ctxview.files.line_difference import Hunk, difference
from ctxview.files.save import Saved
from ctxview.findings import Finding
from ctxview.formats import HasEditors, Lens, Source
from ctxview.tui.loading import Manner
from ctxview.tui.session_view import Look
from ctxview.tui.veil import may_be_shown


class Work:
    """Edits are remembered so that they can be made again on a file that changed meanwhile."""

    def __init__(self, source: Source, look: Look, file: str, manner: Manner) -> None:
        self._source = source
        self._policy = _policy(source, file, look.editor)
        self.editor = look.editor
        """In whose name; None for the first."""
        self._review = _reviewer(source, look, file, manner)
        self._edits: list[tuple[Edit, ...]] = []
        self._position = 0
        self._saved = 0
        """So many of the edits are in the file already."""
        self.steps = 0
        """Counts every change, there and back."""
        self.changed_at = monotonic()
        self.in_hand = False
        """Whether somebody is about to change it, in a form."""
        self.draft = Draft(Path(file), source.bytes_of(file), self._policy, self._review)

    def apply(self, *edits: Edit) -> bool:
        """False when the edits change nothing; raises `Refused`."""
        before = self.draft.data
        self.draft.apply(*edits)
        if self.draft.data == before:
            return False
        self._edits[self._position :] = [edits]
        self._position += 1
        self._changed()
        return True

    def undo(self) -> None:
        self.draft.undo()
        self._position -= 1
        self._changed()

    def redo(self) -> None:
        self.draft.redo()
        self._position += 1
        self._changed()

    def would_add(self, edits: tuple[Edit, ...]) -> Sequence[Finding]:
        """The findings that edits would bring; raises `Refused`."""
        trial = Draft(self.draft.file, self.draft.data, self._policy, self._review)
        trial.apply(*edits)
        return trial.preview().added

    def preview(self) -> Preview:
        """What saving would do; nothing of it shows what is withheld."""
        told = self.draft.preview()
        return replace(told, hunks=self.difference(self.draft.original, self.draft.data))

    def difference(self, old: bytes, new: bytes) -> tuple[Hunk, ...]:
        """The difference of two versions of the file, as far as they may be shown."""
        return difference(self.shown(old), self.shown(new))

    def shown(self, data: bytes) -> bytes:
        return may_be_shown(self._source, str(self.draft.file), data).data

    def hand_over(self, editor: str | None) -> None:
        """Somebody else edits: what was saved stays and cannot be undone any more; raises `Refused`."""
        self.reload(self.draft.original)
        self._policy = _policy(self._source, str(self.draft.file), editor)
        self.editor = editor
        self.reload(self.draft.original)

    def cannot_reapply(self, data: bytes) -> str | None:
        """Why the edits no longer fit on other bytes; None when they do."""
        try:
            self._again(data)
        except Refused as refusal:
            return str(refusal)
        return None

    def reapply(self, data: bytes) -> None:
        """Makes the same edits on what the file holds now; raises `Refused`."""
        self.draft = self._again(data)
        self._edits = self._edits[self._saved : self._position]
        self._position, self._saved = len(self._edits), 0
        self._changed()

    def save(self) -> Saved:
        """Writes the draft; raises `Conflict`, `SaveRefused` or `Refused`."""
        saved = self.draft.save()
        self._saved = self._position
        return saved

    def reload(self, data: bytes) -> None:
        """Drops the edits and takes the file as it is now."""
        self.draft = Draft(self.draft.file, data, self._policy, self._review)
        self._edits, self._position, self._saved = [], 0, 0
        self._changed()

    def _changed(self) -> None:
        self.steps += 1
        self.changed_at = monotonic()

    def _again(self, data: bytes) -> Draft:
        if self._position < self._saved:
            raise Refused(
                "what was undone is in the file already, and an undo fits only the bytes it was made on"
            )
        draft = Draft(self.draft.file, data, self._policy, self._review)
        for edits in self._edits[self._saved : self._position]:
            draft.apply(*edits)
        return draft


def _policy(source: Source, file: str, editor: str | None) -> WritePolicy:
    """What may be written in a file in somebody's name; raises `Refused`."""
    if isinstance(source, HasEditors):
        editor = editor or source.editors[0]
        policy, whose = source.policy_of(file, editor), f" as {editor}"
    else:
        policy, whose = source.policy(file), ""
    if policy is None:
        raise Refused(f"nothing may be written in this file{whose}; it is only shown")
    return policy


def _reviewer(source: Source, look: Look, file: str, manner: Manner) -> Callable[[bytes], Sequence[Finding]]:
    """What is wrong with bytes, by the rules of their source."""

    def review(data: bytes) -> Sequence[Finding]:
        lens = Lens(ESTIMATES["bytes/4"], look.profile, manner.mode, editor=look.editor)
        return source.reading(look.revision, lens, {file: data}).findings

    return review
