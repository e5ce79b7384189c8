"""The base of all screens with keys: runs actions of the table, holds back a bracket, shows a prompt line."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from ctxview.tui.drawing.text import Line, show
from ctxview.tui.input_order import OrderedInput, start_dialogue
from ctxview.tui.job_runner import JobRunner
from ctxview.tui.model.action_table import (
    ACTION_MODULES,
    ACTIONS,
    ACTIONS_BY_ID,
    ENDS,
    PANE_ACTIONS,
    STEPS,
    BracketKeys,
)
from ctxview.tui.model.jobs import Job, JobControl
from ctxview.tui.model.layout import Pane
from ctxview.tui.panes import module_of
from ctxview.tui.widgets.bars import KeyBar
from ctxview.tui.widgets.strips import content
from ctxview.tui.widgets.virtual_lines import VirtualLines

if TYPE_CHECKING:
    from ctxview.tui.model.command_line import Command
    from ctxview.tui.widgets.bars import InputLine


def bindings(known: Container[str] = ACTIONS_BY_ID) -> list[Binding]:
    """Key bindings for the actions that a screen knows, with their ids, so that they can be remapped.

    On a screen without a replay, its key moves down a page.
    """
    bound = [
        Binding(each.keys, f"command('{each.id}')", each.label, show=False, id=each.id, tooltip=each.help)
        for each in ACTIONS
        if each.id in known
    ]
    return bound if "play" in known else [*bound, Binding("space", "command('page_down')", show=False)]


Result = TypeVar("Result")
PACKAGE = "ctxview.tui.actions"
OWN_KEYS = f"{PACKAGE}.own_keys"
REFERENCES = "ctxview.tui.screens.references"


class DismissOnce(Screen[Result]):
    """A screen that closes only once: with the toolkit a second Esc would also close the screen below."""

    @cached_property
    def jobs(self) -> JobRunner:
        """Runs the jobs of the screen until it closes; each result comes as a `JobFinished`."""
        return JobRunner(self.post_message)

    def on_unmount(self) -> None:
        self.jobs.close()

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        return super().dismiss(result) if self.is_current else AwaitComplete()


class ActionScreen(DismissOnce[Result]):
    """A screen that runs actions by their id; an action that is not in `known` does nothing."""

    DEFAULT_CSS = "ActionScreen.-asking KeyBar { display: none; }"

    known: frozenset[str] = frozenset(ACTIONS_BY_ID)

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self._brackets = BracketKeys()
        self._timer: Timer | None = None
        self._stayed: str | None = None
        self.command_begun = ""
        """The text with which the command line opens next time."""
        self.stepping = False
        """Whether the last action went from revision to revision."""

    @property
    def own_actions(self) -> Mapping[str, Callable[[], object]]:
        """Actions with another meaning on this screen."""
        return {}

    @property
    def commands(self) -> Sequence[Command]:
        """Commands that only this screen offers, besides its actions."""
        return ()

    @property
    def lines(self) -> VirtualLines | None:
        """The focused list, or None."""
        return self.focused if isinstance(self.focused, VirtualLines) else None

    async def action_command(self, name: str) -> None:
        """Run an action, for every key, click and command."""
        *back, last = self._brackets.feed(name)
        if back:
            await self._run(back)
            start_dialogue(self, self._run_when_shown(last), "jump")
        else:
            await self._run([last])
        self._wait()

    async def _run_when_shown(self, name: str) -> None:
        """Run an action when the revision that was gone to is on the screen; the next key waits for it."""
        await self.revision_shown()
        await self._run([name])

    async def revision_shown(self) -> None:
        """Wait until the revision that was asked for is shown."""

    def _wait(self) -> None:
        if self._brackets.waiting != BracketKeys.PATIENCE:
            self._stayed = None
        if self._timer is not None:
            self._timer.stop()
        seconds = self._brackets.waiting
        self._timer = self.set_timer(seconds, self._end_wait) if seconds is not None else None

    def _end_wait(self) -> None:
        if isinstance(self.app, OrderedInput) and self.app.has_unhandled_input:
            self._wait()  # a key that came in time is not handled yet
            return
        self._brackets.silence()
        if self._stayed is not None:
            self.say(self._stayed)
        self._wait()

    def stepped(self) -> None:
        """Note that a bracket led to another revision."""
        self._brackets.stepped()

    def stayed(self, why: str) -> None:
        """Say why a bracket led nowhere, unless an `e` follows."""
        if self._brackets.waiting is None:
            self.say(why)
        else:
            self._stayed = why

    async def _run(self, names: Iterable[str]) -> None:
        for name in names:
            self.stepping = name in STEPS or (self.stepping and name in ENDS)
            own = self.own_actions.get(name)
            if own is not None or name in self.known:
                result = own() if own is not None else find_action(name)(self)
                if isawaitable(result):
                    await result

    def say(self, text: str, *, severity: str = "information", title: str = "") -> None:
        """Show a short notice; `text` is shown as it is, without markup."""
        level = severity if severity in ("warning", "error") else "information"
        self.notify(
            content(show(text)).plain,
            title=title,
            severity="error" if level == "error" else "warning" if level == "warning" else "information",
            markup=False,
        )

    def copied_text(self) -> str:
        """The text that `copy` copies when no text is marked with the mouse."""
        return ""

    # -- search ----------------------------------------------------------------------------------------------

    def search_for(self, needle: str) -> Line:
        """Search for `needle`, mark it everywhere, and return a line with the number of hits."""
        raise NotImplementedError

    def step_hit(self, *, back: bool) -> None:
        """Go to the next or previous hit."""
        raise NotImplementedError

    # -- the prompt line -------------------------------------------------------------------------------------

    @property
    def prompt(self) -> InputLine | None:
        from ctxview.tui.widgets.bars import InputLine

        return next(iter(self.query(InputLine)), None)

    async def ask(self, prompt: InputLine) -> None:
        """Show a prompt line at the bottom, in place of an earlier one."""
        if self.prompt is not None:
            await self.prompt.remove()
        await self.mount(prompt, before=self.query_one(KeyBar))
        self.set_focus(prompt.input)


class OpenPath(Message):
    """Asks the app to open a path in an inspector of its own."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path


