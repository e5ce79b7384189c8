"""Drives the real application without a terminal: opens sources, waits until all is read, presses keys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from ctxview.formats import Source
from ctxview.tui.app import CtxviewApp
from ctxview.tui.drawing.text import plain
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.query import Query
from ctxview.tui.model.reading_index import ItemId
from ctxview.tui.model.view_state import OpenProblem, ReadOptions
from ctxview.tui.panes import make_pane
from ctxview.tui.screens.inspector import InspectorScreen
from tests.tui.settling import settle, wait_until


class Driver:
    """The actions of a person, and what they see."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.app = pilot.app

    @property
    def inspector(self) -> InspectorScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, InspectorScreen)
        return screen

    async def settle(self) -> None:
        """Wait until nothing is read, counted or drawn."""
        await settle(self.app, self._busy)

    def _busy(self) -> str:
        status = self.inspector.model.status
        return f"the header says {status}" if status.endswith("…") else ""

    async def poll(self) -> None:
        """Look for changes on disk in all sources, as the watcher thread does outside tests."""
        self.inspector.perform(self.inspector.model.live.poll())
        await self.settle()

    async def press(self, *keys: str) -> None:
        """Press one key after the other, like a person who looks at the screen after each."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def press_quickly(self, *keys: str) -> None:
        """Press keys that all arrive before the first is handled, as over a slow connection."""
        for key in keys:
            is_character = len(key) == 1
            name = _character_to_key(key) if is_character else key
            self.app.post_message(events.Key(name, key if is_character else None))
        await self.settle()

    async def type(self, text: str) -> None:
        """Insert `text` at the cursor of the focused input."""
        field = self.app.focused
        assert isinstance(field, Input)
        field.insert_text_at_cursor(text)
        await self.settle()

    async def wait_until(self, holds: Callable[[], object], what: str) -> None:
        """Wait for a state that the program reaches while it still works; `what` says which."""
        await wait_until(holds, lambda: f"{what}; the screen is\n{self.screen_text()}")

    @property
    def selected(self) -> ItemId | None:
        return self.inspector.selected

    @property
    def front(self) -> Pane:
        return self.inspector.model.shown.front

    @property
    def revision(self) -> int:
        """The number of the selected revision."""
        return self.inspector.model.key.revision

    @property
    def query(self) -> Query:
        """The filter in use; falsy when there is none."""
        return self.inspector.model.query

    @property
    def view(self) -> Pane:
        """The name of the shown view."""
        return self.inspector.model.shown.name

    async def show(self, pane: Pane) -> None:
        """Show the view of a pane by its key."""
        await self.press(pane.key)

    def text(self, pane: Pane) -> str:
        """The whole text of a pane, also the part that is not on the screen, or if it was never shown."""
        area = self.inspector.area
        widget = area.panes.get(pane)
        if widget is None:
            widget = make_pane(pane, self.inspector.model)
            widget.take(self.inspector.view, [])
        page = widget.page if area.is_shown(pane) else widget.make_page(60)
        return "\n".join(plain(page.line(number)) for number in range(page.lines))

    @property
    def notices(self) -> list[str]:
        return [notice.message for notice in self.app._notifications]

    def screen_text(self) -> str:
        """The text on the screen."""
        width, height = self.app.size
        strips = self.app.screen._compositor.render_strips()
        assert len(strips) == height
        return "\n".join(strip.text[:width] for strip in strips)

    async def wait_for(self, screen: type[Screen[Any]]) -> None:
        """Wait until a screen of this type is in front, and drawn."""
        await self.wait_until(lambda: isinstance(self.app.screen, screen), f"{screen.__name__} is in front")
        await self.settle()


class DemoDriver(Driver):
    """Drives the demo, in which an inspector may be open."""

    @property
    def on_stage(self) -> InspectorScreen | None:
        return next((each for each in self.app.screen_stack if isinstance(each, InspectorScreen)), None)

    @property
    def inspector(self) -> InspectorScreen:
        assert self.on_stage is not None
        return self.on_stage

    def _busy(self) -> str:
        return super()._busy() if self.on_stage is not None and self.on_stage.is_mounted else ""


@asynccontextmanager
async def driving(
    *found: Source | OpenProblem,
    size: tuple[int, int] = (120, 36),
    tokens: str = "bytes/3",
    wait: bool = True,
    view: Pane = Pane.MEMORY,
) -> AsyncIterator[Driver]:
    """Open sources in the inspector and wait until all is read, or without `wait` only until it is open.

    Most tests are about blocks, so they start in the memory instead of the overview.
    """

    def opener() -> Iterable[Source | OpenProblem]:
        return found

    app = CtxviewApp(opener, ReadOptions(tokens), watching=False)
    async with app.run_test(size=size) as pilot:
        driver = Driver(pilot)
        # Tests poll explicitly.
        driver.inspector.model.live.is_off = False
        driver.inspector.show_pane(view)
        if wait:
            await driver.settle()
        yield driver
