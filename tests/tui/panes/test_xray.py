"""The X-ray pane: opened with X, moved through, searched, folded and compared with keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.formats import open_source
from ctxview.samples import samples_folder
from ctxview.tui.model.layout import Pane
from ctxview.tui.panes.xray import LONGEST_WRAPPED, XrayPane
from ctxview.tui.screens.diff import PromptDiffScreen
from ctxview.tui.screens.raw import RawScreen
from tests.formats.snapshot.builders import at, block, snapshot_value, to_bytes
from tests.tui.driver import Driver, driving

SECRET = "AKIAIOSFODNN7EXAMPLQ"


def pane_of(drive: Driver) -> XrayPane:
    pane = drive.inspector.panes[Pane.XRAY]
    assert isinstance(pane, XrayPane)
    return pane


def row_text(drive: Driver) -> str:
    row = pane_of(drive).row
    assert row is not None
    return row.text.strip()


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    first = at(1, core=[block("a", content="first words"), block("low", confidence=0.1)])
    second = at(2, core=[block("a", content="second words"), block("b", content="needle in b")])
    for number, value in ((1, first), (2, second)):
        (tmp_path / f"round-{number}.json").write_bytes(to_bytes(value))
    return tmp_path


async def test_the_prompt_is_put_together_when_the_pane_is_opened(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        assert drive.inspector.view is not None
        assert drive.inspector.view.xray is None, "nothing is made before somebody asks"
        await drive.press("X")
        assert drive.front is Pane.XRAY
        assert drive.view is Pane.XRAY
        text = drive.text(Pane.XRAY)
        assert "- id: a" in text
        assert "content: second words" in text
        assert "not in this file: base prompt" in text
        assert "The model reads" in drive.screen_text()


async def test_another_revision_has_its_own_prompt_with_what_is_hidden(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        await drive.press("X", "{")
        text = drive.text(Pane.XRAY)
        assert "content: first words" in text
        assert "not shown: low · confidence 0.10 < 0.70" in text


async def test_tab_goes_from_block_to_block_and_selects_it(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        await drive.press("X", "tab")
        assert row_text(drive) == "- id: a"
        await drive.press("tab")
        assert row_text(drive) == "- id: b"
        assert drive.selected is not None
        assert drive.selected.name == "b"
        await drive.press("shift+tab")
        assert row_text(drive) == "- id: a"
        assert drive.front is Pane.XRAY


async def test_a_search_steps_through_the_text_and_skips_grey_lines(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        await drive.press("X", "slash")
        await drive.type("needle")
        await drive.press("enter")
        assert row_text(drive) == "content: needle in b"
        assert drive.front is Pane.XRAY
        await drive.press("escape", "slash")
        await drive.type("round")
        await drive.press("enter", "n")
        first = pane_of(drive).cursor
        await drive.press("n", "N")
        assert pane_of(drive).cursor == first


async def test_fields_are_folded_and_shown_again(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        await drive.press("X", "tab", "tab", "z")
        assert "▸ 5 lines: type, decay, confidence, round, tags" in drive.text(Pane.XRAY)
        assert row_text(drive) == "- id: b"
        await drive.press("z")
        assert "▸" not in drive.text(Pane.XRAY)


async def test_a_wide_screen_folds_by_itself_and_has_boxes(rounds: Path) -> None:
    async with driving(open_source(rounds), size=(200, 60)) as drive:
        await drive.press("X", "tab")
        assert "▸ 5 lines" in drive.text(Pane.XRAY)
        shown = drive.screen_text()
        for words in ("Map", "This line", "are fields, not content", "core · note"):
            assert words in shown


async def test_a_narrow_screen_has_a_line_about_the_block_at_the_cursor(rounds: Path) -> None:
    async with driving(open_source(rounds), size=(80, 24)) as drive:
        await drive.press("X", "tab")
        assert "= text" in drive.screen_text()
        assert "round-2.json:1" in drive.screen_text()


async def test_d_shows_the_words_that_changed(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        await drive.press("X", "d")
        await drive.wait_for(PromptDiffScreen)
        shown = drive.screen_text()
        assert "round 1  →  round 2" in shown
        assert "firstsecond words" in shown
        assert "+ b" in shown
        await drive.press("escape")
        assert drive.front is Pane.XRAY
        await drive.press("{", "d")
        assert drive.notices[-1].startswith("This is the first revision")


async def test_o_opens_the_bytes_of_the_line(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        await drive.press("X", "tab", "j", "j")
        await drive.press("o")
        await drive.wait_for(RawScreen)
        assert "round-2.json" in drive.screen_text()


async def test_escape_shows_the_overview(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        await drive.press("X", "escape")
        assert drive.view is Pane.OVERVIEW
        assert "Memory" in drive.screen_text()


async def test_without_a_prompt_the_pane_says_why(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(to_bytes(snapshot_value(runtime=...)))
    async with driving(open_source(path)) as drive:
        await drive.press("X")
        assert "There is no prompt: the snapshot has no `runtime`" in drive.screen_text()
    async with driving(open_source(samples_folder() / "README.md")) as drive:
        await drive.press("X")
        assert "No prompt is known for the format raw." in drive.screen_text()


async def test_secrets_and_control_characters_do_not_reach_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(to_bytes(snapshot_value(core=[block("a", content=f"\x1b[2J {SECRET} \u202eevil")])))
    async with driving(open_source(path)) as drive:
        await drive.press("X")
        text = drive.text(Pane.XRAY)
        assert SECRET not in text
        assert "\x1b" not in text
        assert "^[[2J" in text


async def test_a_prompt_of_a_megabyte_is_not_wrapped_and_scrolls(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    words = {f"member-{number}": "x" * 90 for number in range(10_000)}
    path.write_text(json.dumps({**snapshot_value(), "capabilities": words}))
    async with driving(open_source(path), size=(80, 24)) as drive:
        await drive.press("X", "G")
        pane = pane_of(drive)
        assert pane.page.lines > 10_000
        assert pane.row is not None
        assert pane.page.lines == pane.page.rows, "each line is drawn on one line"
        assert drive.inspector.view is not None
        assert drive.inspector.view.xray is not None
        assert drive.inspector.view.xray.xray is not None
        assert drive.inspector.view.xray.xray.bytes > LONGEST_WRAPPED


async def test_sessions_and_envelopes_have_an_x_ray() -> None:
    session = samples_folder() / "session/coder/home/1000/agent/coder/session/default"
    async with driving(open_source(session)) as drive:
        await drive.press("X")
        assert "# CortexFS Agent System Prompt" in drive.text(Pane.XRAY)
    async with driving(open_source(samples_folder() / "envelope" / "handoff")) as drive:
        await drive.press("X")
        assert "cut: item-patch" in drive.text(Pane.XRAY)
