"""Moving about: rows, panes, into a thing and back out."""

from __future__ import annotations

from functools import partial

from ctxview.flow import Node
from ctxview.tui.commands import BY_ID
from ctxview.tui.keys import shown
from ctxview.tui.layout import Pane
from ctxview.tui.panes.lifecycle import LifecyclePane
from ctxview.tui.panes.sources import SourcesPane
from ctxview.tui.query import Query
from ctxview.tui.screens.command_screen import CommandScreen
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.things import Index, Kind, Thing


def down(screen: CommandScreen[object]) -> None:
    _move(screen, 1)


def up(screen: CommandScreen[object]) -> None:
    _move(screen, -1)


def half_down(screen: CommandScreen[object]) -> None:
    _move_page(screen, 0.5)


def half_up(screen: CommandScreen[object]) -> None:
    _move_page(screen, -0.5)


def page_down(screen: CommandScreen[object]) -> None:
    _move_page(screen, 1)


def page_up(screen: CommandScreen[object]) -> None:
    _move_page(screen, -1)


def first(screen: CommandScreen[object]) -> None:
    if screen.lines is not None:
        screen.lines.move_end(last=False)


def last(screen: CommandScreen[object]) -> None:
    if screen.lines is not None:
        screen.lines.move_end(last=True)


def home(screen: CommandScreen[object]) -> None:
    """Of the revisions, where somebody is stepping through them; of the rows elsewhere."""
    if isinstance(screen, Inspector) and screen.stepping:
        screen.action_go_to_revision(0)
    else:
        first(screen)


def end(screen: CommandScreen[object]) -> None:
    if isinstance(screen, Inspector) and screen.stepping:
        screen.action_go_to_revision(screen.view.last_revision)
    else:
        last(screen)


def left(screen: Inspector) -> None:
    if not _step(screen, -1):
        _beside(screen, right=False)


def right(screen: Inspector) -> None:
    if not _step(screen, 1):
        _beside(screen, right=True)


def next_pane(screen: Inspector) -> None:
    _turn(screen, 1)


def previous_pane(screen: Inspector) -> None:
    _turn(screen, -1)


def _choose(pane: Pane, screen: Inspector) -> None:
    if any(pane in slot.panes for slot in screen.deck.slots):
        screen.deck.choose(pane)
    else:
        screen.say(pane.absent)


# One for each pane, by its key: `pane_1`.
globals().update({f"pane_{pane.key.lower()}": partial(_choose, pane) for pane in Pane})


def enter(screen: Inspector) -> None:
    """Into a source or revision, from a finding to its subject, from anything else to its detail."""
    thing = here(screen)
    if not screen.view.sources and screen.view.problems:
        _start_over(screen)
    elif thing is None:
        screen.say("There is nothing here to go into.")
    elif thing.kind is Kind.SOURCE:
        _open_source(screen, int(thing.name))
    elif thing.kind is Kind.REVISION:
        _open_source(screen, int(thing.within))
        screen.action_go_to_revision(int(thing.name))
    elif screen.shown is None:
        return
    elif thing.kind is Kind.FINDING and (subject := screen.shown.index.subject(thing)) is not None:
        screen.go_to(subject)
    elif thing.kind is Kind.NODE and (further := _onward(thing, screen.shown.index)) is not None:
        _walk(screen, thing, further)
    elif screen.deck.front.pane is Pane.VISIBILITY:
        screen.go_to(thing)
    else:
        screen.jumps.remember(thing)
        screen.selected = thing
        screen.deck.choose(Pane.DETAIL)


def came_from(screen: CommandScreen[object]) -> None:
    """Against the way, to what a record or a block came from; where nothing is known to be, back."""
    thing = here(screen) if isinstance(screen, Inspector) else None
    origin = _came_from(screen, thing) if isinstance(screen, Inspector) and thing is not None else None
    if thing is None or origin is None or not isinstance(screen, Inspector):
        back(screen)
    elif screen.jumps.last == origin:
        screen.jumps.back()
    else:
        _walk(screen, thing, origin)


