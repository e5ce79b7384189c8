"""An app that shows one screen and stores its result."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from textual.screen import Screen

from ctxview.config import DEFAULT_THEME
from ctxview.tui import themes
from ctxview.tui.input_order import OrderedInput

Shown = TypeVar("Shown", bound=Screen[Any])
NOTHING = object()
"""The result while the screen is open."""


class Stage(OrderedInput, Generic[Shown]):
    def __init__(self, screen: Shown) -> None:
        super().__init__()
        self.shown = screen
        self.result: object = NOTHING

    def on_mount(self) -> None:
        palette = themes.load_palette(DEFAULT_THEME)
        self.register_theme(palette.theme())
        self.theme = palette.name
        self.push_screen(self.shown, self._keep)

    def _keep(self, result: object) -> None:
        self.result = result
