"""Editing: from the selected thing to a form, from the form into the draft, from the draft to the file.

What may be written is the format's to say; every refusal is told in its own words. Whatever reads a file or
runs rules happens in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import wraps
from typing import Any

from ctxview.edits import DeleteValue, Edit, MoveItem, Refused
from ctxview.files.save import Conflict, SaveRefused
from ctxview.flow import Node
from ctxview.formats.interface import Publishing
from ctxview.state import Block, ContextState, Form, Gap, Tier, Todo, TodoItem
from ctxview.tui.commands import BY_ID
from ctxview.tui.keys import shown
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.session_view import SessionView
from ctxview.tui.things import WHOLE, Index, Kind, Thing
from ctxview.tui.work import Work


def _now_only(act: Callable[[Inspector], None]) -> Callable[[Inspector], None]:
    """Editing is for what is now: of what is over it says so, and how to come back."""

    @wraps(act)
    def guarded(screen: Inspector) -> None:
        view = screen.view
        if view.as_of is None:
            act(screen)
        elif view.has_now:
            key = shown(BY_ID["newest"]).split()[0]
            ways = f"{key} goes back to now, where you can edit{_by_itself(view)}"
            screen.say(f"{view.as_of} is over and only shown: {ways}.")
        else:
            screen.say("Nothing of a recording can be changed: it is what was.")

    return guarded


def _by_itself(view: SessionView) -> str:
    """How to change what is over after all: where it is a file of its own, that can be opened alone."""
    source = view.source
    if source is None or view.only_shown is not None:
        return ""
    file = source.revisions[view.look.revision].file
    alone = file != source.path and source.policy(str(file)) is not None
    return f"; to change it all the same, open {file} by itself" if alone else ""


@_now_only
def edit(screen: Inspector) -> None:
    _start(screen, _edit(screen))


@_now_only
def add(screen: Inspector) -> None:
    _start(screen, _add(screen))


@_now_only
def remove(screen: Inspector) -> None:
    _start(screen, _remove(screen))


@_now_only
def move(screen: Inspector) -> None:
    _start(screen, _move(screen))


def editor(screen: Inspector) -> None:
    _start(screen, _editor(screen))


def undo(screen: Inspector) -> None:
    _start(screen, _step_back(screen, back=True))


def redo(screen: Inspector) -> None:
    _start(screen, _step_back(screen, back=False))


def save(screen: Inspector) -> None:
    _start(screen, _save(screen))


def _start(screen: Inspector, job: Coroutine[Any, Any, None]) -> None:
    """One edit at a time; what goes wrong is told by the screen's one handler."""
    screen.run_worker(job, name="editing", group="editing", exclusive=True, exit_on_error=False)


async def _edit(screen: Inspector) -> None:
    form, title = _form(screen)
    if form is None:
        screen.say("There is nothing here that can be edited.")
    elif not form.editable:
        why = next((field.why for field in form.fields if field.why), "nothing of it is the model's to write")
        screen.say(f"{title} is locked: {why}", severity="warning")
    else:
        await _fill_in(screen, form, f"Edit {title}")


async def _add(screen: Inspector) -> None:
    tiers = [tier for tier in _tiers(screen) if tier.new is not None]
    here = (
        screen.selected.within if screen.selected is not None and screen.selected.kind is Kind.BLOCK else None
    )
    tier = next((each for each in tiers if each.name == here), None)
    if tier is None and tiers:
        tier = await _pick(screen, "Add a block to which tier?", tiers)
        if tier is None:
            return
    if tier is None or tier.new is None:
        screen.say("Nothing may be added here.", severity="warning")
    else:
        await _fill_in(screen, tier.new, f"New block in {tier.name}")


async def _remove(screen: Inspector) -> None:
    block = _block(screen)
    if block is None or block.form is None or not block.form.removable:
        screen.say("There is no block here that may be removed.")
        return
    async with _work(screen, block.form.file) as work:
        said = f"Removed {block.id}. u brings it back."
        await _apply(screen, work, DeleteValue(block.form.pointer), said=said)


