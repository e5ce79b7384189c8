from __future__ import annotations

import pytest

from ctxview.analysis.diff.model import (
    Change,
    ChangeGroup,
    ChangeKind,
    Delta,
    DiffSide,
    StateDiff,
    word_pieces,
)
from ctxview.core.fields import Owner
from ctxview.tui.drawing.diff_lines import SPLIT_FROM, change_lines, diff_page
from ctxview.tui.drawing.text import plain
from ctxview.tui.model.reading_index import TODO, WHOLE, ItemId, ItemKind
from ctxview.tui.screens.diff import DiffScreen
from ctxview.tui.widgets.virtual_lines import Chooser
from tests.tui.one_screen_app import NOTHING, Stage

OLD, NEW = "keep the old parser alive\nfor now", "keep the new parser alive\nfor now"
TEXT = Change(
    ChangeGroup.BLOCKS,
    ChangeKind.HIDDEN,
    "work-7",
    "working",
    deltas=(
        Delta("decay", 0.4, 0.7, "raised"),
        Delta("text", OLD, NEW, "changed", pieces=word_pieces(OLD, NEW)),
    ),
    visibility="hidden",
    why="decay 0.70 > 0.65",
)
REMOVED = Change(
    ChangeGroup.BLOCKS,
    ChangeKind.REMOVED,
    "work-1",
    "working",
    deltas=(Delta("type", "task", None, "removed"), Delta("text", "[b]bye[/]\x1b", None, "removed")),
)
CURSOR = Change(
    ChangeGroup.CURSOR,
    ChangeKind.CHANGED,
    "cursor",
    deltas=(Delta("phase", "doing", "verifying", "changed"),),
)
CLOCK = Change(
    ChangeGroup.FIELDS, ChangeKind.CHANGED, "round", deltas=(Delta("round", 3, 4, "raised", Owner.SYSTEM),)
)
TASK = Change(
    ChangeGroup.FIELDS,
    ChangeKind.ADDED,
    "task",
    deltas=(Delta("task", None, "build it", "added", Owner.MODEL),),
)
SIDE = DiffSide("lighthouse", "a.json", "1")


def difference(*changes: Change) -> StateDiff:
    return StateDiff(SIDE, DiffSide("lighthouse", "b.json", "2"), changes)


def drawn(change: Change, width: int) -> list[str]:
    return [plain(line).rstrip() for line in change_lines(change, width)]


def test_narrow_values_are_on_one_line_and_prose_below_each_other() -> None:
    assert drawn(TEXT, 70) == [
        " ○ working/work-7  no longer shown to the model  decay 0.70 > 0.65",
        "    decay         0.4 → 0.7 raised",
        "    text          - keep the old parser alive",
        "                    for now",
        "                  + keep the new parser alive",
        "                    for now",
    ]


def test_wide_values_are_side_by_side() -> None:
    _, decay, first, second = drawn(TEXT, SPLIT_FROM)
    assert [part.strip() for part in decay.split("│")] == ["decay         0.4", "0.7  raised"]
    assert [part.strip() for part in first.split("│")] == [
        "text          - keep the old parser alive",
        "+ keep the new parser alive",
    ]
    assert [part.strip() for part in second.split("│")] == ["for now", "for now"]


def test_changed_words_are_highlighted() -> None:
    marked = [span.text for line in change_lines(TEXT, 70) for span in line if "word" in span.style]
    assert marked == ["old", "new"]


def test_a_removed_block_is_shown_whole_and_its_text_is_safe() -> None:
    assert drawn(REMOVED, 70) == [" - working/work-1  removed", "    task", "    - [b]bye[/]^["]


def test_an_added_gap_has_its_facts_on_one_line() -> None:
    deltas = (Delta("question", None, "where is it?", "added"), Delta("severity", None, "blocking", "added"))
    gap = Change(ChangeGroup.MISSING, ChangeKind.OPENED, "gap-1", deltas=deltas, why="never read")
    assert drawn(gap, 76) == [
        " + gap-1  opened  never read",
        '    question "where is it?" · severity blocking',
    ]


def test_fields_show_their_values_and_owner() -> None:
    assert drawn(CLOCK, 70) == [" ~ round  3 → 4 raised  the system's field"]
    assert drawn(TASK, 70) == [' + task  added  nothing → "build it"']


def test_thousands_of_changes_have_one_line_each() -> None:
    page = diff_page(difference(*[TEXT] * 5000), 110)
    assert page.lines == 5001
    assert plain(page.line(5000)).endswith("decay 0.70 > 0.65  decay raised  text changed")


@pytest.mark.parametrize("width", [72, 76, 110, 190])
def test_no_line_is_wider_than_its_room(width: int) -> None:
    page = diff_page(difference(TEXT, REMOVED, CURSOR, CLOCK, TASK), width)
    assert all(len(plain(page.line(number))) <= width for number in range(page.lines))
    assert page.lines >= page.rows


async def test_enter_goes_to_the_item_under_the_cursor_and_tab_to_the_next_group() -> None:
    app = Stage(DiffScreen(difference(TEXT, REMOVED, CURSOR, CLOCK)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
    assert app.result == ItemId(ItemKind.BLOCK, "work-7", "working")

    app = Stage(DiffScreen(difference(TEXT, REMOVED, CURSOR, CLOCK)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("tab", "enter")
        await pilot.pause()
    assert app.result == TODO


async def test_the_cursor_distinguishes_rows_of_one_item() -> None:
    app = Stage(DiffScreen(difference(CLOCK, TASK)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("j")
        await pilot.resize_terminal(120, 36)
        await pilot.pause()
        assert app.shown.query_one(Chooser).cursor == 2
        await pilot.press("enter")
        await pilot.pause()
    assert app.result == WHOLE


async def test_enter_does_nothing_on_a_removed_item() -> None:
    app = Stage(DiffScreen(difference(REMOVED)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.result is NOTHING
        await pilot.press("escape")
        await pilot.pause()
    assert app.result is None


async def test_equal_states_say_so() -> None:
    app = Stage(DiffScreen(difference()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        page = app.shown.query_one(Chooser).page
        assert "No difference in meaning." in "".join(plain(page.line(at)) for at in range(page.lines))
        await pilot.press("enter", "q")
        await pilot.pause()
    assert app.result is None


async def test_a_key_switches_between_side_by_side_and_inline() -> None:
    app = Stage(DiffScreen(difference(TEXT)))
    async with app.run_test(size=(160, 40)) as pilot:
        chooser = app.screen.query_one(Chooser)
        beside = chooser.page.lines
        await pilot.press("v")
        await pilot.pause()
        inline = chooser.page.lines
        await pilot.press("v")
        await pilot.pause()

        assert inline > beside == chooser.page.lines


def test_a_promotion_and_a_loss_are_named() -> None:
    moved = Change(ChangeGroup.BLOCKS, ChangeKind.MOVED, "w1", "longterm", "working", course="promoted")
    lost = Change(ChangeGroup.BLOCKS, ChangeKind.REMOVED, "w2", "working", loss="inferred")

    assert "working → longterm  promoted" in drawn(moved, 100)[0]
    assert "perhaps lost in a compaction" in drawn(lost, 100)[0]
