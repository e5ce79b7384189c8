"""Finds misspelled separators in a reply: other brackets, escapes, spaces, Markdown or another case."""

from __future__ import annotations

import re

from msgspec import Struct


class NearMiss(Struct, frozen=True):
    """Something that looks like the separator, by byte offsets."""

    start: int
    end: int
    brackets: int
    before_json: bool
    """Whether an object follows it."""


def near_misses(data: bytes) -> list[NearMiss]:
    """Return the near misses in a text; with one bracket on each side only those before an object."""
    found: list[NearMiss] = []
    if not _WORD.search(data):
        return found
    for match in _NEAR_MISS.finditer(data):
        brackets = len(_OPENING.findall(match["open"])) + len(_CLOSING.findall(match["close"]))
        if brackets > 2 or match["brace"] is not None:
            found.append(NearMiss(*match.span("marker"), brackets, match["brace"] is not None))
    return found


def _either(*signs: str) -> str:
    return "(?:" + "|".join(re.escape(sign) for sign in signs) + ")"


_OPEN = _either("<", r"\<", "&lt;", "&#60;", "&#x3c;", "＜", "〈", "《", "‹", "«", "⟨", "≪", "[")
_CLOSE = _either(">", r"\>", "&gt;", "&#62;", "&#x3e;", "＞", "〉", "》", "›", "»", "⟩", "≫", "]")
_GAP = r"(?:[ \t`*_]|" + _either("\u00a0", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff") + "){0,3}"
_WIDE = ord("Ａ") - ord("A")
# Letters of other scripts that look the same: Cyrillic, then Greek.
_LOOK_ALIKES = {
    "C": "\u0421\u0441\u03f9\u03f2",
    "O": "\u041e\u043e\u039f\u03bf",
    "N": "\u039d",
    "T": "\u0422\u0442\u03a4\u03c4",
    "E": "\u0415\u0435\u0395\u03b5",
    "X": "\u0425\u0445\u03a7\u03c7",
}
_LETTERS = (
    _either(each, chr(ord(each) + _WIDE), chr(ord(each.lower()) + _WIDE), *_LOOK_ALIKES[each])
    for each in "CONTEXT"
)
_CONTEXT = _GAP.join(_LETTERS)
_MARKER = (
    rf"(?P<open>(?:{_OPEN}{_GAP}){{1,6}}){_CONTEXT}"
    # pandoc writes `<CONTEXT>`{=html}.
    rf"(?P<close>(?:{_GAP}(?:\{{=html\}})?{_CLOSE}){{1,6}})"
)
_NEAR_MISS = re.compile(
    rf"(?P<marker>{_MARKER})[ \t\r\n`*_]{{0,20}}(?:json[ \t\r\n]{{1,4}})?(?P<brace>\{{)?".encode(),
    re.IGNORECASE,
)
_WORD = re.compile(_CONTEXT.encode(), re.IGNORECASE)
_OPENING, _CLOSING = re.compile(_OPEN.encode(), re.IGNORECASE), re.compile(_CLOSE.encode(), re.IGNORECASE)
