"""The demo: the list of stories, their replay, and the way back. Nothing waits for a clock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ctxview.samples import STORIES
from ctxview.tui.app import DemoApp
from ctxview.tui.drawing.text import plain
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.replay import ReplayOptions
from ctxview.tui.model.view_state import ReadOptions
from ctxview.tui.screens.start import DemoScreen
from ctxview.tui.widgets.replay_bar import player_lines
from tests.tui.driver import DemoDriver


class StoryDriver(DemoDriver):
    """Watches a story to its end."""

    @property
    def title(self) -> str:
        source = self.inspector.model.source
        assert source is not None
        return source.title

    def captions(self) -> str:
        lines = player_lines(self.inspector.model, 110, 6)
        return "\n".join(map(plain, lines))

    async def go_to_end(self) -> None:
        self.inspector.action_go_to_revision(self.inspector.model.last_revision)
        await self.settle()
        self.inspector.perform(self.inspector.model.replay.tick(99))
        await self.settle()


@asynccontextmanager
async def running_demo(*, loop: bool = False) -> AsyncIterator[StoryDriver]:
    app = DemoApp(ReplayOptions(loop=loop, ticking=False), ReadOptions("bytes/3"))
    async with app.run_test(size=(120, 36)) as pilot:
        drive = StoryDriver(pilot)
        await drive.settle()
        yield drive


async def test_the_list_names_every_story_and_the_keys() -> None:
    async with running_demo() as drive:
        text = drive.screen_text()

        assert all(name in text for name in STORIES)
        assert "Enter play this story" in text
        assert "any key pauses" in text


async def test_enter_plays_the_chosen_story_with_captions() -> None:
    async with running_demo() as drive:
        await drive.press("enter")

        assert drive.title == "lighthouse"
        assert drive.inspector.model.replay.clock.playing
        assert "lighthouse: a night in fourteen rounds" in drive.captions()
        assert drive.view is Pane.MEMORY


async def test_escape_goes_back_to_the_list_and_another_story_can_be_played() -> None:
    async with running_demo() as drive:
        await drive.press("enter")
        await drive.press("escape")
        assert isinstance(drive.app.screen, DemoScreen)

        await drive.press("j", "enter")
        assert drive.title.startswith("coder")


async def test_a_single_story_stops_at_its_end() -> None:
    async with running_demo() as drive:
        await drive.press("enter")
        await drive.go_to_end()

        assert drive.title == "lighthouse"
        assert not drive.inspector.model.replay.clock.playing


async def test_all_stories_are_played_in_a_loop() -> None:
    async with running_demo() as drive:
        await drive.press(*"jjjjj", "a")
        assert drive.title != "lighthouse"
        first = drive.inspector
        await drive.go_to_end()
        assert drive.inspector is not first
        assert drive.title == "agent-workspace"

        await drive.go_to_end()
        assert drive.title == "lighthouse"
        assert drive.inspector.model.replay.clock.playing


async def test_a_key_pauses_and_escape_ends_the_loop() -> None:
    async with running_demo(loop=True) as drive:
        assert drive.title == "lighthouse"

        await drive.press("j")
        assert not drive.inspector.model.replay.clock.playing

        await drive.press("escape")
        assert isinstance(drive.app.screen, DemoScreen)


async def test_a_view_that_was_opened_during_a_story_is_left_first() -> None:
    async with running_demo() as drive:
        await drive.press("enter")
        for leave in ("q", "escape"):
            await drive.press("T", leave)
            assert drive.view is Pane.MEMORY
        await drive.press("escape")
        assert isinstance(drive.app.screen, DemoScreen)


async def test_q_goes_back_to_the_list_and_quits_there() -> None:
    async with running_demo() as drive:
        await drive.press("enter")
        await drive.press("q")
        assert isinstance(drive.app.screen, DemoScreen)
        await drive.pilot.press("q")
        await drive.pilot.pause()

        assert drive.app.return_code == 0
