"""The actions of editing: from the selected item to a form, to the draft, to the file.

The format decides what may be written, and its refusals are shown as they are. Reading files and running
rules happen in threads.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import wraps
from typing import Any

from ctxview.core.edits import DeleteValue, Edit, EditRefused, MoveItem, SetValue
from ctxview.core.fields import ChoiceShape, Form
from ctxview.core.flow import FlowNode
from ctxview.core.state import Block, ContextState, Gap, Ref, Tier, Todo, TodoItem
from ctxview.core.transcript import Row
from ctxview.editing.draft import Draft
from ctxview.files.save import SaveConflict, SaveRefused
from ctxview.tui.configured_keys import key_label
from ctxview.tui.input_order import start_dialogue
from ctxview.tui.model.action_table import ACTIONS_BY_ID
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import WHOLE, ItemId, ItemKind, ItemValue
from ctxview.tui.panes.history import row_numeral
from ctxview.tui.screens.inspector import InspectorScreen


def _present_only(action: Callable[[InspectorScreen], None]) -> Callable[[InspectorScreen], None]:
    """Refuse an action on a past revision, with a notice how to return to the present."""

    @wraps(action)
    def guarded(screen: InspectorScreen) -> None:
        model = screen.model
        if model.as_of is None or (model.view is not None and model.view.owner):
            action(screen)
        elif model.latest_is_current:
            key = key_label(ACTIONS_BY_ID["newest"]).split()[0]
            hint = f"{key} returns to the latest revision, which you can edit.{_other_way(model)}"
            screen.say(f"This revision ({model.as_of}) is read-only. {hint}")
        else:
            screen.say("A recording is read-only.")

    return guarded


def _other_way(model: InspectorModel) -> str:
    """How to edit a past revision that is a separate file: open that file alone."""
    source = model.source
    if source is None or model.read_only_reason is not None:
        return ""
    file = source.revisions[model.key.revision].file
    apart = file != source.path and source.policy(str(file)) is not None
    return f" To edit this revision, open {file} alone." if apart else ""


def _refuse(screen: InspectorScreen, why: str) -> None:
    owner = screen.view.owner if screen.view is not None else ""
    screen.say(f"{why}: {owner}." if owner else f"{why}.", severity="warning")


@_present_only
def edit(screen: InspectorScreen) -> None:
    _start(screen, _edit(screen))


@_present_only
def add(screen: InspectorScreen) -> None:
    _start(screen, _add(screen))


@_present_only
def remove(screen: InspectorScreen) -> None:
    _start(screen, _remove(screen))


@_present_only
def move(screen: InspectorScreen) -> None:
    _start(screen, _move(screen))


def toggle_box(screen: InspectorScreen) -> bool:
    """Tick or clear the box of the selected item; return whether it has a box that can be written."""
    value = _value(screen)
    form = value.form if isinstance(value, TodoItem | Block) and screen.model.as_of is None else None
    for field in form.fields if form is not None else ():
        if form is not None and field.name == "box" and isinstance(field.shape, ChoiceShape):
            words = field.shape.words
            _start(screen, _tick(screen, form.file, SetValue(field.pointer, words[field.value == words[0]])))
            return True
    return False


def editor(screen: InspectorScreen) -> None:
    _start(screen, _editor(screen))


def undo(screen: InspectorScreen) -> None:
    _start(screen, _undo_or_redo(screen, back=True))


def redo(screen: InspectorScreen) -> None:
    _start(screen, _undo_or_redo(screen, back=False))


@_present_only
def save(screen: InspectorScreen) -> None:
    _start(screen, _save(screen))


def _start(screen: InspectorScreen, job: Coroutine[Any, Any, None]) -> None:
    start_dialogue(screen, job, "editing")


async def _edit(screen: InspectorScreen) -> None:
    form, title = _form(screen)
    if form is None:
        _refuse(screen, "There is nothing here to edit")
    elif not form.editable:
        reasons = (field.why for field in form.fields if field.why)
        why = next(reasons, "the model may not write any of its fields")
        screen.say(f"{title} is locked: {why}", severity="warning")
    else:
        await _fill_in(screen, form, f"Edit {title}")


async def _add(screen: InspectorScreen) -> None:
    new_ref = screen.view.index.reading.state.new_ref if screen.view is not None else None
    if new_ref is not None and screen.model.shown.name is Pane.REFERENCES:
        await _fill_in(screen, new_ref, "New reference")
        return
    tiers = [tier for tier in _tiers(screen) if tier.new is not None]
    block = _block(screen)
    tier = next((each for each in tiers if block is not None and each.name == block.tier), None)
    if tier is None and tiers:
        tier = await _pick(screen, "Add a block to which tier?", tiers)
        if tier is None:
            return
    if tier is None or tier.new is None:
        _refuse(screen, "No block can be added here")
    else:
        await _fill_in(screen, tier.new, f"New block in {tier.name}")


async def _remove(screen: InspectorScreen) -> None:
    value = _value(screen)
    if not isinstance(value, Block | Ref) or value.form is None:
        _refuse(screen, "There is no block here that can be removed")
        return
    if not value.form.removable:
        why = next((field.why for field in value.form.fields if field.why), "it cannot be removed here.")
        screen.say(f"{value.id} is locked: {why}", severity="warning")
        return
    async with _open_draft(screen, value.form.file) as draft:
        notice = f"Removed {value.id}. u brings it back."
        await _apply(screen, draft, DeleteValue(value.form.pointer), notice=notice)


async def _move(screen: InspectorScreen) -> None:
    block = _block(screen)
    if block is not None and block.moves:
        await _move_by_format(screen, block)
        return
    tiers = [
        tier
        for tier in _tiers(screen)
        if tier.new is not None
        and block is not None
        and block.form is not None
        and tier.name != block.tier
        and tier.new.file == block.form.file
    ]
    if block is None or block.form is None or not block.form.removable or not tiers:
        _refuse(screen, "There is no block here that can be moved")
        return
    async with _open_draft(screen, block.form.file) as draft:
        tier = await _pick(screen, f"Move {block.id} to which tier?", tiers)
        if tier is not None and tier.new is not None:
            step = MoveItem(block.form.pointer, tier.new.pointer)
            await _apply(screen, draft, step, notice=f"Moved {block.id} to {tier.name}.")
            screen.model.select_when_read(ItemId(ItemKind.BLOCK, block.id, tier.name))


async def _move_by_format(screen: InspectorScreen, block: Block) -> None:
    """Move a block by one of the moves that the format offers."""
    moves = {move.tier: move for move in block.moves}
    async with AsyncExitStack() as stack:
        files = dict.fromkeys(move.file for move in block.moves)
        drafts = {file: await stack.enter_async_context(_open_draft(screen, file)) for file in files}
        only = next(iter(moves)) if len(moves) == 1 else None
        chosen = only or await _pick_word(screen, f"Move {block.id} to which tier?", moves)
        if chosen is not None:
            notice = f"Moved {block.id} to {chosen}. u takes it back."
            await _apply(screen, drafts[moves[chosen].file], moves[chosen].edit, notice=notice)


async def _editor(screen: InspectorScreen) -> None:
    model = screen.model
    if len(model.editors) < 2:
        screen.say("This source does not distinguish editors.")
    elif screen.model.drafts.unsaved_in(model.key.source):
        screen.say(
            f"There are unsaved changes made as {model.editor}: save or undo them first.", severity="warning"
        )
    else:
        chosen = await _pick_word(screen, "Edit as", model.editors)
        if chosen is not None and (orders := model.edit_as(chosen)):
            screen.perform(orders)
            screen.say(f"You now edit as {chosen}.")


async def _fill_in(screen: InspectorScreen, form: Form, title: str) -> None:
    from ctxview.tui.screens.form import FormScreen

    async with _open_draft(screen, form.file) as draft:
        if draft is None:
            return
        edits = await screen.app.push_screen_wait(FormScreen(form, title, check=draft.would_add))
        if edits:
            await _apply(screen, draft, *edits)


async def _tick(screen: InspectorScreen, file: str, edit: Edit) -> None:
    async with _open_draft(screen, file) as draft:
        await _apply(screen, draft, edit)


async def _apply(screen: InspectorScreen, draft: Draft | None, *edits: Edit, notice: str = "") -> None:
    if draft is None:
        return
    try:
        changed = await screen.jobs.result_of(draft.apply, *edits)
    except EditRefused as refusal:
        screen.say(f"Not done: {refusal}", severity="error")
        return
    screen.perform(screen.model.drafted())
    if notice or not changed:
        screen.say(notice if changed else "Nothing changed.")


async def _undo_or_redo(screen: InspectorScreen, *, back: bool) -> None:
    drafts = screen.model.drafts.of(screen.model.key)
    able = (draft for draft in drafts if (draft.can_undo if back else draft.can_redo))
    draft = next(able, None)
    if draft is None:
        screen.say("There is nothing to undo." if back else "There is nothing to redo.")
        return
    if back:
        draft.undo()
    else:
        draft.redo()
    screen.perform(screen.model.drafted())


async def _save(screen: InspectorScreen) -> None:
    changed = [draft for draft in screen.model.drafts.of(screen.model.key) if draft.dirty]
    source = screen.model.source
    if source is None or not changed:
        screen.say("There is nothing to save.")
    elif (publisher := source.abilities.publisher) and publisher.publishes(screen.model.key.revision):
        from ctxview.tui.actions.publish import publish

        for draft in changed:
            current = await screen.jobs.result_of(source.bytes_of, str(draft.file))
            if current != draft.original:
                await _resolve(screen, draft, SaveConflict(current, draft.data))
                return
        await publish(screen, publisher, changed)
    else:
        for draft in changed:
            await _save_one(screen, draft)


async def _save_one(screen: InspectorScreen, draft: Draft) -> None:
    from ctxview.tui.screens.save import SaveScreen

    preview = await screen.jobs.result_of(draft.preview)
    if not await screen.app.push_screen_wait(SaveScreen(preview, draft.file)):
        return
    try:
        saved = await screen.jobs.result_of(draft.save)
    except SaveConflict as conflict:
        await _resolve(screen, draft, conflict)
    except (SaveRefused, EditRefused) as refusal:
        screen.say(f"Not saved: {refusal}", severity="error")
    else:
        screen.perform(screen.model.drafted())
        screen.say(f"Saved. The previous version is in {saved.backup}.")
        if saved.warning:
            screen.say(saved.warning, severity="warning")


async def _resolve(screen: InspectorScreen, draft: Draft, conflict: SaveConflict) -> None:
    """Show both differences after a change on disk, and do what the person chooses."""
    from ctxview.tui.screens.save import ConflictScreen

    if conflict.warning:
        screen.say(conflict.warning, severity="warning")
    base = draft.original
    mine = await screen.jobs.result_of(draft.difference, base, conflict.wanted)
    theirs = await screen.jobs.result_of(draft.difference, base, conflict.current)
    cannot = await screen.jobs.result_of(draft.cannot_reapply, conflict.current)
    choice = await screen.app.push_screen_wait(ConflictScreen(draft.file, mine, theirs, cannot))
    if choice == "reload":
        draft.reload(conflict.current)
    elif choice == "reapply":
        await screen.jobs.result_of(draft.reapply, conflict.current)
    screen.perform(screen.model.drafted())


async def _pick(screen: InspectorScreen, question: str, tiers: list[Tier]) -> Tier | None:
    name = await _pick_word(screen, question, [tier.name for tier in tiers])
    return next((tier for tier in tiers if tier.name == name), None)


async def _pick_word(screen: InspectorScreen, question: str, words: Iterable[str]) -> str | None:
    from ctxview.tui.drawing.glyphs import tier_styles
    from ctxview.tui.screens.dialogs import ChooseDialog

    styles = tier_styles(screen.view.index.reading.state.tiers) if screen.view is not None else {}
    return await screen.app.push_screen_wait(ChooseDialog(question, list(words), styles))


@asynccontextmanager
async def _open_draft(screen: InspectorScreen, file: str) -> AsyncIterator[Draft | None]:
    """The draft of a file, marked as being edited in the body; None, after a notice, when it is read-only.

    It is made from the bytes that are shown, so that a change on disk meanwhile does not move what is edited.
    """
    source, key = screen.model.source, screen.model.key
    draft: Draft | None = None
    if source is not None:
        try:
            draft = await screen.jobs.result_of(screen.model.drafts.open, source, key, file)
        except EditRefused as refusal:
            screen.say(str(refusal)[:1].upper() + str(refusal)[1:] + ".", severity="warning")
    try:
        yield draft
    finally:
        if draft is not None:
            draft.being_edited = False


def _form(screen: InspectorScreen) -> tuple[Form | None, str]:
    """The form and title of the selected item, of a finding's subject, or else of the whole state."""
    if screen.view is None:
        return None, ""
    index, item = screen.view.index, screen.selected
    if item is not None and item.kind is ItemKind.FINDING:
        item = index.subject(item)
    match index.value(item):
        case Block() as block:
            return block.form, block.id
        case Todo() as todo:
            return todo.form, _todo_title(todo)
        case Gap() as gap if gap.form is not None:
            return gap.form, gap.id
        case Ref() as ref:
            owner = index.block_at(ref.origin)
            return ref.form or (owner.form if owner is not None else None), ref.id
        case Row() as row:
            return row.form, f"message {row_numeral(row)}" if row_numeral(row) else "the blank line"
        case FlowNode() as node:
            named = index.value(index.block_named(node.block))
            return node.form or (named.form if isinstance(named, Block) else None), node.label
        case TodoItem(form=Form() as form) as step:
            return form, step.title
        case TodoItem():
            listed = index.reading.state.todo
            return (listed.form, _todo_title(listed)) if listed is not None else (None, "")
        case _:
            whole = index.value(WHOLE)
            return (whole.form, whole.title) if isinstance(whole, ContextState) else (None, "")


def _todo_title(todo: Todo) -> str:
    """The title for the form of a whole list: that of its cursor, or the name of its file."""
    fields = todo.form.fields if todo.form is not None else ()
    if todo.form is None or any(field.name == "next" for field in fields):
        return "the todo cursor"
    return todo.form.file.rpartition("/")[2]


def _value(screen: InspectorScreen) -> ItemValue | None:
    """The selected item, or the subject of a selected finding."""
    if screen.view is None or screen.selected is None:
        return None
    index, item = screen.view.index, screen.selected
    return index.value(index.subject(item) if item.kind is ItemKind.FINDING else item)


def _block(screen: InspectorScreen) -> Block | None:
    value = _value(screen)
    return value if isinstance(value, Block) else None


def _tiers(screen: InspectorScreen) -> tuple[Tier, ...]:
    return screen.view.index.reading.state.tiers if screen.view is not None else ()
