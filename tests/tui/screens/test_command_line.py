"""The `:` line in the inspector: what is typed is found, completed, previewed and run."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from ctxview.samples import samples_folder
from ctxview.tui.model.query import MODEL_ORDER
from ctxview.tui.panes.why import WhyPane
from ctxview.tui.screens.command_line import CommandScreen
from ctxview.tui.screens.inspector import InspectorScreen
from tests.tui.driver import Driver, driving
from tests.tui.snapshot_stories import night


async def run(drive: Driver, typed: str) -> None:
    await drive.press("colon")
    await drive.type(typed)
    await drive.press("enter")


async def test_a_revision_is_gone_to_by_its_name() -> None:
    async with driving(night()) as drive:
        source = drive.inspector.model.source
        assert source is not None
        await run(drive, source.revisions[0].label)
        assert drive.revision == 0
        assert drive.app.screen is drive.inspector


async def test_a_block_is_gone_to_by_its_id() -> None:
    async with driving(night()) as drive:
        view = drive.inspector.view
        assert view is not None
        wanted = view.blocks[-1]
        await run(drive, wanted.name)
        assert drive.selected == wanted


async def test_a_number_goes_to_a_row() -> None:
    async with driving(night()) as drive:
        await run(drive, "goto 3")
        assert drive.inspector.lines is not None
        assert drive.inspector.lines.cursor == 2
        await run(drive, "99999")
        assert drive.inspector.lines.cursor == drive.inspector.lines.page.rows - 1


async def test_a_name_is_explained_and_names_of_blocks_are_offered() -> None:
    async with driving(night()) as drive:
        view = drive.inspector.view
        assert view is not None
        name = view.blocks[-1].name
        await run(drive, f"why {name}")
        assert drive.inspector.front is drive.inspector.area.get(WhyPane)
        assert name in drive.screen_text()
        assert "when and by what" not in drive.screen_text()
        await drive.press("colon")
        await drive.type(f"why {name[1:]}")
        await drive.press("down", "enter")
        assert drive.inspector.area.get(WhyPane).name_asked == name


async def test_an_action_is_run_and_a_theme_is_tried_before_it_is_chosen() -> None:
    async with driving(night()) as drive:
        await run(drive, "sort")
        await drive.press("m")
        assert drive.inspector.model.sort == MODEL_ORDER
        before = drive.app.theme
        await drive.press("colon")
        await drive.type("theme light")
        assert drive.app.theme == "ctxview-light"
        await drive.press("escape")
        assert drive.app.theme == before
        await run(drive, "theme light")
        assert drive.app.theme == "ctxview-light"


async def test_tab_completes_and_a_command_without_its_value_is_not_run() -> None:
    async with driving(night()) as drive:
        await drive.press("colon")
        await drive.type("got")
        await drive.press("tab")
        field = drive.app.screen.query_one(Input)
        assert field.value == "goto "
        await drive.press("enter")
        assert isinstance(drive.app.screen, CommandScreen)
        await drive.press(*"qqqq", "enter")
        assert isinstance(drive.app.screen, CommandScreen)
        await drive.press("escape")
        assert drive.app.screen is drive.inspector


async def test_a_path_is_opened_in_an_inspector_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with driving(night()) as drive:
        await run(drive, f"open {samples_folder() / 'snapshot' / 'lighthouse'}")
        opened = drive.app.screen
        assert isinstance(opened, InspectorScreen)
        assert opened is not drive.inspector
        await drive.wait_until(lambda: opened.model.source is not None, "the source is open")
        await run(drive, f"open {tmp_path / 'nowhere'}")
        assert isinstance(drive.app.screen, CommandScreen)
