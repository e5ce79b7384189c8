from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual.message import Message

from ctxview.tui import background
from ctxview.tui.background import Progressed, Teller, in_words
from ctxview.tui.layout import Pane
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
    teller = Teller(posted.append, lambda: False)
    for done in (1, 2, 3, 4):
        teller.report(done, 4, "reading")
    assert [each.told for each in posted if isinstance(each, Progressed)] == ["reading 50 %", "reading 99 %"]


def test_nothing_is_told_once_nobody_waits() -> None:
    teller = Teller(lambda _: pytest.fail("told"), lambda: True)
    assert teller.cancelled
    teller.report(1, 2, "reading")


def test_work_of_unknown_length_has_no_percentage() -> None:
    assert in_words(5, 0, "reading") == "reading…"
    assert in_words(5, 5, "reading") == "reading 99 %"
