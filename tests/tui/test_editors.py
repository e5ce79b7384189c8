from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from ctxview.tui.screens.form import FormScreen
from ctxview.tui.screens.pick import PickScreen
from tests.tui.driving import driving
from tests.tui.handoff import FILE, Handoff
from tests.tui.stories import night


async def test_the_header_says_in_whose_name_one_edits() -> None:
    async with driving(Handoff()) as drive:
        assert "✎ model" in drive.screen_text()
        assert "E edit as" in drive.screen_text()
        await drive.press("E")
        assert isinstance(drive.app.screen, PickScreen)
        await drive.press("j", "enter")
        assert drive.inspector.view.editor == "reviewer"
        assert "✎ reviewer" in drive.screen_text()
        assert drive.notices == ["You edit as reviewer now."]


async def test_forms_follow_the_editor() -> None:
    source = Handoff()
    async with driving(source) as drive:
        await drive.press("e")
        assert drive.notices == ["itm-brief is locked: only a reviewer may"]
        await drive.press("E", "r", "e")
        assert isinstance(drive.app.screen, FormScreen)
        assert source.lenses[-1].editor == "reviewer"


async def test_the_choice_can_be_left_as_it_is() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("E", "escape")
        await drive.press("E", "enter")
        assert drive.inspector.view.editor == "model"
        assert drive.notices == []


async def test_a_source_without_editors_says_so() -> None:
    async with driving(night()) as drive:
        await drive.press("E")
        assert drive.notices == ["Here it makes no difference who edits."]
        assert drive.inspector.view.editor is None


async def test_nobody_takes_over_a_draft_of_somebody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(FILE).parent.mkdir()
    Path(FILE).write_bytes(Handoff().bytes_of(FILE))
    async with driving(Handoff()) as drive:
        await drive.press("E", "r", "e")
        field = drive.app.screen.query(Input).first()
        field.focus()
        field.value = "the brief"
        await drive.press("ctrl+s", "E")
        assert drive.app.screen is drive.inspector
        assert drive.notices[-1] == "There are changes made as reviewer: save or undo them first."
        await drive.press("w", "y", "E", "m")
        assert drive.inspector.view.editor == "model"
        await drive.press("u")
        assert drive.notices[-1] == "There is nothing to undo."
