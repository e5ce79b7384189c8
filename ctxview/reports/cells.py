"""How wide text is on a terminal, and how to fit it into a column. Knows nothing of colours or tables."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

ELLIPSIS = "…"


def width(text: str) -> int:
    """Terminal cells: two for wide East Asian characters and emoji, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(map(_char_width, text))


def fit(text: str, cells: int) -> str:
    """`text` in exactly `cells` cells: padded with spaces, or cut with an ellipsis."""
    short = cut(text, cells)
    return short + " " * (cells - width(short))


def fit_right(text: str, cells: int) -> str:
    """The same with the padding on the left, for numbers."""
    short = cut(text, cells)
    return " " * (cells - width(short)) + short


def cut(text: str, cells: int) -> str:
    """`text` in at most `cells` cells, ending in an ellipsis when something was left out."""
    if width(text) <= cells:
        return text
    if cells <= 0:
        return ""
    used = 0
    for index, char in enumerate(text):
        used += _char_width(char)
        if used > cells - 1:
            return text[:index] + ELLIPSIS
    return text


def wrapped(pieces: Sequence[str], cells: int, indent: str = "", gap: str = " ") -> Iterator[str]:
    """Pieces side by side on as many lines as they need; what is too long for a line by itself is cut."""
    line = ""
    for piece in pieces:
        longer = f"{line}{gap}{piece}" if line else f"{indent}{piece}"
        if line and width(longer) > cells:
            yield cut(line, cells)
            line = f"{indent}  {piece}"
        else:
            line = longer
    if line:
        yield cut(line, cells)


def _char_width(char: str) -> int:
    if char < "\u0300":
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
