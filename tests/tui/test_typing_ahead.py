"""Keys that arrive together have their effects in order, whatever they open, fill in and close."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Event

import pytest
from textual import events

from benchmarks.typing_ahead import type_ahead
from ctxview.formats import open_source
from ctxview.tui import input_order
from ctxview.tui.model.drafts import DraftSet
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind
from tests.formats.snapshot.builders import block, snapshot_value, to_bytes
from tests.tui.driver import driving
from tests.tui.settling import LIMIT
from tests.tui.snapshot_stories import night


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "work.json"
    path.write_bytes(to_bytes(snapshot_value(working=[block("w-1"), block("w-2", content="the needle")])))
    return path


def test_prompts_and_forms_in_a_terminal(tmp_path: Path) -> None:
    assert not type_ahead(tmp_path, times=3)


@pytest.mark.parametrize("together", [True, False], ids=["with the key", "after the key"])
async def test_a_search_is_for_the_whole_text(file: Path, together: bool) -> None:
    async with driving(open_source(file)) as drive:
        if together:
            await drive.press_quickly(*"/needle", "enter")
        else:
            await drive.press("/")
            await drive.press_quickly(*"needle", "enter")
        assert drive.selected == ItemId(ItemKind.BLOCK, "w-2", "working")
        assert "hit 1 of 1" in drive.screen_text()


async def test_keys_after_the_end_of_a_prompt_go_to_the_screen(file: Path) -> None:
    async with driving(open_source(file)) as drive:
        await drive.press_quickly("f", *"w-1", "enter", "4")
        assert drive.query.text == "w-1"
        assert drive.view is Pane.BUDGET


async def test_a_filter_is_completed_and_extended(file: Path) -> None:
    async with driving(open_source(file)) as drive:
        await drive.press_quickly("f", *"tie", "tab", *"working w-2", "enter")
        assert drive.query.text == "tier:working w-2"


async def test_a_form_takes_each_character_in_its_field_and_is_saved(file: Path) -> None:
    async with driving(open_source(file)) as drive:
        await drive.press_quickly(*"2ge", "tab", "tab", "tab", *"0.7", "ctrl+s", "w", "y")
    saved = json.loads(file.read_bytes())["memory"]["working"][0]
    assert (saved["decay"], saved["confidence"], saved["id"]) == (0.1, 0.7, "w-1")


async def test_an_action_is_found_in_the_palette_and_run() -> None:
    async with driving(night()) as drive:
        await drive.press_quickly(":", *"search", "enter", *"lamp two", "enter")
        assert "hit 1 of" in drive.screen_text()
        assert drive.inspector.model.search.hits.needle == "lamp two"


async def test_keys_are_taken_although_an_edit_hangs(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = Event()
    monkeypatch.setattr(DraftSet, "open", lambda *_: goes_on.wait(LIMIT) and None)
    monkeypatch.setattr(input_order, "LONGEST_WAIT", 0.05)
    async with driving(open_source(file)) as drive:
        drive.app.post_message(events.Key("e", "e"))
        drive.app.post_message(events.Key("j", "j"))
        second = ItemId(ItemKind.BLOCK, "w-2", "working")
        await drive.wait_until(lambda: drive.selected == second, "the cursor moves")
        goes_on.set()
        await drive.settle()


async def test_ctrl_q_quits_although_an_edit_hangs(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = Event()
    monkeypatch.setattr(DraftSet, "open", lambda *_: goes_on.wait(LIMIT) and None)
    async with driving(open_source(file)) as drive:
        drive.app.post_message(events.Key("e", "e"))
        drive.app.post_message(events.Key("j", "j"))
        drive.app.post_message(events.Key("ctrl+q", None))
        await drive.wait_until(lambda: drive.app.return_code == 0, "the program ends")
        goes_on.set()


async def test_an_empty_search_keeps_the_one_before() -> None:
    async with driving(night()) as drive:
        await drive.press_quickly(*"/lamp two", "enter", "/", "enter")
        assert drive.inspector.model.search.hits.needle == "lamp two"
