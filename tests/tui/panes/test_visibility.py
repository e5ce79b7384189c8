from __future__ import annotations

import pytest

from ctxview.core.state import SHOWN_TO, Reach
from ctxview.formats import open_source
from ctxview.samples import samples_folder
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.text import plain, width
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.panes.visibility import visibility_columns, visibility_row
from ctxview.tui.themes import load_palette
from tests.tui.colours import foreground
from tests.tui.driver import driving
from tests.tui.handoff_story import TARGETS, Handoff

BLOCKS = Handoff().blocks()


@pytest.mark.parametrize("cells", [40, 60, 76, 79, 100, 137, 200])
def test_every_target_has_a_column_in_any_width(cells: int) -> None:
    columns = visibility_columns(cells, BLOCKS)
    assert list(columns.targets) == list(TARGETS)
    assert all(len(name) > 1 for name in columns.names)
    line = visibility_row(BLOCKS[0], (), columns, cells)
    assert width(line) <= cells
    assert sum(plain(line).count(glyphs.REACH_GLYPHS[each]) for each in Reach) == len(TARGETS)


def test_names_are_whole_where_there_is_room_and_short_where_there_is_not() -> None:
    assert visibility_columns(200, BLOCKS).names == list(TARGETS)
    assert visibility_columns(79, BLOCKS).names == [
        *("model", "tool", "runtime", "ui", "user", "reviewer", "peer…", "evidence…")
    ]
    assert visibility_columns(70, BLOCKS).names == [
        "model",
        "tool",
        "runt…",
        "ui",
        "user",
        "revi…",
        "peer…",
        "evid…",
    ]


def test_the_legend_has_a_word_for_every_sign() -> None:
    assert plain(glyphs.reach_legend()).split()[:8:2] == list(glyphs.REACH_GLYPHS.values())[:4]


async def test_the_matrix_shows_which_target_may_see_what() -> None:
    async with driving(Handoff(), size=(80, 24)) as drive:
        await drive.press("V")
        lines = drive.screen_text().splitlines()
        row = next(line for line in lines if "itm-plan" in line)
        assert row.split() == ["itm-plan", *"●◐○○○●○✗"]
        first = next(line for line in lines if "itm-chart" in line)
        assert first.split()[0] == "assembled"
        assert "● injected  ◐ assembled  ○ allowed  ✗ denied  · not stated" in drive.screen_text()


async def test_enter_goes_to_the_block_and_escape_comes_back() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("V", "j", "j", "enter")
        assert drive.front is Pane.MEMORY
        assert drive.selected == ItemId(ItemKind.BLOCK, "itm-ais", "injected")
        await drive.press("escape")
        assert drive.front is Pane.VISIBILITY
        assert drive.selected == ItemId(ItemKind.BLOCK, "itm-ais", "injected")


async def test_the_detail_of_a_block_lists_its_targets() -> None:
    async with driving(Handoff(), size=(200, 60)) as drive:
        await drive.press(*["j"] * 3)
        text = " ".join(drive.text(Pane.DETAIL).split())
        assert "● model, reviewer: injected" in text
        assert "○ ui, peer_agent, evidence_export: allowed, not included" in text
        assert "✗ tool, runtime, user: denied" in text


async def test_the_filter_applies_here_too() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("V", "f")
        await drive.type("tier:omitted")
        await drive.press("enter")
        assert "itm-wind" in drive.text(Pane.VISIBILITY)
        assert "itm-brief" not in drive.text(Pane.VISIBILITY)


async def test_the_head_counts_what_each_target_is_shown() -> None:
    async with driving(Handoff(), size=(80, 24)) as drive:
        await drive.press("V")
        (totals,) = [
            line for line in drive.screen_text().splitlines() if line.strip("│ ").startswith("shown ")
        ]
        shown = [sum(block.reach[target] in SHOWN_TO for block in BLOCKS) for target in TARGETS]
        assert [int(each) for each in totals.split()[-len(TARGETS) :]] == shown


async def test_a_filter_leaves_what_one_target_is_shown() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("V", "f")
        await drive.type("shown:reviewer")
        await drive.press("enter")
        text = drive.text(Pane.VISIBILITY)
        for block in BLOCKS:
            assert (block.id in text) == (block.reach["reviewer"] is Reach.INJECTED)


async def test_a_violation_is_said_in_words_and_red_and_a_denial_is_grey() -> None:
    planted = samples_folder() / "envelope" / "planted"
    async with driving(open_source(planted), size=(120, 36)) as drive:
        await drive.press("V")
        assert "item-patch ✖ injected for model although not allowed" in drive.screen_text()
        await drive.press("2")
        assert "✖ injected for model although not allowed" in drive.text(Pane.MEMORY)
    styles = load_palette("ctxview-dark").style
    assert styles("sight.denied") == styles("sight.unknown")
    assert foreground(styles("sight.violation")) == foreground(styles("severity.error"))


async def test_a_healthy_handoff_names_no_violation() -> None:
    async with driving(open_source(samples_folder() / "envelope" / "handoff"), size=(120, 36)) as drive:
        await drive.press("V")
        assert "not allowed" not in drive.screen_text()
