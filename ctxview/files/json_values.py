"""JSON values compared and changed by their path, never in place and never by recursion; no bytes here."""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.origin import JsonValue


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
    """What stands at an existing path."""
    for token in path:
        if isinstance(value, dict):
            value = value[token]
        elif isinstance(value, list):
            value = value[int(token)]
    return value


def with_value(root: JsonValue, path: Sequence[str], value: JsonValue) -> JsonValue:
    """`root` with `value` at `path`."""
    if not path:
        return value
    copy, container = _copied_along(root, path[:-1])
    _put(container, path[-1], value)
    return copy


def with_item(root: JsonValue, path: Sequence[str], index: int, value: JsonValue) -> JsonValue:
    """`root` with one more element before `index` of the array at `path`."""
    copy, container = _copied_along(root, path)
    if isinstance(container, list):
        container.insert(index, value)
    return copy


def without(root: JsonValue, path: Sequence[str]) -> JsonValue:
    """`root` without the member or element at `path`."""
    copy, container = _copied_along(root, path[:-1])
    if isinstance(container, dict):
        del container[path[-1]]
    elif isinstance(container, list):
        del container[int(path[-1])]
    return copy


def _copied_along(root: JsonValue, path: Sequence[str]) -> tuple[JsonValue, JsonValue]:
    """A copy that is fresh along `path` and shares all the rest, and the value at the end of that path."""
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
