"""The replay: its speed, pauses and end. Tests report the time instead of waiting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from ctxview.analysis.captions import Caption
from ctxview.formats import Source, open_source
from ctxview.samples import samples_folder
from ctxview.tui.app import CtxviewApp
from ctxview.tui.drawing.text import plain
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.replay import LONGEST, SHORTEST, SPEEDS, ReplayClock, ReplayOptions, reading_time
from ctxview.tui.model.view_state import ReadOptions
from ctxview.tui.widgets.replay_bar import player_lines
from tests.tui.driver import Driver, driving
from tests.tui.snapshot_stories import night

LONG = 99.0


@asynccontextmanager
async def replaying(source: Source, *, loop: bool = False, speed: float = 1.0) -> AsyncIterator[Driver]:
    app = CtxviewApp(
        lambda: [source],
        ReadOptions("bytes/3"),
        show=ReplayOptions(speed, loop, ticking=False),
        watching=False,
    )
    async with app.run_test(size=(120, 36)) as pilot:
        drive = Driver(pilot)
        await drive.settle()
        yield drive


async def wait(drive: Driver, seconds: float = LONG) -> None:
    drive.inspector.perform(drive.inspector.model.replay.tick(seconds))
    await drive.settle()


def bar(drive: Driver) -> str:
    model = drive.inspector.model
    return "\n".join(map(plain, player_lines(model, 120, 4)))


def lighthouse() -> Source:
    return open_source(samples_folder() / "snapshot" / "lighthouse")


def test_longer_captions_are_shown_longer_up_to_a_limit() -> None:
    assert reading_time([]) == SHORTEST
    assert (
        SHORTEST < reading_time([Caption("x" * 40)]) < reading_time([Caption("x" * 80, "y" * 40)]) <= LONGEST
    )
    assert reading_time([Caption("x" * 9000)]) == LONGEST


def test_speed_goes_up_and_down_within_bounds() -> None:
    clock = ReplayClock()
    for _ in SPEEDS:
        clock.faster()
    assert clock.speed == SPEEDS[-1]
    for _ in SPEEDS:
        clock.slower()
    assert clock.speed == SPEEDS[0]


def test_a_faster_replay_needs_less_time() -> None:
    slow, fast = ReplayClock(1.0), ReplayClock(4.0)
    slow.play()
    fast.play()

    assert not slow.is_over(SHORTEST / 2, [])
    assert fast.is_over(SHORTEST / 2, [])


def test_a_paused_replay_never_advances() -> None:
    clock = ReplayClock()

    assert not clock.is_over(LONG, [])


def test_after_the_last_revision_a_replay_ends_or_loops() -> None:
    assert ReplayClock().after(3, 3) is None
    assert ReplayClock(loop=True).after(3, 3) == 0
    assert ReplayClock().after(2, 3) == 3


async def test_a_replay_begins_at_the_first_revision_and_advances() -> None:
    async with replaying(lighthouse()) as drive:
        assert drive.revision == 0
        assert "This is the first revision." in bar(drive)

        await wait(drive)

        assert drive.revision == 1
        assert "are new in core" in bar(drive)


async def test_a_revision_is_shown_until_its_time_is_over() -> None:
    async with replaying(lighthouse()) as drive:
        await wait(drive, 0.2)

        assert drive.revision == 0


async def test_space_pauses_and_plays() -> None:
    async with replaying(lighthouse()) as drive:
        await drive.press("space")
        await wait(drive)
        assert drive.revision == 0

        await drive.press("space")
        await wait(drive)
        assert drive.revision == 1


@pytest.mark.parametrize("key", ["j", "right_square_bracket", "Q"])
async def test_any_other_key_pauses(key: str) -> None:
    async with replaying(lighthouse()) as drive:
        await drive.press(key)

        assert not drive.inspector.model.replay.clock.playing


async def test_next_event_goes_to_an_important_event() -> None:
    async with replaying(lighthouse()) as drive:
        await drive.press("space", "full_stop")
        first = drive.revision
        assert first > 1
        assert any(each.matters for each in drive.inspector.model.replay.captions or ())

        await drive.press("full_stop")
        assert drive.revision > first
        await drive.press("comma")
        assert drive.revision == first


async def test_plus_and_minus_set_the_speed() -> None:
    async with replaying(lighthouse()) as drive:
        await drive.press("plus")
        assert "2×" in bar(drive)
        await drive.press("minus", "minus")
        assert "0.5×" in bar(drive)
        assert drive.inspector.model.replay.clock.playing


async def test_a_replay_stops_at_the_end_and_a_loop_begins_again() -> None:
    for loop, place in ((False, 28), (True, 0)):
        async with replaying(lighthouse(), loop=loop) as drive:
            drive.inspector.action_go_to_revision(28)
            await drive.settle()
            await wait(drive)

            assert drive.revision == place
            assert drive.inspector.model.replay.clock.playing is loop


async def test_the_block_of_the_caption_is_selected_while_playing() -> None:
    async with replaying(lighthouse()) as drive:
        for _ in range(7):
            await wait(drive)

        assert "h1-time-zone is no longer shown to the model" in bar(drive)
        assert drive.selected is not None
        assert drive.selected.name == "h1-time-zone"


async def test_a_session_is_replayed_when_its_history_is_read() -> None:
    session = samples_folder() / "session/coder/home/1000/agent/coder/session/default"
    async with replaying(open_source(session)) as drive:
        assert drive.revision == 0
        assert drive.inspector.model.last_revision == 7

        await wait(drive)
        await wait(drive)

        assert "EHOSTDOWN" in bar(drive)


async def test_space_replays_any_source_and_escape_closes_the_replay() -> None:
    async with driving(night(), view=Pane.OVERVIEW) as drive:
        assert not drive.inspector.replay_bar.display

        await drive.press("space")
        assert drive.inspector.replay_bar.display
        assert drive.revision == 0

        await drive.press("escape")
        assert not drive.inspector.replay_bar.display


async def test_a_notice_says_that_there_are_no_more_events() -> None:
    async with replaying(lighthouse()) as drive:
        drive.inspector.action_go_to_revision(28)
        await drive.settle()
        await drive.press("full_stop")

        assert drive.notices[-1] == "There are no more important events in this direction."
