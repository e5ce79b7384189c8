from __future__ import annotations

import pytest

from ctxview.core.format_spec import LensOption
from ctxview.tui.actions.options import number_in
from ctxview.tui.model.layout import Pane
from tests.tui.driver import Driver, driving
from tests.tui.snapshot_stories import night
from tests.tui.transcripts import talking


async def try_budget(drive: Driver, text: str) -> None:
    await drive.press("b")
    await drive.type(text)
    await drive.press("enter")


async def test_another_budget_is_tried_and_left_again() -> None:
    source = talking()
    async with driving(source) as drive:
        await try_budget(drive, "3,000")
        assert source.readings[-1].options == {"budget": 3_000}
        assert "what if 3,000" in drive.text(Pane.BUDGET)
        assert "/ 3,000 tokens" in drive.text(Pane.BUDGET)
        await drive.press("escape")
        assert drive.inspector.model.key.option("budget") is None
        assert "what if" not in drive.text(Pane.BUDGET)


async def test_an_empty_budget_returns_to_the_own_budget_of_the_source() -> None:
    async with driving(talking()) as drive:
        await try_budget(drive, "900")
        await drive.press("b", "ctrl+u", "enter")
        assert drive.inspector.model.key.option("budget") is None


async def test_escape_keeps_the_budget_that_is_tried() -> None:
    async with driving(talking()) as drive:
        await try_budget(drive, "900")
        await drive.press("b")
        await drive.type("9")
        assert "try a budget of 9,009" in drive.screen_text()
        await drive.press("escape")
        assert drive.inspector.model.key.option("budget") == 900


async def test_an_invalid_number_changes_nothing() -> None:
    async with driving(talking()) as drive:
        await drive.press("b")
        await drive.type("lots")
        assert "not a whole number" in drive.screen_text()
        await drive.press("enter")
        assert drive.inspector.model.key.option("budget") is None


async def test_a_notice_says_that_a_source_does_not_depend_on_a_budget() -> None:
    async with driving(night()) as drive:
        await try_budget(drive, "3000")
        assert "nothing here depends on this budget" in drive.text(Pane.BUDGET).replace("\n", " ")


@pytest.mark.parametrize(
    ("text", "number"),
    [("3000", 3000), (" 3,000 ", 3000), ("3_000", 3000), ("0", 0), ("", None), ("-3", None), ("٣", None)],
)
def test_a_budget_is_a_whole_number(text: str, number: int | None) -> None:
    assert number_in(text) == number


# -- other options -------------------------------------------------------------------------------------


async def test_an_option_of_the_format_is_chosen_by_its_word_and_left_again() -> None:
    source = night()
    async with driving(source) as drive:
        await drive.press("B")
        assert "Context mode" in drive.screen_text()
        await drive.press("d")
        assert source.readings[-1].options == {"mode": "disabled"}
        assert "what if mode is disabled" in drive.text(Pane.BUDGET)
        await drive.press("escape")
        assert source.readings[-1].options == {}


async def test_one_of_several_options_is_chosen_first_and_a_size_may_have_a_unit() -> None:
    source = night()
    source.format = "workspace"
    async with driving(source) as drive:
        await drive.press("B", "W")
        await drive.type("16k")
        assert "try a window of 16,384" in drive.screen_text()
        await drive.press("enter")
        assert drive.inspector.model.key.option("window") == 16_384


async def test_a_format_without_options_says_so() -> None:
    source = night()
    source.format = "raw"
    async with driving(source) as drive:
        await drive.press("B")
        assert drive.notices == ["This format has no options."]


@pytest.mark.parametrize(
    ("text", "number"), [("16K", 16_384), ("1m", 1_048_576), ("200,000", 200_000), ("K", None), ("16Q", None)]
)
def test_a_size_may_end_in_a_unit(text: str, number: int | None) -> None:
    assert number_in(text, LensOption("window", "Window", "size")) == number
