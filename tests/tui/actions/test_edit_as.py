from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from ctxview.tui.screens.dialogs import ChooseDialog
from ctxview.tui.screens.form import FormScreen
from tests.tui.driver import driving
from tests.tui.handoff_story import FILE, Handoff
from tests.tui.snapshot_stories import night


async def test_the_header_shows_the_editor() -> None:
    async with driving(Handoff(), size=(180, 40)) as drive:
        assert "✎ model" in drive.screen_text()
        assert "E edit as" in drive.screen_text()
        await drive.press("E")
        assert isinstance(drive.app.screen, ChooseDialog)
        await drive.press("j", "enter")
        assert drive.inspector.model.editor == "reviewer"
        assert "✎ reviewer" in drive.screen_text()
        assert drive.notices == ["You now edit as reviewer."]


async def test_forms_depend_on_the_editor() -> None:
    source = Handoff()
    async with driving(source) as drive:
        await drive.press("e")
        assert drive.notices == ["itm-brief is locked: only a reviewer may"]
        await drive.press("E", "r", "e")
        assert isinstance(drive.app.screen, FormScreen)
        assert source.lenses[-1].editor == "reviewer"


async def test_the_editor_can_be_kept() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("E", "escape")
        await drive.press("E", "enter")
        assert drive.inspector.model.editor == "model"
        assert drive.notices == []


async def test_a_notice_says_that_a_source_has_no_editors() -> None:
    async with driving(night()) as drive:
        await drive.press("E")
        assert drive.notices == ["This source does not distinguish editors."]
        assert drive.inspector.model.editor is None


async def test_the_editor_cannot_change_while_there_are_unsaved_changes(
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
        assert drive.notices[-1] == "There are unsaved changes made as reviewer: save or undo them first."
        await drive.press("w", "y", "E", "m")
        assert drive.inspector.model.editor == "model"
        await drive.press("u")
        assert drive.notices[-1] == "There is nothing to undo."
