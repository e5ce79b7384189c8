"""How wide and how high a person made the panes, and how that fits into a screen. Pure figures.

Columns, rows and what stands side by side in a row have names; what nobody touched is as large as `layout`
thinks best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from ctxview.quick_dataclass import dataclass

LEAST_WIDTH = 20
LEAST_HEIGHT = 3
"""A frame, and a line to read."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """In cells and lines, by name. `sources`: whether the list of sources has a place of its own."""

    widths: Mapping[str, int] = field(default_factory=dict)
    heights: Mapping[str, int] = field(default_factory=dict)
    sources: bool = True

    def wide(self, name: str, cells: int) -> Sizes:
        return replace(self, widths=_latest(self.widths, name, cells))

    def high(self, name: str, lines: int) -> Sizes:
        return replace(self, heights=_latest(self.heights, name, lines))


def _latest(sizes: Mapping[str, int], name: str, size: int) -> dict[str, int]:
    """What was set last stands last."""
    return {**{each: known for each, known in sizes.items() if each != name}, name: size}


def fit(best: Sequence[tuple[str, int]], wanted: Mapping[str, int], least: int) -> list[int]:
    """The sizes of neighbours that together stay as large as they are: what one takes, the largest give.

    Those a person set give only when the others have nothing left to give, the one set first before others.
    """
    total = sum(size for _, size in best)
    names = [name for name, _ in best]
    touched = [names.index(name) for name in wanted if name in names]
    if not touched or total < least * len(best):
        return [size for _, size in best]
    sizes = [max(least, wanted.get(name, size)) for name, size in best]
    untouched = sorted(set(range(len(best))) - set(touched), key=lambda at: -sizes[at])
    for at in (*untouched, *touched):
        sizes[at] -= min(max(0, sum(sizes) - total), sizes[at] - least)
    sizes[(*untouched, *touched)[0]] += total - sum(sizes)
    return sizes
