"""The actions of viewing: folds, revisions, profile, order, budget, difference, references, replay."""

from __future__ import annotations

from ctxview.formats.revisions import previous_revision
from ctxview.tui.actions.navigate import here
from ctxview.tui.actions.options import budget as budget
from ctxview.tui.actions.options import option as option
from ctxview.tui.input_order import start_dialogue
from ctxview.tui.model.effects import Effects, Notify
from ctxview.tui.model.jobs.load import compare_states
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId
from ctxview.tui.panes.memory import MemoryPane
from ctxview.tui.panes.skyline import SkylinePane
from ctxview.tui.panes.xray import XrayPane
from ctxview.tui.screens.inspector import InspectorScreen
from ctxview.tui.screens.raw import NOTHING_OPEN, open_origin
from ctxview.tui.widgets.facts_pane import MarkingPane


def fold(screen: InspectorScreen) -> None:
    """Fold or open the tier at the cursor of the memory, or the fields of all blocks of the X-ray."""
    if isinstance(screen.front, MemoryPane | XrayPane):
        screen.front.fold()
    else:
        screen.say("Tiers fold in Memory, fields in X-ray.")


def fold_all(screen: InspectorScreen) -> None:
    if isinstance(screen.front, MemoryPane):
        screen.front.fold_all()
    else:
        fold(screen)


def show_diff(screen: InspectorScreen) -> None:
    start_dialogue(screen, _show(screen), "comparing")


async def _show(screen: InspectorScreen) -> None:
    source, key = screen.model.source, screen.model.key
    if source is None or screen.view is None:
        return
    marked = screen.front.marked if isinstance(screen.front, MarkingPane) else ()
    is_draft = screen.model.drafts.dirty(key) and not marked
    title = "Changes of the draft" if is_draft else "Changes since the previous revision"
    earlier: int | None = key.revision
    later = key.revision
    if marked:
        earlier, later = min(marked), max(*marked, key.revision if len(marked) == 1 else 0)
        title = f"Changes from {source.revisions[earlier].label} to {source.revisions[later].label}"
    elif not is_draft:
        earlier = previous_revision(source.revisions, key.revision)
    if earlier is None:
        screen.say("This is the first revision: there is no previous one to compare with.")
        return
    overlay = screen.model.drafts.overlay(key.source)
    originals = {str(draft.file): draft.original for draft in screen.model.drafts.of(key)}
    old = (earlier, {**overlay, **originals} if is_draft else overlay)
    new = (later, overlay)
    difference = await screen.jobs.result_of(compare_states, source, key, old, new)
    from ctxview.tui.screens.diff import DiffScreen

    item = await screen.app.push_screen_wait(DiffScreen(difference, title))
    if item is not None:
        screen.go_to(item)


def earlier(screen: InspectorScreen) -> None:
    _step(screen, screen.model.key.revision - 1)


def later(screen: InspectorScreen) -> None:
    _step(screen, screen.model.key.revision + 1)


def oldest(screen: InspectorScreen) -> None:
    _step(screen, 0)


def newest(screen: InspectorScreen) -> None:
    _step(screen, screen.model.last_revision)


def follow(screen: InspectorScreen) -> None:
    """Follow the end of the history, or the latest revision of a source without a history."""
    source = screen.model.source
    if source is None or not source.watched:
        screen.say("This source has no files that could change.")
        return
    if screen.model.live.is_off:
        screen.perform(screen.model.live.enable())
    if screen.model.transcript is None or screen.model.as_of is not None:
        screen.perform(screen.model.go_to_revision(screen.model.last_revision))
        screen.say("Following the latest revision; selecting an earlier one stops.")
    else:
        screen.show_pane(Pane.HISTORY)
        screen.history.follow()
        screen.refresh_bars()


def profile(screen: InspectorScreen) -> None:
    orders = screen.model.next_profile()
    screen.perform(orders or [Notify("This format has only one profile.")])


def sort(screen: InspectorScreen) -> None:
    start_dialogue(screen, _choose_order(screen), "sorting")


async def _choose_order(screen: InspectorScreen) -> None:
    from ctxview.tui.screens.dialogs import ChooseDialog

    orders = screen.model.orders
    chosen = await screen.app.push_screen_wait(ChooseDialog("Sort by", orders, dict.fromkeys(orders, "")))
    if chosen is not None:
        _reorder(screen, screen.model.order_by(chosen))


def reverse(screen: InspectorScreen) -> None:
    _reorder(screen, screen.model.reverse_order())


