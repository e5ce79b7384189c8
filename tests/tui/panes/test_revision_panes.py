"""Overview, skyline, revisions and why in the inspector: keys, cursor, and search through time."""

from __future__ import annotations

import shutil
from pathlib import Path

from ctxview.formats import open_source
from ctxview.samples import samples_folder
from ctxview.tui.model.layout import Pane
from tests.tui.driver import Driver, driving

LIGHTHOUSE = samples_folder() / "snapshot" / "lighthouse"


async def _read(drive: Driver) -> None:
    def complete() -> bool:
        view = drive.inspector.model.view
        return view is not None and view.known is not None and view.known.is_complete

    await drive.wait_until(complete, "all revisions are read")
    await drive.settle()


async def test_the_overview_answers_for_the_revision_on_the_screen() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(80, 24)) as drive:
        await drive.press("1")
        await _read(drive)
        assert "What the reply does: + 1, ~ 1" in drive.text(Pane.OVERVIEW)

        drive.inspector.action_go_to_revision(14)
        await drive.settle()

        text = drive.text(Pane.OVERVIEW)
        assert "Full: 65 of 24,720 tokens left, as recorded by the runtime" in text
        assert "of all 29 revisions: ✖ 4 in 1, ▲ 65 in 17, i 35 in 18" in text


async def test_the_cursor_of_the_skyline_goes_to_events_and_revisions() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(120, 36)) as drive:
        await drive.press("T")
        await _read(drive)
        assert drive.view is Pane.SKYLINE

        await drive.press("comma", "comma")
        assert "At the cursor: round 9" in drive.text(Pane.SKYLINE)
        await drive.press("h")
        assert "At the cursor: round 8" in drive.text(Pane.SKYLINE)
        await drive.press("enter")

        assert drive.inspector.model.source is not None
        assert drive.inspector.model.source.revisions[drive.revision].label == "round 8"


async def test_the_log_goes_to_the_revision_under_the_cursor() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(120, 36)) as drive:
        await drive.press("R")
        await _read(drive)
        assert "reply to 9" in drive.text(Pane.REVISIONS)

        await drive.press("j", "enter")

        assert drive.revision == 27


async def test_the_log_begins_at_the_shown_revision_and_tells_about_the_one_at_the_cursor() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(120, 36)) as drive:
        drive.inspector.action_go_to_revision(14)
        await drive.press("R")
        await _read(drive)
        assert "Selected: round 9 " in drive.screen_text()

        await drive.press("k")

        assert "Selected: the reply to round 9" in drive.screen_text()
        assert "SNP043" in drive.screen_text()
        await drive.press("left_square_bracket")
        assert "Selected: the reply to round 8" in drive.screen_text()


async def test_why_explains_the_selected_block_and_goes_to_a_step() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(120, 36)) as drive:
        await drive.press("W")
        await _read(drive)
        assert drive.front is Pane.WHY
        assert "What happened, oldest first" in drive.screen_text()

        await drive.press("W")
        for _ in range(40):
            await drive.pilot.press("backspace")
        await drive.type("h1-time-zone")
        await drive.press("enter")

        assert "h1-time-zone is gone since round 10" in drive.screen_text()
        await drive.press("enter")
        assert drive.revision == 3


async def test_a_name_that_no_revision_has_offers_the_nearest() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(120, 36)) as drive:
        await drive.press("W")
        await _read(drive)
        await drive.press("W")
        for _ in range(40):
            await drive.pilot.press("backspace")
        await drive.type("h1-tme")
        await drive.press("enter")

        assert "nearest: h1-time-zone" in drive.screen_text()


async def test_a_search_that_finds_nothing_here_goes_to_the_past() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(120, 36)) as drive:
        await drive.press("slash")
        await drive.type("h1-time-zone")
        await _read(drive)
        await drive.press("enter")
        await drive.wait_until(lambda: drive.revision != 28, "the revision of the hit is selected")
        await drive.settle()

        assert drive.inspector.model.source is not None
        assert drive.inspector.model.source.revisions[drive.revision].label == "round 9"
        assert any("the reply erases all 12 working blocks (SNP043)" in each for each in drive.notices)
        assert drive.selected is not None
        assert drive.selected.name == "h1-time-zone"


