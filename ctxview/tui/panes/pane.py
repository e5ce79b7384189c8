"""What all panes share: they draw what is shown, and say in words when there is nothing to draw."""

from __future__ import annotations

from typing import ClassVar

from ctxview.tui.layout import Pane
from ctxview.tui.session_view import Shown
from ctxview.tui.text import Line, show, wrap_all
from ctxview.tui.widgets.page import Page
from ctxview.tui.widgets.virtual_lines import VirtualLines

AMPLE = 60
"""Lines that nobody gets on a usual screen: with so many a pane shows how much it could use."""


class PaneLines(VirtualLines):
    """Subclasses draw a `Shown`. `status` is what to say while there is none."""

    pane: ClassVar[Pane]

    def __init__(self) -> None:
        super().__init__(id=self.pane.name.lower())
        self.shown: Shown | None = None
        self.status: list[Line] = [show("Opening…", "dim")]
        self._wanted: tuple[Shown, int, int] | None = None

    def take(self, shown: Shown | None, status: list[Line]) -> bool:
        """Whether there is anything else to draw: then somebody has to `reset` it."""
        before, self.shown, self.status = self.shown, shown, status
        differs = before is None or shown is None or self.differs(before, shown)
        self._stale = self._stale or differs
        return differs

    def differs(self, before: Shown, after: Shown) -> bool:
        """Whether there is anything else to draw than before."""
        return before.index is not after.index

    def make_page(self, width: int) -> Page:
        if self.shown is None:
            return Page.of(wrap_all(self.status, width))
        return self.draw(self.shown, width, self.content_size.height)

    def draw(self, shown: Shown, width: int, room: int) -> Page:
        """The rows for a width; `room` is how many lines are in sight."""
        raise NotImplementedError

    def count(self, _: Shown) -> str:
        """What the tab says after the name: how much there is."""
        return ""

    def lines_wanted(self, width: int) -> int:
        """How many lines it could use; 0 when it has nothing to show."""
        shown = self.shown
        if shown is None or not self.holds(shown):
            return 0
        # Drawing costs more than all the rest of placing the panes, and they are placed at every turn.
        if self._wanted is None or self._wanted[:2] != (shown, width):
            page = self.draw(shown, width, AMPLE)
            self._wanted = shown, width, page.lines + len(page.header)
        return self._wanted[2]

    def holds(self, shown: Shown) -> bool:
        """Whether there is anything to show but that there is nothing."""
        return bool(self.count(shown))


def nothing(width: int, *sentences: str) -> Page:
    """An empty pane that says so."""
    return Page.of(wrap_all([show(sentence, "dim") for sentence in sentences], width))
