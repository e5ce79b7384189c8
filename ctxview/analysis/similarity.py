"""Similarity of texts, and the closest of many; bounded, so that thousands of texts stay cheap.

It compares words and characters, not meaning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from difflib import SequenceMatcher

from msgspec import Struct

_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]|[^\W\u2e80-\u9fff\uac00-\ud7af]{1,64}")
_COMPARED = 2000
"""Characters of a text that are compared; the rest is ignored."""
_CANDIDATES = 3
"""How many texts, those that share the most words, are compared in full."""
_COMMON = 200
"""A word that occurs in more texts than this is not used to find candidates."""
_COMPARISONS = 200
"""How many pairs are compared in full: honest data has a few similar ones, hostile data thousands."""
_SHORT = 200
"""Texts up to this length are compared letter by letter, longer ones word by word."""


class NearestText(Struct, frozen=True):
    key: str
    ratio: float


class TextIndex:
    """Many texts by key, to find the one closest to another text."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {key: _plain(text) for key, text in texts.items()}
        self._holders: dict[str, list[str]] = {}
        for key, text in self._texts.items():
            for word in _words(text):
                self._holders.setdefault(word, []).append(key)
        self._comparisons_left = _COMPARISONS
        self._same: dict[str, str] = {text: key for key, text in reversed(self._texts.items())}

    def closest(self, text: str, at_least: float) -> NearestText | None:
        """An equal text, or the first of the candidates whose ratio is `at_least` so high; else None."""
        wanted = _plain(text)
        if wanted in self._same:
            return NearestText(self._same[wanted], 1.0)
        for key in self._candidates(wanted) if self._comparisons_left else ():
            known = self._texts[key]
            short = max(len(known), len(wanted)) <= _SHORT
            one, other = (known, wanted) if short else (_WORD.findall(known), _WORD.findall(wanted))
            matcher = SequenceMatcher(None, one, other, autojunk=False)
            # Two upper bounds first, the cheap one before the other.
            if matcher.real_quick_ratio() >= at_least and matcher.quick_ratio() >= at_least:
                self._comparisons_left -= 1
                if (ratio := matcher.ratio()) >= at_least:
                    return NearestText(key, ratio)
        return None

    def _candidates(self, text: str) -> list[str]:
        shared: Counter[str] = Counter()
        for word in _words(text):
            holders = self._holders.get(word, ())
            if len(holders) <= _COMMON:
                shared.update(holders)
        return [key for key, _ in shared.most_common(_CANDIDATES)]


def shared_words(first: str, second: str) -> float:
    """The share of distinct words that two texts have in common, from 0 to 1."""
    one, other = _words(_plain(first)), _words(_plain(second))
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _plain(text: str) -> str:
    """The start of a text without case and with single spaces, as it is compared."""
    return " ".join(text[:_COMPARED].casefold().split())


def _words(text: str) -> set[str]:
    """The words of a text; in scripts without spaces between words, the characters."""
    return set(_WORD.findall(text))
