from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxview.tui.model.layout import LayoutNeeds, Pane, PaneSizes, Slot, arrange, fit_sizes

NAMES = ("tree", "middle", "side", "main", "rest", "budget", "todo", "detail", *Pane)
FULL = LayoutNeeds(dict.fromkeys(Pane, 12))
PLAIN = LayoutNeeds(
    {Pane.MEMORY: 30, Pane.BUDGET: 8, Pane.TODO: 6, Pane.FINDINGS: 5, Pane.DETAIL: 20, Pane.SOURCES: 1}
)


def cells(slots: tuple[Slot, ...]) -> list[tuple[int, int]]:
    return [
        (x, y)
        for slot in slots
        for x in range(slot.x, slot.x + slot.width)
        for y in range(slot.y, slot.y + slot.height)
    ]


@given(
    st.integers(20, 240),
    st.integers(6, 80),
    st.dictionaries(st.sampled_from(list(Pane)), st.integers(0, 5_000)),
    st.integers(1, 9),
    st.one_of(st.none(), st.sampled_from([pane for pane in Pane if not pane.absent])),
    st.builds(PaneSizes, *2 * [st.dictionaries(st.sampled_from(NAMES), st.integers(1, 300))], st.booleans()),
)
def test_slots_cover_the_screen_once_and_every_pane_has_one(
    width: int, height: int, lines: dict[Pane, int], sources: int, zoomed: Pane | None, sizes: PaneSizes
) -> None:
    needs = LayoutNeeds(lines, sources)
    slots = arrange(width, height, needs, (), zoomed, sizes)
    covered = cells(slots)
    assert len(covered) == len(set(covered)) == width * height
    panes = [pane for slot in slots for pane in slot.panes]
    expected = [pane for pane in Pane if not pane.absent or needs.holds(pane)]
    assert sorted(panes) == sorted(expected)
    assert all(slot.shown in slot.panes for slot in slots)


def test_a_small_screen_has_one_slot() -> None:
    (slot,) = arrange(80, 20, PLAIN, [Pane.BUDGET])
    assert slot.shown is Pane.BUDGET
    assert Pane.TEXT not in slot.panes


def test_a_medium_screen_shows_the_important_panes() -> None:
    shown = {slot.shown for slot in arrange(120, 33, PLAIN)}
    assert shown == {Pane.MEMORY, Pane.FINDINGS, Pane.BUDGET, Pane.TODO, Pane.DETAIL}


def test_several_sources_are_always_visible() -> None:
    for width in (120, 200):
        shown = {slot.shown for slot in arrange(width, 57, LayoutNeeds(PLAIN.lines, sources=4))}
        assert Pane.SOURCES in shown


def test_a_large_screen_shows_every_pane_with_content() -> None:
    shown = {slot.shown for slot in arrange(200, 57, FULL)}
    usual = {pane for pane in Pane if not pane.absent} - {Pane.SOURCES}
    assert shown >= usual | {Pane.HISTORY, Pane.LIFECYCLE}


def test_a_source_without_memory_gives_its_place_to_the_text() -> None:
    slots = arrange(120, 33, LayoutNeeds({Pane.TEXT: 400}))
    assert max(slots, key=lambda slot: slot.width * slot.height).shown is Pane.TEXT


def test_budget_and_todo_share_a_slot_when_one_is_empty() -> None:
    slots = arrange(120, 33, LayoutNeeds({Pane.MEMORY: 9, Pane.BUDGET: 6}))
    assert any({Pane.BUDGET, Pane.TODO} <= set(slot.panes) for slot in slots)


def test_a_zoomed_pane_is_alone() -> None:
    (slot,) = arrange(200, 57, FULL, [Pane.TODO], zoomed=Pane.TODO)
    assert (slot.width, slot.height, slot.shown) == (200, 57, Pane.TODO)


def test_the_largest_pane_without_a_set_size_shrinks_first() -> None:
    best = [("a", 10), ("b", 30), ("c", 20)]
    assert fit_sizes(best, {}, 3) == [10, 30, 20]
    assert fit_sizes(best, {"a": 18}, 3) == [18, 22, 20]
    assert fit_sizes(best, {"a": 5}, 3) == [5, 35, 20]
    assert fit_sizes(best, {"a": 100}, 3) == [54, 3, 3]
    assert fit_sizes(best, {"a": 30, "b": 20, "c": 20}, 3) == [20, 20, 20]
    assert fit_sizes(best, {"b": 20, "a": 30, "c": 20}, 3) == [30, 10, 20]
    assert fit_sizes(best, {"b": 20, "a": 10, "c": 20}, 3) == [10, 30, 20]


def test_the_sources_can_be_a_tab() -> None:
    several = LayoutNeeds(PLAIN.lines, sources=4)
    for width in (120, 200):
        slots = arrange(width, 57, several, sizes=PaneSizes(sources=False))
        assert Pane.SOURCES not in {slot.shown for slot in slots}
        assert any(Pane.SOURCES in slot.panes for slot in slots)
