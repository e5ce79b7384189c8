"""Asks why something is changed, before it is written under somebody's name."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input

from ctxview.tui.screens.leaving import Dialog
from ctxview.tui.text import content, show
from ctxview.tui.widgets.said import Said

LONGEST = 500


class ReasonScreen(Dialog[str | None]):
    """Dismisses with the reason, None when the save is given up. `asks` says why there must be one."""

    CSS_PATH = "reason.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "back")]

    def __init__(self, editor: str, note: str, asks: str | None) -> None:
        super().__init__()
        self._editor = editor
        self._note = note
        self._asks = asks

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(show(f"Save as {self._editor}"))
            yield Said(show(self._note), show(self._asks or "A reason helps whoever reads it later.", "dim"))
            yield Input(placeholder="why", max_length=LONGEST)
            with Horizontal(classes="foot"):
                yield Said(show("", "severity.error"), classes="status")
                yield Button("Go on  Enter", variant="primary", id="go", compact=True)
                yield Button("Back  Esc", id="back", compact=True)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    @on(Button.Pressed, "#go")
    def _go(self) -> None:
        reason = self.query_one(Input).value.strip()
        if reason or self._asks is None:
            self.dismiss(reason)
        else:
            self.query_one(".status", Said).say(show("This cannot go without a reason.", "severity.error"))

    @on(Button.Pressed, "#back")
    def action_back(self) -> None:
        self.dismiss(None)
