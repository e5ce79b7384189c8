"""The lines of panes, bars and the detail, without a screen."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.figures import Reason, ReasonKind
from ctxview.core.findings import Severity
from ctxview.core.state import Budget, Segment, Todo, TodoItem
from ctxview.files.visible_text import is_safe
from ctxview.formats import Lens
from ctxview.tui.drawing import budget as drawing_budget
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.budget import BudgetHistory, BudgetStyle, brief_lines, whole_lines
from ctxview.tui.drawing.memory_rows import TierHeading, block_text, heading_line, memory_columns
from ctxview.tui.drawing.rows import severity_columns
from ctxview.tui.drawing.text import Line, pad, plain, width
from ctxview.tui.model.action_table import ActionCondition
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import WHOLE, ItemId, ItemKind, ReadingIndex
from ctxview.tui.model.view_state import ReadingKey, ViewState
from ctxview.tui.panes.budget import BudgetPane
from ctxview.tui.panes.detail_text import detail_lines
from ctxview.tui.panes.todo import cursor_lines, item_line, todo_path
from ctxview.tui.screens.view_area import tabs_line
from ctxview.tui.widgets.bars import key_line
from ctxview.tui.widgets.header import header_line
from tests.analysis.revisions.builders import memory
from tests.figures import changed
from tests.tui.fakes import FakeSource
from tests.tui.snapshot_stories import TODO, hostile, night


def view_of(source: FakeSource) -> ViewState:
    last = len(source.documents) - 1
    return ViewState(ReadingKey(0, last), ReadingIndex(source.reading(last, Lens(ESTIMATES["bytes/3"]))))


def model_of(source: FakeSource) -> InspectorModel:
    model = InspectorModel()
    model.add_sources([source], [])
    index = ReadingIndex(source.reading(model.key.revision, Lens(ESTIMATES["bytes/3"])))
    model.take(model.key, index, draft=False)
    return model


def text_of(lines: list[Line]) -> str:
    return "\n".join(plain(line) for line in lines)


def test_the_detail_of_a_block_shows_all_of_it() -> None:
    text = text_of(detail_lines(ItemId(ItemKind.BLOCK, "work-007", "working"), view_of(night()), 60))
    for part in (
        "hidden: decay 0.70 > 0.65",
        "Ask again at 03:00.",
        "task · radar",
        "✎ model  ⊘ system",
        "round: the system counts the rounds",
        "1 finding about it",
        "context.json:",
        "/memory/working/1",
        "age 3",
    ):
        assert part in text


@pytest.mark.parametrize("story", [night(), hostile()], ids=["night", "hostile"])
def test_the_detail_of_any_item_fits_and_is_safe(story: FakeSource) -> None:
    view = view_of(story)
    for item in view.index.items:
        for line in detail_lines(item, view, 36):
            assert width(line) <= 36
            assert is_safe(plain(line))


def test_the_detail_of_the_source_shows_locked_fields_with_the_reason() -> None:
    text = text_of(detail_lines(WHOLE, view_of(night()), 60))
    assert "⊘ version" in text
    assert "version: the system writes it" in text


@given(st.integers(20, 200))
def test_memory_columns_fill_the_width_and_never_more(cells: int) -> None:
    columns = memory_columns(cells, list(view_of(night()).index.reading.state.blocks()), grouped=True)
    assert columns.taken + columns.text == cells or columns.text == 0
    assert width(columns.header("decay", reverse=False)) <= max(cells, columns.taken)


def test_the_least_important_memory_columns_are_left_out_first() -> None:
    blocks = list(view_of(night()).index.reading.state.blocks())
    assert memory_columns(76, blocks, grouped=True).figures == ("decay", "confidence")
    assert not memory_columns(76, blocks, grouped=True).tokens
    assert memory_columns(120, blocks, grouped=True).tokens
    assert memory_columns(50, blocks, grouped=True).text >= 10


def test_headings_of_tiers_with_short_ids_have_a_dot_for_each_block_and_begin_alike() -> None:
    blocks = [memory(f"f{at}", "facts") for at in range(8)] + [memory("t1", "tool results")]
    columns = memory_columns(116, blocks, grouped=True)
    counts = ((8, "facts"), (1, "tool results"), (0, "nothing"))

    drawn = [
        plain(
            heading_line(
                TierHeading(name, "", True, count, count, 9, dict.fromkeys(Severity, 0)), columns, 116, at
            )
        )
        for at, (count, name) in enumerate(counts)
    ]

    assert "facts        ●●●●●●●● 8 shown" in drawn[0]
    assert (
        len({line.index(word) for line, word in zip(drawn, ("8 shown", "1 shown", "empty  "), strict=True)})
        == 1
    )


def test_a_reason_that_names_the_state_of_a_block_is_enough() -> None:
    reason = Reason(ReasonKind.FINISHED, "status done")
    hidden = changed(memory("w1"), visible=False, state="done", reason=reason, text="Open from 11 March")

    assert plain(block_text(hidden, 80)[0]).startswith("not shown: status done · Open from 11 March")


def test_a_budget_shows_free_reserved_and_estimated_tokens() -> None:
    budget = view_of(night()).index.reading.state.budgets[0]
    text = text_of(whole_lines(budget, BudgetStyle(40, {"core": "tier.core"})))
    assert "≈" in text
    assert f"{budget.used} / 600 tokens" in text
    assert f"free {600 - (budget.used or 0)}" in text
    assert "reserved 96" in text


def test_a_budget_over_its_limit_says_by_how_much() -> None:
    budget = Budget("window", "tokens", 100, 140, None, (Segment("core", 140),))
    assert "over by 40" in text_of(whole_lines(budget, BudgetStyle(40)))


def test_segments_of_a_budget_are_drawn_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = tuple(Segment(f"part {at}", 10) for at in range(5000))
    drawn = []
    monkeypatch.setattr(drawing_budget, "pad", lambda *each, **more: drawn.append(each) or pad(*each, **more))
    lines = whole_lines(Budget("t", "tokens", 90_000, 50_000, None, parts), BudgetStyle(50))
    assert plain(lines[-1]).startswith("part 4999")
    assert len(lines) > 5000
    assert len(drawn) < 50
    assert plain(lines[-5000:][0]) == plain(lines[len(lines) - 5000])
    brief = brief_lines([Budget("t", "tokens", 90_000, 50_000, None, parts)], BudgetStyle(50))[0]
    assert "4,940 more" in text_of(brief)


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
    past = BudgetHistory(
        replace(budget, used=7, segments=segments[1:]), "since round 1", (1, None, 7, used), 3
    )
    drawn = (
        whole_lines(budget, BudgetStyle(cells), past),
        *brief_lines([budget, budget], BudgetStyle(cells)),
    )
    for line in (line for lines in drawn for line in lines):
        assert width(line) <= cells


def test_a_budget_shows_its_past_and_the_change_of_each_segment() -> None:
    before = Budget("window", "tokens", 1000, 300, None, (Segment("core", 100), Segment("notes", 200)))
    now = Budget("window", "tokens", 1000, 420, 100, (Segment("core", 90), Segment("tools", 330)), 55)
    lines = whole_lines(now, BudgetStyle(50), BudgetHistory(before, "since round 3", (100, 300, 420), 2))
    text = [" ".join(plain(line).split()) for line in lines]
    assert text[0] == "window 100 → 420 ▂▆█"
    assert text[1] == "420 / 1,000 tokens 42% ↑120"
    assert text[3] == "░ free 580 ▒ reserved 100 ↑↓ since round 3"
    assert [(row.split()[0], *row.split()[-2:]) for row in text[4:7]] == [
        ("core", "90", "↓10"),
        ("tools", "330", "↑330"),
        ("notes", "0", "↓200"),
    ]
    assert text[7].split()[:2] == ["left", "out"]


def test_the_path_shows_done_current_and_open_steps() -> None:
    assert plain(todo_path(TODO, 40)) == "✓─●─○─○  step 2 of 4"
    assert plain(todo_path(replace(TODO, items=()), 40)) == "✓─●─○─○  step 2 of 4"


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (31, "✓┄28┄✓─●─○┄57┄○  step 31 of 90"),
        (1, "●─○─○─○─○─○─○┄82┄○  step 1 of 90"),
        (90, "✓┄83┄✓─✓─✓─✓─✓─●  step 90 of 90"),
    ],
)
def test_a_long_path_keeps_its_ends_and_the_current_step(step: int, expected: str) -> None:
    assert plain(todo_path(Todo(summary=None, total=90, step=step, cursor=None), 32)) == expected


def test_steps_without_a_count_have_no_path() -> None:
    waiting = Todo("1 action blocked", None, None, None, (TodoItem(None, "merge it", "blocked"),))
    assert todo_path(waiting, 40) == ()
    assert cursor_lines(waiting, 40) == []
    assert plain(item_line(waiting.items[0])) == "⊘ blocked merge it"


def test_invalid_step_numbers_have_no_path() -> None:
    assert todo_path(Todo(None, 3, 7, None), 40) == ()
    assert todo_path(Todo(None, 10**9, 7, None), 40) == ()


@pytest.mark.parametrize("cells", [40, 60, 80, 120, 200])
def test_the_header_fits_and_keeps_title_and_revision(cells: int) -> None:
    line = header_line(model_of(night()), "", cells)
    assert width(line) <= cells
    assert "kestrel" in plain(line)
    assert "round 3" in plain(line)


def test_the_header_names_the_estimator() -> None:
    assert "bytes/3, estimate" in plain(header_line(model_of(night()), "", 120))
    assert "counting…" in plain(header_line(model_of(night()), "counting…", 120))


def test_the_header_shortens_the_time_before_it_leaves_out_the_estimator() -> None:
    model = model_of(night())
    model.add_sources([night(), night()], [])
    line = plain(header_line(model, "", 120, ("● live", "")))
    assert "bytes/3, estimate" in line
    assert "source 1 of 3" in line


def test_the_key_bar_offers_the_actions_that_apply() -> None:
    assert "w save" not in plain(key_line({ActionCondition.FINDINGS}, 200))
    assert "Space play" in plain(key_line({ActionCondition.REVISIONS, ActionCondition.PLAYER}, 120))
    assert "Space pause" in plain(
        key_line({ActionCondition.REVISIONS, ActionCondition.PLAYER, ActionCondition.PLAYING}, 120)
    )
    assert plain(key_line({ActionCondition.DRAFT}, 120)).startswith(" u undo  w save")
    assert "Enter detail" in plain(key_line(set(), 120, view=Pane.MEMORY))
    assert "Enter open" in plain(key_line({ActionCondition.LISTING}, 120, view=Pane.MEMORY))
    for cells in (30, 60, 80):
        assert width(key_line(set(ActionCondition), cells)) <= cells
        assert "? help" in plain(key_line(set(ActionCondition), cells))


@pytest.mark.parametrize("cells", [30, 50, 66, 80, 120, 200])
def test_the_tabs_fit_and_always_name_the_shown_view(cells: int) -> None:
    model = model_of(night())
    model.shown.show(Pane.MISSING)
    line = tabs_line(model, cells)
    assert width(line) <= cells
    assert "6 Missing" in plain(line)
    assert "1 Overview" in plain(line)
    assert ("7 Findings" in plain(line)) == (cells >= 80)
    assert ("3 Todo" in plain(line)) == (cells >= 120)
    assert not re.search(r" \d (?=\d |$)", plain(line)), "a view is never a bare key"


@pytest.mark.parametrize(
    ("value", "expected"),
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
def test_a_share_is_short(value: float | None, expected: str) -> None:
    assert glyphs.share(value) == expected


@given(st.floats(allow_nan=True, allow_infinity=True), st.integers(1, 30))
def test_any_number_can_be_drawn_as_a_picture(value: float, cells: int) -> None:
    assert len(glyphs.level(value)) == 1
    assert len("".join(glyphs.meter_bar(value, cells))) == cells
    assert len("".join(glyphs.meter_rail(value, cells))) == cells
    assert isinstance(glyphs.share(value), str)


@pytest.mark.parametrize(
    ("number", "expected"),
    [(812, "812"), (9412, "9,412"), (41_200, "41.2k"), (3_100_000, "3.1M"), (None, "")],
)
def test_large_counts_are_short(number: int | None, expected: str) -> None:
    assert glyphs.short_count(number) == expected


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("2026-03-12T05:24:41.336Z", "2026-03-12 05:24:41Z"),
        ("2026-03-12T05:24:41+02:00", "2026-03-12 05:24:41+02:00"),
        ("1776000000", "1776000000"),
    ],
)
def test_a_time_is_shown_without_fractions(time: str, expected: str) -> None:
    assert glyphs.time_text(time) == expected


def test_several_budgets_are_in_columns() -> None:
    budgets = [
        Budget("model", "tokens", 1000, 497, 300, (Segment("all", 497, exact=False),)),
        Budget("tool", "items", 4, 1, None, (Segment("all", 1),)),
    ]
    first, second = (plain(lines[0]) for lines in brief_lines(budgets, BudgetStyle(60)))
    assert first.startswith("model ████")
    assert second.startswith("tool  ████")
    assert first.endswith("≈497 / 1,000 tokens  50%")
    assert second.endswith("       1 / 4 items  25%")
    narrow = [plain(line) for line in brief_lines(budgets, BudgetStyle(34))[0]]
    assert narrow[0] == "model     ≈497 / 1,000 tokens  50%"


def test_a_narrow_budget_pane_wraps_its_notes() -> None:
    page = BudgetPane(InspectorModel()).draw(view_of(night()), 26, 40)
    lines = [page.line(number) for number in range(page.lines)]
    assert "bars below: each against\nits own limit\n" in text_of(lines)
    assert max(map(width, lines)) <= 26


def test_counts_of_findings_are_in_columns() -> None:
    digits = {Severity.ERROR: 1, Severity.WARNING: 3, Severity.INFO: 0}
    counts = {Severity.ERROR: 0, Severity.WARNING: 7, Severity.INFO: 0}
    assert plain(severity_columns(counts, digits)) == "    ▲   7"


@pytest.mark.parametrize(
    ("cells", "shown"), [(80, "shop: Move refund…"), (200, "shop: Move refunds to the ledger")]
)
def test_a_title_in_words_is_cut_at_its_end_and_keeps_its_format(cells: int, shown: str) -> None:
    model = model_of(night())
    model.sources[0].title = "shop: Move refunds to the ledger"
    line = plain(header_line(model, "a long status that needs its room, say", cells))
    assert f"{shown} · snapshot" in line
