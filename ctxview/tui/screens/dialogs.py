"""Dialogs: the base class, and those that ask for a choice, a confirmation or a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input

from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Span, fit, join, show
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.screens.action_screen import DismissOnce, Result
from ctxview.tui.widgets.strips import StaticLines, content
from ctxview.tui.widgets.virtual_lines import Chooser


class Dialog(ModalScreen[Result], DismissOnce[Result]):
    """A screen above another one that returns an answer."""


class ChooseDialog(Dialog[str | None]):
    """Return the chosen word, or None."""

    DEFAULT_CSS = """
    ChooseDialog { align: center middle; }
    ChooseDialog > Vertical { width: 48; height: auto; border: round $primary; background: $surface; }
    ChooseDialog Chooser { height: auto; max-height: 20; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "choose"),
        Binding("escape,q", "leave", "leave"),
    ]

    def __init__(self, question: str, words: Sequence[str], styles: Mapping[str, str]) -> None:
        super().__init__()
        self._question = question
        self._words = list(words)
        self._styles = styles

    def compose(self) -> ComposeResult:
        with Vertical() as dialog:
            dialog.border_title = content(show(self._question))
            dialog.border_subtitle = "Enter chooses   Esc cancels"
            yield Chooser(self._page)

    def on_mount(self) -> None:
        self.query_one(Chooser).focus()

    def on_key(self, event: events.Key) -> None:
        matches = [word for word in self._words if event.character and word.startswith(event.character)]
        if len(matches) == 1:
            event.stop()
            self.dismiss(matches[0])

    def on_virtual_lines_chosen(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        self.dismiss(self._words[self.query_one(Chooser).cursor])

    def action_leave(self) -> None:
        self.dismiss(None)

    def _page(self, width: int) -> Page:
        # Words that are not tiers take colours in turn, so that they can be told apart.
        styles = {word: f"tiers.{at % 8}" for at, word in enumerate(self._words)} | dict(self._styles)
        lines = [fit(join((Span(" "),), show(word, styles[word])), width) for word in self._words]
        return Page.of(lines, [ItemId(ItemKind.WHOLE, word) for word in self._words])


class ConfirmDialog(Dialog[bool]):
    """A question: `y` is yes; `n`, Esc and an immediate Enter are no."""

    CSS_PATH = "confirm.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes"),
        Binding("n,escape", "answer(False)", "no"),
        Binding("left,right,h,l", "app.focus_next", "other", show=False),
    ]

    def __init__(self, question: str, *, yes: str, no: str, more: str = "") -> None:
        super().__init__()
        self._question = question
        self._more = more
        self._words = (yes, no)

    def compose(self) -> ComposeResult:
        yes, no = self._words
        with Vertical(classes="dialog"):
            yield StaticLines(
                show(self._question, "strong"), *([show(self._more, "dim")] if self._more else [])
            )
            with Horizontal(classes="buttons"):
                yield Button(content(show(f"{yes}  y")), id="yes", compact=True)
                yield Button(content(show(f"{no}  n")), id="no", compact=True)

    def on_mount(self) -> None:
        self.query_one("#no", Button).focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


LONGEST = 500


class ReasonDialog(Dialog[str | None]):
    """Return the reason for a save, or None to cancel. `required` says why there must be one."""

    CSS_PATH = "reason.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "back")]

    def __init__(self, editor: str, note: str, required: str | None) -> None:
        super().__init__()
        self._editor = editor
        self._note = note
        self._required = required

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(show(f"Save as {self._editor}"))
            yield StaticLines(
                show(self._note), show(self._required or "A reason helps later readers.", "dim")
            )
            yield Input(placeholder="why", max_length=LONGEST)
            with Horizontal(classes="foot"):
                yield StaticLines(show("", "severity.error"), classes="status")
                yield Button("Continue  Enter", variant="primary", id="go", compact=True)
                yield Button("Back  Esc", id="back", compact=True)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    @on(Button.Pressed, "#go")
    def _go(self) -> None:
        reason = self.query_one(Input).value.strip()
        if reason or self._required is None:
            self.dismiss(reason)
        else:
            self.query_one(".status", StaticLines).update(show("A reason is required.", "severity.error"))

    @on(Button.Pressed, "#back")
    def action_back(self) -> None:
        self.dismiss(None)
