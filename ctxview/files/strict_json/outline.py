"""Walk over a text that is known to be JSON without building its values or the spans of all of them.

Numbers and words are passed over in runs, so a long array costs little time and no memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from ctxview.core.lazy import lazy_pattern
from ctxview.files.strict_json.scanner import item_by_steps, scalar_end, skip_space
from ctxview.files.strict_json.tree import escape_token

# A token is a string, a key with its colon, or a bracket. Possessive repetition needs no memory.
_STRING: Final = rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
_TOKEN: Final = lazy_pattern(rb'[^"\[\]{}]*+(?:' + _STRING + rb"[ \t\n\r]*+(:)?|([\[{\]}]))", re.DOTALL)
_STRING_GROUP, _COLON_GROUP, _BRACKET_GROUP = 1, 2, 3
_COMMA, _OBJECT = b",{"
_OPENERS: Final = frozenset(b"{[")


class RepeatedKey(Struct, frozen=True):
    """A member that repeats a key of its object: its pointer, and the start of its value."""

    pointer: str
    value: int


class JsonOutline(Struct, frozen=True):
    """The nesting of a text, its first repeated keys, and the number of all repeated keys."""

    depth: int
    repeated: tuple[RepeatedKey, ...]
    count: int


class _Level(Struct):
    """One open container: the keys seen in an object, None in an array, and the key or index reached."""

    seen: set[bytes] | None
    key: bytes = b""
    index: int = 0


def outline(data: bytes, start: int, end: int, most: int | None = None) -> JsonOutline:
    """Return the outline of the JSON text `data[start:end]` with at most `most` repeated keys."""
    repeated: list[RepeatedKey] = []
    enclosing: list[_Level] = []
    level = _Level(None)
    depth = count = 0
    for match in _TOKEN.finditer(data, start, end):
        kind = match.lastindex
        if kind == _COLON_GROUP and level.seen is not None:
            key = match[_STRING_GROUP]
            if b"\\" in key:  # one key may have several spellings
                text: str = json.loads(b'"%b"' % key)
                key = text.encode(errors="surrogatepass")
            level.key = key
            if key not in level.seen:
                level.seen.add(key)
                continue
            count += 1
            if most is None or count <= most:
                pointer = _pointer([*enclosing[1:], level])
                repeated.append(RepeatedKey(pointer, skip_space(data, match.end(), end)))
            continue
        if level.seen is None:
            level.index += data.count(b",", match.start(), match.start(kind or 0))
        if kind == _BRACKET_GROUP:
            bracket = data[match.end() - 1]
            if bracket in _OPENERS:
                enclosing.append(level)
                level = _Level(set() if bracket == _OBJECT else None)
                depth = max(depth, len(enclosing))
            else:
                level = enclosing.pop()
    return JsonOutline(depth, tuple(repeated), count)


def items(data: bytes, opener: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield for each member or element the start of its key (-1 without one), its start and its end."""
    position = skip_space(data, opener + 1, end)
    while data[position] not in b"]}":
        key, value, _ = item_by_steps(data, position, end, opener)
        after = value_end(data, value, end)
        yield key, value, after
        position = skip_space(data, after, end)
        if data[position] == _COMMA:
            position += 1


def value_end(data: bytes, start: int, end: int) -> int:
    """Return the offset behind the value that begins at `start`."""
    if data[start] not in _OPENERS:
        return scalar_end(data, start, end, floor=start)
    depth = 0
    for match in _TOKEN.finditer(data, start, end):
        if match.lastindex == _BRACKET_GROUP:
            depth += 1 if data[match.end() - 1] in _OPENERS else -1
            if not depth:
                return match.end()
    return end


def _pointer(levels: list[_Level]) -> str:
    names = (
        str(each.index) if each.seen is None else escape_token(each.key.decode(errors="surrogatepass"))
        for each in levels
    )
    return "".join(f"/{name}" for name in names)
