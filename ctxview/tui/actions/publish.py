"""Publication: all drafts of a fixed revision together become a new file beside the old one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from ctxview.core.edits import EditRefused
from ctxview.editing.draft import Preview
from ctxview.files.create import CreateRefused, create
from ctxview.formats.interface import Publisher, Signature
from ctxview.tui.model.drafts import FileDraft
from ctxview.tui.screens.dialogs import ReasonDialog
from ctxview.tui.screens.inspector import InspectorScreen
from ctxview.tui.screens.save import SaveScreen

NOTE = "The existing file stays as it is: the changes become a new revision beside it."


async def publish(screen: InspectorScreen, source: Publisher, drafts: Sequence[FileDraft]) -> None:
    """Ask for a reason, show the changes, and write the new revision."""
    revision = screen.model.key.revision
    data = {str(draft.draft.file): draft.draft.data for draft in drafts}
    editor = screen.model.editor or "model"
    try:
        asks = await asyncio.to_thread(source.asks_reason, revision, data)
        reason = await screen.app.push_screen_wait(ReasonDialog(editor, NOTE, asks))
        if reason is None:
            return
        signature = Signature(editor, reason)
        publication = await asyncio.to_thread(source.publication, revision, data, signature)
        preview = await asyncio.to_thread(_join_previews, drafts)
        if not await screen.app.push_screen_wait(SaveScreen(preview, publication.file, f"{NOTE} ({editor})")):
            return
        file = publication.file
        if not await asyncio.to_thread(create, file.parent, file.name, publication.data, mode=0o644):
            raise CreateRefused(f"{file.name} already exists")
    except (EditRefused, CreateRefused) as refusal:
        screen.say(f"Not saved: {refusal}", severity="error")
        return
    for draft in drafts:
        draft.reload(draft.draft.original)
    screen.draft_changed()
    screen.say(f"Saved as {file.name}; the old file was not changed.")


def _join_previews(drafts: Sequence[FileDraft]) -> Preview:
    """The previews of several drafts as one."""
    first, *others = (draft.preview() for draft in drafts)
    for each in others:
        first = replace(
            first,
            hunks=(*first.hunks, *each.hunks),
            added=(*first.added, *each.added),
            removed=(*first.removed, *each.removed),
            standing=(*first.standing, *each.standing),
            blocked=first.blocked or each.blocked,
        )
    return first