async def test_a_search_that_finds_nothing_here_does_not_say_so_before_all_revisions_are_searched() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(80, 24)) as drive:
        await drive.press("1")
        await _read(drive)
        await drive.press("slash")
        await drive.type("h1-time-zone")

        assert "not in this revision; Enter searches all 29" in drive.screen_text()
        assert "not found" not in drive.screen_text()


async def test_the_detail_of_a_narrow_list_opens_as_a_view_of_its_own() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(80, 24)) as drive:
        await drive.press("2", "j")
        assert "origin" not in drive.screen_text().rpartition("Detail")[2].splitlines()[1]
        await drive.press("8")
        assert drive.view is Pane.DETAIL
        assert "o opens it" in drive.screen_text()
        await drive.press("escape")
        assert drive.view is Pane.MEMORY


async def test_the_budget_of_a_reply_begins_with_the_window_of_its_prompt() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(80, 24)) as drive:
        await drive.press("1")
        await _read(drive)
        overview = drive.screen_text()
        await drive.press("4")
        shown = drive.screen_text()

        assert "57 % full" in overview
        assert "Window of round 15, which this reply answers:" in shown
        assert "14,020 / 24,720 tokens" in shown
        assert "57%" in shown
        assert " 5%" not in shown


async def test_a_search_without_a_hit_in_any_revision_says_how_many_were_searched() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(120, 36)) as drive:
        await drive.press("slash")
        await drive.type("zebra crossing")
        await _read(drive)
        await drive.press("enter")
        await drive.wait_until(lambda: drive.notices, "there is a notice")

        assert drive.notices[-1] == "“zebra crossing” was not found in 29 of 29 revisions."


async def test_facts_of_all_revisions_are_read_only_for_views_that_draw_them() -> None:
    async with driving(open_source(LIGHTHOUSE), open_source(LIGHTHOUSE), size=(80, 24)) as drive:
        # Of the first source, the overview may have drawn some before the memory was shown.
        drive.inspector.perform(drive.inspector.model.go_to_source(1))
        await drive.settle()
        view = drive.inspector.model.view
        assert view is not None
        assert (view.key.source, view.known) == (1, None)

        drive.inspector.show_pane(Pane.REVISIONS)
        await _read(drive)
        assert drive.inspector.model.view.known is not None


async def test_the_next_finding_may_be_in_another_revision() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(120, 36)) as drive:
        await drive.press("R")
        await _read(drive)
        drive.inspector.action_go_to_revision(0)
        await drive.settle()

        await drive.press("f8")

        assert drive.inspector.model.source is not None
        assert drive.inspector.model.source.revisions[drive.revision].label == "round 9 reply"


async def test_a_new_file_becomes_a_row_of_the_log(tmp_path: Path) -> None:
    folder = tmp_path / "night"
    folder.mkdir()
    for name in ("round-02.received.json", "round-02.reply.txt"):
        shutil.copy(LIGHTHOUSE / name, folder / name)
    async with driving(open_source(folder), size=(120, 36)) as drive:
        await drive.press("R")
        await _read(drive)
        assert "round 3" not in drive.text(Pane.REVISIONS)

        shutil.copy(LIGHTHOUSE / "round-03.received.json", folder / "round-03.received.json")
        await drive.poll()

        def listed() -> bool:
            return "9,874" in drive.text(Pane.REVISIONS)

        await drive.wait_until(listed, "the new revision and its window are in the log")


async def test_two_marked_columns_of_the_skyline_are_compared() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(120, 36)) as drive:
        await drive.press("T")
        await _read(drive)
        await drive.press("h", "m", "h", "h", "m")
        assert "m14" in drive.text(Pane.SKYLINE)
        assert "m12" in drive.text(Pane.SKYLINE)
        await drive.press("d")
        await drive.wait_until(lambda: "round 12" in drive.screen_text(), "the difference is shown")
        assert "Changes from round 12 to round 14" in drive.screen_text()


