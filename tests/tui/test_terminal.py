"""Terminals with fewer colours, without colours, or with ASCII only; the content stays readable."""

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

from ctxview import tui
from ctxview.config import load_config
from ctxview.core.revision_signs import REVISION_SIGNS
from ctxview.reports import console
from ctxview.reports.json_output import dumps
from ctxview.tui import themes
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.text import Line, Span
from ctxview.tui.terminal import (
    ColourDepth,
    Terminal,
    appearance,
    colours_of,
    contrast,
    filters_for,
    knows_signs,
    terminal_of,
)
from ctxview.tui.widgets.strips import draw_strip
from tests.tui.colours import background, foreground

BLACK = Color.parse("black")


@pytest.mark.parametrize(
    ("environment", "colours"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, ColourDepth.ALL),
        ({"TERM": "tmux-256color"}, ColourDepth.SOME),
        ({"TERM": "xterm"}, ColourDepth.SIXTEEN),
        ({"TERM": "linux"}, ColourDepth.SIXTEEN),
        ({"TERM": "vt100"}, ColourDepth.NONE),
        ({"TERM": "dumb"}, ColourDepth.NONE),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, ColourDepth.NONE),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": ""}, ColourDepth.ALL),
    ],
)
def test_the_colour_depth_of_a_terminal(environment: dict[str, str], colours: ColourDepth) -> None:
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
def test_a_terminal_without_utf8_has_ascii_only(
    environment: dict[str, str], encoding: str, knows: bool
) -> None:
    assert knows_signs(environment, encoding) is knows


def test_the_glyphs_setting_overrides_the_environment() -> None:
    assert terminal_of({"LANG": "C"}, "utf-8", "unicode").ascii is False
    assert terminal_of({"LANG": "C.UTF-8"}, "utf-8", "ascii").ascii is True


def test_sixteen_colours_have_their_theme_unless_an_option_names_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("CTXVIEW_THEME", "ctxview-reef")
    assert appearance(load_config())[0] == themes.SIXTEEN
    assert appearance(load_config({"theme": "ctxview-reef"}))[0] == "ctxview-reef"
    monkeypatch.setenv("TERM", "xterm-256color")
    assert appearance(load_config())[0] == "ctxview-reef"


def test_every_sign_has_an_ascii_replacement() -> None:
    used = {character for file in Path(tui.__file__).parent.rglob("*.py") for character in _signs_in(file)}
    assert used - set(console.ASCII_SIGNS) == set()
    assert all(len(sign) == 1 and sign.isascii() for sign in console.ASCII_SIGNS.values())


def test_signs_with_different_meanings_differ_in_ascii() -> None:
    beads = [sign for bead in REVISION_SIGNS[:5] for sign in (bead.hollow, bead.filled)]
    for signs in (
        *(glyphs.SEVERITY.values(), glyphs.OWNER.values(), glyphs.REF.values(), glyphs.REACH_GLYPHS.values()),
        *((glyphs.YES, glyphs.NO, glyphs.UNSAID), (glyphs.DONE, glyphs.CURRENT, glyphs.OPEN)),
        *(glyphs.LEVELS, beads, "█▓▒░", "━─", "▐▕"),
    ):
        assert len(set(map(console.ascii_sign, signs))) == len(set(signs)), signs


def test_the_signs_of_the_legend_have_their_own_ascii_signs() -> None:
    assert "".join(map(console.ascii_sign, "●◐○✖▲▼→…░▒·┃┄")) == "*%oE!v>$:n.|-"


def test_a_line_in_ascii_is_as_wide_as_it_was() -> None:
    drawn = _through(Terminal(ascii=True), (Span("✓ café 灯塔：１ …│\u0301"),), "")
    assert "".join(each.text for each in drawn).rstrip() == "y cafe ????: 1  $|"


def test_without_colours_the_cursor_is_reversed_and_a_click_still_works() -> None:
    terminal = Terminal(ColourDepth.NONE)
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
def test_in_256_colours_rows_differ_and_text_is_readable(name: str) -> None:
    row = (Span("a", "hidden"), Span("b", "visible.no"), Span("c", "dim"), Span("d", "tier.longterm"))
    backgrounds = []
    for under in ("", "cursor.blur", "cursor"):
        for each in _through(Terminal(ColourDepth.SOME), row, under, name):
            colours = foreground(each.style or Style()), background(each.style or Style())
            assert colours[0] is not None
            assert colours[1] is not None
            assert contrast(colours[0], colours[1]) >= 4.5 or not each.text.strip(), each
        backgrounds.append(colours[1])
    assert len(set(backgrounds)) == 3


def test_an_ascii_stream_gets_ascii_signs_and_valid_json(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "✓ … ü".encode("ascii", console.ASCII_ERRORS) == b"y $ \\xfc"
    monkeypatch.setattr("sys.stdout", TextIOWrapper(BytesIO(), "ascii"))
    assert dumps("é → 😀").isascii()
    assert json.loads(dumps("é → 😀")) == "é → 😀"


def _through(terminal: Terminal, line: Line, under: str, theme: str = themes.SIXTEEN) -> list[Segment]:
    palette = themes.load_palette(theme)
    base = Style(color=palette.base["foreground"], bgcolor=palette.base["surface"])
    segments = list(draw_strip(line, 24, palette, base, under))
    # The toolkit adds this filter when NO_COLOR is set.
    greys = [Monochrome()] if terminal.colours is ColourDepth.NONE else []
    for each in filters_for(terminal, greys):
        segments = each.apply(segments, BLACK)
    return segments


def _style(segments: list[Segment]) -> Style:
    return segments[0].style or Style()


def _signs_in(file: Path) -> set[str]:
    """The signs in the strings of a module, without docstrings."""
    tree = ast.parse(file.read_text("utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = (
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings
    )
    return {
        character
        for node in strings
        for character in (node.value if isinstance(node.value, str) else "")
        if not character.isascii() and character.isprintable() and not character.isalnum()
    }
