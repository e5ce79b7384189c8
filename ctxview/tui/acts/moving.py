"""Moving about: rows, panes, into a thing and back out."""

from __future__ import annotations

from functools import partial

from ctxview.tui.layout import Pane
from ctxview.tui.panes.sources import SourcesPane
from ctxview.tui.query import Query
from ctxview.tui.screens.command_screen import CommandScreen
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.things import Kind


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


def left(screen: Inspector) -> None:
    if not _fold(screen, open=False):
        _beside(screen, right=False)


def right(screen: Inspector) -> None:
    if not _fold(screen, open=True):
        _beside(screen, right=True)


def next_pane(screen: Inspector) -> None:
    _turn(screen, 1)


def previous_pane(screen: Inspector) -> None:
    _turn(screen, -1)


def _choose(pane: Pane, screen: Inspector) -> None:
    if any(pane in slot.panes for slot in screen.deck.slots):
        screen.deck.choose(pane)
    else:
        screen.say(
            "There is no text beside the state." if pane is Pane.TEXT else "This source has no messages."
        )


pane_1, pane_2, pane_3, pane_4, pane_5, pane_6, pane_7, pane_8, pane_9, pane_0 = (
    partial(_choose, pane) for pane in Pane
)


def enter(screen: Inspector) -> None:
    """Into a source or revision, from a finding to its subject, from anything else to its detail."""
    thing = screen.lines.thing if screen.lines is not None and screen.lines.has_cursor else screen.selected
    if thing is None:
        return
    if thing.kind is Kind.SOURCE:
        _open_source(screen, int(thing.name))
    elif thing.kind is Kind.REVISION:
        _open_source(screen, int(thing.within))
        screen.action_go_to_revision(int(thing.name))
    elif screen.shown is None:
        return
    elif thing.kind is Kind.FINDING and (subject := screen.shown.index.subject(thing)) is not None:
        screen.go_to(subject)
    else:
        screen.jumps.append(thing)
        screen.selected = thing
        screen.deck.choose(Pane.DETAIL)


def back(screen: CommandScreen[object]) -> None:
    """Undoes the last thing that changed the view: search, what-if, zoom, jump, filter, in this order."""
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
        screen.go_to(screen.jumps.pop(), remember=False)
    elif screen.view.query:
        screen.view.query = Query()
        screen.rearrange()


def zoom(screen: Inspector) -> None:
    screen.deck.zoom(None if screen.deck.zoomed is not None else screen.deck.front.pane)


def _move(screen: CommandScreen[object], rows: int) -> None:
    if screen.lines is not None:
        screen.lines.move(rows)


def _move_page(screen: CommandScreen[object], pages: float) -> None:
    if screen.lines is not None:
        screen.lines.move_page(pages)


def _fold(screen: Inspector, *, open: bool) -> bool:  # noqa: A002 - what is done to a branch
    pane = screen.focused
    return isinstance(pane, SourcesPane) and pane.fold(open=open)


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


def _open_source(screen: Inspector, number: int) -> None:
    if screen.view.go_to_source(number):
        screen.jumps.clear()
        screen.clear()
        screen.look_again()
