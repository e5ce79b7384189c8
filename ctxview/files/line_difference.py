"""The difference between two versions of a file as readable lines; the bytes need not be text.

The lines are as untrusted as the file: print them through `visible`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias, TypeVar

from msgspec import Struct

LineKind: TypeAlias = Literal["same", "removed", "added", "note"]

_CONTEXT: Final = 3
# With more changed lines the finest difference takes too long: the region is shown as replaced.
_MOST_STEPS: Final = 200
_LONG_LINE: Final = 400
_LONGEST_LINE: Final = 2000
_AROUND_CHANGE: Final = 80
_NO_LINE_END: Final = "no line end at the end of the file"

_Items = TypeVar("_Items", str, list[bytes])


class Hunk(Struct, frozen=True):
    """One changed region with a few lines around it. Line numbers count from 1."""

    old_line: int
    new_line: int
    lines: tuple[tuple[LineKind, str], ...]


class _Region(Struct, frozen=True):
    """Lines `old_start:old_end` became `new_start:new_end`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def line_difference(old: bytes, new: bytes) -> tuple[Hunk, ...]:
    """Return the changed regions in order; empty when nothing differs."""
    old_lines, new_lines = _lines(old), _lines(new)
    groups: list[list[_Region]] = []
    for region in _regions(old_lines, new_lines):
        if groups and region.old_start - groups[-1][-1].old_end <= 2 * _CONTEXT:
            groups[-1].append(region)
        else:
            groups.append([region])
    return tuple(_hunk(group, old_lines, new_lines) for group in groups)


def _lines(data: bytes) -> list[bytes]:
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def _regions(old: list[bytes], new: list[bytes]) -> list[_Region]:
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    if not middle_old or not middle_new:
        found = [_Region(0, len(middle_old), 0, len(middle_new))] if middle_old or middle_new else []
    else:
        found = _shortest_edit(middle_old, middle_new)
    return [
        _Region(each.old_start + start, each.old_end + start, each.new_start + start, each.new_end + start)
        for each in found
    ]


def _shortest_edit(old: list[bytes], new: list[bytes]) -> list[_Region]:
    """Return the changed regions by Myers' greedy algorithm.

    It finds the furthest point on each diagonal, with one more change at a time.
    """
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    for steps in range(min(len(old) + len(new), _MOST_STEPS) + 1):
        trace.append(furthest.copy())
        for diagonal in range(-steps, steps + 1, 2):
            down = diagonal == -steps or (
                diagonal != steps and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _walk_back(trace, len(old), len(new))
    return [_Region(0, len(old), 0, len(new))]


def _walk_back(trace: list[dict[int, int]], x: int, y: int) -> list[_Region]:
    """Return the path that `trace` found, with neighbouring steps merged."""
    backwards: list[_Region] = []
    for steps in range(len(trace) - 1, 0, -1):
        furthest, diagonal = trace[steps], x - y
        down = diagonal == -steps or (diagonal != steps and furthest[diagonal - 1] < furthest[diagonal + 1])
        previous = diagonal + 1 if down else diagonal - 1
        x = furthest[previous]
        y = x - previous
        backwards.append(_Region(x, x, y, y + 1) if down else _Region(x, x + 1, y, y))
    regions: list[_Region] = []
    for step in reversed(backwards):
        if regions and (regions[-1].old_end, regions[-1].new_end) == (step.old_start, step.new_start):
            last = regions.pop()
            step = _Region(last.old_start, step.old_end, last.new_start, step.new_end)
        regions.append(step)
    return regions


def _hunk(regions: list[_Region], old: list[bytes], new: list[bytes]) -> Hunk:
    first, last = regions[0], regions[-1]
    start = max(first.old_start - _CONTEXT, 0)
    lines: list[tuple[LineKind, str]] = []
    position = start
    for region in regions:
        lines += _clipped("same", map(_text, old[position : region.old_start]))
        removed = [_text(line) for line in old[region.old_start : region.old_end]]
        added = [_text(line) for line in new[region.new_start : region.new_end]]
        if len(removed) == len(added):
            pairs = [_around_change(*pair) for pair in zip(removed, added, strict=True)]
            removed, added = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        lines += _clipped("removed", removed)
        lines += _clipped("added", added)
        position = region.old_end
    lines += _clipped("same", map(_text, old[position : last.old_end + _CONTEXT]))
    return Hunk(start + 1, first.new_start - (first.old_start - start) + 1, tuple(lines))


def _around_change(old: str, new: str) -> tuple[str, str]:
    """Return two versions of one line; of a long line without most of the shared text."""
    if max(len(old), len(new)) <= _LONG_LINE:
        return old, new
    ahead = _shared(old, new)
    behind = _shared(old[ahead:][::-1], new[ahead:][::-1])
    start, end = max(ahead - _AROUND_CHANGE, 0), max(behind - _AROUND_CHANGE, 0)
    left, right = "… " if start else "", " …\n" if end else ""
    return (
        f"{left}{old[start : len(old) - end]}{right}",
        f"{left}{new[start : len(new) - end]}{right}",
    )


def _clipped(kind: LineKind, lines: Iterable[str]) -> Iterator[tuple[LineKind, str]]:
    for line in lines:
        text = line.removesuffix("\n")
        yield kind, text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]} …"
        if not line.endswith("\n"):
            yield "note", _NO_LINE_END


def _text(line: bytes) -> str:
    return line.decode(errors="surrogateescape")


def _shared(one: _Items, other: _Items) -> int:
    """Count the items that two sequences share at their start, by halving: comparing slices is fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
