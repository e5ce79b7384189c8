"""A real envelope in the inspector: going along its lifecycle, and editing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.formats import Source, open_source
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemKind
from ctxview.tui.screens.form import FormScreen
from tests.formats.envelope.bundles import good
from tests.tui.driver import driving


@pytest.fixture
def turn(tmp_path: Path) -> Source:
    file = tmp_path / "turn.json"
    file.write_text(json.dumps(good(), indent=1))
    return open_source(file)


async def test_two_keys_go_from_an_injection_to_the_item_and_its_source(turn: Source) -> None:
    async with driving(turn) as drive:
        await drive.press("L", *["l"] * 7)
        assert drive.selected is not None
        assert drive.selected.within == "injection"
        await drive.press("j")  # into the tool, which alone sees the log
        await drive.press("backspace")
        assert (drive.selected.within, drive.front) == ("surface", Pane.LIFECYCLE)
        assert "item-log" in drive.text(Pane.DETAIL)
        await drive.press("backspace")
        assert drive.selected.within == "sources"


async def test_the_visibility_pane_shows_an_item_only_the_tool_sees(turn: Source) -> None:
    async with driving(turn, size=(80, 24)) as drive:
        await drive.press("V")
        row = next(line for line in drive.screen_text().splitlines() if "item-log" in line)
        assert row.split()[1:3] == ["✗", "●"]


async def test_a_gap_of_the_lifecycle_is_edited_in_a_form(turn: Source) -> None:
    async with driving(turn) as drive:
        await drive.press("L", "l", "l", "l")
        assert drive.selected is not None
        assert (drive.selected.kind, drive.selected.within) == (ItemKind.NODE, "missing")
        await drive.press("e")
        assert isinstance(drive.app.screen, FormScreen)
