"""One of a few words, chosen with the cursor or by its first letter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from ctxview.tui.screens.leaving import Dialog
from ctxview.tui.text import Span, content, fit, join, show
from ctxview.tui.things import Kind, Thing
from ctxview.tui.tiers import tier_styles
from ctxview.tui.widgets.listing import Chooser
from ctxview.tui.widgets.page import Page


class PickScreen(Dialog[str | None]):
    """Dismisses with the word, or with None when nothing was chosen."""

    DEFAULT_CSS = """
    PickScreen { align: center middle; }
    PickScreen > Vertical { width: 48; height: auto; border: round $primary; background: $surface; }
    PickScreen Chooser { height: auto; max-height: 20; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "choose"),
        Binding("escape,q", "leave", "leave"),
    ]

    def __init__(self, question: str, words: Sequence[str]) -> None:
        super().__init__()
        self._question = question
        self._words = list(words)

    def compose(self) -> ComposeResult:
        with Vertical() as dialog:
            dialog.border_title = content(show(self._question))
            dialog.border_subtitle = "Enter chooses   Esc leaves"
            yield Chooser(self._page)

    def on_mount(self) -> None:
        self.query_one(Chooser).focus()

    def on_key(self, event: events.Key) -> None:
        found = [word for word in self._words if event.character and word.startswith(event.character)]
        if len(found) == 1:
            event.stop()
            self.dismiss(found[0])

    def on_virtual_lines_chosen(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        self.dismiss(self._words[self.query_one(Chooser).cursor])

    def action_leave(self) -> None:
        self.dismiss(None)

    def _page(self, width: int) -> Page:
        styles = tier_styles(self._words)
        lines = [fit(join((Span(" "),), show(word, styles[word])), width) for word in self._words]
        return Page.of(lines, [Thing(Kind.WHOLE, word) for word in self._words])
