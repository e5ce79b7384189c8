"""A long list inside a dialog, with the keys fingers know. What it lists is given to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from ctxview.tui.widgets.page import Page
from ctxview.tui.widgets.virtual_lines import VirtualLines


class Listing(VirtualLines):
    """Lines to read: the keys scroll."""

    has_cursor: ClassVar[bool] = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "go(1)", "down", show=False),
        Binding("k,up", "go(-1)", "up", show=False),
        Binding("ctrl+d", "go_pages(0.5)", "half down", show=False),
        Binding("ctrl+u", "go_pages(-0.5)", "half up", show=False),
        Binding("pagedown,space,ctrl+f", "go_pages(1.0)", "page down", show=False),
        Binding("pageup,ctrl+b", "go_pages(-1.0)", "page up", show=False),
        Binding("g,home", "go_end(False)", "first", show=False),
        Binding("G,end", "go_end(True)", "last", show=False),
    ]

    def __init__(self, make: Callable[[int], Page], *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._make = make

    def make_page(self, width: int) -> Page:
        return self._make(width)

    def action_go(self, rows: int) -> None:
        self.move(rows)

    def action_go_pages(self, pages: float) -> None:
        self.move_page(pages)

    def action_go_end(self, last: bool) -> None:
        self.move_end(last=last)


class Chooser(Listing):
    """Things to choose from: the keys move a cursor."""

    has_cursor: ClassVar[bool] = True
