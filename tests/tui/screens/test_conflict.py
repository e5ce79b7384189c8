from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Button

from ctxview.files.line_difference import line_difference
from ctxview.tui.drawing.text import plain
from ctxview.tui.screens.save import ConflictChoice, ConflictScreen
from ctxview.tui.widgets.strips import StaticLines
from ctxview.tui.widgets.virtual_lines import ScrollList
from tests.tui.one_screen_app import NOTHING, Stage

BASE = b"one\ntwo\nthree\nfour\n"
MINE = BASE.replace(b"two", b"TWO")


def stage(theirs: bytes = BASE.replace(b"four", b"FOUR"), cannot: str | None = None) -> Stage[ConflictScreen]:
    mine = line_difference(BASE, MINE)
    return Stage(ConflictScreen(Path("a/round.json"), mine, line_difference(BASE, theirs), cannot))


def summary(app: Stage[ConflictScreen]) -> str:
    return " ".join(plain(line) for line in app.shown.query_one(".head", StaticLines).lines)


@pytest.mark.parametrize(
    ("keys", "choice"),
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
async def test_keys_choose_what_to_do(keys: list[str], choice: ConflictChoice) -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
    assert app.result == choice


async def test_edits_that_no_longer_fit_cannot_be_applied_to_theirs() -> None:
    app = stage(cannot="the block is gone")
    async with app.run_test(size=(80, 24)) as pilot:
        assert "Your edits no longer fit: the block is gone" in summary(app)
        assert app.shown.query_one("#reapply", Button).disabled
        await pilot.press("3")
        await pilot.pause()
        assert app.result is NOTHING


async def test_it_says_whether_both_changed_the_same_lines() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)):
        assert "The changed lines are different." in summary(app)
    app = stage(theirs=BASE.replace(b"two", b"2"))
    async with app.run_test(size=(80, 24)):
        assert "Both changed line 2." in summary(app)


async def test_both_sides_scroll_together() -> None:
    app = stage(theirs=BASE + b"".join(b"%d\n" % number for number in range(50)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("j", "pagedown", "k")
        theirs = app.shown.query(ScrollList).last()
        assert theirs.scroll_y == 8


async def test_both_sides_are_side_by_side_if_there_is_room_else_stacked() -> None:
    app = stage()
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        mine, theirs = app.shown.query(ScrollList)
        assert mine.region.y == theirs.region.y
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert mine.region.x == theirs.region.x
        assert mine.region.bottom <= theirs.region.y
        lines = [plain(theirs.page.line(number)).rstrip() for number in range(theirs.page.lines)]
        assert "4 + FOUR" in lines
