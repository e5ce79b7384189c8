"""Pictures of the main screens. Look at a changed picture before accepting it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from ctxview.formats import Source, open_source
from ctxview.samples import samples_folder
from ctxview.tui.app import CtxviewApp, DemoApp
from ctxview.tui.model.replay import ReplayOptions
from ctxview.tui.model.view_state import OpenProblem, ReadOptions
from tests.tui.driver import DemoDriver, Driver
from tests.tui.pictures import SIZES, Compare, app, keys
from tests.tui.snapshot_stories import broken, empty, hostile, huge, night


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_inspector(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(app(night()), terminal_size=size, run_before=keys("j", "j", "j"))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_many_sources(snap_compare: Compare, size: tuple[int, int]) -> None:
    found = (
        night(),
        huge(300),
        empty(),
        hostile(),
        OpenProblem(Path("x/bad.json"), "line 3 column 9: no colon"),
    )
    assert snap_compare(app(*found), terminal_size=size, run_before=keys("1", "l", "j"))


@pytest.mark.parametrize("theme", ["ctxview-light", "ctxview-contrast"])
def test_the_other_themes(snap_compare: Compare, theme: str) -> None:
    assert snap_compare(app(night()), terminal_size=(120, 36), run_before=keys("j", theme=theme))


VIEWS = {
    "detail": keys("j", "enter"),
    "findings": keys("7"),
    "filter": keys("f", typed="tier:working decay>0.3"),
    "search": keys("slash", typed="lamp"),
    "raw": keys("j", "o"),
    "help": keys("question_mark"),
    "profile": keys("p"),
    "sorted": keys("s", "d"),
    "links": keys("j", "j", "j", "r"),
}


@pytest.mark.parametrize("view", VIEWS)
def test_views(snap_compare: Compare, view: str) -> None:
    assert snap_compare(app(night()), terminal_size=(100, 30), run_before=VIEWS[view])


@pytest.mark.parametrize(
    "story", [empty(), broken(), hostile(), huge()], ids=lambda story: story.title.split("\x1b")[0]
)
def test_special_states(snap_compare: Compare, story: Source) -> None:
    assert snap_compare(app(story), terminal_size=(120, 36), run_before=keys())


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_replay(snap_compare: Compare, size: tuple[int, int]) -> None:
    story = open_source(samples_folder() / "snapshot" / "lighthouse")
    played = CtxviewApp(
        lambda: [story], ReadOptions("bytes/3"), show=ReplayOptions(ticking=False), watching=False
    )

    async def before(pilot: Pilot[None]) -> None:
        drive = Driver(pilot)
        await drive.settle()
        await drive.press("full_stop", "full_stop")

    assert snap_compare(played, terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_demo_index(snap_compare: Compare, size: tuple[int, int]) -> None:
    shown = DemoApp(ReplayOptions(ticking=False), ReadOptions("bytes/3"))

    async def before(pilot: Pilot[None]) -> None:
        await pilot.press("j")

    assert snap_compare(shown, terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_story_on_stage(snap_compare: Compare, size: tuple[int, int]) -> None:
    shown = DemoApp(ReplayOptions(ticking=False), ReadOptions("bytes/3"))

    async def before(pilot: Pilot[None]) -> None:
        drive = DemoDriver(pilot)
        await drive.press("enter")
        drive.inspector.action_go_to_revision(17)
        await drive.settle()

    assert snap_compare(shown, terminal_size=size, run_before=before)
