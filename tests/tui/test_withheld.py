"""Withheld content is not on any screen, and not in a search, copy or difference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.widgets import Input

from ctxview.tui.drawing.text import plain
from ctxview.tui.screens.diff import DiffScreen
from ctxview.tui.screens.raw import RawScreen
from ctxview.tui.screens.save import ConflictScreen, SaveScreen
from ctxview.tui.widgets.virtual_lines import ScrollList
from tests.tui.driver import Driver, driving
from tests.tui.handoff_story import DOCUMENT, FILE, SECRET, Handoff

WITHHELD_ITEM = 9


@pytest.fixture
def on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The handoff as a real file."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / FILE
    file.parent.mkdir()
    file.write_bytes(Handoff().bytes_of(FILE))
    return file


async def retitle(drive: Driver) -> None:
    """Change the title of the item with withheld content, as a reviewer."""
    await drive.press("E", "r", *["j"] * WITHHELD_ITEM, "e")
    field = drive.app.screen.query(Input).first()
    field.focus()
    field.value = "kin of the passengers"
    await drive.press("ctrl+s")


def listed(drive: Driver) -> str:
    pages = [listing.page for listing in drive.app.screen.query(ScrollList)]
    return "\n".join(plain(page.line(number)) for page in pages for number in range(page.lines))


async def test_the_raw_view_marks_withheld_content_and_opens_at_the_item() -> None:
    async with driving(Handoff()) as drive:
        await drive.press(*["j"] * WITHHELD_ITEM, "o")
        raw = drive.app.screen
        assert isinstance(raw, RawScreen)
        await drive.settle()
        assert '"content": "[withheld]"' in drive.screen_text()
        assert SECRET not in drive.screen_text()
        assert "2 spans are withheld" in drive.screen_text()
        copied = json.loads(raw.copied_text())
        assert copied["item_id"] == "itm-kin"
        assert copied["content"] == "[withheld]"
        await drive.press("G")
        assert "They said: [withheld], line one." in drive.screen_text()


async def test_withheld_content_is_not_found() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("o", "slash")
        await drive.type("Ingrid")
        assert "not found in this file" in drive.screen_text()


async def test_copying_the_raw_view_copies_no_secret() -> None:
    async with driving(Handoff()) as drive:
        await drive.press(*["j"] * WITHHELD_ITEM, "o", "y")
        assert "[withheld]" in drive.app.clipboard
        assert SECRET not in drive.app.clipboard


async def test_the_difference_before_a_save_shows_no_secret(on_disk: Path) -> None:
    async with driving(Handoff()) as drive:
        await retitle(drive)
        await drive.press("w")
        assert isinstance(drive.app.screen, SaveScreen)
        text = listed(drive)
        assert "kin of the passengers" in text
        assert '"content": "[withheld]"' in text
        assert SECRET not in text
        await drive.press("y")
        written = json.loads(on_disk.read_bytes())
        assert written["items"][WITHHELD_ITEM]["title"] == "kin of the passengers"
        assert written["items"][WITHHELD_ITEM]["content"] == SECRET


async def test_a_conflict_shows_no_secret_on_either_side(on_disk: Path) -> None:
    async with driving(Handoff()) as drive:
        await retitle(drive)
        theirs = json.loads(json.dumps(DOCUMENT))
        theirs["items"][WITHHELD_ITEM]["kind"] = f"note: {SECRET}"
        on_disk.write_bytes(json.dumps(theirs, indent=2).encode())
        await drive.press("w", "y")
        assert isinstance(drive.app.screen, ConflictScreen)
        text = listed(drive)
        assert "note: [withheld]" in text
        assert SECRET not in text


async def test_the_difference_of_states_shows_no_secret(on_disk: Path) -> None:
    assert on_disk.exists()
    async with driving(Handoff()) as drive:
        await retitle(drive)
        await drive.press("d")
        assert isinstance(drive.app.screen, DiffScreen)
        assert SECRET not in drive.screen_text()
        await drive.press("escape", "o")
        assert SECRET not in drive.screen_text()
        assert "kin of the passengers" in drive.screen_text()
