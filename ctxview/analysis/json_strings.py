"""Every string of a JSON text with the way to it, and what the rules about text say about them.

Knows no format; whoever calls says where a pointer stands. Nothing recurses, so depth is no danger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from ctxview.analysis.text_rules import check_text
from ctxview.files.json_document import join
from ctxview.findings import Finding
from ctxview.origin import JsonValue, Origin

Way: TypeAlias = "tuple[Way, str | int] | None"
"""The way down to a value as links upwards: deep nesting costs no more than one link a level."""


def check_strings(
    value: JsonValue,
    origin_of: Callable[[str], Origin],
    told_before: Callable[[str, str], bool] = lambda _pointer, _string: False,
) -> Iterator[Finding]:
    """What TXT and SEC say about every key and string; `told_before` names those to leave out."""
    together = "\n".join(_plain_strings(value))
    if next(check_text(together, lambda _start, _end: Origin("")), None) is None:
        return
    for way, string in strings(value):
        pointer = pointer_of(way)
        if not told_before(pointer, string):
            yield from check_text(string, _everywhere(origin_of, pointer))


def strings(value: JsonValue) -> Iterator[tuple[Way, str]]:
    """Every key and string with the way to it, in document order, at any depth."""
    waiting: list[tuple[Way, JsonValue]] = [(None, value)]
    while waiting:
        way, current = waiting.pop()
        if isinstance(current, str):
            yield way, current
        elif isinstance(current, dict):
            yield from (((way, key), key) for key in current)
            waiting.extend(reversed([((way, key), item) for key, item in current.items()]))
        elif isinstance(current, list):
            waiting.extend(reversed([((way, index), item) for index, item in enumerate(current)]))


def pointer_of(way: Way) -> str:
    tokens: list[str | int] = []
    while way is not None:
        way, token = way
        tokens.append(token)
    return join("", *reversed(tokens))


def _everywhere(origin_of: Callable[[str], Origin], pointer: str) -> Callable[[int, int], Origin]:
    """A string inside JSON is one place: its escapes keep characters from having a place of their own."""
    return lambda _start, _end: origin_of(pointer)


def _plain_strings(value: JsonValue) -> Iterator[str]:
    """Every key and string, in no order: most files hold nothing worth a place."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, dict):
            yield from current
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)
