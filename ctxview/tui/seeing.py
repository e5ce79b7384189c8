"""Colours as eyes take them: how well one is read on another, and how far two are apart. Knows no widget."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import dist
from typing import TypeAlias

RGB: TypeAlias = tuple[int, int, int]
Light: TypeAlias = Sequence[float]
"""Red, green and blue as amounts of light, from 0 to 1."""


READABLE = 4.5
"""The contrast that text needs."""


def contrast(one: RGB, other: RGB) -> float:
    """As WCAG counts it: from 1, not to be seen, to 21, black on white."""
    first, second = _brightness_of(one), _brightness_of(other)
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def light(colour: RGB) -> Light:
    return [_linear(value) for value in colour]


def lab(seen: Light) -> tuple[float, float, float]:
    """In the space in which as far apart means as different."""
    x = (0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.9505
    z = (0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.089
    fx, fy, fz = (
        each ** (1 / 3) if each > 0.008856 else 7.787 * each + 16 / 116 for each in (x, _brightness(seen), z)
    )
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@cache
def ground_in_256(ground: RGB) -> int:
    """The number of the nearest of the 256 colours that every such terminal has."""
    wanted = lab(light(ground))
    return min(_TABLE, key=lambda number: dist(_labs()[number], wanted))


@cache
def ink_in_256(ink: RGB, ground: RGB) -> int:
    """The nearest one of those that can be read about as well on the ground as it becomes."""
    under, wanted = _TABLE[ground_in_256(ground)], lab(light(ink))
    before = contrast(ink, ground)
    least = max(0.85 * before, min(before, READABLE))
    fitting = [number for number, colour in _TABLE.items() if contrast(colour, under) >= least]
    return min(fitting or _TABLE, key=lambda number: dist(_labs()[number], wanted))


@cache
def _brightness_of(colour: RGB) -> float:
    return _brightness(light(colour))


def _brightness(seen: Light) -> float:
    return 0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2]


@cache
def _linear(value: int) -> float:
    share = value / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def _table() -> dict[int, RGB]:
    """Without the first sixteen: those are anybody's."""
    steps = (0, 95, 135, 175, 215, 255)
    cube = [(red, green, blue) for red in steps for green in steps for blue in steps]
    greys = [(8 + 10 * step,) * 3 for step in range(24)]
    return dict(enumerate([*cube, *((red, green, blue) for red, green, blue in greys)], 16))


_TABLE = _table()


@cache
def _labs() -> dict[int, tuple[float, float, float]]:
    return {number: lab(light(colour)) for number, colour in _TABLE.items()}
