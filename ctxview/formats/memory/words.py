"""Words of entries, summaries and context lines: content words, pronouns, verbs, names and relative dates."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"\w+(?:['’]\w+)?")
_STOP: Final = frozenset(
    _WORD.findall(
        """
a an and are as at be been but by can could did do does for from had has have he her hers him his how i if in
into is it its let me my no not of on or our ours out she should so than that the their them then there these
they this to up us was we were what when which who will with would you your yours user assistant agent
"""
    )
)
_PRONOUN: Final = re.compile(
    r"(?<![\w-])(?:he|she|they|them|his|her|their|it|this|that|I|we|you|my|our)(?:['’]\w+)?(?![\w-])",
    re.IGNORECASE,
)
_AFTER_THAT: Final = re.compile(
    r"\s*(?:$|[.,;:!?]|(?:is|was|were|has|had|will|would|can|could|should|did)\b)"
)
_IRREGULAR: Final = frozenset(
    _WORD.findall(
        """
was were had did said told gave got went came took made knew thought saw found left felt kept let began ran
wrote read sent built spent lost met paid bought brought caught chose drew drove fell flew forgot grew held
heard hid hit hurt put quit rose sat sold set shook shot shut spoke split spread stood stole stuck struck
swore taught threw understood woke won broke cut led meant cost became bet ate drank slept
hung wore fought froze lay laid lit rode sought shone slid dealt dug fed fled lent sank swept swung tore
wept sang swam withdrew
"""
    )
)
_RELATIVE: Final = re.compile(
    r"(?<![\w-])(?:yesterday|today|tomorrow|tonight|in (?:a|\d+) (?:days?|weeks?|months?)|(?:next|last|this) "
    r"(?:week|month|year|quarter|monday|tuesday|wednesday|thursday|friday|saturday|sunday))(?![\w-])",
    re.IGNORECASE,
)
_OTHER_DATE: Final = re.compile(r"(?<![\w/-])\d{1,2}/\d{1,2}/(?:\d{4}|\d\d)(?![\w/-])")
_TAG: Final = re.compile(r"\[([A-Za-z_]+)\]")
_KEPT: Final = re.compile(
    r"(?<![\w./:#@-])(?=[\w./:#@-]*\d)[\w./:#@-]+(?:,\d+)*|`[^`\n]+`|(?<=[a-z,;:] )[A-Z][\w-]+"
)


def words_in(text: str) -> list[str]:
    """Return the words of a text in order, in lower case."""
    return [word.lower().replace("’", "'").removesuffix("'s") for word in _WORD.findall(text)]


def content_words(text: str) -> set[str]:
    """Return the words that carry meaning."""
    return set(content_in_order(text))


def content_in_order(text: str) -> list[str]:
    return [word for word in words_in(text) if word not in _STOP and (len(word) > 1 or word.isdigit())]


def pronouns_in(text: str) -> list[str]:
    """Return the pronouns of a text; `us-east-1`, quoted code and the `that` before a clause are none."""
    plain = re.sub(r"`[^`]*`", "", text)
    found = (each for each in _PRONOUN.finditer(plain) if each[0] != "IT")
    return [
        each[0]
        for each in found
        if each[0].lower() != "that" or _AFTER_THAT.match(plain, each.end()) is not None
    ]


def has_past_verb(text: str, words: int = 7) -> bool:
    """Whether one of the first words is a verb in the past tense; a tag in front does not count."""
    found = words_in(re.sub(r"^\s*\[[^\]]*\]", "", text))[:words]
    return any(word in _IRREGULAR or (word.endswith("ed") and len(word) > 3) for word in found)


def relative_dates_in(text: str) -> list[str]:
    """Return dates that mean another day on another day, and dates that are not in ISO order."""
    return [found[0] for pattern in (_RELATIVE, _OTHER_DATE) for found in pattern.finditer(text)]


def tags_in(text: str) -> list[str]:
    """Return the words in brackets: `[decide]`."""
    return [found[1] for found in _TAG.finditer(text)]


def kept_details(text: str) -> list[str]:
    """Return numbers, ids, names inside sentences and code, which a summary should keep."""
    found = (match[0].strip("`.,;:") for match in _KEPT.finditer(text))
    return list(dict.fromkeys(word for word in found if len(word) > 1))
