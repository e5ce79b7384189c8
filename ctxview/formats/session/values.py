"""Looking for a key or a character anywhere in a JSON value, without recursion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ctxview.state import JsonValue

Path: TypeAlias = tuple[str | int, ...]
Way: TypeAlias = "tuple[Way, str | int] | None"
"""The way down to a value as links upwards: deep nesting costs no more than one link a level."""


def find_key(value: JsonValue, keys: frozenset[str]) -> Path | None:
    """The way to the first member with one of the keys."""
    for way, current in _walk(value):
        if isinstance(current, dict):
            found = next((key for key in current if key in keys), None)
            if found is not None:
                return _path((way, found))
    return None


def find_string(value: JsonValue, piece: str) -> Path | None:
    """The way to the first string that holds `piece`, or to the member whose key does."""
    for way, current in _walk(value):
        if isinstance(current, str) and piece in current:
            return _path(way)
        if isinstance(current, dict):
            found = next((key for key in current if piece in key), None)
            if found is not None:
                return _path((way, found))
    return None


def _walk(value: JsonValue) -> Iterator[tuple[Way, JsonValue]]:
    waiting: list[tuple[Way, JsonValue]] = [(None, value)]
    while waiting:
        way, current = waiting.pop()
        yield way, current
        if isinstance(current, dict):
            waiting.extend(((way, key), item) for key, item in reversed(current.items()))
        elif isinstance(current, list):
            waiting.extend(((way, index), current[index]) for index in range(len(current) - 1, -1, -1))


def _path(way: Way) -> Path:
    keys: list[str | int] = []
    while way is not None:
        way, key = way
        keys.append(key)
    return tuple(reversed(keys))
