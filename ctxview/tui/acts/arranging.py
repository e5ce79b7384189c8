"""How the panes share the screen: one alone, wider, higher, with the sources beside, or all as at first."""

from __future__ import annotations

from ctxview.tui.layout import Pane
from ctxview.tui.screens.inspector import Inspector

CELLS, LINES = 4, 2
"""How much one key press is."""


def zoom(screen: Inspector) -> None:
    if screen.deck.zoomed is None and len(screen.deck.slots) == 1:
        screen.say("The terminal is small: one pane has the screen already.")
    else:
        screen.deck.zoom(None if screen.deck.zoomed is not None else screen.deck.front.pane)


def wider(screen: Inspector) -> None:
    _resize(screen, across=CELLS)


def narrower(screen: Inspector) -> None:
    _resize(screen, across=-CELLS)


def higher(screen: Inspector) -> None:
    _resize(screen, down=LINES)


def lower(screen: Inspector) -> None:
    _resize(screen, down=-LINES)


def sources_list(screen: Inspector) -> None:
    """Beside the other panes, or only as a tab."""
    deck = screen.deck
    if len(screen.view.sources) + len(screen.view.problems) < 2:
        screen.say("There is only one source, so there is no list of them.")
    elif len(deck.slots) == 1:
        screen.say("One pane has the screen; the sources are a tab of it.")
    else:
        deck.show_sources(shown=not deck.sizes.sources)
        if not deck.sizes.sources and deck.front.pane is Pane.SOURCES:
            deck.choose(Pane.MEMORY)


def reset_layout(screen: Inspector) -> None:
    screen.deck.reset_sizes()
    screen.say("All panes are as large as they were at first.")


def _resize(screen: Inspector, *, across: int = 0, down: int = 0) -> None:
    deck = screen.deck
    if deck.resize(deck.front.pane, across=across, down=down):
        return
    if len(deck.slots) == 1:
        way = "Esc" if deck.zoomed is not None else "a larger terminal"
        screen.say(f"One pane has the screen: there is nothing beside it. {way} brings the others.")
    else:
        screen.say("There is nothing more to give or to take.")
