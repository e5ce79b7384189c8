"""The drafts of an inspector: at most one for each file, made at the first change to it.

Knows which drafts belong to the selected revision, and which files changed on disk while they had a draft. No
toolkit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.edits import Edit, EditRefused, RedactingPolicy, WritePolicy
from ctxview.core.findings import Finding
from ctxview.editing.draft import Draft, Preview
from ctxview.files.line_difference import Hunk, line_difference
from ctxview.files.save import SavedFile
from ctxview.formats import Source
from ctxview.formats.masked_bytes import showable_bytes
from ctxview.tui.model.inspector import InspectorModel, read_only_reason
from ctxview.tui.model.view_state import ReadingKey, ReadOptions


class DraftBytes(Struct, frozen=True):
    """The bytes of a draft before a reread; also `unsaved` while a form for it is open."""

    data: bytes
    unsaved: bool


def draft_overlay(drafts: Mapping[str, DraftBytes], on_disk: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """The drafts to read in place of their files; one without unsaved changes gives way to new content."""
    return {
        file: draft.data
        for file, draft in drafts.items()
        if draft.unsaved or on_disk.get(file) in (None, draft.data)
    }


class DraftSet:
    def __init__(self, options: ReadOptions, model: InspectorModel) -> None:
        self._options = options
        self._model = model
        self._drafts: dict[tuple[int, str], FileDraft] = {}
        model.has_own_draft = self._begun_at

    def open(self, source: Source, key: ReadingKey, file: str) -> FileDraft:
        """Return the draft of a file, marked as being edited; raise `EditRefused` when it is read-only."""
        if (why := read_only_reason(source, key.revision)) is not None:
            raise EditRefused(why)
        file_draft = self._drafts.get((key.source, file))
        if file_draft is None or file_draft.is_outdated:
            file_draft = FileDraft(source, key, file, self._options)
        elif file_draft.editor != key.editor:
            file_draft.change_editor(key.editor)
        file_draft.being_edited = True
        self._drafts[key.source, file] = file_draft
        return file_draft

    def draft_bytes(self, source: int) -> dict[str, DraftBytes]:
        """The drafts of a source by file, as they are now."""
        return {
            file: DraftBytes(file_draft.draft.data, file_draft.draft.dirty or file_draft.being_edited)
            for (number, file), file_draft in list(self._drafts.items())
            if number == source
        }

    def update_from_disk(self, source: int, on_disk: Mapping[str, bytes | None]) -> None:
        """Take the present bytes of the drafted files; a draft without unsaved changes gives way to them."""
        for file, data in on_disk.items():
            file_draft = self._drafts.get((source, file))
            if file_draft is None:
                continue
            file_draft.on_disk = data
            if file_draft.is_outdated:
                del self._drafts[source, file]

    def changed_on_disk(self, key: ReadingKey) -> list[str]:
        """The names of the files of a revision that changed on disk and have unsaved changes."""
        return [
            each.draft.file.name
            for each in self.of(key)
            if each.draft.dirty and each.on_disk != each.draft.original
        ]

    def change_editor(self, key: ReadingKey) -> None:
        """Edit in another name from now on; saved changes can no longer be undone."""
        for (source, _), file_draft in self._drafts.items():
            if source == key.source:
                with suppress(EditRefused):
                    file_draft.change_editor(key.editor)

    def of(self, key: ReadingKey) -> list[FileDraft]:
        """The drafts of the files of a revision, the one changed last first."""
        source = self._model.sources[key.source] if self._drafts else None
        if source is None or read_only_reason(source, key.revision) is not None:
            return []
        place = source.revisions[key.revision].file
        drafts = [
            file_draft
            for (number, file), file_draft in list(self._drafts.items())
            if number == key.source
            and (Path(file).is_relative_to(place) or file_draft.begun_at.file == place)
        ]
        return sorted(drafts, key=lambda each: -each.changed_at)

    def _begun_at(self, key: ReadingKey) -> bool:
        """Whether a draft with unsaved changes was begun at this revision."""
        wanted = self._model.sources[key.source].revisions[key.revision] if self._drafts else None
        return wanted is not None and any(
            (each.begun_at.file, each.begun_at.label) == (wanted.file, wanted.label)
            for each in self.of(key)
            if each.draft.dirty or each.being_edited
        )

    def overlay(self, source: int) -> dict[str, bytes]:
        """The bytes of the drafts of a source, also of saved ones, since the source caches what it read."""
        return {
            file: file_draft.draft.data
            for (number, file), file_draft in self._drafts.items()
            if number == source and not file_draft.is_outdated
        }

    def steps(self, source: int) -> int:
        """A number that grows with each change to a draft of a source, so that every state has a key."""
        return sum(file_draft.steps for (number, _), file_draft in self._drafts.items() if number == source)

    def dirty(self, key: ReadingKey) -> bool:
        return any(file_draft.draft.dirty for file_draft in self.of(key))

    def unsaved_in(self, source: int) -> bool:
        return any(
            file_draft.draft.dirty for (number, _), file_draft in self._drafts.items() if number == source
        )

    @property
    def unsaved(self) -> list[str]:
        return [file_draft.draft.file.name for file_draft in self._drafts.values() if file_draft.draft.dirty]


class FileDraft:
    """The draft of one file with its edits, which can be reapplied to a file that changed meanwhile."""

    def __init__(self, source: Source, key: ReadingKey, file: str, options: ReadOptions) -> None:
        self._source = source
        self._policy = _policy_of(source, file, key.editor)
        self.begun_at = source.revisions[key.revision]
        self.editor = key.editor
        """The name under which it is edited; None for the first editor."""
        self._review = _reviewer(source, key, file, options)
        self._edits: list[tuple[Edit, ...]] = []
        self._position = 0
        self._saved = 0
        """How many of the edits are in the file already."""
        self.steps = 0
        """Counts every change, also undo and redo."""
        self.changed_at = monotonic()
        self.being_edited = False
        """Whether a form or dialog for it is open."""
        self.draft = Draft(Path(file), source.bytes_of(file), self._policy, self._review)
        self.on_disk: bytes | None = self.draft.original
        """The bytes of the file when they were seen last; None when they cannot be read."""

    @property
    def is_outdated(self) -> bool:
        """Whether it has nothing to save and the file has other bytes by now, which are then shown."""
        is_idle = not self.draft.dirty and not self.being_edited
        return is_idle and self.on_disk not in (None, self.draft.data)

    def apply(self, *edits: Edit) -> bool:
        """Apply the edits; False when they change nothing. Raises `EditRefused`."""
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
        """The findings that `edits` would add; raises `EditRefused`."""
        trial = Draft(self.draft.file, self.draft.data, self._policy, self._review)
        trial.apply(*edits)
        return trial.preview().added

    def preview(self) -> Preview:
        """The effect of saving; its hunks do not show withheld content."""
        preview = self.draft.preview()
        return replace(preview, hunks=self.difference(self.draft.original, self.draft.data))

    def difference(self, old: bytes, new: bytes) -> tuple[Hunk, ...]:
        """The difference of two versions of the file, without withheld content."""
        file, policy = str(self.draft.file), self._policy
        # What a draft redacts is not shown as the old text either.
        spans = policy.withheld(old, new) if isinstance(policy, RedactingPolicy) else ((), ())
        shown = (
            showable_bytes(self._source, file, data, also).data
            for data, also in zip((old, new), spans, strict=True)
        )
        return line_difference(*shown)

    def change_editor(self, editor: str | None) -> None:
        """Edit in the name of `editor`; saved changes can no longer be undone. Raises `EditRefused`."""
        self.reload(self.draft.original)
        self._policy = _policy_of(self._source, str(self.draft.file), editor)
        self.editor = editor
        self.reload(self.draft.original)

    def cannot_reapply(self, data: bytes) -> str | None:
        """Why the edits cannot be applied to `data`; None when they can."""
        try:
            self._reapplied(data)
        except EditRefused as refusal:
            return str(refusal)
        return None

    def reapply(self, data: bytes) -> None:
        """Apply the same edits to `data`, the present bytes of the file; raises `EditRefused`."""
        self.draft = self._reapplied(data)
        self._edits = self._edits[self._saved : self._position]
        self._position, self._saved = len(self._edits), 0
        self.on_disk = data
        self._changed()

    def save(self) -> SavedFile:
        """Write the draft; raises `SaveConflict`, `SaveRefused` or `EditRefused`."""
        saved = self.draft.save()
        self._saved = self._position
        self.on_disk = self.draft.original
        return saved

    def reload(self, data: bytes) -> None:
        """Drop the edits and start again from `data`, the present bytes of the file."""
        self.draft = Draft(self.draft.file, data, self._policy, self._review)
        self._edits, self._position, self._saved = [], 0, 0
        self.on_disk = data
        self._changed()

    def _changed(self) -> None:
        self.steps += 1
        self.changed_at = monotonic()

    def _reapplied(self, data: bytes) -> Draft:
        if self._position < self._saved:
            raise EditRefused(
                "the undone change is already saved in the file; an undo fits only the bytes it was made for"
            )
        draft = Draft(self.draft.file, data, self._policy, self._review)
        for edits in self._edits[self._saved : self._position]:
            draft.apply(*edits)
        return draft


def _policy_of(source: Source, file: str, editor: str | None) -> WritePolicy:
    """The write policy of `file` for `editor`; raises `EditRefused` when it is read-only."""
    if (editors := source.abilities.editors) is not None:
        editor = editor or editors.editors[0]
        policy, suffix = editors.policy_of(file, editor), f" as {editor}"
    else:
        policy, suffix = source.policy(file), ""
    if policy is None:
        raise EditRefused(f"this file is read-only{suffix}")
    return policy


def _reviewer(
    source: Source, key: ReadingKey, file: str, options: ReadOptions
) -> Callable[[bytes], Sequence[Finding]]:
    """Return a function that checks bytes of `file` by the rules of its source."""

    def review(data: bytes) -> Sequence[Finding]:
        return source.findings_of(key.revision, options.lens(key, ESTIMATES["bytes/4"]), {file: data})

    return review
