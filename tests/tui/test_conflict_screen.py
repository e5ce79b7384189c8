from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Button

from ctxview.files.line_difference import difference
from ctxview.tui.screens.conflict import ConflictScreen, Way
from ctxview.tui.text import plain
from ctxview.tui.widgets.listing import Listing
from ctxview.tui.widgets.said import Said
from tests.tui.stage import NOTHING, Stage

BASE = b"one\ntwo\nthree\nfour\n"
MINE = BASE.replace(b"two", b"TWO")


def stage(theirs: bytes = BASE.replace(b"four", b"FOUR"), cannot: str | None = None) -> Stage[ConflictScreen]:
    mine = difference(BASE, MINE)
    return Stage(ConflictScreen(Path("a/round.json"), mine, difference(BASE, theirs), cannot))


def story(app: Stage[ConflictScreen]) -> str:
    return " ".join(plain(line) for line in app.shown.query_one(".head", Said).said)


@pytest.mark.parametrize(
    ("keys", "way"),
    [
        (["1"], "keep"),
        (["escape"], "keep"),
        (["enter"], "keep"),
        (["2"], "reload"),
        (["3"], "reapply"),
        (["right", "enter"], "reload"),
        (["right", "right", "enter"], "reapply"),
    ],
)
async def test_three_ways_on(keys: list[str], way: Way) -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
    assert app.result == way


async def test_edits_that_no_longer_fit_cannot_be_put_on_theirs() -> None:
    app = stage(cannot="the block is gone")
    async with app.run_test(size=(80, 24)) as pilot:
        assert "Your edits no longer fit: the block is gone" in story(app)
        assert app.shown.query_one("#reapply", Button).disabled
        await pilot.press("3")
        await pilot.pause()
        assert app.result is NOTHING


async def test_it_says_whether_both_changed_the_same_place() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)):
        assert "They changed other lines than you." in story(app)
    app = stage(theirs=BASE.replace(b"two", b"2"))
    async with app.run_test(size=(80, 24)):
        assert "Both changed line 2." in story(app)


async def test_both_sides_are_read_together() -> None:
    app = stage(theirs=BASE + b"".join(b"%d\n" % number for number in range(50)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("j", "pagedown", "k")
        theirs = app.shown.query(Listing).last()
        assert theirs.scroll_y == 8


async def test_both_sides_stand_beside_each_other_when_there_is_room_and_stacked_when_not() -> None:
    app = stage()
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        mine, theirs = app.shown.query(Listing)
        assert mine.region.y == theirs.region.y
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert mine.region.x == theirs.region.x
        assert mine.region.bottom <= theirs.region.y
        lines = [plain(theirs.page.line(number)).rstrip() for number in range(theirs.page.lines)]
        assert "4 + FOUR" in lines
