from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Button

from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.origin import Origin
from ctxview.editing.draft import Preview
from ctxview.files.line_difference import line_difference
from ctxview.tui.drawing.diff_lines import changed_lines, hunk_lines
from ctxview.tui.drawing.text import plain
from ctxview.tui.screens.save import SaveScreen
from ctxview.tui.widgets.strips import StaticLines
from ctxview.tui.widgets.virtual_lines import ScrollList
from tests.tui.one_screen_app import NOTHING, Stage

OLD = b'{\n  "decay": 0.40,\n  "content": "keep the old parser"\n}\n'
NEW = b'{\n  "decay": 0.70,\n  "content": "keep the new parser"\n}\n'


def finding(rule: str, severity: Severity, message: str) -> Finding:
    return Finding(rule, severity, Effect.NONE, message, Origin("a.json"))


HIDDEN = finding("SNP021", Severity.WARNING, "work-3 is hidden")
BROKEN = finding("SNP030", Severity.ERROR, "no target")
FIXED = finding("SNP018", Severity.WARNING, "a tag is there twice")
OLD_ERROR = finding("SNP012", Severity.ERROR, "no clock")


def preview(*added: Finding, blocked: str | None = None) -> Preview:
    return Preview(line_difference(OLD, NEW), added, (FIXED,), (OLD_ERROR,), blocked)


def stage(shown: Preview) -> Stage[SaveScreen]:
    return Stage(SaveScreen(shown, Path("sessions/round-04.json")))


def listed(app: Stage[SaveScreen]) -> list[str]:
    page = app.shown.query_one(ScrollList).page
    return [plain(page.line(number)).rstrip() for number in range(page.lines)]


def head(app: Stage[SaveScreen]) -> str:
    return " ".join(plain(line) for line in app.shown.query_one(".head", StaticLines).lines)


def test_lines_have_signs_and_numbers_and_changed_words_are_highlighted() -> None:
    lines = hunk_lines(line_difference(OLD, NEW), 60)
    assert [plain(line).rstrip() for line in lines] == [
        "1   {",
        '2 -   "decay": 0.40,',
        '3 -   "content": "keep the old parser"',
        '2 +   "decay": 0.70,',
        '3 +   "content": "keep the new parser"',
        "4   }",
    ]
    assert [span.text for line in lines for span in line if "word" in span.style] == [
        "0.40",
        "old",
        "0.70",
        "new",
    ]


def test_unrelated_lines_are_not_compared_word_by_word() -> None:
    lines = hunk_lines(line_difference(b"abc def\n", b"xyz uvw\n"), 60)
    assert not [span for line in lines for span in line if "word" in span.style]


def test_bytes_are_safe_and_tabs_are_expanded() -> None:
    (line, _) = hunk_lines(line_difference(b"", b"\tx\x1b[31m\xff"), 60)
    assert plain(line).startswith("1 +     x^[[31m")


def test_equal_bytes_say_so() -> None:
    assert [plain(line) for line in hunk_lines((), 60)] == ["The bytes are the same."]


def test_a_huge_difference_says_how_many_lines_are_left_out() -> None:
    lines = hunk_lines(line_difference(b"", b"x\n" * 5000), 60)
    assert plain(lines[-1]) == "… and 3,000 more lines"


def test_changed_lines_are_those_of_the_old_file() -> None:
    assert changed_lines(line_difference(OLD, NEW)) == {2, 3}
    assert changed_lines(line_difference(b"a\nb\nc\n", b"a\nb\nx\nc\n")) == {3}


@pytest.mark.parametrize(("key", "answer"), [("y", True), ("enter", True), ("n", False), ("escape", False)])
async def test_keys_save_or_go_back(key: str, answer: bool) -> None:
    app = stage(preview())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("j", "k", key)
        await pilot.pause()
    assert app.result is answer


async def test_added_findings_come_first_then_removed_ones_then_the_difference() -> None:
    app = stage(preview(HIDDEN))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        lines = listed(app)
        assert lines[:9] == [
            "This change adds  1",
            "  ▲ SNP021 work-3 is hidden",
            "",
            "This change fixes  1",
            "  ✓ ▲ SNP018 a tag is there twice",
            "",
            "Already there before  1",
            "  ✖ SNP012 no clock",
            "",
        ]
        assert head(app) == "adds 1 warning   fixes 1   2 lines removed, 2 lines added"


async def test_an_error_prevents_the_save_and_says_why() -> None:
    app = stage(preview(HIDDEN, BROKEN, blocked="the change would add an error: no target (SNP030)"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "cannot be saved" in head(app)
        assert "SNP030" in head(app)
        assert app.shown.query_one("#save", Button).disabled
        assert listed(app)[1] == "  ✖ SNP030 no target"
        await pilot.press("y", "enter")
        await pilot.pause()
        assert app.result is NOTHING
        await pilot.click("#back")
        await pilot.pause()
    assert app.result is False


async def test_the_mouse_saves() -> None:
    app = stage(preview())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.click("#save")
        await pilot.pause()
    assert app.result is True


@pytest.mark.parametrize("size", [(120, 36), (80, 24)], ids=["120x36", "80x24"])
@pytest.mark.parametrize("blocked", [False, True], ids=["open", "blocked"])
def test_the_preview_matches_its_picture(
    size: tuple[int, int], blocked: bool, snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    why = "the change would add an error: no target (SNP030)" if blocked else None
    app = stage(preview(HIDDEN, *([BROKEN] if blocked else []), blocked=why))
    assert snap_compare(app, terminal_size=size)
