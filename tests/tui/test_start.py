"""`ctxview` with nothing named: what can be opened from here, and how one gets there."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ctxview import recents, samples
from ctxview.tui.app import CtxviewApp
from ctxview.tui.screens.help import HelpScreen
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.screens.start import StartScreen


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return here


@asynccontextmanager
async def started(size: tuple[int, int] = (120, 36)) -> AsyncIterator[Pilot[None]]:
    app = CtxviewApp(None)
    async with app.run_test(size=size) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        yield pilot


def start(pilot: Pilot[None]) -> StartScreen:
    screen = pilot.app.screen
    assert isinstance(screen, StartScreen)
    return screen


def told(pilot: Pilot[None]) -> str:
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


async def test_an_empty_folder_says_so_and_offers_the_samples_and_what_can_be_opened() -> None:
    async with started() as pilot:
        text = told(pilot)
        assert "nothing is recognised in here" in text
        assert "lighthouse" in text
        assert "messages.jsonl" in text
        assert next(each.section for each in start(pilot).offers) == "Samples"
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)


async def test_what_lies_nearby_comes_first_and_enter_opens_it(in_an_empty_folder: Path) -> None:
    shutil.copytree(samples.folder() / "snapshot" / "lighthouse", in_an_empty_folder / "mine")
    async with started() as pilot:
        offer = start(pilot).offers[0]
        assert (offer.section, offer.name) == ("Nearby", "mine")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, Inspector)
    assert [path.name for path in recents.recent()] == ["mine"]


async def test_what_was_open_last_is_offered_while_it_is_there(in_an_empty_folder: Path) -> None:
    gone, kept = in_an_empty_folder / "gone.json", in_an_empty_folder.parent / "kept.json"
    gone.write_text("{}")
    kept.write_text("{}")
    recents.note([gone])
    recents.note([kept])
    gone.unlink()
    async with started() as pilot:
        assert [each.name for each in start(pilot).offers if each.section == "Recent"] == ["kept.json"]


async def test_the_cursor_goes_from_offer_to_offer_and_over_the_headings() -> None:
    async with started() as pilot:
        screen = start(pilot)
        seen = [screen.chooser.thing]
        for _ in range(len(screen.offers) - 1):
            await pilot.press("j")
            seen.append(screen.chooser.thing)
        assert None not in seen
        assert len(set(seen)) == len(screen.offers)
        await pilot.press("j", "g")
        assert screen.chooser.thing == seen[0]
        assert "Nearby" in told(pilot).splitlines()[1]


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_it_fits_any_screen(size: tuple[int, int]) -> None:
    async with started(size) as pilot:
        assert all(len(line) <= size[0] for line in told(pilot).splitlines())
        assert "Enter" in told(pilot)


def test_a_damaged_list_of_recent_things_is_an_empty_one(tmp_path: Path) -> None:
    recents.note([tmp_path])
    file = next((tmp_path / "state").rglob("recent.json"))
    for text in ("{", "7", json.dumps([3, "", str(tmp_path)])):
        file.write_text(text)
        assert recents.recent() in ([], [tmp_path])
