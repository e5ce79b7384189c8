"""The start screen, which `ctxview` without arguments shows."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from ctxview import samples
from ctxview.tui.app import CtxviewApp
from ctxview.tui.model import start_entries
from ctxview.tui.screens.help import HelpScreen
from ctxview.tui.screens.inspector import InspectorScreen
from ctxview.tui.screens.start import DemoScreen, StartScreen
from ctxview.tui.screens.tour import TourScreen
from tests.tui.settling import settle


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return here


@asynccontextmanager
async def started(size: tuple[int, int] = (120, 36), home: Path | None = None) -> AsyncIterator[Pilot[None]]:
    app = CtxviewApp(None, home=home)
    async with app.run_test(size=size) as pilot:
        await settle(app)
        yield pilot


def start(pilot: Pilot[None]) -> StartScreen:
    screen = pilot.app.screen
    assert isinstance(screen, StartScreen)
    return screen


def screen_text(pilot: Pilot[None]) -> str:
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


async def test_an_empty_folder_says_so_and_offers_samples_and_formats() -> None:
    async with started() as pilot:
        text = screen_text(pilot)
        assert "nothing is recognised in here" in text
        assert "lighthouse" in text
        assert "messages.jsonl" in text
        assert next(each.section for each in start(pilot).entries) == "First steps"
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)


async def test_nearby_files_come_first_and_enter_opens_them(in_an_empty_folder: Path) -> None:
    shutil.copytree(samples.samples_folder() / "snapshot" / "lighthouse", in_an_empty_folder / "mine")
    async with started() as pilot:
        entry = start(pilot).entries[0]
        assert (entry.section, entry.name) == ("Nearby", "mine")
        await pilot.press("enter")
        await settle(pilot.app)
        assert isinstance(pilot.app.screen, InspectorScreen)
    assert [path.name for path in start_entries.recent_paths()] == ["mine"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one Claude Code session that cannot be parsed, and two rollouts of Codex."""
    ids = [f"{at:08x}-1111-4222-8333-9a0b1c2d3e4f" for at in range(3)]
    project = tmp_path / "home" / ".claude" / "projects" / "-work-shop"
    day = tmp_path / "home" / ".codex" / "sessions" / "2026" / "08" / "01"
    for folder, name in ((project, ids[0]), (day, f"rollout-a-{ids[1]}"), (day, f"rollout-b-{ids[2]}")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.jsonl").write_text("not read")
    return tmp_path / "home"


async def test_sessions_of_claude_code_and_codex_are_offered_by_name_and_size(home: Path) -> None:
    async with started(home=home) as pilot:
        offered = [(each.name, each.about) for each in start(pilot).entries if each.section == "At home"]
    assert ("all of Claude Code", "1 session, 1 kB") in offered
    assert ("work-shop 00000000", "Claude Code, 1 kB") in offered
    assert ("all of Codex", "2 sessions, 1 kB") in offered
    assert ("b-00000002", "Codex, 1 kB") in offered
    assert len(offered) == 5


@pytest.mark.usefixtures("home")
async def test_without_a_home_no_sessions_are_offered() -> None:
    async with started() as pilot:
        assert not [each for each in start(pilot).entries if each.section == "At home"]


async def test_a_list_of_sessions_opens_and_enter_opens_a_session(home: Path) -> None:
    shutil.copytree(samples.samples_folder() / "transcript" / "refund-day", home / "-shop-one")
    shutil.copytree(samples.samples_folder() / "transcript" / "refund-day", home / "-shop-two")
    async with started(home=home) as pilot:
        inspector = start(pilot).app.open_paths([home])  # type: ignore[attr-defined]
        await settle(pilot.app)
        assert inspector.model.source.abilities.listing is not None
        assert "refunds" in screen_text(pilot)
        await pilot.press("enter")
        await settle(pilot.app)
        assert pilot.app.screen is not inspector
        assert isinstance(pilot.app.screen, InspectorScreen)
        assert pilot.app.screen.model.source is not None
        assert pilot.app.screen.model.source.path.suffix == ".jsonl"


async def test_recent_files_are_offered_while_they_exist(in_an_empty_folder: Path) -> None:
    gone, kept = in_an_empty_folder / "gone.json", in_an_empty_folder.parent / "kept.json"
    gone.write_text("{}")
    kept.write_text("{}")
    start_entries.remember_path([gone])
    start_entries.remember_path([kept])
    gone.unlink()
    async with started() as pilot:
        assert [each.name for each in start(pilot).entries if each.section == "Recent"] == ["kept.json"]


async def test_the_cursor_skips_the_headings() -> None:
    async with started() as pilot:
        screen = start(pilot)
        seen = [screen.chooser.item]
        for _ in range(len(screen.entries) - 1):
            await pilot.press("j")
            seen.append(screen.chooser.item)
        assert None not in seen
        assert len(set(seen)) == len(screen.entries)
        await pilot.press("j", "g")
        assert screen.chooser.item == seen[0]
        assert "A context is all that a model is given" in screen_text(pilot).splitlines()[1]


async def test_sessions_are_grouped_by_their_home_and_named_by_agent(in_an_empty_folder: Path) -> None:
    shutil.copytree(samples.samples_folder() / "session" / "coder", in_an_empty_folder / "work" / "coder")
    async with started() as pilot:
        found = [each for each in start(pilot).entries if each.section == "Nearby"]
        assert {each.group for each in found[1:]} == {"work/coder"}
        assert {"coder / default", "reviewer / rev-parser", "coder / all sessions"} <= {
            each.name for each in found
        }
        assert all(each.format == "session" and each.time is not None for each in found[1:])
        text = screen_text(pilot)
        assert text.count("work/coder") == 1
        assert f"Found here: {len(found) - 1}" in text


async def test_more_sources_than_fit_are_counted(in_an_empty_folder: Path) -> None:
    for number in range(10):
        shutil.copytree(samples.samples_folder() / "snapshot" / "broken", in_an_empty_folder / f"a{number}")
    async with started() as pilot:
        assert "Found here: 10 (8 listed)" in screen_text(pilot)


SESSION = "5f0c2a7e-1111-4222-8333-9a0b1c2d3e4f.jsonl"


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
async def test_names_formats_and_times_are_never_cut(in_an_empty_folder: Path, size: tuple[int, int]) -> None:
    for sample in ("transcript/refund-day", "workspace/workspace-before", "session/coder"):
        shutil.copytree(samples.samples_folder() / sample, in_an_empty_folder / "sample_sessions" / sample)
    async with started(size) as pilot:
        lines = screen_text(pilot).splitlines()
    for name in ("workspace/workspace-before", SESSION, "agent-c1.jsonl", "reviewer / rev-parser"):
        (line,) = [each for each in lines if name in each]
        assert re.search(r"(workspace|transcript|session) +\d\d \w{3} \d\d:\d\d", line), line


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_descriptions_of_samples_have_a_second_row_when_they_are_long(size: tuple[int, int]) -> None:
    async with started(size) as pilot:
        text = " ".join(screen_text(pilot).replace("▐", " ").replace("▕", " ").split())
        assert "what an agent remembers, forgets and loses" in text
        assert "all samples to explore" in text


async def test_nothing_is_listed_twice(in_an_empty_folder: Path) -> None:
    shutil.copytree(samples.samples_folder() / "snapshot" / "broken", in_an_empty_folder / "mine")
    start_entries.remember_path([in_an_empty_folder / "mine"])
    start_entries.remember_path(samples.sample_paths())
    async with started() as pilot:
        assert [each for each in start(pilot).entries if each.section == "Recent"] == []


async def choose(pilot: Pilot[None], name: str) -> None:
    screen = start(pilot)
    while screen.chooser.item is None or f" {name} " not in screen.chooser.item.name:
        await pilot.press("j")
    await pilot.press("enter")
    await settle(pilot.app)


async def test_the_demo_can_be_chosen_and_left_again() -> None:
    async with started() as pilot:
        await choose(pilot, "demo")
        assert isinstance(pilot.app.screen, DemoScreen)
        await pilot.press("q")
        assert isinstance(pilot.app.screen, StartScreen)


async def test_the_tour_can_be_chosen_and_q_leads_back_to_the_list() -> None:
    async with started() as pilot:
        await choose(pilot, "tour")
        assert isinstance(pilot.app.screen, TourScreen)
        await pilot.press("escape")
        await settle(pilot.app)
        assert isinstance(pilot.app.screen, InspectorScreen)
        await pilot.press("q", "q")
        assert isinstance(pilot.app.screen, StartScreen)
        await pilot.press("q")
        assert pilot.app.return_code == 0


async def test_a_path_can_be_typed() -> None:
    async with started() as pilot:
        await choose(pilot, "open a path…")
        field = pilot.app.focused
        assert isinstance(field, Input)
        field.insert_text_at_cursor(str(samples.samples_folder() / "snapshot" / "broken"))
        await pilot.press("enter")
        await settle(pilot.app)
        assert isinstance(pilot.app.screen, InspectorScreen)


async def test_ctrl_c_names_our_own_key() -> None:
    async with started() as pilot:
        await pilot.press("ctrl+c")
        assert [each.message for each in pilot.app._notifications] == ["Press q to quit."]


async def test_a_picture_of_the_list_can_be_saved(in_an_empty_folder: Path) -> None:
    async with started() as pilot:
        await pilot.press("P")
        await settle(pilot.app)
    (picture,) = in_an_empty_folder.glob("ctxview-*.svg")
    assert 'xml:space="preserve"' in picture.read_text().partition(">")[0]


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_it_fits_any_screen(size: tuple[int, int]) -> None:
    async with started(size) as pilot:
        assert all(len(line) <= size[0] for line in screen_text(pilot).splitlines())
        assert "Enter" in screen_text(pilot)


def test_a_damaged_list_of_recent_files_counts_as_empty(tmp_path: Path) -> None:
    start_entries.remember_path([tmp_path])
    file = next((tmp_path / "state").rglob("recent.json"))
    for text in ("{", "7", json.dumps([3, "", str(tmp_path)])):
        file.write_text(text)
        assert start_entries.recent_paths() in ([], [tmp_path])
