"""Read, compare, search and change JSON values by their path, never in place and never by recursion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.tree import join


def as_text(value: JsonValue) -> str | None:
    """Return `value` when it is a string, else None."""
    return value if isinstance(value, str) else None


def as_texts(value: JsonValue) -> tuple[str, ...]:
    """Return the strings of a list; none for any other value."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def whole_number(value: JsonValue) -> int | None:
    """Return `value` when it is a whole number (`2.0` is one), else None, also for `true`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


def same_value(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are the same JSON: `3` is `3.0`, but `true` is not `1`."""
    pairs = [(one, other)]
    while pairs:
        left, right = pairs.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            pairs.extend((value, right[key]) for key, value in left.items())
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pairs.extend(zip(left, right, strict=True))
        elif isinstance(left, bool) != isinstance(right, bool) or left != right:
            return False
    return True


def value_at(value: JsonValue, path: Sequence[str]) -> JsonValue:
    """Return the value at an existing path."""
    for token in path:
        if isinstance(value, dict):
            value = value[token]
        elif isinstance(value, list):
            value = value[int(token)]
    return value


def with_value(root: JsonValue, path: Sequence[str], value: JsonValue) -> JsonValue:
    """Return a copy of `root` with `value` at `path`."""
    if not path:
        return value
    copy, container = _copied_along(root, path[:-1])
    _put(container, path[-1], value)
    return copy


def with_item(root: JsonValue, path: Sequence[str], index: int, value: JsonValue) -> JsonValue:
    """Return a copy of `root` with one more element before `index` of the array at `path`."""
    copy, container = _copied_along(root, path)
    if isinstance(container, list):
        container.insert(index, value)
    return copy


def without(root: JsonValue, path: Sequence[str]) -> JsonValue:
    """Return a copy of `root` without the member or element at `path`."""
    copy, container = _copied_along(root, path[:-1])
    if isinstance(container, dict):
        del container[path[-1]]
    elif isinstance(container, list):
        del container[int(path[-1])]
    return copy


def _copied_along(root: JsonValue, path: Sequence[str]) -> tuple[JsonValue, JsonValue]:
    """Return a copy that is new along `path` and shares the rest, and the value at the end of that path."""
    copy = current = _fresh(root)
    for token in path:
        following = _fresh(value_at(current, [token]))
        _put(current, token, following)
        current = following
    return copy, current


def _put(container: JsonValue, token: str, value: JsonValue) -> None:
    if isinstance(container, dict):
        container[token] = value
    elif isinstance(container, list):
        container[int(token)] = value


def _fresh(value: JsonValue) -> JsonValue:
    return value.copy() if isinstance(value, dict | list) else value


Path: TypeAlias = tuple[str | int, ...]
JsonPath: TypeAlias = "tuple[JsonPath, str | int] | None"
"""The path to a value: the path to its container, and its key. Deep nesting costs one link a level."""


def find_key(value: JsonValue, keys: frozenset[str]) -> Path | None:
    """Return the path to the first member with one of the keys."""
    for way, current in walk(value):
        if isinstance(current, dict):
            found = next((key for key in current if key in keys), None)
            if found is not None:
                return path_keys((way, found))
    return None


def find_string(value: JsonValue, piece: str) -> Path | None:
    """Return the path to the first string or key that contains `piece`."""
    for way, current in walk(value):
        if isinstance(current, str) and piece in current:
            return path_keys(way)
        if isinstance(current, dict):
            found = next((key for key in current if piece in key), None)
            if found is not None:
                return path_keys((way, found))
    return None


def walk(value: JsonValue, deepest: int | None = None) -> Iterator[tuple[JsonPath, JsonValue]]:
    """Yield every value with its path, in document order; containers below `deepest` levels stay closed."""
    waiting: list[tuple[JsonPath, JsonValue, int]] = [(None, value, 0)]
    while waiting:
        path, current, depth = waiting.pop()
        yield path, current
        if deepest is not None and depth > deepest:
            continue
        if isinstance(current, dict):
            waiting.extend(((path, key), each, depth + 1) for key, each in reversed(current.items()))
        elif isinstance(current, list):
            waiting.extend(((path, at), current[at], depth + 1) for at in range(len(current) - 1, -1, -1))


def all_values(value: JsonValue) -> Iterator[JsonValue]:
    """Yield every value in no particular order: faster than `walk` where no path is needed."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        yield current
        if isinstance(current, dict):
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)


def path_keys(path: JsonPath) -> Path:
    """Return the keys of a path, the outermost first."""
    keys: list[str | int] = []
    while path is not None:
        path, key = path
        keys.append(key)
    return tuple(reversed(keys))


def path_pointer(path: JsonPath) -> str:
    """Return the JSON pointer of a path."""
    return join("", *path_keys(path))
