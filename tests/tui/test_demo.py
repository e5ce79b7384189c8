"""The demonstration: an index that explains itself, stories that play, and the way back. No waiting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ctxview.samples import STORIES
from ctxview.tui.demo import DemoApp
from ctxview.tui.layout import Pane
from ctxview.tui.loading import Manner
from ctxview.tui.player import Show
from ctxview.tui.screens.demo import DemoScreen
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.text import plain
from ctxview.tui.widgets.player_bar import player_lines
from tests.tui.driving import Driver


class Spectator(Driver):
    """Sits before a stage on which an inspector may stand."""

    @property
    def on_stage(self) -> Inspector | None:
        return next((each for each in self.app.screen_stack if isinstance(each, Inspector)), None)

    @property
    def inspector(self) -> Inspector:
        assert self.on_stage is not None
        return self.on_stage

    @property
    def _busy(self) -> bool:
        return self.on_stage is not None and self.on_stage.is_mounted and super()._busy

    @property
    def title(self) -> str:
        source = self.inspector.view.source
        assert source is not None
        return source.title

    def captions(self) -> str:
        lines = player_lines(self.inspector.view, self.inspector.playing, 110, 6)
        return "\n".join(map(plain, lines))

    async def to_the_end(self) -> None:
        self.inspector.action_go_to_revision(self.inspector.view.last_revision)
        await self.settle()
        self.inspector.playing.tick(99)
        await self.settle()


@asynccontextmanager
async def demonstration(*, loop: bool = False) -> AsyncIterator[Spectator]:
    app = DemoApp(Show(loop=loop, ticking=False), Manner("bytes/3"))
    async with app.run_test(size=(120, 36)) as pilot:
        watch = Spectator(pilot)
        await watch.settle()
        yield watch


async def test_the_index_names_every_story_and_says_what_to_press() -> None:
    async with demonstration() as watch:
        told = watch.screen_text()

        assert all(name in told for name in STORIES)
        assert "Enter play this story" in told
        assert "any key pauses" in told


async def test_enter_plays_the_story_that_is_chosen_and_says_what_it_is_about() -> None:
    async with demonstration() as watch:
        await watch.press("enter")

        assert watch.title == "lighthouse"
        assert watch.inspector.playing.player.playing
        assert "lighthouse: a night in fourteen rounds" in watch.captions()
        assert Pane.SOURCES not in {slot.shown for slot in watch.inspector.deck.slots}


async def test_escape_leads_back_to_the_index_and_another_story_can_be_played() -> None:
    async with demonstration() as watch:
        await watch.press("enter")
        await watch.press("escape")
        assert isinstance(watch.app.screen, DemoScreen)

        await watch.press("j", "enter")
        assert watch.title.startswith("coder")


async def test_one_story_stays_at_its_end() -> None:
    async with demonstration() as watch:
        await watch.press("enter")
        await watch.to_the_end()

        assert watch.title == "lighthouse"
        assert not watch.inspector.playing.player.playing


async def test_all_stories_are_played_one_after_the_other_and_then_again() -> None:
    async with demonstration() as watch:
        await watch.press("j", "j", "j", "a")
        assert watch.title != "lighthouse"
        first = watch.inspector
        await watch.to_the_end()
        assert watch.inspector is not first
        assert watch.title == "agent-workspace"

        await watch.to_the_end()
        assert watch.title == "lighthouse"
        assert watch.inspector.playing.player.playing


async def test_a_key_pauses_and_escape_ends_the_round() -> None:
    async with demonstration(loop=True) as watch:
        assert watch.title == "lighthouse"

        await watch.press("j")
        assert not watch.inspector.playing.player.playing

        await watch.press("escape")
        assert isinstance(watch.app.screen, DemoScreen)


async def test_q_leaves() -> None:
    async with demonstration() as watch:
        await watch.press("enter")
        await watch.pilot.press("q")
        await watch.pilot.pause()

        assert watch.app.return_code == 0
