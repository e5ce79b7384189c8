from __future__ import annotations

import pytest

from ctxview.tui.acts.looking import wanted_budget
from ctxview.tui.layout import Pane
from tests.tui.driving import Driver, driving
from tests.tui.stories import night
from tests.tui.transcripts import talking


async def try_out(drive: Driver, text: str) -> None:
    await drive.press("b")
    await drive.type(text)
    await drive.press("enter")


async def test_another_budget_is_tried_out_and_left_again() -> None:
    source = talking()
    async with driving(source) as drive:
        await try_out(drive, "3,000")
        assert source.readings[-1].budget == 3_000
        assert "what if 3,000" in drive.text(Pane.BUDGET)
        assert "/ 3,000 tokens" in drive.text(Pane.BUDGET)
        await drive.press("escape")
        assert drive.inspector.view.look.budget is None
        assert "what if" not in drive.text(Pane.BUDGET)


async def test_an_empty_budget_goes_back_to_the_source_s_own() -> None:
    async with driving(talking()) as drive:
        await try_out(drive, "900")
        await drive.press("b", "ctrl+u", "enter")
        assert drive.inspector.view.look.budget is None


async def test_giving_up_leaves_the_budget_that_is_tried_out() -> None:
    async with driving(talking()) as drive:
        await try_out(drive, "900")
        await drive.press("b")
        await drive.type("9")
        assert "what if the budget were 9,009" in drive.screen_text()
        await drive.press("escape")
        assert drive.inspector.view.look.budget == 900


async def test_what_is_no_number_changes_nothing() -> None:
    async with driving(talking()) as drive:
        await drive.press("b")
        await drive.type("lots")
        assert "not a whole number" in drive.screen_text()
        await drive.press("enter")
        assert drive.inspector.view.look.budget is None


async def test_a_source_that_knows_no_other_budget_is_said_to_know_none() -> None:
    async with driving(night()) as drive:
        await try_out(drive, "3000")
        assert "nothing here depends on a budget" in drive.text(Pane.BUDGET).replace("\n", " ")


@pytest.mark.parametrize(
    ("text", "number"),
    [("3000", 3000), (" 3,000 ", 3000), ("3_000", 3000), ("0", 0), ("", None), ("-3", None), ("٣", None)],
)
def test_a_budget_is_a_whole_number(text: str, number: int | None) -> None:
    assert wanted_budget(text) == number
