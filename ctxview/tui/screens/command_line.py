"""The `:` line: finds a command while its name is typed, and returns it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec import Struct
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, fit, join, pad, shorten, show, width, wrap
from ctxview.tui.job_runner import JobFinished
from ctxview.tui.model.command_line import (
    GOTO,
    Command,
    CommandKind,
    goto_command,
    matching,
    path_commands,
    path_typed,
    why_commands,
)
from ctxview.tui.model.jobs import Job, JobControl
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.screens.dialogs import Dialog
from ctxview.tui.widgets.strips import StaticLines
from ctxview.tui.widgets.virtual_lines import Chooser, VirtualLines

NOTHING = show(" No command matches.", "dim")
PLACEHOLDER = "a command: next finding, round 9, goto 5000, open PATH, why NAME"
NAME = 44
"""The most cells of a name."""


class PathsFound(Struct, frozen=True):
    """The paths that the text after `open` may become."""

    typed: str
    found: list[Command]


class FindPaths(Job, frozen=True, eq=False):
    """Find the paths that begin as a person has typed them."""

    group: ClassVar[str] = "finding paths"
    foreground: ClassVar[bool] = True
    typed: str

    def run(self, _: JobControl) -> PathsFound:
        return PathsFound(self.typed, path_commands(self.typed, Path()))


class CommandScreen(Dialog[Command]):
    """Return the chosen command, or None; `preview` is called with each command that the cursor reaches."""

    DEFAULT_CSS = """
    CommandScreen { align: center top; }
    CommandScreen > Vertical {
        width: 90%; max-width: 110; height: auto; max-height: 90%; margin-top: 1;
        border: round $primary; background: $surface;
    }
    CommandScreen Input { border: none; height: 1; padding: 0 1; background: $panel; }
    CommandScreen Chooser { height: auto; max-height: 16; }
    CommandScreen StaticLines { height: 3; padding: 0 1; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: other keys go into the input, these move through the list.
        Binding("enter", "choose", "choose", priority=True),
        Binding("escape", "leave", "leave", priority=True),
        Binding("tab", "complete", "complete", priority=True),
        Binding("down,ctrl+n", "go(1)", "down", priority=True),
        Binding("up,ctrl+p", "go(-1)", "up", priority=True),
        Binding("pagedown", "go_pages(1.0)", "page down", priority=True),
        Binding("pageup", "go_pages(-1.0)", "page up", priority=True),
    ]

    def __init__(
        self,
        commands: Sequence[Command],
        preview: Callable[[Command | None], None] = lambda _: None,
        typed: str = "",
    ) -> None:
        super().__init__()
        self._commands = list(commands)
        self._preview = preview
        self._found = self._commands
        self._typed = typed
        self._path_shown: str | None = None

    def compose(self) -> ComposeResult:
        with Vertical() as dialog:
            dialog.border_title = "Command"
            dialog.border_subtitle = "Enter runs it   Tab completes   Esc cancels"
            yield Input(self._typed, placeholder=PLACEHOLDER, compact=True, select_on_focus=False)
            yield Chooser(self._page)
            yield StaticLines()

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._find(self._typed)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._find(event.value)

    def on_job_finished(self, message: JobFinished) -> None:
        found = message.result
        if isinstance(found, PathsFound) and found.typed == path_typed(self.query_one(Input).value):
            self._path_shown = found.typed
            self._show(found.found)

    def on_virtual_lines_moved(self, event: VirtualLines.Moved) -> None:
        event.stop()
        self._describe()

    async def on_virtual_lines_chosen(self) -> None:
        await self.action_choose()

    async def action_choose(self) -> None:
        """Run the command under the cursor; one that still needs a value is completed instead."""
        path = path_typed(self.query_one(Input).value)
        if path is not None and path != self._path_shown:  # Enter came before the answer of the thread
            self._show(await self.jobs.result_of(path_commands, path, Path()))
        chosen = self.chosen
        if chosen is None or (path is not None and not chosen.value):
            return
        if not chosen.value and chosen.kind in (CommandKind.ROW, CommandKind.PATH):
            self.action_complete()
        else:
            self.dismiss(chosen)

    @property
    def chosen(self) -> Command | None:
        """The command under the cursor."""
        item = self.query_one(Chooser).item
        return self._found[int(item.name)] if item is not None and int(item.name) < len(self._found) else None

    def action_complete(self) -> None:
        if (chosen := self.chosen) is not None:
            field = self.query_one(Input)
            more = "" if chosen.value or chosen.item is not None else " "
            field.value = f"{chosen.name}{more}"
            field.cursor_position = len(field.value)

    def action_leave(self) -> None:
        self._preview(None)
        self.dismiss(None)

    def action_go(self, rows: int) -> None:
        self.query_one(Chooser).move(rows)

    def action_go_pages(self, pages: float) -> None:
        self.query_one(Chooser).move_page(pages)

    def _find(self, typed: str) -> None:
        path = path_typed(typed)
        if path is not None:
            self.jobs.start(FindPaths(path))
            return
        self._path_shown = None
        first: list[Command] = []
        if GOTO in self._commands:
            number = goto_command(typed)
            first = [number] if number is not None else why_commands(typed, self._commands)
        self._show([*first, *matching(typed, self._commands)])

    def _show(self, found: list[Command]) -> None:
        self._found = found
        chooser = self.query_one(Chooser)
        chooser.reset()
        chooser.move_end(last=False)
        self._describe()

    def _describe(self) -> None:
        """Show the whole preview of the command under the cursor."""
        chosen = self.chosen
        lines = self.query_one(StaticLines)
        text = wrap(show(chosen.about if chosen is not None else "", "dim"), max(20, lines.size.width - 2))
        lines.update(*text[:2])
        self._preview(chosen)

    def _page(self, cells: int) -> Page:
        if not self._found:
            return Page.of([NOTHING])
        names = min(NAME, cells // 2, max(width(show(each.name)) for each in self._found)) + 2
        keys = max(width(show(each.key or each.kind)) for each in self._found) + 2
        lines: list[Line] = []
        for each in self._found:
            name = pad(show(f" {shorten(each.name, names - 2)}", "strong"), names + 1)
            key = pad(show(each.key, "key") if each.key else show(each.kind, "dim"), keys)
            lines.append(fit(join(name, key, show(each.about, "dim")), cells))
        return Page.of(lines, [ItemId(ItemKind.WHOLE, str(at)) for at in range(len(lines))])
