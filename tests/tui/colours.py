"""The colours drawn on a screen, and how different colours look to the colour-blind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import dist

from rich.style import Style
from textual.app import App

from ctxview.tui.terminal import RGB, contrast, lab, linear_light

# G. M. Machado et al., 2009, for eyes that lack one kind of cone; on linear light.
EYES = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}


def nearest(colours: Iterable[RGB]) -> float:
    """The smallest distance in CIELAB of two of the colours, to any kind of eyes."""
    found = list(colours)
    seen = (
        dist(_seen(one, eyes), _seen(other, eyes))
        for one, other in combinations(found, 2)
        for eyes in EYES.values()
    )
    return min(seen)


def foreground(style: Style) -> RGB | None:
    return None if style.color is None else tuple(style.color.get_truecolor())


def background(style: Style) -> RGB | None:
    return None if style.bgcolor is None else tuple(style.bgcolor.get_truecolor())


@dataclass(frozen=True)
class Drawn:
    """A run of text on the screen with its colours."""

    text: str
    foreground: RGB
    background: RGB

    @property
    def is_text(self) -> bool:
        """Whether it has letters or digits; other signs are recognised by their shape."""
        return any(character.isalnum() for character in self.text)

    @property
    def contrast(self) -> float:
        return contrast(self.foreground, self.background)


def drawn(app: App[None]) -> Iterator[Drawn]:
    """All text on the screen, except below a dialog."""
    for y, strip in enumerate(app.screen._compositor.render_strips()):
        x = 0
        for text, style, _ in strip:
            below = app.screen.is_modal and app.screen.get_widget_at(x, y)[0] is app.screen
            x += len(text)
            if text.strip() and style is not None and not below:
                colours = foreground(style), background(style)
                assert colours[0] is not None, text
                assert colours[1] is not None, text
                yield Drawn(text.strip(), *(reversed(colours) if style.reverse else colours))


def _seen(colour: RGB, eyes: tuple[tuple[float, ...], ...]) -> tuple[float, float, float]:
    light = linear_light(colour)
    return lab([min(1, max(0, sum(a * b for a, b in zip(row, light, strict=True)))) for row in eyes])
