"""The last doors before the terminal: nothing it would obey passes, and nothing it cannot show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from rich.cells import get_character_cell_size
from rich.color import Color as Ink
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from ctxview.ascii_signs import UNKNOWN, sign
from ctxview.files.visible import is_safe, visible
from ctxview.tui.seeing import ground_in_256, ink_in_256
from ctxview.tui.terminal import Colours, Terminal

LIT, BRIGHT = 0.03, 0.2
"""How bright a ground is that stands for something, and for something that is chosen, in a black theme."""


def filters_for(terminal: Terminal, toolkits: Sequence[LineFilter]) -> list[LineFilter]:
    """Signs first, then what the toolkit does by itself, and colours last."""
    signs = [Guard(), OnlyAscii()] if terminal.ascii else [Guard()]
    restyled = {Colours.SOME: _in_256, Colours.NONE: _without_colour}.get(terminal.colours)
    return [*signs, *toolkits, *([Restyled(restyled)] if restyled is not None else ())]


class Guard(LineFilter):
    """Whatever slipped through as a control character is spelled out."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - the toolkit's shape
        if all(is_safe(segment.text) for segment in segments):
            return segments
        return [Segment(visible(segment.text), segment.style, segment.control) for segment in segments]


class OnlyAscii(LineFilter):
    """Every character as one of ASCII, as wide as it was."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        if all(segment.text.isascii() for segment in segments):
            return segments
        return [Segment("".join(map(_as_wide, each.text)), each.style, each.control) for each in segments]


class Restyled(LineFilter):
    """Every style as another one."""

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
    found = sign(character)
    return UNKNOWN * cells if found == UNKNOWN else found.ljust(cells)[:cells]


@lru_cache(4096)
def _without_colour(style: Style) -> Style:
    """What is on a far brighter ground than the rest is reversed, on a slightly brighter one underlined."""
    bright = Color(*style.bgcolor.get_truecolor()).brightness if style.bgcolor is not None else 0
    return Style(
        bold=style.bold,
        italic=style.italic,
        underline=style.underline or LIT <= bright < BRIGHT,
        strike=style.strike,
        reverse=bool(style.reverse) != (bright >= BRIGHT),
        meta=style.meta or None,
    )


@lru_cache(4096)
def _in_256(style: Style) -> Style:
    """The nearest of 256 colours, of those that can be read as well on the ground they are on.

    The toolkit's own choice makes dark blue of every dark ground, be it chosen or not.
    """
    if style.bgcolor is None:
        return style
    ground = tuple(style.bgcolor.get_truecolor())
    ink = tuple(style.color.get_truecolor()) if style.color is not None else ground
    if style.reverse:
        ink, ground = ground, ink
    numbers = [ink_in_256(ink, ground), ground_in_256(ground)]
    fore, back = (Ink.from_ansi(each) for each in (reversed(numbers) if style.reverse else numbers))
    return style + Style(color=fore, bgcolor=back)
