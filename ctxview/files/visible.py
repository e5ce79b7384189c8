"""Untrusted text made visible: whatever a terminal could obey, or a reader could miss, is spelled out.

This is the one place that decides what is harmless to print. Nothing is ever dropped: a reviewer must see
that it was there, be it inside an emoji. The notation is that of `less`: `^[` for escape, `<U+202E>` for an
override. The spaces of category Zs stay: French and Japanese need them.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_HARMFUL_CATEGORIES: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
# Printable to Python, but blank or ignored on screen: fillers, inherent vowels, variation selectors, …
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U00016fe4\U000e0100-\U000e01ef]"
)
_REMEMBERED: Final = 50_000


def visible(text: str, keep_layout: bool = False) -> str:
    """`text` as plain, printable text; tabs and line ends stay only with `keep_layout`."""
    if _plain(text.replace("\n", "").replace("\t", "") if keep_layout else text):
        return text
    return text.translate(_WITH_LAYOUT if keep_layout else _SPELLED)


def visible_parts(text: str, keep_layout: bool = False) -> list[tuple[str, bool]]:
    """The same text in pieces, each with whether it is spelled out: those deserve a style of their own."""
    if _plain(text):
        return [(text, False)] if text else []
    spelling = _WITH_LAYOUT if keep_layout else _SPELLED
    harmful = sorted(char for char in set(text) if spelling[ord(char)] != char)
    if not harmful:
        return [(text, False)]
    pieces = re.split(f"([{re.escape(''.join(harmful))}]+)", text)
    return [(piece.translate(spelling), index % 2 == 1) for index, piece in enumerate(pieces) if piece]


def is_safe(text: str) -> bool:
    """Whether `text` may be printed as it is, on one line."""
    return _plain(text) or visible(text) == text


class _Spelling(dict[int, str]):
    """How each code point is shown, found out when it is first met."""

    def __missing__(self, code: int) -> str:
        shown = _spell(code)
        if len(self) < _REMEMBERED:
            self[code] = shown
        return shown


_SPELLED: Final = _Spelling()
_WITH_LAYOUT: Final = _Spelling({ord(char): char for char in "\t\n"})


def _plain(text: str) -> bool:
    """A quick yes for most text; a no means that somebody has to look closer."""
    return text.isprintable() and (text.isascii() or not _UNSEEN.search(text))


def _spell(code: int) -> str:
    char = chr(code)
    if code < 0x20 or code == 0x7F:
        return f"^{chr(code ^ 0x40)}"
    if unicodedata.category(char) in _HARMFUL_CATEGORIES or _UNSEEN.match(char):
        return f"<U+{code:04X}>"
    return char
