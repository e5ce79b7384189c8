"""One question that wants a yes or a no before something is lost."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button

from ctxview.tui.screens.leaving import Dialog
from ctxview.tui.text import content, show
from ctxview.tui.widgets.said import Said


class Question(Dialog[bool]):
    """`y` says yes; `n`, Esc and a thoughtless Enter say no."""

    CSS_PATH = "question.tcss"
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
            yield Said(show(self._question, "strong"), *([show(self._more, "dim")] if self._more else []))
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
