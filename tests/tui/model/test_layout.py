"""The views: what each shows at a size, which tabs there are, and how one goes back. Without an app."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.tui.model.layout import OPENED, VIEWS, Pane, arrange
from ctxview.tui.model.navigation import ShownView

EVERY = frozenset(Pane)


@given(st.sampled_from(list(Pane)), st.integers(10, 400), st.integers(3, 120))
def test_the_panes_of_a_view_fill_it_without_gaps_or_overlaps(pane: Pane, width: int, height: int) -> None:
    slots = arrange(pane, width, height, EVERY)
    assert slots[0].pane is pane
    assert sum(slot.width * slot.height for slot in slots) == width * height
    assert len({slot.pane for slot in slots}) == len(slots)
    for slot in slots:
        assert slot.width > 0
        assert slot.height > 0
        assert slot.x + slot.width <= width
        assert slot.y + slot.height <= height


@pytest.mark.parametrize("pane", [pane for pane in Pane if pane not in VIEWS])
def test_most_views_use_the_whole_width(pane: Pane) -> None:
    assert [slot.pane for slot in arrange(pane, 200, 57, EVERY)] == [pane]


def test_a_view_shows_more_the_wider_it_is() -> None:
    def shown(width: int, height: int) -> list[Pane]:
        return [slot.pane for slot in arrange(Pane.FINDINGS, width, height, EVERY)]

    assert shown(80, 12) == [Pane.FINDINGS]
    assert shown(80, 21) == [Pane.FINDINGS, Pane.DETAIL]
    assert shown(120, 33) == [Pane.FINDINGS, Pane.DETAIL]
    assert shown(200, 57) == [Pane.FINDINGS, Pane.DETAIL, Pane.MEMORY]


def test_a_related_pane_without_content_is_left_out() -> None:
    assert [slot.pane for slot in arrange(Pane.MEMORY, 200, 57)] == [Pane.MEMORY, Pane.DETAIL]


def test_the_overview_is_shown_first_and_is_the_top() -> None:
    shown = ShownView()
    assert shown.name is Pane.OVERVIEW
    assert not shown.leave()


def test_leaving_goes_from_an_opened_view_to_the_one_below_and_then_to_the_overview() -> None:
    shown = ShownView()
    shown.show(Pane.FINDINGS)
    shown.show(Pane.DETAIL)
    shown.show(Pane.WHY)
    assert shown.leave()
    assert shown.name is Pane.FINDINGS
    assert shown.leave()
    assert shown.name is Pane.OVERVIEW


def test_the_detail_beside_a_list_only_gets_the_focus() -> None:
    shown = ShownView()
    shown.show(Pane.MEMORY)
    shown.beside = frozenset({Pane.DETAIL})
    shown.show(Pane.DETAIL)
    assert (shown.name, shown.front) == (Pane.MEMORY, Pane.DETAIL)
    assert shown.leave()
    assert (shown.name, shown.front) == (Pane.MEMORY, Pane.MEMORY)


def test_opened_views_have_a_tab_only_while_they_are_shown() -> None:
    shown = ShownView()
    assert not set(OPENED) & set(shown.tabs(None))
    shown.show(Pane.SOURCES)
    assert Pane.SOURCES in shown.tabs(None)
    assert Pane.HISTORY not in shown.tabs(None), "a source without messages has no history"
