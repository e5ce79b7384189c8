"""Every command of the table, pressed as a person would."""

from __future__ import annotations

import pytest
from textual import events

from ctxview.tui.commands import BY_ID, COMMANDS, GROUPS, MODULES, READING, Brackets
from ctxview.tui.layout import Pane
from ctxview.tui.screens.command_screen import find_act
from ctxview.tui.screens.help import HelpScreen
from ctxview.tui.screens.palette import PaletteScreen, matching
from ctxview.tui.screens.raw import RawScreen
from ctxview.tui.session_view import Sort
from ctxview.tui.things import TODO, Kind, Thing
from ctxview.tui.widgets.prompt import Prompt
from tests.tui.driving import driving
from tests.tui.stories import empty, huge, night


def block(name: str, tier: str) -> Thing:
    return Thing(Kind.BLOCK, name, tier)


@pytest.mark.parametrize("name", BY_ID)
def test_every_command_can_be_done(name: str) -> None:
    assert callable(find_act(name))


def test_no_key_does_two_things() -> None:
    keys = [key for command in COMMANDS for key in command.keys.split(",")]
    assert len(keys) == len(set(keys))
    assert len(BY_ID) == len(COMMANDS) == len(MODULES)
    assert set(BY_ID).issuperset(READING)
    assert all(command.help and command.label for command in COMMANDS)


def test_a_bracket_alone_steps_after_a_silence() -> None:
    brackets = Brackets()
    assert list(brackets.feed("later")) == []
    assert brackets.waiting == Brackets.PATIENCE
    assert list(brackets.silence()) == ["later"]


def test_an_e_that_comes_late_still_means_the_finding_and_a_later_one_edits() -> None:
    brackets = Brackets()
    assert [*brackets.feed("later"), *brackets.silence()] == ["later"]
    assert brackets.waiting == Brackets.FORGIVENESS
    assert list(brackets.feed("edit")) == ["next_finding"]
    assert brackets.waiting is None
    assert [*brackets.feed("earlier"), *brackets.silence(), *brackets.silence()] == ["earlier"]
    assert list(brackets.feed("edit")) == ["edit"]
    assert [*brackets.feed("later"), *brackets.silence(), *brackets.feed("down")] == ["later", "down"]
    assert list(brackets.feed("edit")) == ["edit"]
    assert [*brackets.feed("later"), *brackets.silence()] == ["later"]
    brackets.stepped()
    assert list(brackets.feed("edit")) == ["edit"]


def test_a_bracket_and_an_e_jump_to_a_finding() -> None:
    brackets = Brackets()
    assert [*brackets.feed("later"), *brackets.feed("edit")] == ["next_finding"]
    assert [*brackets.feed("earlier"), *brackets.feed("edit")] == ["previous_finding"]
    assert list(brackets.feed("edit")) == ["edit"]


def test_a_held_bracket_steps_at_full_speed() -> None:
    brackets = Brackets()
    done = [name for _ in range(4) for name in brackets.feed("later")]
    assert [*done, *brackets.feed("down")] == ["later", "later", "later", "later", "down"]


async def test_rows_are_walked_with_the_keys_fingers_know() -> None:
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


async def test_half_and_whole_screens_are_walked() -> None:
    async with driving(huge(400), size=(80, 24)) as drive:
        memory = drive.inspector.memory
        await drive.press("ctrl+d")
        half = memory.cursor
        assert half > 4
        await drive.press("ctrl+u")
        assert memory.cursor == 0
        await drive.press("pagedown")
        assert memory.cursor > half
        await drive.press("space", "pageup", "pageup")
        assert memory.cursor == 0


async def test_panes_are_chosen_by_digit_tab_and_side() -> None:
    async with driving(night()) as drive:
        for pane in (each for each in Pane if not each.absent):
            await drive.press(pane.key)
            assert drive.front is pane
            assert drive.inspector.focused is drive.inspector.panes[pane]
        await drive.press("9")
        assert drive.front is Pane.DETAIL  # there is no text, so there is nowhere to go
        await drive.press("2", "l")
        assert drive.front is Pane.BUDGET
        await drive.press("h")
        assert drive.front is Pane.MEMORY
        await drive.press("tab")
        assert drive.front is not Pane.MEMORY
        await drive.press("shift+tab")
        assert drive.front is Pane.MEMORY


async def test_enter_drills_and_escape_comes_back() -> None:
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


async def test_zoom_puts_a_pane_alone_and_back() -> None:
    async with driving(night()) as drive:
        await drive.press("7", "z")
        assert [slot.shown for slot in drive.inspector.deck.slots] == [Pane.FINDINGS]
        await drive.press("2")
        assert [slot.shown for slot in drive.inspector.deck.slots] == [Pane.MEMORY]
        await drive.press("z")
        assert len(drive.inspector.deck.slots) > 3


async def test_brackets_step_through_revisions() -> None:
    async with driving(night()) as drive:
        await drive.step("left_square_bracket")
        assert drive.inspector.view.look.revision == 1
        assert "work-009" not in drive.text(Pane.MEMORY)
        await drive.step("right_square_bracket")
        assert "+✓ working   work-009" in drive.text(Pane.MEMORY)
        await drive.press("left_curly_bracket")
        assert drive.inspector.view.look.revision == 0
        await drive.press("right_curly_bracket")
        assert drive.inspector.view.look.revision == 2


