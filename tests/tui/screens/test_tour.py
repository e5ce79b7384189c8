"""The tour, and screenshots."""

from __future__ import annotations

from pathlib import Path
from xml.dom.minidom import parseString

import pytest

from ctxview.tui.actions.general import screenshot_folder
from ctxview.tui.model.action_table import ACTIONS_BY_ID
from ctxview.tui.model.layout import Pane
from ctxview.tui.screens.tour import STEPS, TourScreen
from tests.tui.driver import Driver, driving
from tests.tui.snapshot_stories import hostile, night


def test_every_step_names_existing_actions() -> None:
    assert len(STEPS) == 5
    for step in STEPS:
        assert {step.goes_to, *step.commands} <= ACTIONS_BY_ID.keys()


async def click_on(drive: Driver, text: str) -> None:
    """Click on the first letter of a text on the screen."""
    lines = drive.screen_text().splitlines()
    y = next(number for number, line in enumerate(lines) if text in line)
    await drive.pilot.click(offset=(lines[y].index(text), y))
    await drive.pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_the_tour_goes_through_the_panes_in_five_steps(size: tuple[int, int]) -> None:
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


async def test_a_screenshot_is_written_into_the_current_folder(
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


def test_a_screenshot_is_never_written_into_an_inspected_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, home = tmp_path / "here", tmp_path / "home"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert screenshot_folder([here / "file.json", home]) == here
    assert screenshot_folder([here]) == home
    assert screenshot_folder([tmp_path / "home", here.parent / "here"]) == tmp_path / "state" / "ctxview"
