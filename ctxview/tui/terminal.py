"""The abilities of the terminal, and line filters that draw within them: few colours, only ASCII.

Chooses the nearest of 256 colours by how different two colours look, and by their contrast on a background.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from itertools import repeat
from math import dist
from typing import TypeAlias

from msgspec import Struct
from rich.cells import get_character_cell_size
from rich.color import Color as RichColor
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from ctxview.config import Config
from ctxview.files.visible_text import is_safe, visible
from ctxview.reports.console import ASCII_UNKNOWN, ascii_sign
from ctxview.tui import themes

RGB: TypeAlias = tuple[int, int, int]
Light: TypeAlias = Sequence[float]
"""Linear red, green and blue, from 0 to 1."""

READABLE = 4.5
"""The contrast that text needs."""


def contrast(one: RGB, other: RGB) -> float:
    """The contrast of two colours by WCAG, from 1 (invisible) to 21 (black on white)."""
    first, second = _brightness_of(one), _brightness_of(other)
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def linear_light(colour: RGB) -> Light:
    return [_linear(value) for value in colour]


def lab(light: Light) -> tuple[float, float, float]:
    """The colour in CIELAB, in which distance is visible difference."""
    x = (0.4124 * light[0] + 0.3576 * light[1] + 0.1805 * light[2]) / 0.9505
    z = (0.0193 * light[0] + 0.1192 * light[1] + 0.9505 * light[2]) / 1.089
    fx, fy, fz = (
        each ** (1 / 3) if each > 0.008856 else 7.787 * each + 16 / 116 for each in (x, _brightness(light), z)
    )
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@cache
def background_in_256(background: RGB) -> int:
    """The number of the nearest of the 256 colours."""
    return min(_differences(background))[1]


@cache
def foreground_in_256(foreground: RGB, background: RGB) -> int:
    """The number of the nearest of the 256 colours with about the same contrast on the drawn background."""
    under, before = _TABLE[background_in_256(background)], contrast(foreground, background)
    least = max(0.85 * before, min(before, READABLE))
    differences = [*_differences(foreground)]
    _, nearest = min(differences)
    if contrast(_TABLE[nearest], under) >= least:
        return nearest
    return next((each for _, each in sorted(differences) if contrast(_TABLE[each], under) >= least), nearest)


def _differences(colour: RGB) -> Iterator[tuple[float, int]]:
    """How different each of the 256 colours looks, with its number."""
    return zip(map(dist, _labs(), repeat(lab(linear_light(colour)))), _TABLE, strict=True)


@cache
def _brightness_of(colour: RGB) -> float:
    return _brightness(linear_light(colour))


def _brightness(light: Light) -> float:
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]


@cache
def _linear(value: int) -> float:
    share = value / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def _table() -> dict[int, RGB]:
    """The 256 colours without the first sixteen, which differ between terminals."""
    steps = (0, 95, 135, 175, 215, 255)
    cube = [(red, green, blue) for red in steps for green in steps for blue in steps]
    greys = [(8 + 10 * step,) * 3 for step in range(24)]
    return dict(enumerate([*cube, *((red, green, blue) for red, green, blue in greys)], 16))


_TABLE = _table()


@cache
def _labs() -> list[tuple[float, float, float]]:
    return [lab(linear_light(colour)) for colour in _TABLE.values()]


class ColourDepth(StrEnum):
    ALL = "all"
    SOME = "256"
    SIXTEEN = "sixteen"
    NONE = "none"


class Terminal(Struct, frozen=True):
    colours: ColourDepth = ColourDepth.ALL
    ascii: bool = False


ABLE = Terminal()

PLAIN_TERMS = ("dumb", "vt52", "vt100", "vt102", "vt220", "vt320", "unknown")
"""Terminals with neither colours nor signs."""

FEW_SIGNS = (*PLAIN_TERMS, "linux", "ansi", "cons25")
"""Terminals with few signs: the Linux console has frames, but neither a tick nor half a circle."""

COERCED = "C.UTF-8"
"""The value of LC_CTYPE that Python sets when it finds the locale C."""


def appearance(config: Config) -> tuple[str, Terminal]:
    """The theme and the terminal; raises `ThemeError`.

    A theme of many colours is hard to read in sixteen, so that it needs an explicit option there.
    """
    terminal = terminal_of(os.environ, sys.stdout.encoding, config.glyphs)
    asked = config.settings["theme"].source.startswith("--")
    many = terminal.colours in (ColourDepth.ALL, ColourDepth.SOME)
    theme = config.theme if asked or many else themes.SIXTEEN
    return themes.load_palette(theme).name, terminal


def terminal_of(environment: Mapping[str, str], encoding: str, glyphs: str = "auto") -> Terminal:
    """The abilities of the terminal; `glyphs` is the setting "ascii", "unicode" or "auto"."""
    plain = not knows_signs(environment, encoding) if glyphs == "auto" else glyphs == "ascii"
    return Terminal(colours_of(environment), plain)


def colours_of(environment: Mapping[str, str]) -> ColourDepth:
    if environment.get("NO_COLOR") or environment.get("TERM", "") in PLAIN_TERMS:
        return ColourDepth.NONE
    # Decided as in the toolkit, which sends the colours.
    system = Console(force_terminal=True, _environ=environment).color_system
    known = {None: ColourDepth.NONE, "standard": ColourDepth.SIXTEEN, "256": ColourDepth.SOME}
    return known.get(system, ColourDepth.ALL)


def knows_signs(environment: Mapping[str, str], encoding: str) -> bool:
    """Whether the terminal can draw our signs; without a known encoding, it is assumed to be modern."""
    if "utf" not in encoding.lower() or environment.get("TERM", "") in FEW_SIGNS:
        return False
    asked = environment.get("LC_CTYPE", "")
    locale = environment.get("LC_ALL") or (asked if asked != COERCED else "") or environment.get("LANG", "")
    return not locale or "utf" in locale.lower()


MARKED, SELECTED = 0.03, 0.2
"""The brightness of a marked background, and of a selected one, in a dark theme."""


def filters_for(terminal: Terminal, toolkits: Sequence[LineFilter]) -> list[LineFilter]:
    """The line filters: signs first, then those of the toolkit, then colours."""
    signs = [ControlFilter(), AsciiFilter()] if terminal.ascii else [ControlFilter()]
    restyled = {ColourDepth.SOME: _in_256, ColourDepth.NONE: _without_colour}.get(terminal.colours)
    return [*signs, *toolkits, *([StyleFilter(restyled)] if restyled is not None else ())]


class ControlFilter(LineFilter):
    """Spells out control characters that were not replaced earlier."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - the toolkit's shape
        if all(is_safe(segment.text) for segment in segments):
            return segments
        return [Segment(visible(segment.text), segment.style, segment.control) for segment in segments]


