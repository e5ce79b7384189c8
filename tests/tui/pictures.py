"""Helpers for tests that compare pictures of the screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from textual.app import App
from textual.pilot import Pilot

from ctxview.formats import Source
from ctxview.tui.app import CtxviewApp
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.view_state import OpenProblem, ReadOptions
from ctxview.tui.themes import apply_theme
from tests.tui.driver import Driver

SIZES = [(80, 24), (120, 36), (200, 60)]


class Compare(Protocol):
    def __call__(
        self,
        app: App[None],
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[None]], Awaitable[None]],
    ) -> bool: ...


def keys(
    *pressed: str, theme: str = "", typed: str = "", view: Pane = Pane.MEMORY
) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def before(pilot: Pilot[None]) -> None:
        drive = Driver(pilot)
        await drive.settle()
        drive.inspector.show_pane(view)
        if theme:
            apply_theme(drive.app, theme)
        for key in pressed:
            await drive.press(key)
        if typed:
            await drive.type(typed)
        await drive.settle()

    return before


def app(*found: Source | OpenProblem) -> CtxviewApp:
    return CtxviewApp(lambda: found, ReadOptions("bytes/3"), watching=False)
