"""Sequences, texts and regular expressions that are computed when they are first used, as they rarely are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, AnyStr, TypeAlias, TypeVar, cast, overload

T = TypeVar("T")


class LazySequence(Sequence[T]):
    """A sequence that equals any sequence of equal items. The input of `make` must not change."""

    def __init__(self, make: Callable[[], Sequence[T]]) -> None:
        self._make = make

    @cached_property
    def _items(self) -> tuple[T, ...]:
        return tuple(self._make())

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[T, ...]: ...
    def __getitem__(self, at: int | slice) -> T | tuple[T, ...]:
        return self._items[at]

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        return self._items == tuple(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        return repr(self._items)


class LazyText:
    """A text that equals any equal text; `str` computes it. The input of `make` must not change."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    @cached_property
    def _text(self) -> str:
        return self._make()

    def __str__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return self._text == str(other) if isinstance(other, str | LazyText) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return repr(self._text)


Text: TypeAlias = str | LazyText


class _LazyPattern:
    """A regular expression whose methods appear when the first of them is called."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        for each in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split"):
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled by its first use, for modules that every start imports."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))