async def test_a_bracket_and_e_walk_the_findings() -> None:
    async with driving(night()) as drive:
        await drive.press("right_square_bracket", "e")
        assert drive.front is Pane.FINDINGS
        assert drive.selected is not None
        assert drive.selected.name == "SNP060"
        await drive.press("f8")
        assert drive.selected.name == "SNP029"
        await drive.press("left_square_bracket", "e", "f7")
        assert drive.selected.name == "SNP024"
        assert drive.inspector.view.look.revision == 2


async def test_origin_opens_the_very_bytes() -> None:
    async with driving(night()) as drive:
        await drive.press("j", "o")
        raw = drive.app.screen
        assert isinstance(raw, RawScreen)
        await drive.settle()
        assert '"id": "core-002"' in raw.copied_text()
        assert '"id": "core-002"' in drive.screen_text()
        await drive.press("j", "q")
        assert drive.app.screen is drive.inspector


async def test_another_profile_marks_what_is_judged_otherwise() -> None:
    async with driving(night()) as drive:
        await drive.press("p")
        assert "!✗ working   work-009" in drive.text(Pane.MEMORY)
        assert "strict" in drive.screen_text()


async def test_sort_and_reverse() -> None:
    async with driving(night()) as drive:
        for _ in range(3):
            await drive.press("s")
        assert drive.inspector.view.sort is Sort.DECAY
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
        assert not drive.inspector.view.hits.needle


async def test_a_search_that_is_given_up_leaves_no_marks() -> None:
    async with driving(night()) as drive:
        await drive.press("slash")
        await drive.type("lamp")
        assert drive.inspector.view.hits.needle == "lamp"
        await drive.press("escape")
        assert not drive.inspector.view.hits.needle
        assert drive.inspector.focused is drive.inspector.memory


async def test_filter_narrows_while_typing_and_tells_mistakes() -> None:
    async with driving(night()) as drive:
        await drive.press("f")
        await drive.type("tier:wo")
        await drive.press("tab")
        await drive.type(" hid")
        await drive.press("tab")
        assert drive.inspector.view.query.text == "tier:working hidden"
        assert [row.name for row in drive.inspector.view.shown.blocks] == ["work-007"]  # type: ignore[union-attr]
        await drive.type(" decay>x")
        assert "decay> needs a number" in drive.screen_text()
        await drive.press("ctrl+w", "ctrl+w", "enter")
        assert "filter: tier:working hidden" in drive.screen_text()
        assert drive.selected == block("work-007", "working")
        await drive.press("escape")
        assert not drive.inspector.view.query


async def test_going_to_what_a_filter_hides_clears_the_filter() -> None:
    async with driving(night()) as drive:
        await drive.press("f")
        await drive.type("tier:core")
        await drive.press("enter", "slash")
        await drive.type("kettle")
        await drive.press("enter")
        assert drive.selected == block("temp-003", "ephemeral")
        assert not drive.inspector.view.query


async def test_a_filter_that_is_given_up_is_undone() -> None:
    async with driving(night()) as drive:
        await drive.press("j", "f")
        chosen = drive.selected
        await drive.type("hidden")
        assert drive.inspector.view.query
        await drive.press("escape")
        assert not drive.inspector.view.query
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
        assert isinstance(palette, PaletteScreen)
        await drive.type("sort")
        await drive.press("enter")
        assert drive.inspector.view.sort is Sort.MODEL
        palette.dismiss(None)
        assert drive.app.screen is drive.inspector, "a screen that is gone takes no other along"


def test_the_palette_finds_commands_by_name_key_and_meaning() -> None:
    def found(typed: str) -> list[str]:
        return [command.id for command in matching(typed, COMMANDS)]

    assert found("so")[0] == "sort"
    assert found("ctrl-r") == ["redo"]
    assert set(found("revision the")) >= {"earlier", "later", "diff"}
    assert found("no such thing") == []
    assert len(found("")) == len(COMMANDS)


async def test_the_help_tells_every_command() -> None:
    async with driving(empty()) as drive:
        await drive.press("question_mark")
        lines = drive.inspector.app.screen.query_one("HelpLines")
        told = "\n".join(str(strip.text) for strip in lines.render_lines(lines.size.region))
        assert "Moving" in told
        assert len(GROUPS) == 7


async def test_quit_leaves() -> None:
    async with driving(night()) as drive:
        await drive.pilot.press("q")
        await drive.pilot.pause()
        assert drive.app.return_code == 0


async def test_what_is_typed_ahead_of_the_prompt_goes_into_it() -> None:
    async with driving(night()) as drive:
        for key in ("slash", "l", "a", "m", "p"):
            drive.app.post_message(events.Key(key, "/" if key == "slash" else key))
        await drive.pilot.pause(0.3)
        prompt = drive.app.screen.query_one(Prompt)
        assert prompt.input.value == "lamp"
