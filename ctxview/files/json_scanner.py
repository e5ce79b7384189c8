"""One pass over a JSON text, noting where each value and key stands; it builds no values and never recurses.

The verdict is that of `JSON.parse` on UTF-8. Two regular expressions take a whole member or element at a
time; what they do not match goes through careful steps, which either move on or say what is wrong.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import field
from typing import Final

from ctxview.files import json_reasons as reasons
from ctxview.files.json_reasons import Malformed
from ctxview.quick_dataclass import dataclass

_SPACE: Final = rb"[ \t\n\r]*+"
_PLAIN: Final = rb'[^"\\\x00-\x1f]*+'
_ESCAPE: Final = rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
# The regex engine keeps memory for each escape, so their number is bounded; long strings go the careful way.
_STRING: Final = rb'"' + _PLAIN + rb"(?:" + _ESCAPE + _PLAIN + rb'){0,500}"'
_NUMBER: Final = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_WORD: Final = rb"true|false|null"
_SCALAR: Final = _STRING + rb"|" + _NUMBER + rb"|" + _WORD
_VALUE: Final = rb"(?:(" + _SCALAR + rb")" + _SPACE + rb"([,\]}])|([\[{]))"
_NO_KEY: Final = rb"((?!))?"

_MEMBER: Final = re.compile(_SPACE + rb"(" + _STRING + rb")" + _SPACE + rb":" + _SPACE + _VALUE)
_ELEMENT: Final = re.compile(_SPACE + _NO_KEY + _VALUE)
_KEY_GROUP, _SCALAR_GROUP, _OPENER_GROUP = 1, 2, 4

_SPACES: Final = re.compile(_SPACE)
_PLAINS: Final = re.compile(_PLAIN)
_ESCAPES: Final = re.compile(rb"(?:" + _ESCAPE + _PLAIN + rb"){1,500}")
_FOLLOW: Final = re.compile(_SPACE + rb"[,\]}]")
_NUMBER_OR_WORD: Final = re.compile(_NUMBER + rb"|" + _WORD)

_OPENED: Final = -1
_COMMA, _COLON, _QUOTE, _OPEN_OBJECT = b',:"{'
_CLOSER: Final = dict(zip(b"{[", b"}]", strict=True))
_TAKE: Final = {ord("{"): _MEMBER.match, ord("["): _ELEMENT.match}


@dataclass(frozen=True, slots=True)
class Nodes:
    """Every value in document order: where it starts and ends, and where its key starts (-1: it has none)."""

    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    keys: array[int] = field(default_factory=lambda: array("q"))

    def add(self, key: int, start: int, end: int) -> None:
        self.keys.append(key)
        self.starts.append(start)
        self.ends.append(end)


def scan(data: bytes, start: int, end: int) -> Nodes:
    """The nodes of the one JSON text that `data[start:end]` must be (as UTF-8); raises `Malformed`."""
    nodes = Nodes()
    value = skip_space(data, start, end)
    if value == end:
        raise Malformed(start, "there is nothing here, not even a JSON value")
    after = _scalar_end(data, value, end, floor=start)
    nodes.add(-1, value, after)
    if after == _OPENED:
        after = _scan_container(data, value, end, nodes)
    rest = skip_space(data, after, end)
    if rest != end:
        raise reasons.after_root(data, rest, end, touching=rest == after)
    return nodes


def skip_space(data: bytes, position: int, end: int) -> int:
    """Where the first byte that is not JSON whitespace stands."""
    found = _SPACES.match(data, position, end)
    return found.end() if found else position


def string_end(data: bytes, quote: int, end: int) -> int:
    """Where the string that opens at `quote` is over, behind its closing quote; raises `Malformed`."""
    position = quote + 1
    while True:
        plain = _PLAINS.match(data, position, end)
        position = plain.end() if plain else end
        if position >= end:
            raise reasons.unclosed_string(quote)
        if data[position] == _QUOTE:
            return position + 1
        escapes = _ESCAPES.match(data, position, end)
        if escapes is None:
            raise reasons.in_string(data, position, end, quote)
        position = escapes.end()


def _scan_container(data: bytes, position: int, end: int, nodes: Nodes) -> int:
    """Note all that is in the container that opens at `position`, the last node so far; returns its end."""
    starts, ends = nodes.starts, nodes.ends
    add_key, add_start, add_end = nodes.keys.append, starts.append, ends.append
    enclosing: list[int] = []
    opened = True
    while True:
        if opened:
            opened = False
            opener = position
            enclosing.append(len(starts) - 1)
            take, closer = _TAKE[data[opener]], _CLOSER[data[opener]]
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
            key, value, after = _careful_item(data, position, end, opener)
            nodes.add(key, value, after)
            if after == _OPENED:
                position, opened = value, True
                continue
            follow, position = _follow(data, after, end, opener)
        while follow != _COMMA:
            if follow != closer:
                raise reasons.wrong_closer(data, position - 1, opener)
            ends[enclosing.pop()] = position
            if not enclosing:
                return position
            opener = starts[enclosing[-1]]
            take, closer = _TAKE[data[opener]], _CLOSER[data[opener]]
            follow, position = _follow(data, position, end, opener)


def _careful_item(data: bytes, position: int, end: int, opener: int) -> tuple[int, int, int]:
    """The next member or element, step by step: where its key, its value and the end of the value stand."""
    position = skip_space(data, position, end)
    key = -1
    if data[opener] == _OPEN_OBJECT:
        if position == end or data[position] != _QUOTE:
            raise reasons.no_key(data, position, end, opener)
        key = position
        position = skip_space(data, string_end(data, key, end), end)
        if position == end or data[position] != _COLON:
            raise reasons.no_colon(data, position, end, opener)
        position = skip_space(data, position + 1, end)
    if position == end:
        raise reasons.never_closed(data, opener)
    return key, position, _scalar_end(data, position, end, floor=opener)


def _scalar_end(data: bytes, position: int, end: int, floor: int) -> int:
    """Where the value at `position` is over; `_OPENED` when it is a container that begins here."""
    if data[position] in _CLOSER:
        return _OPENED
    if data[position] == _QUOTE:
        return string_end(data, position, end)
    found = _NUMBER_OR_WORD.match(data, position, end)
    if found is None:
        raise reasons.no_value(data, position, end, floor)
    return found.end()


def _follow(data: bytes, position: int, end: int, opener: int) -> tuple[int, int]:
    """The comma or closer behind a value that is over at `position`, and the position behind that."""
    found = _FOLLOW.match(data, position, end)
    if found is None:
        raise reasons.after_value(data, position, end, opener)
    return data[found.end() - 1], found.end()
