"""All commands by name: type a few letters, choose, and it is done on the screen below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from ctxview.tui.commands import Command
from ctxview.tui.keys import shown
from ctxview.tui.screens.leaving import Dialog
from ctxview.tui.text import Line, fit, join, pad, show, width
from ctxview.tui.things import Kind, Thing
from ctxview.tui.widgets.listing import Chooser
from ctxview.tui.widgets.page import Page

NOTHING = show(" No command is called that.", "dim")


class PaletteScreen(Dialog[str]):
    """Dismisses with the id of a command, or with None when nothing was chosen."""

    DEFAULT_CSS = """
    PaletteScreen { align: center top; }
    PaletteScreen > Vertical {
        width: 90%; max-width: 100; height: auto; max-height: 90%; margin-top: 1;
        border: round $primary; background: $surface;
    }
    PaletteScreen Input { border: none; height: 1; padding: 0 1; background: $panel; }
    PaletteScreen Chooser { height: auto; max-height: 100%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: the letters go into the input, these move through the list.
        Binding("enter", "choose", "choose", priority=True),
        Binding("escape", "leave", "leave", priority=True),
        Binding("down,ctrl+n", "go(1)", "down", priority=True),
        Binding("up,ctrl+p", "go(-1)", "up", priority=True),
        Binding("pagedown", "go_pages(1.0)", "page down", priority=True),
        Binding("pageup", "go_pages(-1.0)", "page up", priority=True),
    ]

    def __init__(self, commands: Sequence[Command]) -> None:
        super().__init__()
        self._commands = sorted(commands, key=lambda each: each.label)
        self._found = self._commands

    def compose(self) -> ComposeResult:
        with Vertical() as dialog:
            dialog.border_title = "Commands"
            dialog.border_subtitle = "Enter does it   Esc leaves"
            yield Input(placeholder="what would you like to do?", compact=True)
            yield Chooser(self._page)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._found = matching(event.value, self._commands)
        chooser = self.query_one(Chooser)
        chooser.reset()
        chooser.move_end(last=False)

    def on_virtual_lines_chosen(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        thing = self.query_one(Chooser).thing
        if thing is not None:
            self.dismiss(thing.name)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_go(self, rows: int) -> None:
        self.query_one(Chooser).move(rows)

    def action_go_pages(self, pages: float) -> None:
        self.query_one(Chooser).move_page(pages)

    def _page(self, cells: int) -> Page:
        if not self._found:
            return Page.of([NOTHING])
        label = max(len(each.label) for each in self._commands) + 2
        keys = max(width(show(shown(each))) for each in self._commands) + 2
        lines = [fit(_row(each, label, keys), cells) for each in self._found]
        return Page.of(lines, [Thing(Kind.WHOLE, each.id) for each in self._found])


def matching(typed: str, commands: Sequence[Command]) -> list[Command]:
    """Those that hold every word that was typed, in their name, key or help; the nearest by name first."""
    words = typed.lower().split()
    found = [each for each in commands if all(word in _words(each) for word in words)]
    wanted = " ".join(words)
    return sorted(found, key=lambda each: (not each.label.startswith(wanted), wanted not in each.label))


def _words(command: Command) -> str:
    return f"{command.label} {shown(command)} {command.help}".lower()


def _row(command: Command, label: int, keys: int) -> Line:
    name = pad(show(f" {command.label}", "strong"), label + 1)
    return join(name, pad(show(shown(command), "key"), keys), show(command.help, "dim"))