class UnsavedChanged(Message):
    """Says whether closing the inspector would lose changes."""

    def __init__(self, *, unsaved: bool) -> None:
        super().__init__()
        self.unsaved = unsaved


class StartDemo(Message):
    """Asks the app to show the list of stories."""


class StartOver(Message):
    """Asks the app to go from an inspector back to the list of what can be opened."""


def find_own_action(name: str) -> Callable[[Screen[Result]], object]:
    """The function of a key with another meaning in one view, imported when it is called."""

    def run(screen: Screen[Result]) -> object:
        action: Callable[[Screen[Result]], object] = getattr(import_module(OWN_KEYS), name)
        return action(screen)

    return run


def find_action(name: str) -> Callable[[Screen[Result]], object]:
    """Import the function of the action `name`."""
    module = import_module(f"{PACKAGE}.{ACTION_MODULES[name]}")
    if name in PANE_ACTIONS:
        return partial(module.go_to_pane, pane=PANE_ACTIONS[name])
    action: Callable[[Screen[Result]], object] = getattr(module, name)
    return action


class ImportAhead(Job, frozen=True, eq=False):
    """Import all panes and actions, so that the first key does not wait for them."""

    group: ClassVar[str] = "import ahead"
    endless: ClassVar[bool] = True

    def run(self, control: JobControl) -> None:
        actions = [f"{PACKAGE}.{name}" for name in dict.fromkeys(ACTION_MODULES.values())]
        names = [*actions, *map(module_of, Pane), REFERENCES]
        # The review needs by far the most, and a key waits for the import that is under way.
        names.sort(key=lambda name: name in (OWN_KEYS, module_of(Pane.REVIEW)))
        for name in names:
            if control.cancelled:
                return
            import_module(name)
