"""Compare two statements: the same words, nearly the same meaning, or nearly the same with another value.

Equality of the normalised text comes first, then the mean of rapidfuzz's token_set_ratio and of the share of
rare word stems that both have. Numbers, code, opposites and negations decide whether a similar pair is a
duplicate or a possible contradiction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cache

from msgspec import Struct

_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z`*\"(])")
# A text may be hostile: no pattern looks at the same run of characters from each of its places.
_MARKUP = re.compile(r"[*_~]{1,3}(?=\S)|(?<=\S)[*_~]{1,3}|!?\[([^\[\]]*)\]\([^\[)]*\)")
_CODE = re.compile(r"(?<!`)`++([^`]+)`+")
_WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")
_NUMBER = re.compile(r"(?<![\w.])v?(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)*)(?:%|[a-z]{0,3}\b)", re.IGNORECASE)
_IDENTIFIER = re.compile(
    r"(?<![\w.@~/-])(?:[\w.@~-]*+/)+[\w.*{}<>@-]+"  # a path
    r"|(?<!\w)(?<!\w[-.:])\w(?:(?:[^\W\d]|[-.:](?=\w))*+\d)+[\w.-]*"  # a name with a digit, such as gpt-4o
    r"|\b\w+?_\w+|(?<![\w-])(?=\w)[\w-]++\.[a-z]{1,5}\b|--[\w-]+"
)
_SPELLED = re.compile(r"[\w./@%+#-]+")
# Most sentences have none of these, and a search for one character is much faster than a pattern.
_MARKED, _NAMED, _DIGIT = re.compile(r"[*_~\[]"), re.compile(r"[/_.:\d]|--"), re.compile(r"\d")
_STOP_WORDS = """
a an and are as at be by do does for from has have if in into is it its of on or so such that the their them
then there these they this to via was we were when which while will with you your our us any all each i can
should must may only also use using used make sure please always
"""
_NEGATION_WORDS = """
not never no don't dont cannot can't without avoid forbidden prohibited doesn't won't shouldn't mustn't nor
"""
_OPPOSITE_PAIRS = """
always-never enable-disable enabled-disabled on-off allow-forbid allowed-forbidden pass-fail before-after
true-false required-optional tabs-spaces public-private add-remove sync-async more-less first-last
single-double merge-rebase include-exclude local-remote short-long
"""
_STOP = frozenset(_STOP_WORDS.split())
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_PAIRED = [pair.split("-") for pair in _OPPOSITE_PAIRS.split()]
_OPPOSITES = {one: other for pair in _PAIRED for one, other in (pair, reversed(pair))}
_ENDINGS = (
    *("ations", "ation", "ingly", "ments", "ment", "ings", "ing", "edly"),
    *("ies", "ers", "ed", "es", "er", "ly", "s"),
)
_NO_STEMS = _STOP | _NEGATIONS | _OPPOSITES.keys()
NO_NEGATION = "no negation"
SHORTEST_EXACT = 20
"""Characters that an equal statement needs, unless it has three words."""


class Likeness(StrEnum):
    EXACT = "exact"
    NEAR = "near"
    CONTRADICTION = "contradiction"


class ComparedText(Struct, frozen=True, eq=False):
    """One sentence, prepared for comparison."""

    text: str
    normal: str
    stems: frozenset[str]
    """Stems of its words, without stop words and values."""
    numbers: frozenset[str]
    names: frozenset[str]
    """Code, paths and other identifiers."""
    opposites: frozenset[str]
    """Its words that have an opposite."""
    negative: bool

    @property
    def is_comparable(self) -> bool:
        """Whether it says enough to be called said twice."""
        enough = self.normal.count(" ") >= 2 or len(self.normal) >= SHORTEST_EXACT
        return enough and not self.text.rstrip().endswith(":")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a statement: a long one may repeat another in a part."""
    for part in _SENTENCE.split(text):
        if part.strip():
            yield part.strip()


