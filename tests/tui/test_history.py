from __future__ import annotations

import pytest

from ctxview.findings import Effect, Finding, Severity
from ctxview.state import Origin, Row
from ctxview.tui.layout import Pane, Wishes, arrange
from ctxview.tui.panes.history import row_line
from ctxview.tui.screens.raw import RawScreen
from ctxview.tui.text import plain, width
from ctxview.tui.things import message
from tests.tui.driving import driving
from tests.tui.stories import night
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
        assert drive.selected == message(0)
        assert "0 History 83" in drive.screen_text()
        assert " 1 user      run-7     line 1 of the log ⏎ and more of it" in drive.screen_text()


async def test_there_is_no_history_where_there_are_no_messages() -> None:
    async with driving(night()) as drive:
        await drive.press("0")
        assert drive.front is Pane.MEMORY
        assert "History" not in drive.screen_text()


async def test_a_million_messages_are_read_only_where_they_are_seen() -> None:
    source = talking(1_000_000)
    async with driving(source) as drive:
        await drive.press("0", "G")
        assert drive.selected == message(999_999)
        assert "1,000,000 system" in drive.screen_text()
        await drive.press("k", "g", "j", "ctrl+d")
        assert len(source.transcript.asked) < 300


async def test_a_message_is_told_whole_in_the_detail() -> None:
    long = "x" * 40_000
    async with driving(talking(m2=long)) as drive:
        await drive.press("0", "j", "enter")
        told = " ".join(drive.text(Pane.DETAIL).split())
        front = drive.front
        assert front is Pane.DETAIL
        assert "message 2" in told
        assert "never shown to the model: 40,000 bytes are too many" in told
        assert "the rest is in the raw view (o)" in told
        await drive.press("escape")
        assert drive.front is Pane.HISTORY


async def test_origin_shows_the_line_itself_when_the_file_is_too_large() -> None:
    async with driving(talking()) as drive:
        await drive.press("0", "G", "o")
        raw = drive.app.screen
        assert isinstance(raw, RawScreen)
        await drive.settle()
        assert raw.copied_text() == '{"content": "raw 83"}'
        assert "83 │" in drive.screen_text()
        assert "only this line is shown: the file has 900 MiB" in drive.screen_text()


async def test_search_goes_on_through_the_messages() -> None:
    async with driving(talking(m40="The horn sounds.", m80="A horn again.")) as drive:
        await drive.press("slash")
        await drive.type("horn")
        assert "Enter and n go on through 83 messages" in drive.screen_text()
        await drive.press("enter")
        assert drive.front is Pane.MEMORY
        loaded = len(drive.inspector.view.hits.found)
        await drive.press(*["n"] * loaded)
        assert drive.selected == message(39)
        assert "hit in message 40" in drive.screen_text()
        await drive.press("n")
        assert drive.selected == message(79)
        await drive.press("N")
        assert drive.selected == message(39)
        await drive.press("n", "n")
        assert drive.front is Pane.MEMORY


async def test_search_starts_at_the_message_one_is_at() -> None:
    async with driving(talking(m20="A seal barks.", m60="A seal sleeps.")) as drive:
        await drive.press("0", "G", "slash")
        await drive.type("seal")
        await drive.press("enter")
        assert drive.selected == message(19)
        await drive.press("N")
        assert drive.selected == message(59)


async def test_what_is_in_no_message_is_said_to_be_nowhere() -> None:
    source = talking()
    async with driving(source) as drive:
        await drive.press("slash")
        await drive.type("walrus")
        await drive.press("enter")
        assert drive.notices == ["“walrus” is nowhere, neither in what is loaded nor in the history."]
        assert source.transcript.searches
        assert not drive.inspector.header.status


async def test_a_message_is_copied() -> None:
    async with driving(talking(m1="Copy me.")) as drive:
        await drive.press("0", "y")
        assert drive.app.clipboard == "Copy me."


def test_a_row_tells_number_role_run_and_text() -> None:
    assert plain(row_line(row(), 5, 100)) == "    9 tool      run-1     one ⏎ two"
    assert plain(row_line(row(role="user"), 1, 100)) == "9 user      run-1     tool result one ⏎ two"


def test_a_row_is_marked_when_the_model_can_never_be_shown_it() -> None:
    assert "✗ 18.2k B one" in plain(row_line(row(unseen="too long"), 1, 100))


def test_a_row_without_role_or_text_is_drawn_too() -> None:
    line = plain(row_line(row(role=None, kind="broken", text=" ", problem="not JSON"), 1, 100))
    assert line == "9 –         run-1     not JSON broken (empty)"


def test_a_narrow_pane_leaves_the_run_to_the_detail() -> None:
    assert "run-1" not in plain(row_line(row(), 1, 50))
    assert width(row_line(row(), 1, 50)) <= 50


def test_a_tall_screen_gives_the_history_a_row_of_its_own() -> None:
    wishes = Wishes(dict.fromkeys(Pane, 30))
    assert Pane.HISTORY in {slot.shown for slot in arrange(200, 57, wishes)}
    assert Pane.HISTORY not in {slot.shown for slot in arrange(120, 33, wishes)}
    assert any(Pane.HISTORY in slot.panes for slot in arrange(120, 33, wishes))


async def test_from_a_finding_about_a_message_enter_goes_there() -> None:
    source = talking()
    place = Origin(FILE, start=40, end=49, line=5, column=1)
    source.more_findings = (Finding("SNP060", Severity.ERROR, Effect.NONE, "message 5 is odd", place),)
    async with driving(source) as drive:
        await drive.press("7", "enter")
        assert drive.selected == message(4)
        assert drive.front is Pane.HISTORY
        assert "1 finding about it" in drive.text(Pane.DETAIL)
