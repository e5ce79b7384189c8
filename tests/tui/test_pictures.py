"""Pictures of the screens people look at. A change is looked at before it is accepted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import pytest
from textual.app import App
from textual.pilot import Pilot

from ctxview.formats import Source, open_source
from ctxview.samples import folder
from ctxview.tui.app import CtxviewApp
from ctxview.tui.demo import DemoApp
from ctxview.tui.loading import Manner
from ctxview.tui.player import Show
from ctxview.tui.session_view import Problem
from ctxview.tui.themes import turn_to
from tests.tui.driving import Driver
from tests.tui.stories import broken, empty, hostile, huge, night
from tests.tui.test_demo import Spectator

SIZES = [(80, 24), (120, 36), (200, 60)]


class Compare(Protocol):
    def __call__(
        self,
        app: App[None],
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[None]], Awaitable[None]],
    ) -> bool: ...


def keys(*pressed: str, theme: str = "", typed: str = "") -> Callable[[Pilot[None]], Awaitable[None]]:
    async def before(pilot: Pilot[None]) -> None:
        drive = Driver(pilot)
        await drive.settle()
        if theme:
            turn_to(drive.app, theme)
        for key in pressed:
            await drive.press(key)
        if typed:
            await drive.type(typed)
        await drive.settle()

    return before


def app(*found: Source | Problem) -> CtxviewApp:
    return CtxviewApp(lambda: found, Manner("bytes/3"), watching=False)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_inspector(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(app(night()), terminal_size=size, run_before=keys("j", "j", "j"))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_many_sources(snap_compare: Compare, size: tuple[int, int]) -> None:
    found = (night(), huge(300), empty(), hostile(), Problem(Path("x/bad.json"), "line 3 column 9: no colon"))
    assert snap_compare(app(*found), terminal_size=size, run_before=keys("1", "l", "j"))


@pytest.mark.parametrize("theme", ["ctxview-light", "ctxview-contrast"])
def test_the_other_themes(snap_compare: Compare, theme: str) -> None:
    assert snap_compare(app(night()), terminal_size=(120, 36), run_before=keys("j", theme=theme))


WAYS = {
    "detail": keys("j", "enter"),
    "findings": keys("7"),
    "filter": keys("f", typed="tier:working decay>0.3"),
    "search": keys("slash", typed="lamp"),
    "raw": keys("j", "o"),
    "help": keys("question_mark"),
    "profile": keys("p"),
    "sorted": keys("s", "s", "s"),
    "links": keys("j", "j", "j", "r"),
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_to_look(snap_compare: Compare, way: str) -> None:
    assert snap_compare(app(night()), terminal_size=(100, 30), run_before=WAYS[way])


@pytest.mark.parametrize(
    "story", [empty(), broken(), hostile(), huge()], ids=lambda story: story.title.split("\x1b")[0]
)
def test_designed_states(snap_compare: Compare, story: Source) -> None:
    assert snap_compare(app(story), terminal_size=(120, 36), run_before=keys())


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_replay(snap_compare: Compare, size: tuple[int, int]) -> None:
    story = open_source(folder() / "snapshot" / "lighthouse")
    played = CtxviewApp(lambda: [story], Manner("bytes/3"), show=Show(ticking=False), watching=False)

    async def before(pilot: Pilot[None]) -> None:
        drive = Driver(pilot)
        await drive.settle()
        await drive.press("full_stop", "full_stop")

    assert snap_compare(played, terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_index_of_the_demonstration(snap_compare: Compare, size: tuple[int, int]) -> None:
    shown = DemoApp(Show(ticking=False), Manner("bytes/3"))

    async def before(pilot: Pilot[None]) -> None:
        await pilot.press("j")

    assert snap_compare(shown, terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_story_on_stage(snap_compare: Compare, size: tuple[int, int]) -> None:
    shown = DemoApp(Show(ticking=False), Manner("bytes/3"))

    async def before(pilot: Pilot[None]) -> None:
        watch = Spectator(pilot)
        await watch.press("enter")
        watch.inspector.action_go_to_revision(17)
        await watch.settle()

    assert snap_compare(shown, terminal_size=size, run_before=before)
