"""Saving what is never changed in place: all drafts of a source together become a new file beside the old."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from ctxview.edits import Preview, Refused
from ctxview.files.create import CreateRefused, create
from ctxview.formats.interface import Publication, Publishing, Signature
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.screens.reason import ReasonScreen
from ctxview.tui.screens.save import SaveScreen
from ctxview.tui.work import Work

NOTE = "What is there stays as it is: the changes become a new revision beside it."


async def publish(screen: Inspector, source: Publishing, works: Sequence[Work]) -> None:
    """Asks why, shows what would change, and writes the new revision."""
    revision = screen.view.look.revision
    drafts = {str(work.draft.file): work.draft.data for work in works}
    editor = screen.view.editor or "model"
    try:
        asks = await asyncio.to_thread(source.asks_reason, revision, drafts)
        reason = await screen.app.push_screen_wait(ReasonScreen(editor, NOTE, asks))
        if reason is None:
            return
        signature = Signature(editor, reason)
        made = await asyncio.to_thread(source.publication, revision, drafts, signature)
        preview = await asyncio.to_thread(_together, works)
        if not await screen.app.push_screen_wait(SaveScreen(preview, made.file, f"{NOTE} ({editor})")):
            return
        await asyncio.to_thread(_write, made)
    except (Refused, CreateRefused) as refusal:
        screen.say(f"Not saved: {refusal}", severity="error")
        return
    for work in works:
        work.reload(work.draft.original)
    screen.drafted()
    screen.say(f"Saved as {made.file.name}; the old file was not touched.")


def _together(works: Sequence[Work]) -> Preview:
    """What several drafts change, as one preview."""
    first, *others = (work.preview() for work in works)
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


def _write(made: Publication) -> None:
    if not create(made.file.parent, made.file.name, made.data, mode=0o644):
        raise CreateRefused(f"{made.file.name} is there already")
