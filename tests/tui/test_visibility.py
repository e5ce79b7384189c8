from __future__ import annotations

import pytest

from ctxview.state import Sight
from ctxview.tui import sights
from ctxview.tui.layout import Pane
from ctxview.tui.panes.visibility import plan, row_line
from ctxview.tui.text import plain, width
from ctxview.tui.things import Kind, Thing
from tests.tui.driving import driving
from tests.tui.handoff import TARGETS, Handoff

BLOCKS = Handoff().blocks()


@pytest.mark.parametrize("cells", [40, 60, 76, 79, 100, 137, 200])
def test_every_target_has_a_column_in_any_width(cells: int) -> None:
    columns = plan(cells, BLOCKS)
    assert list(columns.targets) == list(TARGETS)
    assert all(len(name) > 1 for name in columns.names)
    line = row_line(BLOCKS[0], (), columns, cells)
    assert width(line) <= cells
    assert sum(plain(line).count(sights.GLYPHS[each]) for each in Sight) == len(TARGETS)


def test_names_are_whole_where_there_is_room_and_short_where_there_is_not() -> None:
    assert plan(200, BLOCKS).names == list(TARGETS)
    assert plan(79, BLOCKS).names == [
        *("model", "tool", "runtime", "ui", "user", "reviewer", "peer…", "evidence…")
    ]
    assert plan(70, BLOCKS).names == ["model", "tool", "runt…", "ui", "user", "revi…", "peer…", "evid…"]


def test_the_legend_says_every_sign_in_a_word() -> None:
    assert plain(sights.legend()).split()[:8:2] == list(sights.GLYPHS.values())[:4]


async def test_the_matrix_tells_who_may_see_what_by_tier() -> None:
    async with driving(Handoff(), size=(80, 24)) as drive:
        await drive.press("V")
        lines = drive.screen_text().splitlines()
        row = next(line for line in lines if "itm-plan" in line)
        assert row.split() == ["itm-plan", *"●◐○○○●○✗"]
        first = next(line for line in lines if "itm-chart" in line)
        assert first.split()[0] == "assembled"
        assert "● injected  ◐ assembled  ○ allowed  ✗ denied  · not said" in drive.screen_text()


async def test_enter_goes_to_the_block_and_escape_comes_back() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("V", "j", "j", "enter")
        assert drive.front is Pane.MEMORY
        assert drive.selected == Thing(Kind.BLOCK, "itm-ais", "injected")
        await drive.press("escape")
        assert drive.front is Pane.VISIBILITY
        assert drive.selected == Thing(Kind.BLOCK, "itm-ais", "injected")


async def test_the_detail_of_a_block_tells_its_targets_in_words() -> None:
    async with driving(Handoff(), size=(200, 60)) as drive:
        await drive.press(*["j"] * 3)
        told = " ".join(drive.text(Pane.DETAIL).split())
        assert "● model, reviewer: injected" in told
        assert "○ ui, peer_agent, evidence_export: allowed, not put together" in told
        assert "✗ tool, runtime, user: denied" in told


async def test_the_filter_of_the_memory_holds_here_too() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("V", "f")
        await drive.type("tier:omitted")
        await drive.press("enter")
        assert "itm-wind" in drive.text(Pane.VISIBILITY)
        assert "itm-brief" not in drive.text(Pane.VISIBILITY)
