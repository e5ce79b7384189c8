"""The base class of all panes: draws a `ViewState`, or a text while there is none."""

from __future__ import annotations

from typing import ClassVar

from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, show, wrap_all
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.virtual_lines import VirtualLines

AMPLE = 60
"""More lines than a usual screen has: a pane drawn with so many shows how many it could use."""


class PaneWidget(VirtualLines):
    """A pane; subclasses draw a `ViewState`. `status` is shown while there is none."""

    pane: ClassVar[Pane]

    def __init__(self) -> None:
        super().__init__(id=self.pane.name.lower())
        self.view: ViewState | None = None
        self.status: list[Line] = [show("Opening…", "dim")]
        self._wanted: tuple[ViewState, int, int] | None = None

    def take(self, view: ViewState | None, status: list[Line]) -> bool:
        """Set the view; return whether the pane has to be drawn again, which the caller does with `reset`."""
        before, self.view, self.status = self.view, view, status
        differs = before is None or view is None or self.differs(before, view)
        self._stale = self._stale or differs
        return differs

    def differs(self, before: ViewState, after: ViewState) -> bool:
        """Whether the two views are drawn differently."""
        return before.index is not after.index

    def make_page(self, width: int) -> Page:
        if self.view is None:
            return Page.of(wrap_all(self.status, width))
        return self.draw(self.view, width, self.content_size.height)

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        """The rows for a width; `room` is the number of visible lines."""
        raise NotImplementedError

    def count(self, _: ViewState) -> str:
        """The count in the tab, after the name."""
        return ""

    def lines_wanted(self, width: int) -> int:
        """How many lines the pane could use; 0 when it has no content."""
        view = self.view
        if view is None or not self.holds(view):
            return 0
        # Cached, because panes are placed often and drawing costs more than the rest of placing them.
        if self._wanted is None or self._wanted[:2] != (view, width):
            page = self.draw(view, width, AMPLE)
            self._wanted = view, width, page.lines + len(page.header)
        return self._wanted[2]

    def holds(self, view: ViewState) -> bool:
        """Whether the pane has any content in this view."""
        return bool(self.count(view))


def empty_page(width: int, *sentences: str) -> Page:
    """The page of a pane without content."""
    return Page.of(wrap_all([show(sentence, "dim") for sentence in sentences], width))
