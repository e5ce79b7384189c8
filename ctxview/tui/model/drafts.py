"""The drafts of an inspector: at most one for each file, made at the first change to it.

Knows which drafts belong to the selected revision, and which files changed on disk while they had a draft. No
toolkit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.edits import EditRefused, WritePolicy
from ctxview.files.write_lock import write_refusal
from ctxview.formats import Revision, Source
from ctxview.formats.masked_bytes import showable_bytes
from ctxview.tui.model.view_state import ReadingKey

if TYPE_CHECKING:
    from ctxview.editing.draft import Draft


class DraftBytes(Struct, frozen=True):
    """The bytes of a draft before a reread; also `unsaved` while a form for it is open.

    `loads` tells whether the draft was saved or loaded again since then.
    """

    data: bytes
    unsaved: bool
    loads: int


def draft_overlay(drafts: Mapping[str, DraftBytes], on_disk: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """The drafts to read in place of their files; one without unsaved changes gives way to new content."""
    return {
        file: draft.data
        for file, draft in drafts.items()
        if draft.unsaved or on_disk.get(file) in (None, draft.data)
    }


def read_only_reason(source: Source | None, revision: int) -> str | None:
    """Why a revision of `source` is read-only: it is in the past. None when it is not."""
    past = source.abilities.past if source is not None else None
    return past.read_only_reason(revision) if past is not None else None


class DraftStart(Struct, frozen=True):
    """The revision at which a draft was begun, and the editor in whose name; None for the first editor."""

    revision: Revision
    editor: str | None


class DraftSet:
    def __init__(self, sources: Sequence[Source]) -> None:
        """`sources` are the open ones, by number; the caller may add and replace some."""
        self._sources = sources
        self._drafts: dict[tuple[int, str], Draft] = {}
        self._starts: dict[tuple[int, str], DraftStart] = {}

    def open(self, source: Source, key: ReadingKey, file: str) -> Draft:
        """Return the draft of a file, marked as being edited; raise `EditRefused` when it is read-only."""
        place = key.source, file
        if (why := read_only_reason(source, key.revision)) is not None:
            raise EditRefused(why)
        draft = self._drafts.get(place)
        if draft is None or draft.is_outdated:
            draft = _new_draft(source, key, file)
            self._starts[place] = DraftStart(source.revisions[key.revision], key.editor)
        elif self._starts[place].editor != key.editor:
            self._change_editor(place, key.editor)
        draft.being_edited = True
        self._drafts[place] = draft
        return draft

    def draft_bytes(self, source: int) -> dict[str, DraftBytes]:
        """The drafts of a source by file, as they are now."""
        return {
            file: DraftBytes(draft.data, draft.dirty or draft.being_edited, draft.loads)
            for file, draft in self._in(source)
        }

    def update_from_disk(
        self, source: int, before: Mapping[str, DraftBytes], on_disk: Mapping[str, bytes | None]
    ) -> None:
        """Take what a reread found in the drafted files; a draft without unsaved changes gives way to it.

        A draft that is not as it was `before` the reread may know newer bytes: it was saved meanwhile.
        """
        for file, data in on_disk.items():
            draft = self._drafts.get((source, file))
            if draft is None or draft.loads != before[file].loads:
                continue
            draft.on_disk = data
            if draft.is_outdated:
                del self._drafts[source, file]

    def changed_on_disk(self, key: ReadingKey) -> list[str]:
        """The names of the files of a revision that changed on disk and have unsaved changes."""
        return [each.file.name for each in self.of(key) if each.dirty and each.on_disk != each.original]

    def change_editor(self, key: ReadingKey) -> None:
        """Edit in another name from now on; saved changes can no longer be undone."""
        for file, _ in self._in(key.source):
            with suppress(EditRefused):
                self._change_editor((key.source, file), key.editor)

    def of(self, key: ReadingKey) -> list[Draft]:
        """The drafts of the files of a revision, the one changed last first."""
        return sorted((draft for draft, _ in self._at(key)), key=lambda each: -each.changed_at)

    def begun_at(self, key: ReadingKey) -> bool:
        """Whether a draft with unsaved changes was begun at this revision."""
        wanted = self._sources[key.source].revisions[key.revision] if self._drafts else None
        return wanted is not None and any(
            (start.revision.file, start.revision.label) == (wanted.file, wanted.label)
            for draft, start in self._at(key)
            if draft.dirty or draft.being_edited
        )

    def overlay(self, source: int) -> dict[str, bytes]:
        """The bytes of the drafts of a source, also of saved ones, since the source caches what it read."""
        return {file: draft.data for file, draft in self._in(source) if not draft.is_outdated}

    def steps(self, source: int) -> int:
        """A number that grows with each change to a draft of a source, so that every state has a key."""
        return sum(draft.changes for _, draft in self._in(source))

    def dirty(self, key: ReadingKey) -> bool:
        return any(draft.dirty for draft in self.of(key))

    def unsaved_in(self, source: int) -> bool:
        return any(draft.dirty for _, draft in self._in(source))

    @property
    def unsaved(self) -> list[str]:
        return [draft.file.name for draft in self._drafts.values() if draft.dirty]

    def _in(self, source: int) -> Iterator[tuple[str, Draft]]:
        """The drafts of a source with the names of their files; other threads may add one meanwhile."""
        return ((file, draft) for (number, file), draft in list(self._drafts.items()) if number == source)

    def _at(self, key: ReadingKey) -> list[tuple[Draft, DraftStart]]:
        """The drafts of the files of a revision, or begun there; none when the revision is read-only."""
        source = self._sources[key.source] if self._drafts else None
        if source is None or read_only_reason(source, key.revision) is not None:
            return []
        place = source.revisions[key.revision].file
        drafts = [(file, draft, self._starts[key.source, file]) for file, draft in self._in(key.source)]
        return [
            (draft, start)
            for file, draft, start in drafts
            if Path(file).is_relative_to(place) or start.revision.file == place
        ]

    def _change_editor(self, place: tuple[int, str], editor: str | None) -> None:
        """Drop the steps of a draft and continue as `editor`, if that editor may; raises `EditRefused`."""
        draft = self._drafts[place]
        draft.reload(draft.original)
        draft.reload(draft.original, _policy_of(self._sources[place[0]], place[1], editor))
        self._starts[place] = replace(self._starts[place], editor=editor)


def _new_draft(source: Source, key: ReadingKey, file: str) -> Draft:
    from ctxview.editing.draft import Draft

    lens = key.lens(rough=True, trial=False)
    return Draft(
        Path(file),
        source.bytes_of(file),
        _policy_of(source, file, key.editor),
        lambda data: source.findings_of(key.revision, lens, {file: data}),
        lambda data, spans: showable_bytes(source, file, data, spans).data,
    )


def _policy_of(source: Source, file: str, editor: str | None) -> WritePolicy:
    """The write policy of `file` for `editor`; raises `EditRefused` when it is read-only."""
    if (reason := write_refusal()) is not None:
        raise EditRefused(reason)
    if (editors := source.abilities.editors) is not None:
        editor = editor or editors.editors[0]
        policy, suffix = editors.policy_of(file, editor), f" as {editor}"
    else:
        policy, suffix = source.policy(file), ""
    if policy is None:
        raise EditRefused(f"this file is read-only{suffix}")
    return policy