def back(screen: CommandScreen[object]) -> None:
    """Undoes what changed the view last: search, what-if, zoom, jump, filter, player, in this order."""
    if not isinstance(screen, Inspector):
        screen.dismiss()
        return
    if screen.view.hits.needle:
        screen.look_for("")
    elif screen.view.look.budget is not None:
        screen.try_budget(None)
    elif screen.deck.zoomed is not None:
        screen.deck.zoom(None)
    elif screen.jumps:
        screen.jumps.back()
    elif screen.view.query:
        screen.view.query = Query()
        screen.rearrange()
    elif screen.playing.stage:
        screen.dismiss()
    elif screen.playing.on:
        screen.playing.close()
    else:
        screen.say(f"There is nothing to go back from; {shown(BY_ID['quit'])} leaves.")


def _move(screen: CommandScreen[object], rows: int) -> None:
    if screen.lines is not None:
        screen.lines.move(rows)


def _move_page(screen: CommandScreen[object], pages: float) -> None:
    if screen.lines is not None:
        screen.lines.move_page(pages)


def _step(screen: Inspector, step: int) -> bool:
    """What the sideways keys mean inside a pane: a branch of the tree, a stage of the way."""
    pane = screen.focused
    if isinstance(pane, LifecyclePane):
        pane.step(step)
        return True
    return isinstance(pane, SourcesPane) and pane.fold(open=step > 0)


def _beside(screen: Inspector, *, right: bool) -> None:
    neighbour = screen.deck.neighbour(screen.deck.front.pane, right=right)
    if neighbour is not None:
        screen.deck.choose(neighbour)


def _turn(screen: Inspector, step: int) -> None:
    """Through the panes in the order they stand on the screen; tabs that are not shown are left out."""
    slots = screen.deck.slots
    order = slots[0].panes if len(slots) == 1 else tuple(slot.shown for slot in slots)
    here = screen.deck.front.pane
    at = order.index(here) if here in order else 0
    screen.deck.choose(order[(at + step) % len(order)])


def here(screen: Inspector) -> Thing | None:
    """What a person is at. Quick fingers press a key before the cursor's move has been told to everybody."""
    lines = screen.lines
    return lines.thing if lines is not None and lines.has_cursor else screen.selected


def _start_over(screen: Inspector) -> None:
    """From an inspector that found nothing to all that could be opened."""
    from ctxview.tui.app import CtxviewApp

    if isinstance(screen.app, CtxviewApp):
        screen.app.start_over()


def _walk(screen: Inspector, start: Thing, thing: Thing) -> None:
    """To the next record on the way; all that the one before is linked with is marked."""
    screen.selected = start
    screen.go_to(thing)
    if thing.kind is Kind.NODE:
        screen.lifecycle.walk_to(thing, start.name)


def _onward(thing: Thing, index: Index) -> Thing | None:
    """What a record leads to; from the last one that is a block, the block."""
    further = index.ways.onward(thing.name) if index.ways is not None else []
    if further:
        return index.node(further[0].id)
    node = index.value(thing)
    return index.block_named(node.block) if isinstance(node, Node) else None


def _came_from(screen: Inspector, thing: Thing) -> Thing | None:
    """What a record or a block came from: of several the one a person came from."""
    index = screen.shown.index if screen.shown is not None else None
    if index is None or index.ways is None:
        return None
    ways = index.ways
    node = ways.of_block(thing.name) if thing.kind is Kind.BLOCK else ways.nodes.get(thing.name)
    if node is None or thing.kind not in {Kind.BLOCK, Kind.NODE}:
        return None
    origins = [index.node(each.id) for each in ways.backward(node.id)]
    last = screen.jumps.last
    if last in origins or last in [index.node(link.start) for link in ways.into(node.id)]:
        return last
    return next(iter(origins), None)


def _open_source(screen: Inspector, number: int) -> None:
    if screen.view.go_to_source(number):
        screen.jumps.clear()
        screen.clear()
        screen.look_again()
