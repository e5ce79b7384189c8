"""An app that shows one screen and keeps what it is dismissed with."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from textual.app import App
from textual.screen import Screen

from ctxview.tui import themes

Shown = TypeVar("Shown", bound=Screen[Any])
NOTHING = object()
"""What a screen that is still there was dismissed with."""


class Stage(App[None], Generic[Shown]):
    def __init__(self, screen: Shown) -> None:
        super().__init__()
        self.shown = screen
        self.result: object = NOTHING

    def on_mount(self) -> None:
        palette = themes.load(themes.DEFAULT)
        self.register_theme(palette.theme())
        self.theme = palette.name
        self.push_screen(self.shown, self._keep)

    def _keep(self, result: object) -> None:
        self.result = result
