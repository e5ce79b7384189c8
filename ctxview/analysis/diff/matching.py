"""Pairs things of two sides that are the same thing. Knows nothing of what they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import zip_longest
from typing import TypeVar

Thing = TypeVar("Thing")


def paired(
    before: Iterable[Thing],
    after: Iterable[Thing],
    key: Callable[[Thing], Hashable],
    meaning: Callable[[Thing], str],
) -> list[tuple[Thing | None, Thing | None]]:
    """Both sides matched by `key`; of several with one key, equal ones first, the rest in order."""
    groups: dict[Hashable, tuple[list[Thing], list[Thing]]] = defaultdict(lambda: ([], []))
    for side, things in enumerate((before, after)):
        for thing in things:
            groups[key(thing)][side].append(thing)
    return [pair for left, right in groups.values() for pair in _matched(left, right, meaning)]


def _matched(
    left: list[Thing], right: list[Thing], meaning: Callable[[Thing], str]
) -> Iterator[tuple[Thing | None, Thing | None]]:
    if len(left) <= 1 and len(right) <= 1:
        yield next(iter(left), None), next(iter(right), None)
        return
    by_meaning: dict[str, list[Thing]] = defaultdict(list)
    for thing in right:
        by_meaning[meaning(thing)].append(thing)
    alone = []
    for thing in sorted(left, key=meaning):
        twins = by_meaning[meaning(thing)]
        if twins:
            yield thing, twins.pop()
        else:
            alone.append(thing)
    yield from zip_longest(alone, (thing for key in sorted(by_meaning) for thing in by_meaning[key]))
