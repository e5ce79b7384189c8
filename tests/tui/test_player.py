"""Revisions going by: the pace, the pauses, the end. Time is said, never waited for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from ctxview.analysis.captions import Caption
from ctxview.formats import Source, open_source
from ctxview.samples import folder
from ctxview.tui.app import CtxviewApp
from ctxview.tui.loading import Manner
from ctxview.tui.player import LEAST, MOST, SPEEDS, Player, Show, stay
from ctxview.tui.text import plain
from ctxview.tui.widgets.player_bar import player_lines
from tests.tui.driving import Driver, driving
from tests.tui.stories import night

LONG = 99.0


@asynccontextmanager
async def replaying(source: Source, *, loop: bool = False, speed: float = 1.0) -> AsyncIterator[Driver]:
    app = CtxviewApp(
        lambda: [source], Manner("bytes/3"), show=Show(speed, loop, ticking=False), watching=False
    )
    async with app.run_test(size=(120, 36)) as pilot:
        drive = Driver(pilot)
        await drive.settle()
        yield drive


async def wait(drive: Driver, seconds: float = LONG) -> None:
    drive.inspector.playing.tick(seconds)
    await drive.settle()


def bar(drive: Driver) -> str:
    view, playing = drive.inspector.view, drive.inspector.playing
    return "\n".join(map(plain, player_lines(view, playing, 120, 4)))


def lighthouse() -> Source:
    return open_source(folder() / "snapshot" / "lighthouse")


def test_more_to_read_stays_longer_but_not_for_ever() -> None:
    assert stay([]) == LEAST
    assert LEAST < stay([Caption("x" * 40)]) < stay([Caption("x" * 80, "y" * 40)]) <= MOST
    assert stay([Caption("x" * 9000)]) == MOST


def test_speed_goes_up_and_down_within_bounds() -> None:
    player = Player()
    for _ in SPEEDS:
        player.faster()
    assert player.speed == SPEEDS[-1]
    for _ in SPEEDS:
        player.slower()
    assert player.speed == SPEEDS[0]


def test_a_fast_player_needs_less_time() -> None:
    slow, fast = Player(1.0), Player(4.0)
    slow.play()
    fast.play()

    assert not slow.is_over(LEAST / 2, [])
    assert fast.is_over(LEAST / 2, [])


def test_a_paused_player_never_goes_on() -> None:
    player = Player()

    assert not player.is_over(LONG, [])


def test_after_the_last_comes_nothing_or_the_first() -> None:
    assert Player().after(3, 3) is None
    assert Player(loop=True).after(3, 3) == 0
    assert Player().after(2, 3) == 3


async def test_a_replay_begins_at_the_first_revision_and_goes_on_by_itself() -> None:
    async with replaying(lighthouse()) as drive:
        assert drive.inspector.view.look.revision == 0
        assert "This is where it begins." in bar(drive)

        await wait(drive)

        assert drive.inspector.view.look.revision == 1
        assert "are new in core" in bar(drive)


async def test_time_does_not_count_before_there_was_enough_of_it() -> None:
    async with replaying(lighthouse()) as drive:
        await wait(drive, 0.2)

        assert drive.inspector.view.look.revision == 0


async def test_space_pauses_and_plays() -> None:
    async with replaying(lighthouse()) as drive:
        await drive.press("space")
        await wait(drive)
        assert drive.inspector.view.look.revision == 0

        await drive.press("space")
        await wait(drive)
        assert drive.inspector.view.look.revision == 1


@pytest.mark.parametrize("key", ["j", "right_square_bracket", "Q"])
async def test_any_other_key_pauses(key: str) -> None:
    async with replaying(lighthouse()) as drive:
        await drive.step(key)

        assert not drive.inspector.playing.player.playing


async def test_the_next_event_is_where_something_matters() -> None:
    async with replaying(lighthouse()) as drive:
        await drive.press("space", "full_stop")
        first = drive.inspector.view.look.revision
        assert first > 1
        assert any(each.matters for each in drive.inspector.playing.told or ())

        await drive.press("full_stop")
        assert drive.inspector.view.look.revision > first
        await drive.press("comma")
        assert drive.inspector.view.look.revision == first


async def test_plus_and_minus_set_the_pace() -> None:
    async with replaying(lighthouse()) as drive:
        await drive.press("plus")
        assert "2×" in bar(drive)
        await drive.press("minus", "minus")
        assert "0.5×" in bar(drive)
        assert drive.inspector.playing.player.playing


async def test_a_replay_stops_at_the_end_and_a_loop_begins_again() -> None:
    for loop, place in ((False, 28), (True, 0)):
        async with replaying(lighthouse(), loop=loop) as drive:
            drive.inspector.action_go_to_revision(28)
            await drive.settle()
            await wait(drive)

            assert drive.inspector.view.look.revision == place
            assert drive.inspector.playing.player.playing is loop


async def test_while_it_plays_the_block_that_is_spoken_of_is_selected() -> None:
    async with replaying(lighthouse()) as drive:
        for _ in range(7):
            await wait(drive)

        assert "h1-time-zone is no longer shown to the model" in bar(drive)
        assert drive.selected is not None
        assert drive.selected.name == "h1-time-zone"


async def test_a_session_is_played_once_its_history_is_known() -> None:
    session = folder() / "session/coder/home/1000/agent/coder/session/default"
    async with replaying(open_source(session)) as drive:
        assert drive.inspector.view.look.revision == 0
        assert drive.inspector.view.last_revision == 7

        await wait(drive)
        await wait(drive)

        assert "EHOSTDOWN" in bar(drive)


async def test_space_plays_anything_from_its_first_revision_and_escape_closes_the_player() -> None:
    async with driving(night()) as drive:
        assert not drive.inspector.captions.display

        await drive.press("space")
        assert drive.inspector.captions.display
        assert drive.inspector.view.look.revision == 0

        await drive.press("escape")
        assert not drive.inspector.captions.display


async def test_what_matters_no_more_is_said() -> None:
    async with replaying(lighthouse()) as drive:
        drive.inspector.action_go_to_revision(28)
        await drive.settle()
        await drive.press("full_stop")

        assert drive.notices[-1] == "Nothing that matters happens any more in this direction."
