"""One draft and the edits that led to it. Judges by the rules of its source, so it belongs into a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic

from ctxview.analysis.tokens import ESTIMATES
from ctxview.edits import Draft, Edit, Refused
from ctxview.files.save import Saved
from ctxview.findings import Finding
from ctxview.formats import Lens, Source
from ctxview.formats.interface import KeepsPast
from ctxview.tui.loading import Manner
from ctxview.tui.session_view import Look


class Work:
    """Edits are remembered so that they can be made again on a file that changed meanwhile."""

    def __init__(self, source: Source, look: Look, file: str, manner: Manner) -> None:
        if isinstance(source, KeepsPast) and (why := source.only_shown(look.revision)) is not None:
            raise Refused(why)
        policy = source.policy(file)
        if policy is None:
            raise Refused("nothing may be written in this file; it is only shown")
        self._policy = policy
        self._review = _reviewer(source, look, file, manner)
        self._edits: list[tuple[Edit, ...]] = []
        self._position = 0
        self._saved = 0
        """So many of the edits are in the file already."""
        self.steps = 0
        """Counts every change, there and back."""
        self.changed_at = monotonic()
        self.draft = Draft(Path(file), source.bytes_of(file), policy, self._review)

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


def _reviewer(source: Source, look: Look, file: str, manner: Manner) -> Callable[[bytes], Sequence[Finding]]:
    """What is wrong with bytes, by the rules of their source."""

    def review(data: bytes) -> Sequence[Finding]:
        lens = Lens(ESTIMATES["bytes/4"], look.profile, manner.mode)
        return source.reading(look.revision, lens, {file: data}).findings

    return review
