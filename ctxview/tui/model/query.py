"""The filter line `tier:working tag:task hidden decay>0.5 "some text"` as a test on blocks, and sort orders.

Words are joined by "and"; `a,b` means either; a leading `!` means not. Draws nothing.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeAlias

from msgspec import Struct

from ctxview.core.figures import Figure
from ctxview.core.lazy import lazy_pattern
from ctxview.core.state import SHOWN_TO, Block, ContextState


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
    "reason": lambda block: (block.why,),
    "shown": lambda block: (target for target, reach in block.reach.items() if reach in SHOWN_TO),
}

NUMBERS: dict[str, Callable[[Block], float | None]] = {
    "age": lambda block: block.age,
    "round": lambda block: block.round,
    "tokens": lambda block: block.tokens,
}
"""The numbers that every format may have; the figures of the blocks come before them."""

FLAGS: dict[str, Test] = {
    "visible": lambda block, _: block.visible is True,
    "hidden": lambda block, _: block.visible is False,
    "changed": lambda _, facts: facts.changed,
    "flagged": lambda _, facts: facts.flagged,
}

SHORTEST = 3
"""Letters of the beginning of a number's name that stand for it, as in `conf<0.5`."""

COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}

_PIECE = lazy_pattern(r'!?"[^"]*"?|\S+')
_COMPARISON = lazy_pattern(r"([A-Za-z]+)(>=|<=|>|<|=)(.*)", re.DOTALL)


def figures_in(state: ContextState | None) -> dict[str, Figure]:
    """The figures of the blocks by name, each as the first block has it."""
    found: dict[str, Figure] = {}
    for block in state.blocks() if state is not None else ():
        for figure in block.figures:
            found.setdefault(figure.name, figure)
    return found


def parse_query(text: str, figures: Iterable[str] = ()) -> Query:
    """Parse a filter line that may compare `figures`; raises `QueryError` for the first invalid piece."""
    numbers = [*figures, *NUMBERS]
    return Query(text.strip(), tuple(_test(match, numbers) for match in _PIECE.finditer(text)))


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
    figures = figures_in(state)
    if not last:
        gauges = [each for each in figures.values() if not each.derived]
        worse = [f"{each.name}{'<' if each.better == 'high' else '>'}" for each in gauges]
        return ["hidden", "visible", "tier:", "tag:", "type:", *worse, "changed", "flagged"]
    names = [*FLAGS, *(f"{name}:" for name in WORDS), *(f"{name}>" for name in (*figures, *NUMBERS))]
    return [negation + name for name in names if name.startswith(last) and name != last]


def _test(match: re.Match[str], numbers: Sequence[str]) -> Test:
    piece = match[0]
    if piece.startswith("!"):
        test = _positive(piece[1:], match.start() + 1, match.end(), numbers)
        return lambda block, facts: not test(block, facts)
    return _positive(piece, match.start(), match.end(), numbers)


def _positive(piece: str, start: int, end: int, numbers: Sequence[str]) -> Test:
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
        return _compare(*comparison.groups(), start=start, end=end, numbers=numbers)
    if piece in WORDS or _full_name(piece, numbers) in numbers:
        example = f"{piece}:word" if piece in WORDS else f"{piece}>0.5"
        raise QueryError(
            f'{piece} needs a value, for example {example}; "{piece}" searches for the word itself',
            start,
            end,
        )
    if colon and key.isalpha() and (near := get_close_matches(key, [*WORDS, *numbers], n=1)):
        raise QueryError(f"unknown field {key}: (did you mean {near[0]}?)", start, end)
    return _contains(piece)


def _full_name(name: str, numbers: Sequence[str]) -> str:
    """The only number whose name begins with `name`, or `name` itself."""
    found = [each for each in numbers if each.startswith(name)] if len(name) >= SHORTEST else []
    return found[0] if len(found) == 1 else name


def _compare(name: str, sign: str, value: str, *, start: int, end: int, numbers: Sequence[str]) -> Test:
    name = _full_name(name, numbers)
    if name not in numbers:
        near: Sequence[str] = get_close_matches(name, numbers, n=1) or sorted(numbers)
        raise QueryError(f"{name} is not a number of a block; use {', '.join(near)}", start, end)
    try:
        number = float(value)
    except ValueError:
        raise QueryError(f"{name}{sign} needs a number, for example {name}{sign}0.5", start, end) from None
    holds = COMPARE[sign]

    def test(block: Block, _: BlockFacts) -> bool:
        found = number_of(block, name)
        return found is not None and holds(found, number)

    return test


def number_of(block: Block, name: str) -> float | None:
    return NUMBERS[name](block) if name in NUMBERS else block.figure(name)


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


TIER_ORDER = "tier order"
MODEL_ORDER = "model order"


def sort_orders(figures: Iterable[str]) -> list[str]:
    """The orders in which blocks can be listed: two that need no number, then one for each number."""
    return [TIER_ORDER, MODEL_ORDER, *figures, "age", "tokens"]


def sort_key(order: str, block: Block, tiers: Mapping[str, int]) -> tuple[bool, float, float]:
    """A sort key that puts the largest number first, and of a figure with a scale the worst value."""
    if order == MODEL_ORDER:
        return block.rank is None, tiers[block.tier], block.rank or 0
    figure = next((each for each in block.figures if each.name == order), None)
    value = number_of(block, order)
    ascending = figure is not None and figure.scale is not None and figure.better == "high"
    return value is None, 0, (value or 0) if ascending else -(value or 0)
