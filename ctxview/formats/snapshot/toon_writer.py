"""Writes TOON text as the reference runtime does: `@toon-format/toon` 2.1.0 without options, byte for byte.

Newer releases of that library write other text on purpose (`key: []`, more escapes), so the release is part
of the runtime profile. `toon` reads the same grammar back.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeGuard

from msgspec import Struct

from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue
from ctxview.formats.snapshot.runtime.javascript import WHITESPACE, number_text, ordered_members

WRITTEN_ALIKE = ("2.0.0", "2.1.0")
"""The releases of the library that write exactly this text."""

ValuePath: TypeAlias = tuple[str | int, ...]


class ToonLine(Struct, frozen=True):
    """One line without its newline, and the path of the value that starts on it."""

    text: str
    path: ValuePath


Lines: TypeAlias = Generator["ToonLine | Lines"]
"""Lines, and generators of lines to run in place, so that the depth of a value has no limit."""

_PLAIN_KEY = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_.]*", re.ASCII)
_NEEDS_QUOTES = lazy_pattern(
    r"""-.*                                      # a hyphen at the start
      | (?:true|false|null|)                     # another type, or empty
      | [0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?  # a number; one with a sign starts with a hyphen
      | .*[:"\\\[\]{},\n\r\t].*""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def toon_lines(value: Mapping[str, JsonValue]) -> Iterator[ToonLine]:
    """Yield the lines of an object; joined with newlines they are its text."""
    stack: list[Lines] = [_members(value, 0, ())]
    while stack:
        for line in stack[-1]:
            if not isinstance(line, ToonLine):
                stack.append(line)
                break
            yield line
        else:
            stack.pop()


def toon_text(value: Mapping[str, JsonValue]) -> str:
    return "\n".join(line.text for line in toon_lines(value))


def _members(value: Mapping[str, JsonValue], indent: int, path: ValuePath) -> Lines:
    for key, member in ordered_members(value):
        yield _member(key, member, " " * indent, indent + 2, (*path, key))


def _member(key: str, value: JsonValue, margin: str, indent: int, path: ValuePath) -> Lines:
    """Write one member after `margin`, and what belongs to it at `indent`."""
    name = _key(key)
    if isinstance(value, dict):
        yield ToonLine(f"{margin}{name}:", path)
        yield _members(value, indent, path)
    elif not isinstance(value, list):
        yield ToonLine(f"{margin}{name}: {_primitive(value)}", path)
    elif _is_table(value):
        heads = [head for head, _ in ordered_members(value[0])]
        # The library loses an empty key in front of a table, and also of a list unless a hyphen is there.
        name = name if key else ""
        yield ToonLine(f"{margin}{name}[{len(value)}]{{{','.join(map(_key, heads))}}}:", path)
        for index, row in enumerate(value):
            cells = ",".join(_primitive(row[head]) for head in heads)
            yield ToonLine(f"{' ' * indent}{cells}", (*path, index))
    else:
        yield _list(name if key or margin.endswith("- ") else "", value, margin, indent, path)


def _list(name: str, items: list[JsonValue], margin: str, indent: int, path: ValuePath) -> Lines:
    head = f"{margin}{name}[{len(items)}]:"
    if any(isinstance(item, dict | list) for item in items):
        yield ToonLine(head, path)
        for index, item in enumerate(items):
            yield _element(item, indent, (*path, index))
    else:
        cells = ",".join(map(_primitive, items))
        yield ToonLine(f"{head} {cells}" if items else head, path)


def _element(item: JsonValue, indent: int, path: ValuePath) -> Lines:
    margin = f"{' ' * indent}- "
    if isinstance(item, list):
        yield _list("", item, margin, indent + 2, path)
    elif not isinstance(item, dict):
        yield ToonLine(f"{margin}{_primitive(item)}", path)
    elif not item:
        yield ToonLine(f"{' ' * indent}-", path)
    else:
        # The first member is on the line of the hyphen; what belongs to it is four columns further right.
        (key, first), *others = ordered_members(item)
        yield _member(key, first, margin, indent + 4, (*path, key))
        for key, member in others:
            yield _member(key, member, " " * (indent + 2), indent + 4, (*path, key))


def _is_table(items: Sequence[JsonValue]) -> TypeGuard[list[dict[str, JsonValue]]]:
    """Whether all items are objects with the same keys, at least one, and primitive values."""
    first = items[0] if items else None
    return (
        isinstance(first, dict)
        and bool(first)
        and all(isinstance(item, dict) and item.keys() == first.keys() for item in items)
        and not any(
            isinstance(cell, dict | list) for row in items if isinstance(row, dict) for cell in row.values()
        )
    )


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else _quoted(key)


def _primitive(value: JsonValue) -> str:
    if isinstance(value, str):
        bare = value == value.strip(WHITESPACE) and not _NEEDS_QUOTES.fullmatch(value)
        return value if bare else _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    return "null"


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'
