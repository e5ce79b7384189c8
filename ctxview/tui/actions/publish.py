"""Publication: all drafts of a fixed revision together become a new file beside the old one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ctxview.core.edits import EditRefused
from ctxview.editing.draft import Draft, Preview, with_added
from ctxview.files.create import CreateRefused, create
from ctxview.files.line_difference import Hunk
from ctxview.formats import Lens
from ctxview.formats.interface import Fork, Publication, Publisher, Signature
from ctxview.tui.screens.dialogs import ReasonDialog
from ctxview.tui.screens.inspector import InspectorScreen
from ctxview.tui.screens.save import ConflictScreen, SaveScreen

NOTE = "The existing file stays as it is: the changes become a new revision beside it."


async def publish(screen: InspectorScreen, source: Publisher, drafts: Sequence[Draft]) -> None:
    """Ask for a reason, show the changes, and write the new revision."""
    revision = screen.model.key.revision
    data = {str(draft.file): draft.data for draft in drafts}
    editor = screen.model.editor or "model"
    try:
        fork = await screen.jobs.result_of(source.fork, revision, data, editor)
        if fork is not None:
            await _resolve_fork(screen, fork, drafts)
            return
        asks = await screen.jobs.result_of(source.asks_reason, revision, data)
        reason = await screen.app.push_screen_wait(ReasonDialog(editor, NOTE, asks))
        if reason is None:
            return
        signature = Signature(editor, reason)
        publication = await screen.jobs.result_of(source.publication, revision, data, signature)
        lens = replace(screen.model.key, editor=editor).lens(rough=True, trial=False)
        preview = await screen.jobs.result_of(_preview, drafts, publication, lens)
        if not await screen.app.push_screen_wait(SaveScreen(preview, publication.file, f"{NOTE} ({editor})")):
            return
        file = publication.file
        if not await screen.jobs.result_of(create, file.parent, file.name, publication.data, mode=0o644):
            raise CreateRefused(f"{file.name} already exists")
    except (EditRefused, CreateRefused) as refusal:
        screen.say(f"Not saved: {refusal}", severity="error")
        # The reason may be a file that another program wrote and that is not shown yet.
        screen.perform(screen.model.live.poll())
        return
    for draft in drafts:
        draft.reload(draft.original)
    screen.perform(screen.model.drafted())
    screen.say(f"Saved as {file.name}; the old file was not changed.")


async def _resolve_fork(screen: InspectorScreen, fork: Fork, drafts: Sequence[Draft]) -> None:
    """Show the drafts beside the newer revision, and do what the person chooses."""
    source, model = screen.model.source, screen.model
    assert source is not None, "its drafts are saved"

    def differences() -> Sequence[tuple[Hunk, ...]]:
        return [drafts[0].difference(fork.base, data) for data in (fork.mine, fork.theirs)]

    mine, theirs = await screen.jobs.result_of(differences)
    dialog = ConflictScreen(fork.file, mine, theirs, fork.refused, "was published meanwhile")
    choice = await screen.app.push_screen_wait(dialog)
    if choice == "keep":
        return
    files = [each.file for each in source.revisions]
    newer = len(files) - 1 - files[::-1].index(fork.file)
    key = replace(model.key, revision=newer)
    for file, edits in fork.edits.items() if choice == "reapply" else ():
        draft = await screen.jobs.result_of(model.drafts.open, source, key, file)
        try:
            await screen.jobs.result_of(draft.apply, *edits)
        finally:
            draft.being_edited = False
    for draft in drafts:
        draft.reload(draft.original)
    model.select_revision(newer)
    screen.perform(screen.model.drafted())


def _preview(drafts: Sequence[Draft], publication: Publication, lens: Lens) -> Preview:
    """The previews of several drafts as one, without findings that the publication itself answers."""
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
    if publication.remaining is None:
        return first
    return with_added(first, publication.remaining(first.added, lens))
