"""What panes, bars and the detail say, line by line, without a screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.analysis.tokens import ESTIMATES
from ctxview.files.visible import is_safe
from ctxview.findings import Severity
from ctxview.formats import Lens
from ctxview.state import Budget, Segment, Todo, TodoItem
from ctxview.tui import glyphs
from ctxview.tui.budget_picture import Drawing, Earlier, brief_lines, whole_lines
from ctxview.tui.commands import Need
from ctxview.tui.layout import Pane, Slot
from ctxview.tui.panes.budget import BudgetPane
from ctxview.tui.panes.describe import describe
from ctxview.tui.panes.memory_columns import plan
from ctxview.tui.panes.rows import severity_columns
from ctxview.tui.panes.todo import cursor_lines, item_line
from ctxview.tui.session_view import Look, SessionView, Shown, Sort
from ctxview.tui.step_path import path_of
from ctxview.tui.text import Line, plain, width
from ctxview.tui.things import WHOLE, Index, Kind, Thing
from ctxview.tui.widgets.header import header_line
from ctxview.tui.widgets.key_bar import key_line
from ctxview.tui.widgets.tabs import tabs
from ctxview.tui.widgets.timeline import timeline_line
from tests.tui.fakes import FakeSource
from tests.tui.stories import TODO, hostile, night


def shown(source: FakeSource) -> Shown:
    last = len(source.documents) - 1
    return Shown(Look(0, last), Index(source.reading(last, Lens(ESTIMATES["bytes/3"]))))


def looking_at(source: FakeSource) -> SessionView:
    view = SessionView()
    view.found([source], [])
    index = Index(source.reading(view.look.revision, Lens(ESTIMATES["bytes/3"])))
    view.take(view.look, index, draft=False)
    return view


def text_of(lines: list[Line]) -> str:
    return "\n".join(plain(line) for line in lines)


def test_the_detail_of_a_block_tells_all_of_it() -> None:
    told = text_of(describe(Thing(Kind.BLOCK, "work-007", "working"), shown(night()), 60))
    for part in (
        "hidden: decay 0.70 > 0.65 (working)",
        "Ask again at 03:00.",
        "task · radar",
        "✎ model  ⊘ system",
        "round: the system counts the rounds",
        "1 finding about it",
        "context.json:",
        "/memory/working/1",
        "age 3",
    ):
        assert part in told


@pytest.mark.parametrize("story", [night(), hostile()], ids=["night", "hostile"])
def test_the_detail_of_anything_fits_and_cannot_act(story: FakeSource) -> None:
    view = shown(story)
    for thing in view.index.things:
        for line in describe(thing, view, 36):
            assert width(line) <= 36
            assert is_safe(plain(line))


def test_the_whole_shows_its_locked_fields_with_the_reason() -> None:
    told = text_of(describe(WHOLE, shown(night()), 60))
    assert "⊘ version" in told
    assert "version: the system writes it" in told


@given(st.integers(20, 200))
def test_memory_columns_fill_the_width_and_never_more(cells: int) -> None:
    columns = plan(cells, list(shown(night()).index.reading.state.blocks()))
    assert columns.taken + columns.text == cells or columns.text == 0
    assert width(columns.header(Sort.DECAY, reverse=False)) <= max(cells, columns.taken)


def test_memory_columns_go_in_the_order_of_their_worth() -> None:
    blocks = list(shown(night()).index.reading.state.blocks())
    assert plan(76, blocks).type
    assert not plan(76, blocks).quality
    assert plan(120, blocks).quality
    assert plan(50, blocks).text >= 10


def test_a_budget_says_how_much_is_free_kept_back_and_estimated() -> None:
    budget = shown(night()).index.reading.state.budgets[0]
    told = text_of(whole_lines(budget, Drawing(40, {"core": "tier.core"})))
    assert "≈" in told
    assert f"{budget.used} / 600 tokens" in told
    assert f"free {600 - (budget.used or 0)}" in told
    assert "reserved 96" in told


def test_a_budget_that_does_not_fit_says_by_how_much() -> None:
    budget = Budget("window", "tokens", 100, 140, None, (Segment("core", 140),))
    assert "over by 40" in text_of(whole_lines(budget, Drawing(40)))


@given(
    st.integers(-5, 10**9) | st.none(),
    st.integers(-5, 10**9) | st.none(),
    st.integers(0, 10**9) | st.none(),
    st.lists(st.integers(-5, 10**9), max_size=5),
    st.integers(16, 80),
)
def test_any_budget_can_be_drawn(
    limit: int | None, used: int | None, reserved: int | None, parts: list[int], cells: int
) -> None:
    segments = tuple(Segment(f"part {at}", value, value // 2) for at, value in enumerate(parts))
    budget = Budget("t", "tokens", limit, used, reserved, segments, reserved)
    past = Earlier(replace(budget, used=7, segments=segments[1:]), "since round 1", (1, None, 7, used), 3)
    drawn = (whole_lines(budget, Drawing(cells), past), *brief_lines([budget, budget], Drawing(cells)))
    for line in (line for lines in drawn for line in lines):
        assert width(line) <= cells


def test_a_budget_shows_how_it_went_and_what_each_part_gained_or_lost() -> None:
    before = Budget("window", "tokens", 1000, 300, None, (Segment("core", 100), Segment("notes", 200)))
    now = Budget("window", "tokens", 1000, 420, 100, (Segment("core", 90), Segment("tools", 330)), 55)
    lines = whole_lines(now, Drawing(50), Earlier(before, "since round 3", (100, 300, 420), 2))
    told = [" ".join(plain(line).split()) for line in lines]
    assert told[0] == "window 100 → 420 ▂▆█"
    assert told[1] == "420 / 1,000 tokens 42% ↑120"
    assert told[3] == "░ free 580 ▒ reserved 100 ↑↓ since round 3"
    assert [(row.split()[0], *row.split()[-2:]) for row in told[4:7]] == [
        ("core", "90", "↓10"),
        ("tools", "330", "↑330"),
        ("notes", "0", "↓200"),
    ]
    assert told[7].split()[:2] == ["left", "out"]


def test_the_path_shows_done_current_and_open_steps() -> None:
    assert plain(path_of(TODO, 40)) == "✓─●─○─○  step 2 of 4"
    assert plain(path_of(replace(TODO, items=()), 40)) == "✓─●─○─○  step 2 of 4"


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (31, "✓┄28┄✓─●─○┄57┄○  step 31 of 90"),
        (1, "●─○─○─○─○─○─○┄82┄○  step 1 of 90"),
        (90, "✓┄83┄✓─✓─✓─✓─✓─●  step 90 of 90"),
    ],
)
def test_a_long_path_keeps_its_ends_and_what_is_around_the_present(step: int, told: str) -> None:
    assert plain(path_of(Todo(summary=None, total=90, step=step, cursor=None), 32)) == told


def test_what_only_waits_is_no_path() -> None:
    waiting = Todo("1 action blocked", None, None, None, (TodoItem(None, "merge it", "blocked"),))
    assert path_of(waiting, 40) == ()
    assert cursor_lines(waiting, 40) == []
    assert plain(item_line(waiting.items[0])) == "⊘ blocked merge it"


def test_steps_that_make_no_sense_draw_no_path() -> None:
    assert path_of(Todo(None, 3, 7, None), 40) == ()
    assert path_of(Todo(None, 10**9, 7, None), 40) == ()


@pytest.mark.parametrize("cells", [40, 60, 80, 120, 200])
def test_the_header_fits_and_keeps_title_and_findings(cells: int) -> None:
    line = header_line(looking_at(night()), "", cells)
    assert width(line) <= cells
    assert "kestrel" in plain(line)
    assert "✖ 1" in plain(line)


def test_the_header_names_the_estimator() -> None:
    assert "bytes/3 estimate" in plain(header_line(looking_at(night()), "", 120))
    assert "counting…" in plain(header_line(looking_at(night()), "counting…", 120))


@pytest.mark.parametrize("revisions", [2, 3, 29, 400, 20_000])
@pytest.mark.parametrize("cells", [60, 200])
def test_the_timeline_fits_and_shows_where_one_is(revisions: int, cells: int) -> None:
    source = night()
    view = looking_at(source)
    source.documents = list(source.documents) * (revisions // 3 + 1)
    line = timeline_line(view, cells)
    assert width(line) <= cells
    assert plain(line).count("●") == 1
    assert "round 3" in plain(line)


def test_the_key_bar_offers_what_makes_sense() -> None:
    assert "w save" not in plain(key_line({Need.FINDINGS}, 200))
    assert "Space play" in plain(key_line({Need.REVISIONS, Need.PLAYER}, 120))
    assert "Space pause" in plain(key_line({Need.REVISIONS, Need.PLAYER, Need.PLAYING}, 120))
    assert plain(key_line({Need.DRAFT}, 120)).startswith(" u undo  w save")
    for cells in (30, 60, 80):
        assert width(key_line(set(Need), cells)) <= cells
        assert "? help" in plain(key_line(set(Need), cells))


def test_tabs_shorten_before_they_vanish() -> None:
    slot = Slot(0, 0, 80, 20, tuple(pane for pane in Pane if not pane.absent), Pane.MEMORY)
    assert "7 Findings" in plain(tabs(slot, {Pane.MEMORY: "12"}))
    for cells in (30, 50, 66, 80, 120):
        assert width(tabs(replace(slot, width=cells), {Pane.MEMORY: "12"})) <= cells - 6


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (0, ".00"),
        (0.05, ".05"),
        (0.999, "1.0"),
        (1, "1.0"),
        (1.7, "1.7"),
        (-0.2, "-0.2"),
        (1e9, "1e+09"),
        (None, ""),
    ],
)
def test_a_share_is_spelled_short(value: float | None, spelled: str) -> None:
    assert glyphs.share(value) == spelled


@given(st.floats(allow_nan=True, allow_infinity=True), st.integers(1, 30))
def test_any_number_can_be_drawn_as_a_picture(value: float, cells: int) -> None:
    assert len(glyphs.level(value)) == 1
    assert len("".join(glyphs.bar(value, cells))) == cells
    assert len("".join(glyphs.rail(value, cells))) == cells
    assert isinstance(glyphs.share(value), str)


@pytest.mark.parametrize(
    ("number", "spelled"), [(812, "812"), (9412, "9,412"), (41_200, "41.2k"), (3_100_000, "3.1M"), (None, "")]
)
def test_large_counts_stay_short(number: int | None, spelled: str) -> None:
    assert glyphs.short_count(number) == spelled


@pytest.mark.parametrize(
    ("time", "told"),
    [
        ("2026-03-12T05:24:41.336Z", "2026-03-12 05:24:41Z"),
        ("2026-03-12T05:24:41+02:00", "2026-03-12 05:24:41+02:00"),
        ("1776000000", "1776000000"),
    ],
)
def test_a_time_is_shown_without_what_nobody_reads(time: str, told: str) -> None:
    assert glyphs.moment(time) == told


def test_several_budgets_stand_in_columns() -> None:
    budgets = [
        Budget("model", "tokens", 1000, 497, 300, (Segment("all", 497, exact=False),)),
        Budget("tool", "items", 4, 1, None, (Segment("all", 1),)),
    ]
    first, second = (plain(lines[0]) for lines in brief_lines(budgets, Drawing(60)))
    assert first.startswith("model ████")
    assert second.startswith("tool  ████")
    assert first.endswith("≈497 / 1,000 tokens  50%")
    assert second.endswith("       1 / 4 items  25%")
    narrow = [plain(line) for line in brief_lines(budgets, Drawing(34))[0]]
    assert narrow[0] == "model     ≈497 / 1,000 tokens  50%"


def test_a_narrow_budget_pane_says_the_whole_of_what_it_says() -> None:
    page = BudgetPane().draw(shown(night()), 26, 40)
    lines = [page.line(number) for number in range(page.lines)]
    assert "each bar ends at its own\nlimit\n" in text_of(lines)
    assert max(map(width, lines)) <= 26


def test_counts_of_findings_stand_in_columns() -> None:
    digits = {Severity.ERROR: 1, Severity.WARNING: 3, Severity.INFO: 0}
    counts = {Severity.ERROR: 0, Severity.WARNING: 7, Severity.INFO: 0}
    assert plain(severity_columns(counts, digits)) == "    ▲   7"
