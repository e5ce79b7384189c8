"""The tour, and a picture of the screen."""

from __future__ import annotations

from pathlib import Path
from xml.dom.minidom import parseString

import pytest

from ctxview.tui.commands import BY_ID
from ctxview.tui.layout import Pane
from ctxview.tui.pictures import folder_for
from ctxview.tui.screens.tour import STEPS, TourScreen
from tests.tui.driving import Driver, driving
from tests.tui.stories import hostile, night


def test_every_step_speaks_of_commands_there_are() -> None:
    assert len(STEPS) == 5
    for step in STEPS:
        assert {step.goes_to, *step.commands} <= BY_ID.keys()


async def click_on(drive: Driver, text: str) -> None:
    """The mouse on the first letter of a text on the screen."""
    lines = drive.screen_text().splitlines()
    y = next(number for number, line in enumerate(lines) if text in line)
    await drive.pilot.click(offset=(lines[y].index(text), y))
    await drive.pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_from_the_help_five_steps_lead_through_the_panes(size: tuple[int, int]) -> None:
    async with driving(night(), size=size) as drive:
        await drive.pilot.press("question_mark", "t")
        await drive.pilot.pause()
        tour = drive.app.screen
        assert isinstance(tour, TourScreen)
        fronts = [drive.front]
        for _ in STEPS[1:]:
            await drive.pilot.press("enter")
            await drive.pilot.pause()
            fronts.append(drive.front)
        assert fronts == [Pane.MEMORY, Pane.BUDGET, Pane.FINDINGS, Pane.DETAIL, Pane.MEMORY]
        await click_on(drive, "← back")
        assert tour.number == 3
        await drive.pilot.press("enter", "enter")
        await drive.pilot.pause()
        assert drive.app.screen is drive.inspector


async def test_a_picture_of_the_screen_is_written_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with driving(hostile()) as drive:
        await drive.press("P")
        notices = drive.notices
    found = list(tmp_path.glob("ctxview-*.svg"))
    assert notices == [f"Written to {found[0]}."]
    picture = found[0].read_text()
    assert parseString(picture).documentElement.tagName == "svg"
    assert "@font-face" not in picture, "nothing is to be fetched for it"


def test_a_picture_is_never_written_into_what_is_inspected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, home = tmp_path / "here", tmp_path / "home"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert folder_for([here / "file.json", home]) == here
    assert folder_for([here]) == home
    assert folder_for([tmp_path / "home", here.parent / "here"]) == tmp_path / "state" / "ctxview"
