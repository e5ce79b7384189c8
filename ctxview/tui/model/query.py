"""The filter line `tier:working tag:task hidden decay>0.5 "some text"` as a test on blocks, and sort orders.

Words are joined by "and"; `a,b` means either; a leading `!` means not. Draws nothing.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from ctxview.core.state import Block, ContextState, Reach


class BlockFacts(Struct, frozen=True):
    """Facts about a block that are not in the block: whether it changed, and whether it has findings."""

    changed: bool = False
    flagged: bool = False


Test: TypeAlias = Callable[[Block, BlockFacts], bool]


class QueryError(ValueError):
    """A mistake in a filter line; `start` and `end` delimit the part with the mistake."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.start = start
        self.end = end


class Query(Struct, frozen=True):
    """A parsed filter line. The empty one accepts every block."""

    text: str = ""
    tests: tuple[Test, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tests)

    def accepts(self, block: Block, facts: BlockFacts) -> bool:
        return all(test(block, facts) for test in self.tests)


WORDS: dict[str, Callable[[Block], Iterable[str | None]]] = {
    "tier": lambda block: (block.tier,),
    "tag": lambda block: block.tags,
    "type": lambda block: (block.type,),
    "id": lambda block: (block.id,),
    "state": lambda block: (block.state,),
    "reason": lambda block: (block.reason,),
    "shown": lambda block: (target for target, reach in block.reach.items() if reach is Reach.INJECTED),
}

NUMBERS: dict[str, Callable[[Block], float | None]] = {
    "decay": lambda block: block.decay,
    "confidence": lambda block: block.confidence,
    "quality": lambda block: block.quality,
    "age": lambda block: block.age,
    "round": lambda block: block.round,
    "tokens": lambda block: block.tokens,
}

FLAGS: dict[str, Test] = {
    "visible": lambda block, _: block.visible is True,
    "hidden": lambda block, _: block.visible is False,
    "changed": lambda _, facts: facts.changed,
    "flagged": lambda _, facts: facts.flagged,
}

SHORT = {"conf": "confidence", "qual": "quality", "tok": "tokens"}

COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}

_PIECE = re.compile(r'!?"[^"]*"?|\S+')
_COMPARISON = re.compile(r"([A-Za-z]+)(>=|<=|>|<|=)(.*)", re.DOTALL)


def parse_query(text: str) -> Query:
    """Parse a filter line; raises `QueryError` for the first invalid piece."""
    return Query(text.strip(), tuple(_test(match) for match in _PIECE.finditer(text)))


def completions(text: str, state: ContextState | None) -> list[str]:
    """The possible completions of the last piece of the line, as whole pieces."""
    last = text.rpartition(" ")[2]
    negation, last = ("!", last[1:]) if last.startswith("!") else ("", last)
    key, colon, value = last.partition(":")
    if colon and key in WORDS and state is not None:
        *before, start = value.split(",")
        known = sorted({str(word) for block in state.blocks() for word in WORDS[key](block) if word})
        head = ",".join([*before, ""])
        return [
            f"{negation}{key}:{head}{word}" for word in known if word.startswith(start) and word != start
        ][:12]
    if not last:
        return ["hidden", "visible", "tier:", "tag:", "type:", "decay>", "confidence<", "changed", "flagged"]
    names = [*FLAGS, *(f"{name}:" for name in WORDS), *(f"{name}>" for name in NUMBERS)]
    return [negation + name for name in names if name.startswith(last) and name != last]


def _test(match: re.Match[str]) -> Test:
    piece = match[0]
    if piece.startswith("!"):
        test = _positive(piece[1:], match.start() + 1, match.end())
        return lambda block, facts: not test(block, facts)
    return _positive(piece, match.start(), match.end())


def _positive(piece: str, start: int, end: int) -> Test:
    if piece.startswith('"'):
        return _contains(piece.strip('"'))
    if piece in FLAGS:
        return FLAGS[piece]
    key, colon, value = piece.partition(":")
    if colon and key in WORDS:
        if not value:
            raise QueryError(f"{key}: needs a word after the colon", start, end)
        return _one_of(key, value.split(","))
    if comparison := _COMPARISON.fullmatch(piece):
        return _compare(*comparison.groups(), start=start, end=end)
    if piece in WORDS or SHORT.get(piece, piece) in NUMBERS:
        example = f"{piece}:word" if piece in WORDS else f"{piece}>0.5"
        raise QueryError(
            f'{piece} needs a value, for example {example}; "{piece}" searches for the word itself',
            start,
            end,
        )
    if colon and key.isalpha() and (near := get_close_matches(key, [*WORDS, *NUMBERS], n=1)):
        raise QueryError(f"unknown field {key}: (did you mean {near[0]}?)", start, end)
    return _contains(piece)


def _compare(name: str, sign: str, value: str, *, start: int, end: int) -> Test:
    name = SHORT.get(name, name)
    if name not in NUMBERS:
        near: Sequence[str] = get_close_matches(name, NUMBERS, n=1) or sorted(NUMBERS)
        raise QueryError(f"{name} is not a number of a block; use {', '.join(near)}", start, end)
    try:
        number = float(value)
    except ValueError:
        raise QueryError(f"{name}{sign} needs a number, for example {name}{sign}0.5", start, end) from None
    read, holds = NUMBERS[name], COMPARE[sign]

    def test(block: Block, _: BlockFacts) -> bool:
        found = read(block)
        return found is not None and holds(found, number)

    return test


def _one_of(key: str, values: Sequence[str]) -> Test:
    wanted = [value.casefold() for value in values if value]
    read = WORDS[key]

    def test(block: Block, _: BlockFacts) -> bool:
        return any(want in word.casefold() for word in read(block) if word for want in wanted)

    return test


def _contains(text: str) -> Test:
    wanted = text.casefold()

    def test(block: Block, _: BlockFacts) -> bool:
        return any(
            wanted in part.casefold() for part in (block.id, block.type or "", block.text, *block.tags)
        )

    return test


class SortOrder(StrEnum):
    FILE = "file order"
    MODEL = "model order"
    QUALITY = "quality"
    DECAY = "decay"
    CONFIDENCE = "confidence"
    AGE = "age"
    TOKENS = "tokens"


def sort_key(sort: SortOrder, block: Block, tiers: Mapping[str, int]) -> tuple[bool, float, float]:
    """A sort key that puts first the best, most decayed, least confident, oldest or largest block."""
    value = {
        SortOrder.MODEL: block.rank,
        SortOrder.QUALITY: _negative(block.quality),
        SortOrder.DECAY: _negative(block.decay),
        SortOrder.CONFIDENCE: block.confidence,
        SortOrder.AGE: _negative(block.age),
        SortOrder.TOKENS: _negative(block.tokens),
    }[sort]
    tier = tiers[block.tier] if sort is SortOrder.MODEL else 0
    return (value is None, tier, value or 0)


def _negative(value: float | None) -> float | None:
    return None if value is None else -value
