"""Past revisions are marked as past and are read-only."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ctxview.core.revision_signs import WHOLE_STATE
from ctxview.formats import Revision, open_source
from ctxview.samples import samples_folder
from ctxview.tui.drawing.text import plain
from ctxview.tui.model.layout import Pane
from ctxview.tui.widgets.header import header_line
from tests.tui.driver import Driver, driving
from tests.tui.snapshot_stories import night


def _header(drive: Driver, cells: int = 120) -> str:
    return plain(header_line(drive.inspector.model, "", cells))


async def test_the_latest_revision_is_not_read_only() -> None:
    async with driving(night()) as drive:
        assert " past " not in _header(drive)


@pytest.mark.parametrize("cells", [80, 120, 200])
async def test_the_header_of_an_earlier_revision_says_its_label_and_past(cells: int) -> None:
    async with driving(night()) as drive:
        await drive.press("left_square_bracket")

        label = drive.inspector.model.sources[0].revisions[drive.revision].label
        assert " past " in _header(drive, cells)
        assert label in _header(drive, cells)


async def test_the_header_of_a_past_revision_has_room_for_profile_and_counter(tmp_path: Path) -> None:
    watch = tmp_path / "watch"
    watch.mkdir()
    for sample in (samples_folder() / "snapshot/lighthouse").glob("round-0[23]*"):
        shutil.copy(sample, watch / sample.name)
    shutil.copy(watch / "round-03.reply.txt", watch / "round-03.tried-again.reply.txt")
    async with driving(open_source(watch)) as drive:
        await drive.press("left_square_bracket")
        assert "(" in (drive.inspector.model.as_of or "")

        header = _header(drive)
        assert header.count("round") == 1
        assert "bytes/3, estimate" in header
        assert "atom-0.17" in _header(drive, 140)


async def test_edit_keys_say_how_to_return_and_how_to_edit_the_past_revision() -> None:
    async with driving(open_source(samples_folder() / "snapshot/lighthouse")) as drive:
        await drive.press("left_square_bracket")
        for key in ("e", "a", "x", "m"):
            await drive.press(key)
            assert "is read-only. } returns to the latest revision" in drive.notices[-1]

        assert len(drive.notices) == 4
        file = drive.inspector.model.sources[0].revisions[-2].file
        assert f"open {file} alone" in drive.notices[-1]
        assert drive.app.screen is drive.inspector


async def test_the_newest_revision_can_be_edited_again() -> None:
    async with driving(night()) as drive:
        await drive.press("left_curly_bracket")
        await drive.press("ctrl+end")

        assert drive.inspector.model.as_of is None


async def test_a_pane_without_focus_stays_at_its_top_after_stepping() -> None:
    session = samples_folder() / "session/coder/home/1000/agent/coder/session/default"
    async with driving(open_source(session)) as drive:
        await drive.press("left_square_bracket")
        await drive.press("right_curly_bracket")

        assert drive.inspector.model.as_of is None
        await drive.press("4")
        budget = drive.inspector.panes[Pane.BUDGET]
        assert (budget.cursor, budget.scroll_y) == (0, 0)


async def test_home_and_end_go_to_revisions_after_a_step_and_to_rows_otherwise() -> None:
    async with driving(night()) as drive:
        model, last = drive.inspector.model, drive.inspector.model.last_revision
        await drive.press("left_square_bracket", "home")
        assert model.key.revision == 0
        await drive.press("end")
        assert model.key.revision == last
        await drive.press("home", "j", "end")
        assert model.key.revision == 0
        assert drive.inspector.memory.cursor > 1


async def test_a_click_on_past_goes_to_the_latest_revision() -> None:
    async with driving(night()) as drive:
        await drive.press("left_curly_bracket")
        assert drive.revision == 0
        at = _header(drive).index("past")
        await drive.pilot.click("#header", offset=(at, 0))
        await drive.settle()

        assert drive.inspector.model.as_of is None


def test_a_revision_has_the_plain_sign_unless_its_format_says_otherwise() -> None:
    assert Revision("r", "something new", Path("r")).sign is WHOLE_STATE
