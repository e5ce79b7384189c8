"""The base class of all panes: draws a `ViewState`, or a text while there is none."""

from __future__ import annotations

import re
from typing import ClassVar

from ctxview.core.origin import Origin
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, Span, join, show, wrap_all
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.virtual_lines import VirtualLines


class PaneWidget(VirtualLines):
    """A pane; subclasses draw a `ViewState`. `status` is shown while there is none."""

    pane: ClassVar[Pane]
    framed: ClassVar[bool] = True
    """Whether it has a frame where there is room; False for a pane that draws its own."""

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(id=self.pane.name.lower())
        self._model = model
        self.view: ViewState | None = None
        self.status: list[Line] = [show("Opening…", "dim")]

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
        return self.draw(self.view, width, self.room.height)

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        """The rows for a width; `room` is the number of visible lines."""
        raise NotImplementedError

    @property
    def origin(self) -> Origin | None:
        """The place of the row at the cursor, in panes whose rows are not items."""
        return None

    def go_to_line(self, line: int) -> None:
        """Go to a line of the text; only some panes have lines of text."""

    def find_text(self, matches: re.Pattern[str], *, back: bool) -> bool:  # noqa: ARG002 - for subclasses
        """Go to the next line that matches; False in panes that have no text of their own."""
        return False

    def count(self, _: ViewState) -> str:
        """The count in the title, after the name."""
        return ""

    def title_line(self) -> Line:
        """The title of the frame."""
        count = self.count(self.view) if self.view is not None else ""
        return join((Span(f" {self.pane} ", "title"),), show(f"{count} ", "accent") if count else ())


def empty_page(width: int, *sentences: str) -> Page:
    """The page of a pane without content."""
    return Page.of(wrap_all([show(sentence, "dim") for sentence in sentences], width))
