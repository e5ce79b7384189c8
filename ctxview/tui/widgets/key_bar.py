"""The bottom line: the most useful keys of the moment, as many as fit; a click presses them."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from dataclasses import replace

from ctxview.tui.commands import BY_ID, COMMANDS, Command, Need
from ctxview.tui.keys import shown
from ctxview.tui.text import Line, Span, fit, join, width
from ctxview.tui.widgets.drawing import OneLine

LAST = ("palette", "help", "quit")
"""Always there, at the right end."""

LAST_WHEN_READING = ("help", "back")


class KeyBar(OneLine):
    DEFAULT_CSS = "KeyBar { background: $panel; }"

    def __init__(self, known: Container[str] = BY_ID, first: Sequence[str] = ()) -> None:
        """`first` are commands that are offered before all others."""
        super().__init__(id="keys")
        self.offers: Collection[Need] = ()
        self._known = known
        self._first = first

    def offer(self, offers: Collection[Need]) -> None:
        if set(offers) != set(self.offers):
            self.offers = set(offers)
            self.refresh()

    def make_line(self, width: int) -> Line:
        return key_line(self.offers, width, self._known, self._first)


def key_line(
    offers: Collection[Need], cells: int, known: Container[str] = BY_ID, first: Sequence[str] = ()
) -> Line:
    """Commands in the order of the table, those of low rank left out where there is no room."""
    ends = LAST if "zoom" in known else LAST_WHEN_READING
    last = join(*(_key(BY_ID[name]) for name in ends), gap="  ")
    fitting = [
        command
        for command in COMMANDS
        if command.id in known
        and command.id not in LAST
        and (command.bar or command.id in first)
        and (command.need is None or command.need in offers)
    ]
    player = Need.PLAYER in offers
    fitting = [_while_playing(each) if Need.PLAYING in offers else each for each in fitting]
    fitting.sort(key=lambda command: (command.id not in first, *_last_of_all(command, player), command.bar))
    while fitting and _width(fitting) + width(last) + 4 > cells:
        fitting.pop()
    places = {command.id: place for place, command in enumerate(COMMANDS)}
    fitting.sort(key=lambda command: (command.need is not Need.DRAFT, places[command.id]))
    most = join(*(_key(command) for command in fitting), gap="  ")
    blank = Span(" " * max(1, cells - width(most) - width(last) - 2))
    return fit(join((Span(" "),), most, (blank,), last), cells)


def _last_of_all(command: Command, player: bool) -> tuple[bool, bool, bool]:
    """What a draft, the player that is on, or a search needs goes first."""
    plays = player and (command.need is Need.PLAYER or command.id == "play")
    return command.need is not Need.DRAFT, not plays, command.need is not Need.HITS


def _while_playing(command: Command) -> Command:
    """The key that plays is the one that pauses."""
    return replace(command, label="pause") if command.id == "play" else command


def _width(commands: list[Command]) -> int:
    return sum(width(_key(command)) + 2 for command in commands)


def _key(command: Command) -> Line:
    action = f"screen.command('{command.id}')"
    key = shown(command).split()[0]
    if command.id == "earlier":
        later, other = f"screen.command('{BY_ID['later'].id}')", shown(BY_ID["later"]).split()[0]
        return (Span(f"{key} ", "key", action), Span(other, "key", later), Span(" revision", "dim", later))
    return (Span(key, "key", action), Span(f" {command.label}", "dim", action))