async def test_replies_are_columns_and_rows_on_demand() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(200, 60)) as drive:
        await drive.press("T")
        await _read(drive)
        assert " re " not in drive.text(Pane.SKYLINE)
        await drive.press("r")
        assert " re " in drive.text(Pane.SKYLINE)

        await drive.press("R")
        assert "reply to 9" in drive.text(Pane.REVISIONS)
        await drive.press("r")
        assert "reply to 9" not in drive.text(Pane.REVISIONS)


async def test_a_column_of_many_revisions_opens_and_closes(tmp_path: Path) -> None:
    received = (LIGHTHOUSE / "round-09.received.json").read_text("utf-8")
    for number in range(1, 151):
        text = received.replace('"round": 9,', f'"round": {number},', 1)
        (tmp_path / f"round-{number:03}.received.json").write_text(text, "utf-8")
    async with driving(open_source(tmp_path), size=(80, 24)) as drive:
        await drive.press("T")
        await _read(drive)
        assert "One column is 3 revisions" in drive.text(Pane.SKYLINE)
        await drive.press("z")
        assert "One column is" not in drive.text(Pane.SKYLINE)
        assert "150" in drive.text(Pane.SKYLINE)
        await drive.press("escape")
        assert "One column is 3 revisions" in drive.text(Pane.SKYLINE)


async def test_the_mouse_names_a_column_and_goes_to_it() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(80, 24)) as drive:
        await drive.press("T")
        await _read(drive)
        skyline = drive.inspector.panes[Pane.SKYLINE]
        place = (drive.text(Pane.SKYLINE).splitlines()[10].index(" 9 "), 6)
        await drive.pilot.hover(skyline, offset=place)
        assert "round 9: 24,655" in str(skyline.tooltip)
        await drive.pilot.click(skyline, offset=place)
        assert "Round 9 01:41" in drive.text(Pane.SKYLINE)
        await drive.pilot.hover(skyline, offset=(0, 6))
        assert skyline.tooltip is None


async def test_why_explains_the_block_behind_a_finding_and_a_reference() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(120, 36)) as drive:
        await _read(drive)
        drive.inspector.action_go_to_revision(14)
        await drive.settle()
        await drive.press("7", "W")
        assert drive.view is Pane.WHY
        assert "written as observation" in drive.text(Pane.WHY)
        await drive.press("5", "W")
        assert "lt-dunning-calendar" in drive.screen_text()


async def test_why_explains_a_reference_that_no_block_uses() -> None:
    coder = (
        samples_folder() / "session" / "coder" / "home" / "1000" / "agent" / "coder" / "session" / "default"
    )
    async with driving(open_source(coder), size=(120, 36)) as drive:
        await _read(drive)
        await drive.press("5", "W")
        assert drive.view is Pane.WHY
        assert "r6 is not a block, but a reference" in drive.screen_text()


async def test_the_parts_of_the_overview_are_chosen_and_opened() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(80, 24)) as drive:
        await drive.press("1")
        await _read(drive)
        await drive.press("enter")
        assert drive.view is Pane.OVERVIEW, "nothing is chosen yet"
        await drive.press("j", "j", "enter")
        assert drive.view is Pane.MEMORY
        await drive.press("1", "k", "enter")
        assert drive.view is Pane.BUDGET
        await drive.press("1")
        await drive.pilot.click(drive.inspector.panes[Pane.OVERVIEW], offset=(1, 20))
        await drive.settle()
        assert drive.view is Pane.SKYLINE


async def test_the_worst_finding_of_the_overview_is_one_key_away() -> None:
    async with driving(open_source(LIGHTHOUSE), size=(120, 36)) as drive:
        await drive.press("1")
        await _read(drive)
        await drive.press("f8")
        assert drive.view is Pane.FINDINGS
        assert drive.revision == 15
        assert drive.selected is not None
        assert drive.inspector.view is not None
        assert drive.inspector.view.index.finding(drive.selected).rule == "SNP043"
