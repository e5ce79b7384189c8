from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual.message import Message

from ctxview.tui import background
from ctxview.tui.background import Progressed, Teller, in_words
from ctxview.tui.layout import Pane
from ctxview.tui.precedence import Precedence
from ctxview.tui.things import message
from tests.tui.driving import Driver, driving
from tests.tui.stories import night
from tests.tui.transcripts import WorkingSource, working


@pytest.fixture
def source() -> Iterator[WorkingSource]:
    """Let go at the end, whatever happens."""
    made = working()
    yield made
    made.go.set()


async def until_told(drive: Driver) -> None:
    while not drive.inspector.header.working:
        await drive.pilot.pause(0.01)


async def test_work_is_told_in_the_header_and_completes_what_is_shown(source: WorkingSource) -> None:
    async with driving(source, wait=False) as drive:
        await until_told(drive)
        assert "reading history 42 %" in drive.screen_text()
        await drive.pilot.press("0", "j", "j")
        assert "0 History 40…" in drive.screen_text()
        assert "rev" not in drive.screen_text().splitlines()[0]
        source.transcript.rows = 90
        source.go.set()
        await drive.settle()
        assert "0 History 90 " in drive.screen_text()
        assert "rev 3/3" in drive.screen_text()
        assert drive.selected == message(2)
        assert not drive.inspector.header.working


async def test_more_rows_are_shown_while_the_work_goes_on(source: WorkingSource) -> None:
    async with driving(source, wait=False) as drive:
        await until_told(drive)
        await drive.pilot.press("0")
        source.transcript.rows = 60
        while "0 History 60…" not in drive.screen_text():
            await drive.pilot.pause(0.02)
        await drive.pilot.press("G")
        while drive.selected != message(59):
            await drive.pilot.pause(0.02)
        assert drive.inspector.panes[Pane.HISTORY].page.rows == 60


async def test_the_last_messages_are_shown_before_all_are_counted(source: WorkingSource) -> None:
    source.transcript.last = 30
    async with driving(source, wait=False) as drive:
        await until_told(drive)
        await drive.pilot.press("0", "G")
        while drive.selected != message(-1):
            await drive.pilot.pause(0.02)
        history = drive.inspector.panes[Pane.HISTORY]
        assert "−1 user" in drive.screen_text()
        assert "message −1 from the end, not counted yet" in " ".join(drive.text(Pane.DETAIL).split())
        assert history.page.rows == 40 + 1 + 30
        await drive.pilot.press("k", "k")
        line = history.cursor - round(history.scroll_y)
        source.transcript.rows = 900
        source.go.set()
        await drive.settle()
        assert drive.selected == message(897)
        assert history.cursor - round(history.scroll_y) == line
        assert "898 assistant" in drive.screen_text()


async def test_what_is_not_counted_yet_is_said_between_the_two_ends(source: WorkingSource) -> None:
    source.transcript.last = 3
    async with driving(source, wait=False) as drive:
        await until_told(drive)
        await drive.pilot.press("0", "G")
        while "⋮ messages that are not counted yet" not in drive.screen_text():
            await drive.pilot.pause(0.02)
        assert "40 system" in drive.screen_text()


async def test_a_large_source_is_not_worked_through_for_its_number_of_findings(
    source: WorkingSource,
) -> None:
    async with driving(night(), source) as drive:
        assert not source.started.is_set()
        assert drive.inspector.view.totals[1].partly
        await drive.press("1", "j")
        assert "read through for findings once it is opened" in " ".join(drive.text(Pane.DETAIL).split())
        source.go.set()
        await drive.press("enter")
        assert source.worked
        assert not drive.inspector.view.totals[1].partly


async def test_work_stops_when_another_source_is_opened(source: WorkingSource) -> None:
    async with driving(source, night(), wait=False) as drive:
        await until_told(drive)
        await drive.pilot.press("1", "j", "enter")
        while not source.stopped:
            await drive.pilot.pause(0.01)
        assert not source.worked
        source.go.set()
        await drive.settle()
        assert not drive.inspector.header.working
        assert drive.inspector.view.look.source == 1


async def test_work_stops_with_the_program(source: WorkingSource) -> None:
    async with driving(source, wait=False) as drive:
        await until_told(drive)
        await drive.pilot.press("q")
    assert source.stopped


def test_most_reports_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 0.05, 0.2, 0.25, 0.36])
    monkeypatch.setattr(background, "monotonic", lambda: next(moments))
    posted: list[Message] = []
    teller = Teller(posted.append, lambda: False, Precedence())
    for done in (1, 2, 3, 4):
        teller.report(done, 4, "reading")
    assert [each.told for each in posted if isinstance(each, Progressed)] == ["reading 50 %", "reading 99 %"]


def test_nothing_is_told_once_nobody_waits() -> None:
    teller = Teller(lambda _: pytest.fail("told"), lambda: True, Precedence())
    assert teller.cancelled
    teller.report(1, 2, "reading")


def test_work_of_unknown_length_has_no_percentage() -> None:
    assert in_words(5, 0, "reading") == "reading…"
    assert in_words(5, 5, "reading") == "reading 99 %"