def _reorder(screen: InspectorScreen, orders: Effects) -> None:
    """Show the new order, with the memory pane in front if it was hidden."""
    if screen.view is None:
        screen.say(NOTHING_OPEN)
        return
    if not screen.area.is_shown(Pane.MEMORY):
        screen.show_pane(Pane.MEMORY)
    screen.perform(orders)


def links(screen: InspectorScreen) -> None:
    """Show the references from and to the selected item; go to the item that is chosen there."""
    item = here(screen)
    if item is None:
        screen.say("Nothing is selected.")
        return
    screen.run_worker(_links(screen, item), name="links", group="links", exclusive=True, exit_on_error=False)


async def _links(screen: InspectorScreen, item: ItemId) -> None:
    from ctxview.tui.screens.references import ReferencesScreen, index_with_graph

    index = await index_with_graph(screen)
    node = index.graph.node(item) if index is not None else None
    if index is None or node is None:
        screen.say(f"A {item.kind} has no references.")
        return

    def go_to(chosen: ItemId | None) -> None:
        if chosen is not None:
            screen.go_to(chosen)

    if screen.is_current:
        screen.app.push_screen(ReferencesScreen(screen, index, node), go_to)


def origin(screen: InspectorScreen) -> None:
    """Show the raw bytes of the selected item, those of the draft if there is one."""
    view = screen.view
    if screen.front.origin is not None:
        open_origin(screen, screen.front.origin)
        return
    open_origin(
        screen,
        view.index.origin(screen.selected) if view is not None and screen.selected is not None else None,
    )


def diff(screen: InspectorScreen) -> None:
    """Show the difference of the draft to its file, or of this revision to the previous one."""
    if screen.view is None:
        screen.say(NOTHING_OPEN)
        return

    if isinstance(screen.front, XrayPane):
        start_dialogue(screen, _show_prompt_diff(screen), "comparing the prompts")
    else:
        show_diff(screen)


async def _show_prompt_diff(screen: InspectorScreen) -> None:
    """Show the word difference between the prompts of this revision and of the previous one."""
    from ctxview.core.prompt import PromptError
    from ctxview.tui.model.jobs.xray import compare_prompts
    from ctxview.tui.screens.diff import PromptDiffScreen

    source, key = screen.model.source, screen.model.key
    earlier = previous_revision(source.revisions, key.revision) if source is not None else None
    if source is None or earlier is None:
        screen.say("This is the first revision: there is no previous one to compare with.")
        return
    try:
        changes = await screen.jobs.result_of(compare_prompts, source, key, earlier)
    except PromptError as error:
        screen.say(f"The prompts cannot be compared: {error}.", severity="warning")
        return
    names = [source.revisions[number].label for number in (earlier, key.revision)]
    await screen.app.push_screen_wait(PromptDiffScreen(changes, *names))


def _step(screen: InspectorScreen, revision: int) -> None:
    last = screen.model.last_revision
    if orders := screen.model.go_to_revision(revision):
        screen.stepped()
        screen.perform(orders)
    elif last == 0:
        screen.stayed("There is only one revision.")
    else:
        screen.stayed("This is the latest revision." if revision > 0 else "This is the first revision.")


def play(screen: InspectorScreen) -> None:
    """Tick the box of the selected item, fold a tier of the memory, or play or pause."""
    from ctxview.tui.actions.edit import toggle_box

    if toggle_box(screen):
        return
    if isinstance(screen.front, MemoryPane) and not screen.model.replay.on:
        screen.front.fold()
        return
    if screen.model.last_revision > 0:
        screen.perform(screen.model.replay.toggle())
    elif screen.lines is not None:
        screen.lines.move_page(1)


def faster(screen: InspectorScreen) -> None:
    screen.perform(screen.model.replay.change_speed(faster=True))


def slower(screen: InspectorScreen) -> None:
    screen.perform(screen.model.replay.change_speed(faster=False))


def next_event(screen: InspectorScreen) -> None:
    _jump_to_event(screen, back=False)


def previous_event(screen: InspectorScreen) -> None:
    _jump_to_event(screen, back=True)


def _jump_to_event(screen: InspectorScreen, *, back: bool) -> None:
    """Move the cursor of the skyline, or replay from the next event on."""
    pane = screen.focused
    if not isinstance(pane, SkylinePane):
        screen.perform(screen.model.replay.jump(back=back))
    elif not pane.step_event(back=back):
        screen.say("There is no earlier event." if back else "There is no later event.")
