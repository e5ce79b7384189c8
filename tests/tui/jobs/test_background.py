from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import pytest
from textual.message import Message

from ctxview.tui import job_runner
from ctxview.tui.app import CtxviewApp
from ctxview.tui.job_runner import JobProgress, RunningJob, UserPriority, progress_text
from ctxview.tui.model.jobs import Job
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import message_id
from ctxview.tui.model.view_state import ReadOptions
from tests.tui.driver import Driver, driving
from tests.tui.fakes import FakeSource
from tests.tui.settling import LIMIT, wait_until
from tests.tui.snapshot_stories import night
from tests.tui.transcripts import WorkingSource, working


@pytest.fixture
def source() -> Iterator[WorkingSource]:
    """A source with long work, which is released at the end of the test."""
    source = working()
    yield source
    source.go.set()


async def until_progress(drive: Driver) -> None:
    await drive.wait_until(lambda: drive.inspector.model.work.progress, "the header shows the progress")
    await drive.pilot.pause()


async def test_work_is_reported_in_the_header_and_completes_the_view(source: WorkingSource) -> None:
    async with driving(source, wait=False) as drive:
        await until_progress(drive)
        assert "reading history 42 %" in drive.screen_text()
        await drive.pilot.press("0", "j", "j")
        assert "0 History" in drive.screen_text()
        assert "rev" not in drive.screen_text().splitlines()[0]
        source.transcript.rows = 90
        source.go.set()
        await drive.settle()
        assert "History 90 " in drive.screen_text()
        assert "rev 3 of 3" in drive.screen_text()
        assert drive.selected == message_id(2)
        assert not drive.inspector.model.work.progress


async def test_new_rows_are_shown_during_the_work(source: WorkingSource) -> None:
    async with driving(source, wait=False) as drive:
        await until_progress(drive)
        await drive.pilot.press("0")
        source.transcript.rows = 60
        await drive.wait_until(lambda: "History 60…" in drive.screen_text(), "the title says 60")
        await drive.pilot.press("G")
        await drive.wait_until(lambda: drive.selected == message_id(59), "the last row is selected")
        assert drive.inspector.panes[Pane.HISTORY].page.rows == 60


async def test_the_last_messages_are_shown_before_all_are_counted(source: WorkingSource) -> None:
    source.transcript.last = 30
    async with driving(source, wait=False) as drive:
        await until_progress(drive)
        await drive.pilot.press("0", "G")
        await drive.wait_until(lambda: drive.selected == message_id(-1), "the last row is selected")
        history = drive.inspector.panes[Pane.HISTORY]
        assert "−1 user" in drive.screen_text()
        assert "message −1 from the end, not counted yet" in " ".join(drive.text(Pane.DETAIL).split())
        assert history.page.rows == 40 + 1 + 30
        await drive.pilot.press("k", "k")
        line = history.cursor - round(history.scroll_y)
        source.transcript.rows = 900
        source.go.set()
        await drive.settle()
        assert drive.selected == message_id(897)
        assert history.cursor - round(history.scroll_y) == line
        assert "898 assistant" in drive.screen_text()


async def test_a_line_between_both_ends_says_that_messages_are_not_counted_yet(source: WorkingSource) -> None:
    source.transcript.last = 3
    async with driving(source, wait=False) as drive:
        await until_progress(drive)
        await drive.pilot.press("0", "G")
        line = "⋮ more messages, not counted yet"
        await drive.wait_until(lambda: line in drive.screen_text(), "the line is shown")
        assert "40 system" in drive.screen_text()


async def test_long_work_is_not_done_for_the_number_of_findings(
    source: WorkingSource,
) -> None:
    async with driving(night(), source) as drive:
        assert not source.started.is_set()
        assert drive.inspector.model.totals[1].partly
        await drive.press("H", "j")
        detail = " ".join(drive.text(Pane.DETAIL).split())
        assert "its whole history is checked only after it is opened" in detail
        source.go.set()
        await drive.press("enter")
        assert source.worked
        assert not drive.inspector.model.totals[1].partly


async def test_findings_of_a_source_are_counted_that_is_found_after_the_first_reading() -> None:
    is_read = Event()

    def opener() -> Iterator[FakeSource]:
        yield night()
        assert is_read.wait(LIMIT)
        yield night()

    app = CtxviewApp(opener, ReadOptions("bytes/3"), watching=False)
    async with app.run_test() as pilot:
        drive = Driver(pilot)
        await drive.wait_until(lambda: 0 in drive.inspector.model.totals, "the first source is counted")
        is_read.set()
        await drive.settle()
        assert 1 in drive.inspector.model.totals


async def test_work_stops_when_another_source_is_opened(source: WorkingSource) -> None:
    async with driving(source, night(), wait=False) as drive:
        await until_progress(drive)
        await drive.pilot.press("H", "j", "enter")
        await drive.wait_until(lambda: source.stopped, "the work stops")
        assert not source.worked
        source.go.set()
        await drive.settle()
        assert not drive.inspector.model.work.progress
        assert drive.inspector.model.key.source == 1


async def test_work_stops_with_the_program(source: WorkingSource) -> None:
    async with driving(source, wait=False) as drive:
        await until_progress(drive)
        await drive.pilot.press("q")
    await wait_until(lambda: source.stopped, lambda: "the work stops")


def test_most_reports_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 0.05, 0.2, 0.25, 0.36])
    monkeypatch.setattr(job_runner, "monotonic", lambda: next(times))
    posted: list[Message] = []
    reporter = RunningJob(Job(), posted.append, UserPriority())
    for done in (1, 2, 3, 4):
        reporter.report(done, 4, "reading")
    assert [each.text for each in posted if isinstance(each, JobProgress)] == [
        "reading 50 %",
        "reading 99 %",
    ]


def test_nothing_is_reported_after_a_cancel() -> None:
    reporter = RunningJob(Job(), lambda _: pytest.fail("reported"), UserPriority())
    reporter.stop()
    assert reporter.cancelled
    reporter.report(1, 2, "reading")


def test_work_of_unknown_length_has_no_percentage() -> None:
    assert progress_text(5, 0, "reading") == "reading…"
    assert progress_text(5, 5, "reading") == "reading 99 %"
