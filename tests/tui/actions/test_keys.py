"""The actions of the table, run by their keys."""

from __future__ import annotations

import re

import pytest

from ctxview.formats import open_source
from ctxview.samples import samples_folder
from ctxview.tui.drawing.text import plain
from ctxview.tui.model.action_table import (
    ACTION_MODULES,
    ACTIONS,
    ACTIONS_BY_ID,
    GROUPS,
    READ_ONLY_ACTIONS,
    BracketKeys,
)
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.query import MODEL_ORDER
from ctxview.tui.model.reading_index import TODO, ItemId, ItemKind
from ctxview.tui.screens.action_screen import find_action
from ctxview.tui.screens.command_line import CommandScreen
from ctxview.tui.screens.help import HelpScreen, help_lines
from ctxview.tui.screens.raw import RawScreen
from ctxview.tui.widgets.bars import InputLine
from tests.tui.driver import driving
from tests.tui.snapshot_stories import empty, huge, night


def block(name: str, tier: str) -> ItemId:
    return ItemId(ItemKind.BLOCK, name, tier)


@pytest.mark.parametrize("name", ACTIONS_BY_ID)
def test_every_action_has_a_function(name: str) -> None:
    assert callable(find_action(name))


def test_no_key_belongs_to_two_actions() -> None:
    keys = [key for action in ACTIONS for key in action.keys.split(",")]
    assert len(keys) == len(set(keys))
    assert len(ACTIONS_BY_ID) == len(ACTIONS) == len(ACTION_MODULES)
    assert set(ACTIONS_BY_ID).issuperset(READ_ONLY_ACTIONS)
    assert all(action.help and action.label for action in ACTIONS)


def test_a_bracket_steps_at_once() -> None:
    brackets = BracketKeys()
    assert list(brackets.feed("later")) == ["later"]
    assert brackets.waiting == BracketKeys.PATIENCE
    brackets.silence()
    assert list(brackets.feed("earlier")) == ["earlier"]


def test_a_late_e_goes_to_the_finding_where_the_bracket_led_nowhere_and_a_later_one_edits() -> None:
    brackets = BracketKeys()
    assert list(brackets.feed("later")) == ["later"]
    brackets.silence()
    assert brackets.waiting == BracketKeys.FORGIVENESS
    assert list(brackets.feed("edit")) == ["next_finding"]
    assert brackets.waiting is None
    assert list(brackets.feed("earlier")) == ["earlier"]
    brackets.silence()
    brackets.silence()
    assert brackets.waiting is None
    assert list(brackets.feed("edit")) == ["edit"]
    assert [*brackets.feed("later"), *brackets.feed("down")] == ["later", "down"]
    assert list(brackets.feed("edit")) == ["edit"]


def test_an_e_soon_after_a_step_takes_it_back_and_a_later_one_edits() -> None:
    brackets = BracketKeys()
    for bracket, back, jump in (
        ("later", "earlier", "next_finding"),
        ("earlier", "later", "previous_finding"),
    ):
        assert list(brackets.feed(bracket)) == [bracket]
        brackets.stepped()
        assert brackets.waiting == BracketKeys.PATIENCE
        assert list(brackets.feed("edit")) == [back, jump]
        brackets.stepped()  # the step back is not a bracket
        assert list(brackets.feed("edit")) == ["edit"]
    assert list(brackets.feed("later")) == ["later"]
    brackets.stepped()
    brackets.silence()
    assert brackets.waiting is None
    assert list(brackets.feed("edit")) == ["edit"]


def test_a_bracket_and_an_e_jump_to_a_finding() -> None:
    brackets = BracketKeys()
    assert [*brackets.feed("later"), *brackets.feed("edit")] == ["later", "next_finding"]
    assert [*brackets.feed("earlier"), *brackets.feed("edit")] == ["earlier", "previous_finding"]
    assert list(brackets.feed("edit")) == ["edit"]


def test_a_held_bracket_steps_at_full_speed() -> None:
    brackets = BracketKeys()
    done = [name for _ in range(4) for name in brackets.feed("later")]
    assert [*done, *brackets.feed("down")] == ["later", "later", "later", "later", "down"]