async def _move(screen: Inspector) -> None:
    block = _block(screen)
    if block is not None and block.moves:
        await _move_by_hand(screen, block)
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
        screen.say("There is no block here that may be moved.")
        return
    async with _work(screen, block.form.file) as work:
        tier = await _pick(screen, f"Move {block.id} to which tier?", tiers)
        if tier is not None and tier.new is not None:
            step = MoveItem(block.form.pointer, tier.new.pointer)
            await _apply(screen, work, step, said=f"Moved {block.id} to {tier.name}.")
            screen.follow(Thing(Kind.BLOCK, block.id, tier.name))


async def _move_by_hand(screen: Inspector, block: Block) -> None:
    """Along a way that the format offers itself."""
    ways = {move.tier: move for move in block.moves}
    async with AsyncExitStack() as in_hand:
        files = dict.fromkeys(move.file for move in block.moves)
        works = {file: await in_hand.enter_async_context(_work(screen, file)) for file in files}
        only = next(iter(ways)) if len(ways) == 1 else None
        chosen = only or await _pick_word(screen, f"Move {block.id} to?", ways)
        if chosen is not None:
            said = f"Moved {block.id} to {chosen}. u takes it back."
            await _apply(screen, works[ways[chosen].file], ways[chosen].edit, said=said)


async def _editor(screen: Inspector) -> None:
    view = screen.view
    if len(view.editors) < 2:
        screen.say("Here it makes no difference who edits.")
    elif screen.drafts.unsaved_in(view.look.source):
        screen.say(f"There are changes made as {view.editor}: save or undo them first.", severity="warning")
    else:
        chosen = await _pick_word(screen, "Edit in whose name?", view.editors)
        if chosen is not None and view.edit_as(chosen):
            screen.drafts.hand_over(view.look)
            screen.drafted()
            screen.say(f"You edit as {chosen} now.")


async def _fill_in(screen: Inspector, form: Form, title: str) -> None:
    from ctxview.tui.screens.form import FormScreen

    async with _work(screen, form.file) as work:
        if work is None:
            return
        edits = await screen.app.push_screen_wait(FormScreen(form, title, check=work.would_add))
        if edits:
            await _apply(screen, work, *edits)


async def _apply(screen: Inspector, work: Work | None, *edits: Edit, said: str = "") -> None:
    if work is None:
        return
    try:
        changed = await asyncio.to_thread(work.apply, *edits)
    except Refused as refusal:
        screen.say(f"Not done: {refusal}", severity="error")
        return
    screen.drafted()
    if said or not changed:
        screen.say(said if changed else "That changes nothing.")


async def _step_back(screen: Inspector, *, back: bool) -> None:
    able = (
        work
        for work in screen.drafts.of(screen.view.look)
        if (work.draft.can_undo if back else work.draft.can_redo)
    )
    work = next(able, None)
    if work is None:
        screen.say("There is nothing to undo." if back else "There is nothing to redo.")
        return
    if back:
        work.undo()
    else:
        work.redo()
    screen.drafted()


async def _save(screen: Inspector) -> None:
    changed = [work for work in screen.drafts.of(screen.view.look) if work.draft.dirty]
    source = screen.view.source
    if source is None or not changed:
        screen.say("Nothing was changed, so there is nothing to save.")
    elif isinstance(source, Publishing) and source.publishes(screen.view.look.revision):
        from ctxview.tui.acts.publishing import publish

        await publish(screen, source, changed)
    else:
        for work in changed:
            await _save_one(screen, work)


