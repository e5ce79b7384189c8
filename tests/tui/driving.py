"""Drives the real application without a terminal: open, wait until all is read, press, look."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from textual.pilot import Pilot
from textual.widgets import Input

from ctxview.formats import Source
from ctxview.tui.app import CtxviewApp
from ctxview.tui.layout import Pane
from ctxview.tui.loading import Manner
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.session_view import Problem
from ctxview.tui.text import plain
from ctxview.tui.things import Thing


class Driver:
    """What a person does and sees."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.app = pilot.app

    @property
    def inspector(self) -> Inspector:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, Inspector)
        return screen

    async def settle(self) -> None:
        """Waits until nothing is read, counted or drawn any more; twice, for what one thing sets off."""
        quiet = 0
        while quiet < 2:
            await self.pilot.pause()
            quiet += 1
            while self._busy:
                await self.pilot.pause(0.01)
                quiet = 0

    @property
    def _busy(self) -> bool:
        """Dialogs wait for a person inside a worker, so theirs do not count."""
        works = any(worker.group not in {"editing", "comparing"} for worker in self.app.workers)
        return works or self.inspector.header.status.endswith("…")

    async def look(self) -> None:
        """Has everything that is open looked at once more, as happens by itself when nobody drives."""
        self.inspector.following.look()
        await self.settle()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def type(self, text: str) -> None:
        """Text at the cursor of the focused input, at once."""
        field = self.app.focused
        assert isinstance(field, Input)
        field.insert_text_at_cursor(text)
        await self.settle()

    async def step(self, key: str) -> None:
        """A bracket alone: pressed, and let go."""
        await self.pilot.press(key)
        await self.pilot.pause(0.4)
        await self.settle()

    @property
    def selected(self) -> Thing | None:
        return self.inspector.selected

    @property
    def front(self) -> Pane:
        return self.inspector.deck.front.pane

    def text(self, pane: Pane) -> str:
        """Everything a pane holds, in sight or not."""
        widget = self.inspector.panes[pane]
        page = widget.page if widget.display else widget.make_page(60)
        return "\n".join(plain(page.line(number)) for number in range(page.lines))

    @property
    def notices(self) -> list[str]:
        return [notice.message for notice in self.app._notifications]

    def screen_text(self) -> str:
        """What is on the screen, as a terminal would show it."""
        width, height = self.app.size
        strips = self.app.screen._compositor.render_strips()
        assert len(strips) == height
        return "\n".join(strip.text[:width] for strip in strips)


@asynccontextmanager
async def driving(
    *found: Source | Problem, size: tuple[int, int] = (120, 36), tokens: str = "bytes/3", wait: bool = True
) -> AsyncIterator[Driver]:
    """`wait` until all is read; without it only until there is a screen."""

    def opener() -> Iterable[Source | Problem]:
        return found

    app = CtxviewApp(opener, Manner(tokens), watching=False)
    async with app.run_test(size=size) as pilot:
        driver = Driver(pilot)
        # Tests look again themselves, when they want to.
        driver.inspector.following.is_off = False
        if wait:
            await driver.settle()
        yield driver
