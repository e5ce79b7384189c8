"""What every screen with keys shares: the commands of the table, the held-back bracket, and a prompt line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import isawaitable
from typing import TYPE_CHECKING, TypeVar

from textual import events
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from ctxview.tui.commands import BY_ID, ENDS, MODULES, STEPS, Brackets
from ctxview.tui.screens.leaving import LeftOnce
from ctxview.tui.text import Line, content, show
from ctxview.tui.widgets.key_bar import KeyBar
from ctxview.tui.widgets.virtual_lines import VirtualLines

if TYPE_CHECKING:
    from ctxview.tui.widgets.prompt import Prompt

Result = TypeVar("Result")


class CommandScreen(LeftOnce[Result]):
    """Runs commands by their id. A screen that does not know one says so and nothing happens."""

    DEFAULT_CSS = "CommandScreen.-asking KeyBar { display: none; }"

    known: frozenset[str] = frozenset(BY_ID)

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self._brackets = Brackets()
        self._patience: Timer | None = None
        self._asked_at = 0.0
        self.stepping = False
        """Whether the last thing somebody did was to go from revision to revision."""

    @property
    def own_acts(self) -> Mapping[str, Callable[[], None]]:
        """Commands that mean something of their own on this screen."""
        return {}

    @property
    def lines(self) -> VirtualLines | None:
        """The list that has the keys."""
        return self.focused if isinstance(self.focused, VirtualLines) else None

    async def action_command(self, name: str) -> None:
        """Every key, click and palette entry comes through here."""
        await self._run(self._brackets.feed(name))
        self._wait()

    def _wait(self) -> None:
        if self._patience is not None:
            self._patience.stop()
        seconds = self._brackets.waiting
        self._patience = self.set_timer(seconds, self._patience_is_over) if seconds is not None else None

    async def _patience_is_over(self) -> None:
        await self._run(self._brackets.silence())
        self._wait()

    def stepped(self) -> None:
        """A bracket led to another revision."""
        self._brackets.stepped()

    async def _run(self, names: Iterable[str]) -> None:
        for name in names:
            self.stepping = name in STEPS or (self.stepping and name in ENDS)
            if name in self.own_acts:
                self.own_acts[name]()
            elif name in self.known:
                done = find_act(name)(self)
                if isawaitable(done):
                    await done

    def say(self, text: str, *, severity: str = "information", title: str = "") -> None:
        """A short notice. Whatever is in the text, it is only shown."""
        level = severity if severity in ("warning", "error") else "information"
        self.notify(
            content(show(text)).plain,
            title=title,
            severity="error" if level == "error" else "warning" if level == "warning" else "information",
            markup=False,
        )

    def copied_text(self) -> str:
        """What `y` copies when nothing is marked with the mouse."""
        return ""

    # -- search, as far as the screen has something to search -----------------------------------------------

    def look_for(self, needle: str) -> Line:
        """Marks a needle everywhere and says how much was found."""
        raise NotImplementedError

    def step_hit(self, *, back: bool) -> None:
        """Goes to the next or previous hit."""
        raise NotImplementedError

    # -- the prompt line -------------------------------------------------------------------------------------

    @property
    def prompt(self) -> Prompt | None:
        from ctxview.tui.widgets.prompt import Prompt

        return next(iter(self.query(Prompt)), None)

    async def ask(self, prompt: Prompt) -> None:
        """Shows a prompt line at the bottom; only one at a time."""
        if self.prompt is not None:
            await self.prompt.remove()
        await self.mount(prompt, before=self.query_one(KeyBar))
        self.set_focus(prompt.input)
        self._asked_at = Message().time

    def pass_on(self, event: events.Key) -> None:
        """A key that was on its way when the prompt opened belongs into it: quick fingers type ahead."""
        if self.prompt is not None and event.time < self._asked_at:
            event.prevent_default()
            event.stop()
            self.prompt.input.post_message(events.Key(event.key, event.character))


def find_act(name: str) -> Callable[[Screen[Result]], object]:
    act: Callable[[Screen[Result]], object] = getattr(
        import_module(f"ctxview.tui.acts.{MODULES[name]}"), name
    )
    return act