class AsciiFilter(LineFilter):
    """Replaces every character by ASCII of the same width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        if all(segment.text.isascii() for segment in segments):
            return segments
        return [Segment("".join(map(_as_wide, each.text)), each.style, each.control) for each in segments]


class StyleFilter(LineFilter):
    """Replaces every style by the result of `change`."""

    def __init__(self, change: Callable[[Style], Style]) -> None:
        super().__init__()
        self._change = change

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return [
            Segment(each.text, self._change(each.style) if each.style else each.style, each.control)
            for each in segments
        ]


@cache
def _as_wide(character: str) -> str:
    cells = get_character_cell_size(character)
    found = ascii_sign(character)
    return ASCII_UNKNOWN * cells if found == ASCII_UNKNOWN else found.ljust(cells)[:cells]


@lru_cache(4096)
def _without_colour(style: Style) -> Style:
    """The style without colours: a selected background is reversed, a marked one underlined."""
    bright = Color(*style.bgcolor.get_truecolor()).brightness if style.bgcolor is not None else 0
    return Style(
        bold=style.bold,
        italic=style.italic,
        underline=style.underline or MARKED <= bright < SELECTED,
        strike=style.strike,
        reverse=bool(style.reverse) != (bright >= SELECTED),
        meta=style.meta or None,
    )


@lru_cache(4096)
def _in_256(style: Style) -> Style:
    """The style in 256 colours, readable on its background.

    The toolkit would turn every dark background into dark blue, whether selected or not.
    """
    if style.bgcolor is None:
        return style
    background = tuple(style.bgcolor.get_truecolor())
    foreground = tuple(style.color.get_truecolor()) if style.color is not None else background
    if style.reverse:
        foreground, background = background, foreground
    numbers = [foreground_in_256(foreground, background), background_in_256(background)]
    fore, back = (RichColor.from_ansi(each) for each in (reversed(numbers) if style.reverse else numbers))
    return style + Style(color=fore, bgcolor=back)
