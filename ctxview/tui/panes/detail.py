"""The selected thing, whole: every field with its owner, where it comes from, and what is wrong with it."""

from __future__ import annotations

from ctxview.tui.layout import Pane
from ctxview.tui.panes.describe import describe
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.session_view import Shown
from ctxview.tui.things import Thing
from ctxview.tui.widgets.page import Page


class DetailPane(PaneLines):
    pane = Pane.DETAIL
    has_cursor = False

    def __init__(self) -> None:
        super().__init__()
        self._about: Thing | None = None

    def select(self, thing: Thing | None) -> None:
        """Shows another thing, from its beginning."""
        if thing == self._about:
            return
        self._about = thing
        self.reset()
        self.show_line(0)

    def holds(self, _: Shown) -> bool:
        return True

    def draw(self, shown: Shown, width: int) -> Page:
        value = shown.index.value(self._about)
        if self._about is None or value is None:
            return nothing(
                width, "Nothing is selected.", "Move to a row with j and k; everything about it is said here."
            )
        return Page.of(describe(self._about, shown, width))
