from __future__ import annotations

import pytest

from ctxview.analysis.diff import Change, Delta, Group, Kind, Side, StateDiff, pieces
from ctxview.state import Owner
from ctxview.tui.screens.diff import DiffScreen
from ctxview.tui.text import plain
from ctxview.tui.things import TODO, WHOLE, Thing
from ctxview.tui.things import Kind as ThingKind
from ctxview.tui.widgets.change_lines import SPLIT_FROM, change_lines, diff_page
from ctxview.tui.widgets.listing import Chooser
from tests.tui.stage import NOTHING, Stage

OLD, NEW = "keep the old parser alive\nfor now", "keep the new parser alive\nfor now"
TEXT = Change(
    Group.BLOCKS,
    Kind.HIDDEN,
    "work-7",
    "working",
    deltas=(
        Delta("decay", 0.4, 0.7, "raised"),
        Delta("text", OLD, NEW, "changed", pieces=pieces(OLD, NEW)),
    ),
    sight="hidden",
    why="decay 0.70 > 0.65",
)
GONE = Change(
    Group.BLOCKS,
    Kind.REMOVED,
    "work-1",
    "working",
    deltas=(Delta("type", "task", None, "removed"), Delta("text", "[b]bye[/]\x1b", None, "removed")),
)
CURSOR = Change(
    Group.CURSOR, Kind.CHANGED, "cursor", deltas=(Delta("phase", "doing", "verifying", "changed"),)
)
CLOCK = Change(Group.FIELDS, Kind.CHANGED, "round", deltas=(Delta("round", 3, 4, "raised", Owner.SYSTEM),))
TASK = Change(
    Group.FIELDS, Kind.ADDED, "task", deltas=(Delta("task", None, "build it", "added", Owner.MODEL),)
)
SIDE = Side("lighthouse", "a.json", "1")


def difference(*changes: Change) -> StateDiff:
    return StateDiff(SIDE, Side("lighthouse", "b.json", "2"), changes)


def drawn(change: Change, width: int) -> list[str]:
    return [plain(line).rstrip() for line in change_lines(change, width)]


def test_narrow_values_stand_on_one_line_and_prose_under_each_other() -> None:
    assert drawn(TEXT, 70) == [
        " ✗ working/work-7  no longer shown to the model  decay 0.70 > 0.65",
        "    decay         0.4 → 0.7 raised",
        "    text          - keep the old parser alive",
        "                    for now",
        "                  + keep the new parser alive",
        "                    for now",
    ]


def test_wide_values_stand_side_by_side() -> None:
    _, decay, first, second = drawn(TEXT, SPLIT_FROM)
    assert [part.strip() for part in decay.split("│")] == ["decay         0.4", "0.7  raised"]
    assert [part.strip() for part in first.split("│")] == [
        "text          - keep the old parser alive",
        "+ keep the new parser alive",
    ]
    assert [part.strip() for part in second.split("│")] == ["for now", "for now"]


def test_the_changed_words_stand_out() -> None:
    marked = [span.text for line in change_lines(TEXT, 70) for span in line if "word" in span.style]
    assert marked == ["old", "new"]


def test_a_removed_block_is_told_whole_and_its_text_cannot_act() -> None:
    assert drawn(GONE, 70) == [" - working/work-1  removed", "    task", "    - [b]bye[/]^["]


def test_what_only_came_is_told_on_one_line() -> None:
    deltas = (Delta("question", None, "where is it?", "added"), Delta("severity", None, "blocking", "added"))
    gap = Change(Group.MISSING, Kind.OPENED, "gap-1", deltas=deltas, why="never read")
    assert drawn(gap, 76) == [
        " + gap-1  opened  never read",
        '    question "where is it?" · severity blocking',
    ]


def test_fields_say_what_they_were_and_whose_they_are() -> None:
    assert drawn(CLOCK, 70) == [" ~ round  3 → 4 raised  the system's field"]
    assert drawn(TASK, 70) == [' + task  added  nothing → "build it"']


def test_thousands_of_changes_take_a_line_each() -> None:
    page = diff_page(difference(*[TEXT] * 5000), 110)
    assert page.lines == 5001
    assert plain(page.line(5000)).endswith("decay 0.70 > 0.65  decay raised  text changed")


@pytest.mark.parametrize("width", [72, 76, 110, 190])
def test_no_line_is_wider_than_its_room(width: int) -> None:
    page = diff_page(difference(TEXT, GONE, CURSOR, CLOCK, TASK), width)
    assert all(len(plain(page.line(number))) <= width for number in range(page.lines))
    assert page.lines >= page.rows


async def test_enter_goes_to_the_thing_under_the_cursor_and_tab_to_the_next_group() -> None:
    app = Stage(DiffScreen(difference(TEXT, GONE, CURSOR, CLOCK)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
    assert app.result == Thing(ThingKind.BLOCK, "work-7", "working")

    app = Stage(DiffScreen(difference(TEXT, GONE, CURSOR, CLOCK)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("tab", "enter")
        await pilot.pause()
    assert app.result == TODO


async def test_rows_about_the_same_thing_are_told_apart() -> None:
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


async def test_there_is_no_way_to_what_is_gone() -> None:
    app = Stage(DiffScreen(difference(GONE)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.result is NOTHING
        await pilot.press("escape")
        await pilot.pause()
    assert app.result is None


async def test_states_that_mean_the_same_say_so() -> None:
    app = Stage(DiffScreen(difference()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        page = app.shown.query_one(Chooser).page
        assert "No difference in meaning." in "".join(plain(page.line(at)) for at in range(page.lines))
        await pilot.press("enter", "q")
        await pilot.pause()
    assert app.result is None


async def test_a_key_turns_side_by_side_into_one_under_the_other_and_back() -> None:
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


def test_a_promotion_and_a_loss_are_said() -> None:
    moved = Change(Group.BLOCKS, Kind.MOVED, "w1", "longterm", came_from="working")
    lost = Change(Group.BLOCKS, Kind.REMOVED, "w2", "working", loss="inferred")

    assert "working → longterm  promoted" in drawn(moved, 100)[0]
    assert "perhaps lost in a compaction" in drawn(lost, 100)[0]
