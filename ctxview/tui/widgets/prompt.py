"""The line where one types a search or a filter, with what it means said beside it while typing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from ctxview.tui.text import Line, fit, join
from ctxview.tui.widgets.drawing import OneLine


class Prompt(Horizontal):
    """`changed` is called on every key and returns what to say; `done` gets the text, None when given up."""

    DEFAULT_CSS = """
    Prompt { height: 1; background: $panel; }
    Prompt Input { width: 2fr; height: 1; border: none; padding: 0; background: $panel; }
    Prompt Input:focus { border: none; }
    Prompt PromptName { width: 9; }
    Prompt PromptHint { width: 3fr; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority, so that what is typed right after them goes to the screen and not into the prompt.
        Binding("enter", "submit", "go", show=False, priority=True),
        Binding("escape", "give_up", "give up", show=False, priority=True),
        Binding("tab", "complete", "complete", show=False, priority=True),
    ]

    def __init__(
        self,
        name: Line,
        value: str,
        changed: Callable[[str], Line],
        done: Callable[[str | None], None],
        complete: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        super().__init__(id="prompt")
        self.input = Input(value=value, compact=True, select_on_focus=False)
        self._label = PromptName(name)
        self._hint = PromptHint()
        self._changed = changed
        self._done = done
        self._complete = complete

    def compose(self) -> Iterator[PromptName | Input | PromptHint]:
        yield self._label
        yield self.input
        yield self._hint

    def on_mount(self) -> None:
        self.screen.add_class("-asking")

    def on_unmount(self) -> None:
        self.screen.remove_class("-asking")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._hint.say(self._changed(event.value))

    async def action_submit(self) -> None:
        await self._close(self.input.value)

    async def action_give_up(self) -> None:
        await self._close(None)

    def action_complete(self) -> None:
        completed = self._complete(self.input.value)
        if completed is not None:
            self.input.value = completed
            self.input.cursor_position = len(completed)

    async def on_descendant_blur(self) -> None:
        if self.is_attached and not self.input.has_focus and self.app.app_focus:
            await self._close(self.input.value)

    async def _close(self, value: str | None) -> None:
        done, self._done = self._done, lambda _: None
        # First the answer, which moves the focus on: else the toolkit would choose where it goes.
        done(value)
        await self.remove()


class PromptName(OneLine):
    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def make_line(self, width: int) -> Line:
        return fit(self._line, width)


class PromptHint(OneLine):
    """What the text typed so far would do, or what is wrong with it."""

    def __init__(self) -> None:
        super().__init__()
        self._line: Line = ()

    def say(self, line: Line) -> None:
        self._line = line
        self.refresh()

    def make_line(self, width: int) -> Line:
        return fit(join((), self._line), width)