async def test_keys_move_by_rows() -> None:
    async with driving(night()) as drive:
        assert drive.selected == block("core-001", "core")
        await drive.press("j", "down")
        assert drive.selected == block("core-003", "core")
        await drive.press("k", "up")
        assert drive.selected == block("core-001", "core")
        await drive.press("G")
        assert drive.selected == block("lt-015", "longterm")
        await drive.press("g", "end", "home")
        assert drive.selected == block("core-001", "core")


async def test_keys_move_by_half_and_whole_screens() -> None:
    async with driving(huge(400), size=(80, 24)) as drive:
        memory = drive.inspector.memory
        await drive.press("ctrl+d")
        half = memory.cursor
        assert half > 4
        await drive.press("ctrl+u")
        assert memory.cursor == 1  # below the heading of the first tier
        await drive.press("pagedown")
        assert memory.cursor > half
        await drive.press("pagedown", "pageup", "pageup")
        assert memory.cursor == 1


async def test_panes_are_chosen_by_digit_tab_and_side() -> None:
    async with driving(night()) as drive:
        for pane in (each for each in Pane if not each.absent and each is not Pane.WHY):
            await drive.press(pane.key)
            assert drive.front is pane
            assert drive.inspector.focused is drive.inspector.panes[pane]
        await drive.press("7", "9")
        assert drive.front is Pane.FINDINGS  # this source has no text
        await drive.press("2", "h")
        assert drive.front is Pane.OVERVIEW
        await drive.press("l")
        assert drive.front is Pane.MEMORY
        await drive.press("7", "tab")
        assert drive.front is Pane.REVIEW
        await drive.press("shift+tab")
        assert drive.front is Pane.FINDINGS


async def test_enter_goes_to_the_detail_and_escape_back() -> None:
    async with driving(night()) as drive:
        await drive.press("j", "enter")
        assert drive.front is Pane.DETAIL
        assert "core-002" in drive.text(Pane.DETAIL)
        await drive.press("escape")
        assert drive.front is Pane.MEMORY
        await drive.press("7", "j", "enter")
        assert drive.selected == TODO
        await drive.press("escape")
        assert drive.front is Pane.FINDINGS


async def test_tiers_fold_and_tab_goes_to_the_next_one() -> None:
    async with driving(night()) as drive:
        await drive.press("space")
        assert "core-001" not in drive.text(Pane.MEMORY)
        assert "▸ core" in drive.text(Pane.MEMORY)
        await drive.press("tab")
        assert drive.selected is not None
        assert drive.selected.within == "working"
        await drive.press("shift+tab", "z")
        assert drive.selected == ItemId(ItemKind.BLOCK, "core-001", "core")
        await drive.press("Z")
        assert "●" not in drive.text(Pane.MEMORY).replace("●●", "") or "work-" not in drive.text(Pane.MEMORY)
        await drive.press("Z")
        assert "work-" in drive.text(Pane.MEMORY)


async def test_only_panes_of_the_shown_view_are_made() -> None:
    async with driving(night(), view=Pane.OVERVIEW) as drive:
        assert set(drive.inspector.panes) == {Pane.OVERVIEW}
        await drive.press("7")
        assert set(drive.inspector.panes) == {Pane.OVERVIEW, Pane.FINDINGS, Pane.DETAIL}


async def test_back_leaves_the_views_before_the_program() -> None:
    async with driving(night(), size=(80, 24)) as drive:
        await drive.press("7", "8", "q")
        assert drive.view is Pane.FINDINGS
        await drive.press("q")
        assert drive.view is Pane.OVERVIEW
        assert drive.app.is_running
        await drive.press("q")
        assert drive.app.return_code == 0


async def test_brackets_step_through_revisions() -> None:
    async with driving(night()) as drive:
        await drive.press("left_square_bracket")
        assert drive.revision == 1
        assert "work-009" not in drive.text(Pane.MEMORY)
        await drive.press("right_square_bracket")
        assert "+ ● work-009" in drive.text(Pane.MEMORY)
        await drive.press("left_curly_bracket")
        assert drive.revision == 0
        await drive.press("right_curly_bracket")
        assert drive.revision == 2


