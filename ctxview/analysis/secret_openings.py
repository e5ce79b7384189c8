"""Where in a text a secret could begin: found by the fixed words of each shape, at the speed of memory.

Most shapes need a long row of letters and digits besides, and most texts have none: then their words need not
be looked for. Whether a secret stands there, its pattern tells.
"""

from __future__ import annotations

import string
from collections.abc import Iterator

from ctxview.analysis.secret_shapes import REACH, RUN, SHAPES, Shape

_WORD = (string.ascii_letters + string.digits + "_-").encode()
_IN_ROW = bytes(ord("a") if byte in _WORD else 0 for byte in range(256))
_ROW = b"a" * RUN
_GAP = b"\0"

_TIGHT = [(hint, shape) for shape in SHAPES if not shape.loose for hint in shape.hints]
_LOOSE = [(hint, shape) for shape in SHAPES if shape.loose and not shape.any_case for hint in shape.hints]
_ANY_CASE = [(hint, shape) for shape in SHAPES if shape.any_case for hint in shape.hints]


def openings(data: bytes) -> list[tuple[Shape, list[int]]]:
    """Every shape that may occur, in order, with the places where a match of it could begin, in order.

    A character beyond ASCII has to be one byte, and which one does not matter.
    """
    found: dict[str, list[int]] = {}
    for shape, place in _hints(data):
        found.setdefault(shape.kind, []).extend(place - lead for lead in shape.leads if place >= lead)
    return [(shape, sorted(found[shape.kind])) for shape in SHAPES if found.get(shape.kind)] if found else []


def could_hold_secret(data: bytes) -> bool:
    """False only for what holds none, be it the text or a JSON string that spells it without `\\u`."""
    return next(_hints(data), None) is not None


def _hints(data: bytes) -> Iterator[tuple[Shape, int]]:
    """All places where a hint of a shape stands."""
    for hint, shape in _LOOSE:
        if (place := data.find(hint)) >= 0:
            yield from _each(data, hint, shape, place, len(data))
    lowered = data.lower()
    for hint, shape in _ANY_CASE:
        if (place := lowered.find(hint)) >= 0:
            yield from _each(lowered, hint, shape, place, len(data))
    for start, end in _near_rows(data):
        for hint, shape in _TIGHT:
            if (place := data.find(hint, start, end)) >= 0:
                yield from _each(data, hint, shape, place, end)


def _each(data: bytes, hint: bytes, shape: Shape, place: int, end: int) -> Iterator[tuple[Shape, int]]:
    while place >= 0:
        yield shape, place
        place = data.find(hint, place + 1, end)


def _near_rows(data: bytes) -> list[tuple[int, int]]:
    """The stretches, apart from each other, that hold all that could be a secret with a long row."""
    rows = data.translate(_IN_ROW)
    near: list[tuple[int, int]] = []
    start = rows.find(_ROW)
    while start >= 0:
        end = rows.find(_GAP, start)
        end = len(data) if end < 0 else end
        first = max(0, start - REACH)
        if near and near[-1][1] >= first:
            near[-1] = near[-1][0], end
        else:
            near.append((first, end))
        start = rows.find(_ROW, end)
    return near