async def _save_one(screen: Inspector, work: Work) -> None:
    from ctxview.tui.screens.save import SaveScreen

    preview = await asyncio.to_thread(work.preview)
    if not await screen.app.push_screen_wait(SaveScreen(preview, work.draft.file)):
        return
    try:
        saved = await asyncio.to_thread(work.save)
    except Conflict as conflict:
        await _settle(screen, work, conflict)
    except (SaveRefused, Refused) as refusal:
        screen.say(f"Not saved: {refusal}", severity="error")
    else:
        screen.drafted()
        screen.say(f"Saved. The old bytes are in {saved.backup}.")
        if saved.warning:
            screen.say(saved.warning, severity="warning")


async def _settle(screen: Inspector, work: Work, conflict: Conflict) -> None:
    """The file changed meanwhile: both differences are shown and the person chooses."""
    from ctxview.tui.screens.conflict import ConflictScreen

    base = work.draft.original
    mine = await asyncio.to_thread(work.difference, base, conflict.wanted)
    theirs = await asyncio.to_thread(work.difference, base, conflict.current)
    cannot = await asyncio.to_thread(work.cannot_reapply, conflict.current)
    way = await screen.app.push_screen_wait(ConflictScreen(work.draft.file, mine, theirs, cannot))
    if way == "reload":
        work.reload(conflict.current)
    elif way == "reapply":
        await asyncio.to_thread(work.reapply, conflict.current)
    screen.drafted()


async def _pick(screen: Inspector, question: str, tiers: list[Tier]) -> Tier | None:
    name = await _pick_word(screen, question, [tier.name for tier in tiers])
    return next((tier for tier in tiers if tier.name == name), None)


async def _pick_word(screen: Inspector, question: str, words: Iterable[str]) -> str | None:
    from ctxview.tui.screens.pick import PickScreen

    return await screen.app.push_screen_wait(PickScreen(question, list(words)))


@asynccontextmanager
async def _work(screen: Inspector, file: str) -> AsyncIterator[Work | None]:
    """The draft of a file, in hand until the end; None, with a notice why, when there can be none.

    It is made of the very bytes that are shown: a change on disk meanwhile must not move what is edited.
    """
    source, look = screen.view.source, screen.view.look
    work: Work | None = None
    if source is not None:
        try:
            work = await asyncio.to_thread(screen.drafts.open, source, look, file)
        except Refused as refusal:
            screen.say(str(refusal)[:1].upper() + str(refusal)[1:] + ".", severity="warning")
    try:
        yield work
    finally:
        if work is not None:
            work.in_hand = False


def _form(screen: Inspector) -> tuple[Form | None, str]:
    """The form of the selected thing; of a finding, its subject's; of what has none, the whole's."""
    if screen.shown is None:
        return None, ""
    index, thing = screen.shown.index, screen.selected
    if thing is not None and thing.kind is Kind.FINDING:
        thing = index.subject(thing)
    match index.value(thing):
        case Block() as block:
            return block.form, block.id
        case Todo() as todo:
            return todo.form, "the todo cursor"
        case Gap() as gap if gap.form is not None:
            return gap.form, gap.id
        case Node() as node:
            return _record(node, index), node.label
        case TodoItem():
            listed = index.reading.state.todo
            return (listed.form if listed is not None else None), "the todo cursor"
        case _:
            whole = index.value(WHOLE)
            return (whole.form, whole.title) if isinstance(whole, ContextState) else (None, "")


def _record(node: Node, index: Index) -> Form | None:
    """The form of a record; of one that is a block, the block's."""
    block = index.value(index.block_named(node.block))
    return node.form or (block.form if isinstance(block, Block) else None)


def _block(screen: Inspector) -> Block | None:
    if screen.shown is None or screen.selected is None:
        return None
    thing: Thing | None = screen.selected
    if thing is not None and thing.kind is Kind.FINDING:
        thing = screen.shown.index.subject(thing)
    value = screen.shown.index.value(thing)
    return value if isinstance(value, Block) else None


def _tiers(screen: Inspector) -> tuple[Tier, ...]:
    return screen.shown.index.reading.state.tiers if screen.shown is not None else ()
