"""How alike two texts are, and which of many comes closest; bounded, so that thousands of texts stay cheap.

Knows words and characters, not what they are about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from difflib import SequenceMatcher

from ctxview.quick_dataclass import dataclass

_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]|[^\W\u2e80-\u9fff\uac00-\ud7af]{1,64}")
_COMPARED = 2000
"""Only so many characters of a text are compared."""
_CANDIDATES = 3
"""So many texts that share the most words are compared in full."""
_COMMON = 200
"""A word that stands in more texts than this finds nothing."""
_COMPARISONS = 200
"""So many pairs that may be alike are looked at closely: honest data has a few, hostile data thousands."""
_SHORT = 200
"""Texts up to this length are compared letter by letter, longer ones word by word."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    key: str
    ratio: float


class Texts:
    """Many texts, by key, to be asked which of them comes closest to another."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {key: _plain(text) for key, text in texts.items()}
        self._holders: dict[str, list[str]] = {}
        for key, text in self._texts.items():
            for word in _words(text):
                self._holders.setdefault(word, []).append(key)
        self._comparisons_left = _COMPARISONS
        self._same: dict[str, str] = {text: key for key, text in reversed(self._texts.items())}

    def closest(self, text: str, at_least: float) -> Neighbour | None:
        """A text like `text` enough: the very same, or of those that share most words the first such one."""
        wanted = _plain(text)
        if wanted in self._same:
            return Neighbour(self._same[wanted], 1.0)
        for key in self._candidates(wanted) if self._comparisons_left else ():
            matcher = _matcher(self._texts[key], wanted)
            if _may_reach(matcher, at_least):
                self._comparisons_left -= 1
                if (ratio := matcher.ratio()) >= at_least:
                    return Neighbour(key, ratio)
        return None

    def _candidates(self, text: str) -> list[str]:
        shared: Counter[str] = Counter()
        for word in _words(text):
            holders = self._holders.get(word, ())
            if len(holders) <= _COMMON:
                shared.update(holders)
        return [key for key, _ in shared.most_common(_CANDIDATES)]


def shared_words(first: str, second: str) -> float:
    """Which part of their different words two texts have in common: 0 none, 1 all."""
    one, other = _words(_plain(first)), _words(_plain(second))
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _plain(text: str) -> str:
    """What counts for a comparison: no case, no difference in spacing, not endless."""
    return " ".join(text[:_COMPARED].casefold().split())


def _words(text: str) -> set[str]:
    """The words of a text; of scripts that put no spaces between words, the characters."""
    return set(_WORD.findall(text))


def _matcher(first: str, second: str) -> SequenceMatcher[str]:
    short = max(len(first), len(second)) <= _SHORT
    one, other = (first, second) if short else (_WORD.findall(first), _WORD.findall(second))
    return SequenceMatcher(None, one, other, autojunk=False)


def _may_reach(matcher: SequenceMatcher[str], ratio: float) -> bool:
    """Two upper bounds, the cheap one first."""
    return matcher.real_quick_ratio() >= ratio and matcher.quick_ratio() >= ratio