def prepare(text: str) -> ComparedText:
    """Prepare one sentence for comparison."""
    bare = _MARKUP.sub(lambda found: found[1] or "", text) if _MARKED.search(text) else text
    code, plain = (), bare
    if "`" in bare:
        code, plain = tuple(_CODE.findall(bare)), _CODE.sub(" ", bare)
        bare = _CODE.sub(r"\1", bare)
    named = _IDENTIFIER.findall(plain) if _NAMED.search(plain) else ()
    names = {_name(each) for each in (*code, *named)}
    rest = _IDENTIFIER.sub(" ", plain) if named else plain
    numbers = {found.replace(",", "") for found in _NUMBER.findall(rest)} if _DIGIT.search(rest) else ()
    words = _WORD.findall((_NUMBER.sub(" ", rest) if numbers else rest).lower())
    kept = {_stem(word) for word in words if word not in _NO_STEMS}
    return ComparedText(
        text=text,
        normal=" ".join(_SPELLED.findall(bare.casefold())).rstrip(". "),
        stems=_small(kept),
        numbers=_small(numbers),
        names=_small(filter(None, names)),
        opposites=_small(_OPPOSITES.keys() & words),
        negative=not _NEGATIONS.isdisjoint(words),
    )


def compare(
    one: ComparedText, other: ComparedText, weight: Callable[[str], float], least: float
) -> tuple[Likeness, float] | None:
    """Return how alike two sentences are, and their score of 100; None when they are different."""
    if one.normal == other.normal:
        return Likeness.EXACT, 100.0
    small, large = sorted((one, other), key=lambda each: len(each.stems))
    said = len(small.stems) + len(one.names & other.names) + min(len(one.opposites), len(other.opposites))
    if said < 3 or len(large.stems) > 2.5 * len(small.stems) + 2:
        return None
    shared = small.stems & large.stems
    if len(shared) < 2:
        return None
    total = sum(map(weight, small.stems))
    contained = 100 * sum(map(weight, shared)) / total if total else 0.0
    # In a short statement one other word changes the subject: tests or documents for new features.
    if (100 + contained) / 2 < least or (len(small.stems) <= 5 and len(shared) < 0.8 * len(small.stems)):
        return None
    from rapidfuzz.fuzz import token_set_ratio

    score = (token_set_ratio(one.normal, other.normal) + contained) / 2
    if score < least:
        return None
    if differing_values(one, other) is None:
        return Likeness.NEAR, score
    # A contradiction is about the same thing: apart from the values, nearly the same words on both sides.
    common = len(shared) / len(small.stems | large.stems)
    return (Likeness.CONTRADICTION, score) if common >= 0.7 else None


def differing_values(one: ComparedText, other: ComparedText) -> tuple[str, str] | None:
    """Return a value of each side that the other lacks, or None when the values agree."""
    for mine, theirs in ((one.numbers, other.numbers), (one.names, other.names)):
        only, others = mine - theirs, theirs - mine
        if only and others:
            return min(only), min(others)
    for word in sorted(one.opposites - other.opposites):
        opposite = _OPPOSITES[word]
        if opposite in other.opposites and opposite not in one.opposites:
            return word, opposite
    if one.negative != other.negative:
        return ("not", NO_NEGATION) if one.negative else (NO_NEGATION, "not")
    return None


def shared_words(one: ComparedText, other: ComparedText) -> tuple[str, ...]:
    """Return the words that both sentences have, in the order of the first."""
    theirs = set(_WORD.findall(other.text.lower())) - _STOP
    return tuple(dict.fromkeys(word for word in _WORD.findall(one.text.lower()) if word in theirs))


_EMPTY: frozenset[str] = frozenset()


def _small(words: Iterable[str]) -> frozenset[str]:
    """A set that costs nothing when it is empty, as most of them are."""
    return frozenset(words) or _EMPTY


def _name(text: str) -> str:
    """A value without the brackets in which placeholders are written in different ways."""
    return re.sub(r"[<>{}\[\]$]", "", text).strip(" .,;:'\"()").casefold()


@cache
def _stem(word: str) -> str:
    """Cut the usual endings; crude, but the same for both sides."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 4 and word[-1] in "ey" else word
