from __future__ import annotations

import pytest

from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.origin import Origin
from ctxview.core.transcript import Row
from ctxview.tui.drawing.text import plain, width
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import message_id
from ctxview.tui.panes.history import message_row
from ctxview.tui.screens.raw import RawScreen
from tests.tui.driver import driving
from tests.tui.snapshot_stories import night
from tests.tui.transcripts import FILE, talking

SIZES = [(80, 24), (120, 36), (200, 60)]


def row(**fields: object) -> Row:
    plain_row: dict[str, object] = {"index": 8, "role": "tool", "kind": "tool result", "text": "one\ntwo"}
    more: dict[str, object] = {"run": "run-1", "origin": Origin("m.jsonl"), "size": 18_200, "unseen": None}
    return Row(**{**plain_row, **more, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize("size", SIZES)
async def test_zero_goes_to_the_messages(size: tuple[int, int]) -> None:
    async with driving(talking(), size=size) as drive:
        await drive.press("0")
        assert drive.front is Pane.HISTORY
        assert drive.selected == message_id(0)
        assert "0 History" in drive.screen_text()
        assert drive.inspector.history.count(drive.inspector.view) == "83"  # type: ignore[arg-type]
        assert " 1 user      run-7     line 1 of the log ⏎ and more of it" in drive.screen_text()


async def test_a_source_without_messages_has_no_history() -> None:
    async with driving(night()) as drive:
        await drive.press("0")
        assert drive.front is Pane.MEMORY
        assert "History" not in drive.screen_text()


async def test_only_visible_messages_are_read() -> None:
    source = talking(1_000_000)
    async with driving(source) as drive:
        await drive.press("0", "G")
        assert drive.selected == message_id(999_999)
        assert "1,000,000 system" in drive.screen_text()
        await drive.press("k", "g", "j", "ctrl+d")
        assert len(source.transcript.asked) < 300


async def test_the_detail_shows_a_whole_message() -> None:
    long = "x" * 40_000
    async with driving(talking(m2=long)) as drive:
        await drive.press("0", "j", "enter")
        text = " ".join(drive.text(Pane.DETAIL).split())
        front = drive.front
        assert front is Pane.DETAIL
        assert "message 2" in text
        assert "not shown to the model: 40,000 bytes are too many" in text
        assert "the rest is in the raw view (o)" in text
        await drive.press("escape")
        assert drive.front is Pane.HISTORY


async def test_origin_shows_one_line_of_a_file_that_is_too_large() -> None:
    async with driving(talking()) as drive:
        await drive.press("0", "G", "o")
        raw = drive.app.screen
        assert isinstance(raw, RawScreen)
        await drive.settle()
        assert raw.copied_text() == '{"content": "raw 83"}'
        assert "83 │" in drive.screen_text()
        assert "only this line is shown: the file has 900 MiB" in drive.screen_text()


async def test_search_continues_in_the_messages() -> None:
    async with driving(talking(m40="The horn sounds.", m80="A horn again.")) as drive:
        await drive.press("slash")
        await drive.type("horn")
        assert "Enter and n continue in 83 messages" in drive.screen_text()
        await drive.press("enter")
        assert drive.front is Pane.MEMORY
        loaded = len(drive.inspector.model.search.hits.found)
        await drive.press(*["n"] * loaded)
        assert drive.selected == message_id(39)
        assert "hit in message 40" in drive.screen_text()
        await drive.press("n")
        assert drive.selected == message_id(79)
        await drive.press("N")
        assert drive.selected == message_id(39)
        await drive.press("n", "n")
        assert drive.front is Pane.MEMORY


async def test_search_starts_at_the_selected_message() -> None:
    async with driving(talking(m20="A seal barks.", m60="A seal sleeps.")) as drive:
        await drive.press("0", "G", "slash")
        await drive.type("seal")
        await drive.press("enter")
        assert drive.selected == message_id(19)
        await drive.press("N")
        assert drive.selected == message_id(59)


async def test_a_search_without_hits_says_so() -> None:
    source = talking()
    async with driving(source) as drive:
        await drive.press("slash")
        await drive.type("walrus")
        await drive.press("enter")
        assert drive.notices == ["“walrus” was not found in what is loaded or in the history."]
        assert source.transcript.searches
        assert not drive.inspector.model.status


async def test_a_message_is_copied() -> None:
    async with driving(talking(m1="Copy me.")) as drive:
        await drive.press("0", "y")
        assert drive.app.clipboard == "Copy me."


def test_a_row_has_number_role_run_and_text() -> None:
    assert plain(message_row(row(), 5, 100)) == "    9 tool      run-1     one ⏎ two"
    assert plain(message_row(row(role="user"), 1, 100)) == "9 user      run-1     tool result one ⏎ two"


def test_a_row_is_marked_if_the_model_can_never_see_it() -> None:
    assert "○ 18.2k B one" in plain(message_row(row(unseen="too long"), 1, 100))


def test_a_row_without_role_or_text_is_drawn_too() -> None:
    line = plain(message_row(row(role=None, kind="broken", text=" ", problem="not JSON"), 1, 100))
    assert line == "9 –         run-1     not JSON broken (empty)"


def test_a_narrow_pane_leaves_out_the_run() -> None:
    assert "run-1" not in plain(message_row(row(), 1, 50))
    assert width(message_row(row(), 1, 50)) <= 50


async def test_enter_goes_from_a_finding_to_its_message() -> None:
    source = talking()
    place = Origin(FILE, start=40, end=49, line=5, column=1)
    source.more_findings = (Finding("SNP060", Severity.ERROR, Effect.NONE, "message 5 is odd", place),)
    async with driving(source) as drive:
        await drive.press("7", "enter")
        assert drive.selected == message_id(4)
        assert drive.front is Pane.HISTORY
        assert "1 finding about it" in drive.text(Pane.DETAIL)
