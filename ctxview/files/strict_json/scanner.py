"""Scan a JSON text in one pass for the offsets of values and keys; it builds no values and never recurses.

It accepts the same texts as `JSON.parse` on UTF-8. Two regular expressions match a whole member or element at
a time; where they do not match, single steps either go on or raise the error.
"""

from __future__ import annotations

from array import array
from typing import Final

from msgspec import Struct, field

from ctxview.core.lazy import lazy_pattern
from ctxview.files.strict_json import syntax_errors
from ctxview.files.strict_json.syntax_errors import SyntaxFault

_SPACE: Final = rb"[ \t\n\r]*+"
_PLAIN: Final = rb'[^"\\\x00-\x1f]*+'
_ESCAPE: Final = rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
# The regex engine needs memory for each escape, so their number is limited; long strings go step by step.
_STRING: Final = rb'"' + _PLAIN + rb"(?:" + _ESCAPE + _PLAIN + rb'){0,500}"'
_NUMBER: Final = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_WORD: Final = rb"true|false|null"
_SCALAR: Final = _STRING + rb"|" + _NUMBER + rb"|" + _WORD
_VALUE: Final = rb"(?:(" + _SCALAR + rb")" + _SPACE + rb"([,\]}])|([\[{]))"
_NO_KEY: Final = rb"((?!))?"

_MEMBER: Final = lazy_pattern(_SPACE + rb"(" + _STRING + rb")" + _SPACE + rb":" + _SPACE + _VALUE)
_ELEMENT: Final = lazy_pattern(_SPACE + _NO_KEY + _VALUE)
_KEY_GROUP, _SCALAR_GROUP, _OPENER_GROUP = 1, 2, 4

_SPACES: Final = lazy_pattern(_SPACE)
_PLAINS: Final = lazy_pattern(_PLAIN)
_ESCAPES: Final = lazy_pattern(rb"(?:" + _ESCAPE + _PLAIN + rb"){1,500}")
_FOLLOW: Final = lazy_pattern(_SPACE + rb"[,\]}]")
_NUMBER_OR_WORD: Final = lazy_pattern(_NUMBER + rb"|" + _WORD)

_OPENED: Final = -1
_COMMA, _COLON, _QUOTE, _OPEN_OBJECT = b',:"{'
_CLOSER: Final = dict(zip(b"{[", b"}]", strict=True))
_TAKE: Final = {ord("{"): _MEMBER, ord("["): _ELEMENT}


class JsonNodes(Struct, frozen=True):
    """Every value in document order: its start, its end, and the start of its key (-1 without a key)."""

    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    keys: array[int] = field(default_factory=lambda: array("q"))

    def add(self, key: int, start: int, end: int) -> None:
        self.keys.append(key)
        self.starts.append(start)
        self.ends.append(end)


def scan(data: bytes, start: int, end: int) -> JsonNodes:
    """Return the nodes of the JSON text `data[start:end]`, which must be UTF-8; raises `SyntaxFault`."""
    nodes = JsonNodes()
    value = skip_space(data, start, end)
    if value == end:
        raise SyntaxFault(start, "the text is empty: a JSON value is expected")
    after = scalar_end(data, value, end, floor=start)
    nodes.add(-1, value, after)
    if after == _OPENED:
        after = _scan_container(data, value, end, nodes)
    rest = skip_space(data, after, end)
    if rest != end:
        raise syntax_errors.after_root(data, rest, end, touching=rest == after)
    return nodes


def skip_space(data: bytes, position: int, end: int) -> int:
    """Return the offset of the first byte that is not JSON whitespace."""
    found = _SPACES.match(data, position, end)
    return found.end() if found else position


def string_end(data: bytes, quote: int, end: int) -> int:
    """Return the offset behind the string that opens at `quote`; raises `SyntaxFault`."""
    position = quote + 1
    while True:
        plain = _PLAINS.match(data, position, end)
        position = plain.end() if plain else end
        if position >= end:
            raise syntax_errors.unclosed_string(quote)
        if data[position] == _QUOTE:
            return position + 1
        escapes = _ESCAPES.match(data, position, end)
        if escapes is None:
            raise syntax_errors.in_string(data, position, end, quote)
        position = escapes.end()


def _scan_container(data: bytes, position: int, end: int, nodes: JsonNodes) -> int:
    """Add the nodes of the container that opens at `position`, the last node so far; return its end."""
    starts, ends = nodes.starts, nodes.ends
    add_key, add_start, add_end = nodes.keys.append, starts.append, ends.append
    enclosing: list[int] = []
    opened = True
    while True:
        if opened:
            opened = False
            opener = position
            enclosing.append(len(starts) - 1)
            take, closer = _TAKE[data[opener]].match, _CLOSER[data[opener]]
            position = skip_space(data, position + 1, end)
            if position == end or data[position] != closer:
                continue
            follow, position = closer, position + 1
        elif match := take(data, position, end):
            add_key(match.start(_KEY_GROUP))
            if match.lastindex == _OPENER_GROUP:
                position = match.start(_OPENER_GROUP)
                add_start(position)
                add_end(_OPENED)
                opened = True
                continue
            add_start(match.start(_SCALAR_GROUP))
            add_end(match.end(_SCALAR_GROUP))
            position = match.end()
            follow = data[position - 1]
        else:
            key, value, after = item_by_steps(data, position, end, opener)
            nodes.add(key, value, after)
            if after == _OPENED:
                position, opened = value, True
                continue
            follow, position = _follow(data, after, end, opener)
        while follow != _COMMA:
            if follow != closer:
                raise syntax_errors.wrong_closer(data, position - 1, opener)
            ends[enclosing.pop()] = position
            if not enclosing:
                return position
            opener = starts[enclosing[-1]]
            take, closer = _TAKE[data[opener]].match, _CLOSER[data[opener]]
            follow, position = _follow(data, position, end, opener)


def item_by_steps(data: bytes, position: int, end: int, opener: int) -> tuple[int, int, int]:
    """Return the offsets of the key, the value and the end of the next member or element, step by step."""
    position = skip_space(data, position, end)
    key = -1
    if data[opener] == _OPEN_OBJECT:
        if position == end or data[position] != _QUOTE:
            raise syntax_errors.no_key(data, position, end, opener)
        key = position
        position = skip_space(data, string_end(data, key, end), end)
        if position == end or data[position] != _COLON:
            raise syntax_errors.no_colon(data, position, end, opener)
        position = skip_space(data, position + 1, end)
    if position == end:
        raise syntax_errors.never_closed(data, opener)
    return key, position, scalar_end(data, position, end, floor=opener)


def scalar_end(data: bytes, position: int, end: int, floor: int) -> int:
    """Return the end of the scalar at `position`, or `_OPENED` when a container begins there."""
    if data[position] in _CLOSER:
        return _OPENED
    if data[position] == _QUOTE:
        return string_end(data, position, end)
    found = _NUMBER_OR_WORD.match(data, position, end)
    if found is None:
        raise syntax_errors.no_value(data, position, end, floor)
    return found.end()


def _follow(data: bytes, position: int, end: int, opener: int) -> tuple[int, int]:
    """Return the comma or closer behind a value that ends at `position`, and the offset behind it."""
    found = _FOLLOW.match(data, position, end)
    if found is None:
        raise syntax_errors.after_value(data, position, end, opener)
    return data[found.end() - 1], found.end()
