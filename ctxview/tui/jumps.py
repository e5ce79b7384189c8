"""Where a person came from, so that there is a way back: the things, and the panes they were looked at in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ctxview.tui.layout import Pane
from ctxview.tui.things import Thing

if TYPE_CHECKING:
    from ctxview.tui.screens.inspector import Inspector


class Jump(NamedTuple):
    pane: Pane
    thing: Thing


class Jumps:
    def __init__(self, screen: Inspector) -> None:
        self._screen = screen
        self._jumps: list[Jump] = []

    def __bool__(self) -> bool:
        return bool(self._jumps)

    @property
    def last(self) -> Thing | None:
        return self._jumps[-1].thing if self._jumps else None

    def remember(self, thing: Thing) -> None:
        """A person goes somewhere else from a thing in the pane in front."""
        self._jumps.append(Jump(self._screen.deck.front.pane, thing))

    def back(self) -> None:
        """To the last of them: the same thing, in the same pane while that is there."""
        screen, jump = self._screen, self._jumps.pop()
        screen.go_to(jump.thing, remember=False)
        there = any(jump.pane in slot.panes for slot in screen.deck.slots)
        if there and jump.pane is not screen.deck.front.pane:
            screen.deck.choose(jump.pane)
            screen.panes[jump.pane].go_to(jump.thing)

    def clear(self) -> None:
        self._jumps.clear()
