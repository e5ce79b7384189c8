"""What is over is shown as of then: visibly so, and nothing of it can be changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ctxview.formats import open_source
from ctxview.samples import folder
from ctxview.tui.layout import Pane
from ctxview.tui.revision_kinds import LOG, PLAIN, REPLY, bead
from ctxview.tui.text import plain
from ctxview.tui.widgets.header import header_line
from ctxview.tui.widgets.timeline import timeline_line
from tests.tui.driving import Driver, driving
from tests.tui.stories import night


def _header(drive: Driver, cells: int = 120) -> str:
    return plain(header_line(drive.inspector.view, "", cells))


async def test_now_is_not_called_read_only() -> None:
    async with driving(night()) as drive:
        assert "read-only" not in _header(drive)
        assert not drive.inspector.deck.has_class("-past")


@pytest.mark.parametrize("cells", [80, 120, 200])
async def test_an_earlier_revision_says_as_of_when_it_is_and_that_it_is_read_only(cells: int) -> None:
    async with driving(night()) as drive:
        await drive.step("left_square_bracket")

        label = drive.inspector.view.sources[0].revisions[drive.inspector.view.look.revision].label
        assert f"as of {label} · read-only" in _header(drive, cells)
        assert drive.inspector.deck.has_class("-past")


async def test_the_past_leaves_room_for_what_was_counted_how(tmp_path: Path) -> None:
    watch = tmp_path / "watch"
    watch.mkdir()
    for sample in (folder() / "snapshot/lighthouse").glob("round-0[23]*"):
        shutil.copy(sample, watch / sample.name)
    shutil.copy(watch / "round-03.reply.txt", watch / "round-03.tried-again.reply.txt")
    async with driving(open_source(watch)) as drive:
        await drive.step("left_square_bracket")
        assert "(" in (drive.inspector.view.as_of or "")

        header = _header(drive)
        assert header.count("as of round") == header.count("round") == 1
        assert "atom-0.17" in header
        assert "bytes/3 estimate" in header


async def test_keys_that_edit_say_how_to_come_back_to_now_and_how_to_change_the_past() -> None:
    async with driving(open_source(folder() / "snapshot/lighthouse")) as drive:
        await drive.step("left_square_bracket")
        for key in ("e", "a", "x", "m"):
            await drive.press(key)
            assert "only shown: } goes back to now" in drive.notices[-1]

        assert len(drive.notices) == 4
        file = drive.inspector.view.sources[0].revisions[-2].file
        assert f"open {file} by itself" in drive.notices[-1]
        assert drive.app.screen is drive.inspector


async def test_the_newest_revision_can_be_edited_again() -> None:
    async with driving(night()) as drive:
        await drive.press("left_curly_bracket")
        await drive.press("ctrl+end")

        assert drive.inspector.view.as_of is None
        assert not drive.inspector.deck.has_class("-past")


async def test_a_pane_nobody_touched_begins_at_its_top_after_a_look_at_the_past() -> None:
    session = folder() / "session/coder/home/1000/agent/coder/session/default"
    async with driving(open_source(session)) as drive:
        await drive.step("left_square_bracket")
        await drive.press("right_curly_bracket")

        assert drive.inspector.view.as_of is None
        budget = drive.inspector.panes[Pane.BUDGET]
        assert (budget.cursor, budget.scroll_y) == (0, 0)


async def test_after_a_step_home_and_end_mean_the_revisions_and_after_anything_else_the_rows() -> None:
    async with driving(night()) as drive:
        view, last = drive.inspector.view, drive.inspector.view.last_revision
        await drive.press("left_square_bracket", "home")
        assert view.look.revision == 0
        await drive.press("end")
        assert view.look.revision == last
        await drive.press("home", "j", "end")
        assert view.look.revision == 0
        assert drive.inspector.memory.cursor > 1


async def test_a_click_on_a_bead_goes_there_and_one_on_what_says_read_only_back_to_now() -> None:
    async with driving(night()) as drive:
        await drive.pilot.click("#timeline", offset=(len(" ◀ ├"), 0))
        await drive.settle()
        assert drive.inspector.view.look.revision == 0
        at = _header(drive).index("read-only")
        await drive.pilot.click("#header", offset=(at, 0))
        await drive.settle()

        assert drive.inspector.view.as_of is None


async def test_the_timeline_tells_the_kinds_of_revisions_apart() -> None:
    from pathlib import Path

    from ctxview.formats import open_source
    from ctxview.samples import folder

    story = open_source(Path(folder()) / "snapshot" / "lighthouse")
    async with driving(story, size=(160, 40)) as drive:
        line = plain(timeline_line(drive.inspector.view, 160))

        assert all(sign in line for sign in (PLAIN.hollow, REPLY.hollow, LOG.hollow, REPLY.filled))


def test_a_kind_nobody_knows_is_a_plain_bead() -> None:
    assert bead("something new") is PLAIN