async def test_a_bracket_and_e_step_through_findings() -> None:
    async with driving(night()) as drive:
        await drive.press_quickly("right_square_bracket", "e")
        assert drive.front is Pane.FINDINGS
        assert drive.selected is not None
        assert drive.selected.name == "SNP060"
        await drive.press("f8")
        assert drive.selected.name == "SNP029"
        await drive.press_quickly("left_square_bracket", "e")
        assert drive.selected.name == "SNP060"
        assert drive.revision == 2
        assert drive.notices == []


async def test_the_step_before_the_first_finding_goes_to_another_revision() -> None:
    async with driving(night()) as drive:
        await drive.press("1", "f8", "f7")
        assert drive.revision == 1
        assert drive.front is Pane.FINDINGS
        assert drive.selected is not None
        assert drive.selected.kind is ItemKind.FINDING


async def test_a_bracket_and_e_take_the_step_back_and_go_to_a_finding_of_the_revision_before() -> None:
    async with driving(night()) as drive:
        await drive.press("left_square_bracket")
        assert drive.revision == 1
        names = {item.name for item in drive.inspector.view.index.findings}
        await drive.press_quickly("right_square_bracket", "e")
        await drive.wait_until(lambda: drive.front is Pane.FINDINGS, "a finding is shown")
        assert drive.revision == 1
        assert drive.selected is not None
        assert drive.selected.name in names
        await drive.press_quickly("left_square_bracket", "e", "left_square_bracket")
        await drive.wait_until(lambda: drive.revision == 0, "the second bracket steps")


async def test_a_bracket_at_the_end_says_so() -> None:
    async with driving(night()) as drive:
        await drive.press("right_square_bracket")
        assert drive.notices == ["This is the latest revision."]
        assert drive.revision == 2
        await drive.press("right_curly_bracket")
        assert drive.notices == ["This is the latest revision."] * 2


async def test_origin_shows_the_bytes_of_the_item() -> None:
    async with driving(night()) as drive:
        await drive.press("j", "o")
        raw = drive.app.screen
        assert isinstance(raw, RawScreen)
        await drive.settle()
        assert '"id": "core-002"' in raw.copied_text()
        assert '"id": "core-002"' in drive.screen_text()
        await drive.press("j", "q")
        assert drive.app.screen is drive.inspector


async def test_another_profile_marks_changed_verdicts() -> None:
    async with driving(night()) as drive:
        await drive.press("p")
        assert "~ ○ work-009" in drive.text(Pane.MEMORY)
        assert "strict" in drive.screen_text()


async def test_a_finding_names_its_line_and_of_several_files_its_file() -> None:
    async with driving(night()) as drive:
        assert " :40" in drive.text(Pane.FINDINGS)
    (path,) = (samples_folder() / "session" / "damaged").glob("home/*/agent/*/session/default")
    damaged = open_source(path)
    async with driving(damaged) as drive:
        assert re.search(r" \S+\.jsonl?:\d+$", drive.text(Pane.FINDINGS), re.MULTILINE)


async def test_the_mouse_on_a_word_of_a_bar_says_what_a_click_does() -> None:
    async with driving(night()) as drive:
        bar = drive.inspector.key_bar
        await drive.pilot.hover(bar, offset=(bar.size.width - 2, 0))
        assert str(bar.tooltip) == "q  Go back, or quit at the top; asks about unsaved changes"
        await drive.pilot.hover(drive.inspector.header, offset=(1, 0))
        assert drive.inspector.header.tooltip is None


async def test_sort_and_reverse() -> None:
    async with driving(night()) as drive:
        await drive.press("s")
        assert "Sort by" in drive.screen_text()
        await drive.press("d")
        assert drive.inspector.model.sort == "decay"
        assert drive.selected == block("temp-003", "ephemeral")
        await drive.press("S")
        assert drive.selected == block("core-001", "core")
        assert "decay ▴" in drive.screen_text()


async def test_search_goes_through_all_panes() -> None:
    async with driving(night()) as drive:
        await drive.press("slash")
        await drive.type("horn")
        assert "4 found · block 1 · missing 1 · reference 1 · finding 1" in drive.screen_text()
        await drive.press("enter")
        assert drive.selected == block("core-004", "core")
        await drive.press("n")
        assert drive.front is Pane.MISSING
        await drive.press("n", "n", "n")
        assert drive.front is Pane.MEMORY
        await drive.press("N")
        assert drive.front is Pane.FINDINGS
        await drive.press("escape")
        assert not drive.inspector.model.search.hits.needle


