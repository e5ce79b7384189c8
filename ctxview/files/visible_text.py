"""Make untrusted text visible: escape characters that control a terminal or that a reader cannot see.

Only this module decides which characters are safe to print. Nothing is dropped: a reviewer must see every
character, even one inside an emoji. The notation is that of `less`: `^[` for escape, `<U+202E>` for an
override. The spaces of category Zs stay: French and Japanese need them.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ctxview.core.lazy import lazy_pattern

_UNSAFE_CATEGORIES: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
# Printable to Python, but blank or ignored on screen: fillers, inherent vowels, variation selectors, …
_INVISIBLE: Final = lazy_pattern(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U00016fe4\U000e0100-\U000e01ef]"
)
_MOST_CACHED: Final = 50_000


def visible(text: str, keep_layout: bool = False) -> str:
    """Return `text` as plain, printable text; tabs and line ends stay only with `keep_layout`."""
    if _plain(text.replace("\n", "").replace("\t", "") if keep_layout else text):
        return text
    return text.translate(_WITH_LAYOUT if keep_layout else _SPELLED)


def visible_parts(text: str, keep_layout: bool = False) -> list[tuple[str, bool]]:
    """Return the visible text in pieces, each with whether it is escaped and needs another style."""
    if _plain(text):
        return [(text, False)] if text else []
    spelling = _WITH_LAYOUT if keep_layout else _SPELLED
    unsafe = sorted(char for char in set(text) if spelling[ord(char)] != char)
    if not unsafe:
        return [(text, False)]
    pieces = re.split(f"([{re.escape(''.join(unsafe))}]+)", text)
    return [(piece.translate(spelling), index % 2 == 1) for index, piece in enumerate(pieces) if piece]


def is_safe(text: str) -> bool:
    """Whether `text` is safe to print as it is, on one line."""
    return _plain(text) or visible(text) == text


class _Spelling(dict[int, str]):
    """The visible form of each code point, computed when it is first needed."""

    def __missing__(self, code: int) -> str:
        text = _spell(code)
        if len(self) < _MOST_CACHED:
            self[code] = text
        return text


_SPELLED: Final = _Spelling()
_WITH_LAYOUT: Final = _Spelling({ord(char): char for char in "\t\n"})


def _plain(text: str) -> bool:
    """Whether `text` is certainly safe; a fast check that may be False for safe text."""
    return text.isprintable() and (text.isascii() or not _INVISIBLE.search(text))


def _spell(code: int) -> str:
    char = chr(code)
    if code < 0x20 or code == 0x7F:
        return f"^{chr(code ^ 0x40)}"
    if unicodedata.category(char) in _UNSAFE_CATEGORIES or _INVISIBLE.match(char):
        return f"<U+{code:04X}>"
    return char
