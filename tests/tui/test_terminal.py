"""Terminals that can do less: fewer colours, none, no signs but ASCII. What is said stays said."""

from __future__ import annotations

import ast
import json
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import Monochrome

from ctxview import ascii_signs, tui
from ctxview.config import load as load_config
from ctxview.reports.json_text import dumps
from ctxview.tui import glyphs, revision_kinds, sights, themes
from ctxview.tui.filters import filters_for
from ctxview.tui.seeing import contrast
from ctxview.tui.terminal import Colours, Terminal, appearance, colours_of, knows_signs, terminal_of
from ctxview.tui.text import Line, Span
from ctxview.tui.widgets.drawing import draw
from tests.tui.colours import ground, ink

BLACK = Color.parse("black")


@pytest.mark.parametrize(
    ("environment", "colours"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, Colours.ALL),
        ({"TERM": "tmux-256color"}, Colours.SOME),
        ({"TERM": "xterm"}, Colours.SIXTEEN),
        ({"TERM": "linux"}, Colours.SIXTEEN),
        ({"TERM": "vt100"}, Colours.NONE),
        ({"TERM": "dumb"}, Colours.NONE),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, Colours.NONE),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": ""}, Colours.ALL),
    ],
)
def test_how_many_colours_a_terminal_has(environment: dict[str, str], colours: Colours) -> None:
    assert colours_of(environment) is colours


@pytest.mark.parametrize(
    ("environment", "encoding", "knows"),
    [
        ({"LANG": "C.UTF-8"}, "utf-8", True),
        ({"LANG": "de_DE.UTF-8", "LC_CTYPE": "de_DE.utf8"}, "utf-8", True),
        ({}, "utf-8", True),
        ({"LC_CTYPE": "C.UTF-8"}, "utf-8", True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8", False),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"}, "utf-8", False),
        ({"LANG": "en_US.ISO-8859-1"}, "iso8859-1", False),
        ({"LANG": "C.UTF-8"}, "ascii", False),
        ({"LANG": "C.UTF-8", "TERM": "linux"}, "utf-8", False),
        ({"LANG": "C.UTF-8", "TERM": "vt220"}, "utf-8", False),
    ],
)
def test_whether_a_terminal_knows_more_than_ascii(
    environment: dict[str, str], encoding: str, knows: bool
) -> None:
    assert knows_signs(environment, encoding) is knows


def test_a_person_may_say_which_signs_are_known() -> None:
    assert terminal_of({"LANG": "C"}, "utf-8", "unicode").ascii is False
    assert terminal_of({"LANG": "C.UTF-8"}, "utf-8", "ascii").ascii is True


def test_few_colours_have_a_theme_of_their_own_unless_one_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("CTXVIEW_THEME", "ctxview-reef")
    assert appearance(load_config())[0] == themes.SIXTEEN
    assert appearance(load_config({"theme": "ctxview-reef"}))[0] == "ctxview-reef"
    monkeypatch.setenv("TERM", "xterm-256color")
    assert appearance(load_config())[0] == "ctxview-reef"


def test_every_sign_we_draw_has_one_in_ascii() -> None:
    used = {character for file in Path(tui.__file__).parent.rglob("*.py") for character in _signs_in(file)}
    assert used - set(ascii_signs.SIGNS) == set()
    assert all(len(sign) == 1 and sign.isascii() for sign in ascii_signs.SIGNS.values())


def test_signs_that_differ_in_meaning_differ_in_ascii() -> None:
    beads = [sign for bead in revision_kinds.LEGEND[:5] for sign in (bead.hollow, bead.filled)]
    for signs in (
        *(glyphs.SEVERITY.values(), glyphs.OWNER.values(), glyphs.REF.values(), sights.GLYPHS.values()),
        *((glyphs.YES, glyphs.NO, glyphs.UNSAID), (glyphs.DONE, glyphs.CURRENT, glyphs.OPEN)),
        *(glyphs.LEVELS, beads, "█▓▒░", "━─", "▐▕"),
    ):
        assert len(set(map(ascii_signs.sign, signs))) == len(set(signs)), signs


def test_a_line_in_ascii_is_as_wide_as_it_was() -> None:
    drawn = _through(Terminal(ascii=True), (Span("✓ café 灯塔：１ …│\u0301"),), "")
    assert "".join(each.text for each in drawn).rstrip() == "+ cafe ????: 1  ~|"


def test_without_colours_the_cursor_is_reversed_and_a_click_still_works() -> None:
    terminal = Terminal(Colours.NONE)
    row = (Span("a", "severity.error", "screen.x"), Span(" b", "strong"))
    plain, blurred, chosen = (_through(terminal, row, each) for each in ("", "cursor.blur", "cursor"))
    for each in (*plain, *blurred, *chosen):
        assert each.style is not None
        assert each.style.color is None
        assert each.style.bgcolor is None
    assert [bool(_style(line).reverse) for line in (plain, blurred, chosen)] == [False, False, True]
    assert [bool(_style(line).underline) for line in (plain, blurred, chosen)] == [False, True, False]
    assert _style(chosen).meta == {"@click": "screen.x"}


@pytest.mark.parametrize("name", ["ctxview-dark", "ctxview-light", "ctxview-reef", "ctxview-amber"])
def test_256_colours_keep_rows_apart_and_text_readable(name: str) -> None:
    row = (Span("a", "hidden"), Span("b", "visible.no"), Span("c", "dim"), Span("d", "tier.longterm"))
    grounds = []
    for under in ("", "cursor.blur", "cursor"):
        for each in _through(Terminal(Colours.SOME), row, under, name):
            colours = ink(each.style or Style()), ground(each.style or Style())
            assert colours[0] is not None
            assert colours[1] is not None
            assert contrast(colours[0], colours[1]) >= 4.5 or not each.text.strip(), each
        grounds.append(colours[1])
    assert len(set(grounds)) == 3


def test_a_stream_that_does_not_know_our_signs_gets_ascii_and_json_stays_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "✓ … ü".encode("ascii", ascii_signs.ERRORS) == b"+ ~ \\xfc"
    monkeypatch.setattr("sys.stdout", TextIOWrapper(BytesIO(), "ascii"))
    assert dumps("é → 😀").isascii()
    assert json.loads(dumps("é → 😀")) == "é → 😀"


def _through(terminal: Terminal, line: Line, under: str, theme: str = themes.SIXTEEN) -> list[Segment]:
    palette = themes.load(theme)
    base = Style(color=palette.base["foreground"], bgcolor=palette.base["surface"])
    segments = list(draw(line, 24, palette, base, under))
    # What the toolkit does by itself where it finds NO_COLOR.
    greys = [Monochrome()] if terminal.colours is Colours.NONE else []
    for each in filters_for(terminal, greys):
        segments = each.apply(segments, BLACK)
    return segments


def _style(segments: list[Segment]) -> Style:
    return segments[0].style or Style()


def _signs_in(file: Path) -> set[str]:
    """What is no letter in the strings of a module; what is only said of it does not count."""
    tree = ast.parse(file.read_text("utf-8"))
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in said)
    return {
        character
        for node in strings
        for character in (node.value if isinstance(node.value, str) else "")
        if not character.isascii() and character.isprintable() and not character.isalnum()
    }