async def test_a_cancelled_search_leaves_no_marks() -> None:
    async with driving(night()) as drive:
        await drive.press("slash")
        await drive.type("lamp")
        assert drive.inspector.model.search.hits.needle == "lamp"
        await drive.press("escape")
        assert not drive.inspector.model.search.hits.needle
        assert drive.inspector.focused is drive.inspector.memory


async def test_filter_narrows_while_typing_and_shows_errors() -> None:
    async with driving(night()) as drive:
        await drive.press("f")
        await drive.type("tier:wo")
        await drive.press("tab")
        await drive.type(" hid")
        await drive.press("tab")
        assert drive.query.text == "tier:working hidden"
        assert [row.name for row in drive.inspector.model.view.blocks] == ["work-007"]  # type: ignore[union-attr]
        await drive.type(" decay>x")
        assert "decay> needs a number" in drive.screen_text()
        await drive.press("ctrl+w", "ctrl+w", "enter")
        assert "filter: tier:working hidden" in drive.screen_text()
        assert drive.selected == block("work-007", "working")
        await drive.press("escape")
        assert not drive.query


async def test_going_to_a_hidden_block_clears_the_filter() -> None:
    async with driving(night()) as drive:
        await drive.press("f")
        await drive.type("tier:core")
        await drive.press("enter", "slash")
        await drive.type("kettle")
        await drive.press("enter")
        assert drive.selected == block("temp-003", "ephemeral")
        assert not drive.query


async def test_a_cancelled_filter_is_undone() -> None:
    async with driving(night()) as drive:
        await drive.press("j", "f")
        chosen = drive.selected
        await drive.type("hidden")
        assert drive.query
        await drive.press("escape")
        assert not drive.query
        assert drive.selected == chosen


async def test_copy_sends_the_text_to_the_clipboard() -> None:
    async with driving(night()) as drive:
        await drive.press("y")
        assert drive.app.clipboard.startswith("You are Kestrel")


async def test_theme_help_and_palette() -> None:
    async with driving(night()) as drive:
        first = drive.app.theme
        await drive.press("t")
        assert drive.app.theme != first
        await drive.press("question_mark")
        assert isinstance(drive.app.screen, HelpScreen)
        await drive.press("slash")
        await drive.type("zoom")
        await drive.press("enter", "n", "q")
        assert drive.app.screen is drive.inspector
        await drive.press("colon")
        palette = drive.app.screen
        assert isinstance(palette, CommandScreen)
        await drive.type("sort")
        await drive.press("enter", "m")
        assert drive.inspector.model.sort == MODEL_ORDER
        palette.dismiss(None)
        assert drive.app.screen is drive.inspector, "a screen that is gone takes no other along"


async def test_the_help_lists_every_group() -> None:
    async with driving(empty()) as drive:
        await drive.press("question_mark")
        lines = drive.inspector.app.screen.query_one("HelpLines")
        text = "\n".join(str(strip.text) for strip in lines.render_lines(lines.size.region))
        assert "Moving" in text
        assert len(GROUPS) == 7


def test_the_help_has_a_title_a_legend_and_a_glossary_at_every_width() -> None:
    for cells in (60, 80, 120, 200):
        text = "\n".join(map(plain, help_lines(cells)))
        assert text.startswith("Help")
        assert "✖  E" in text
        assert "▾ ▸  V >" in text
        assert "timeline" not in text
        assert "or with another visibility" not in text
        assert all(word in text for word in ("context ", "tier ", "decay ", "envelope ", "finding "))


async def test_quit_ends_the_program() -> None:
    async with driving(night(), view=Pane.OVERVIEW) as drive:
        await drive.pilot.press("q")
        await drive.pilot.pause()
        assert drive.app.return_code == 0


async def test_keys_typed_ahead_of_the_prompt_go_into_it() -> None:
    async with driving(night()) as drive:
        await drive.press_quickly(*"/lamp")
        prompt = drive.app.screen.query_one(InputLine)
        assert prompt.input.value == "lamp"
