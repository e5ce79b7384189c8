"""Why a payload is not JSON: the one cause a person should hear about, and the bytes that are to blame.

Looks at replies whose payload `JSON.parse` refuses; the rules turn what it finds into messages.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from ctxview.files.json_document import JsonError, parse
from ctxview.files.places import Places
from ctxview.formats.snapshot.model import SEPARATOR, Reply
from ctxview.origin import Origin
from ctxview.quick_dataclass import dataclass

MARKER = SEPARATOR.encode()


class Cause(Enum):
    EMPTY = auto()
    GRAMMAR = auto()
    BEFORE = auto()
    AFTER = auto()
    FENCE = auto()
    TAG = auto()
    COMMENT = auto()
    QUOTED_SEPARATOR = auto()
    """The first separator stands in prose; a later one is meant."""
    SECOND_SEPARATOR = auto()
    """JSON, then another separator."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The cause, the guilty bytes from start to end, and the parser's own words."""

    cause: Cause
    start: int
    end: int
    reason: str


def diagnose(reply: Reply) -> Diagnosis | None:
    """What stops `JSON.parse`; None when nothing does."""
    if reply.error is None:
        return None
    offset, reason = reply.error.place.offset, reply.error.reason
    if reply.payload_start is None:
        return Diagnosis(Cause.GRAMMAR, offset, offset, reason)
    found = _around(reply.data, reply.payload_start, offset) or (Cause.GRAMMAR, offset, offset)
    return Diagnosis(*found, reason)


def is_json(data: bytes, start: int, end: int | None = None) -> bool:
    try:
        parse(data, start, end)
    except JsonError:
        return False
    return True


def origin_in(reply: Reply, start: int, end: int) -> Origin:
    """A stretch of bytes of the reply, with its line and column."""
    place = Places(reply.data).at(start)
    return Origin(reply.file, None, start, end, place.line, place.column)


_SPACES = b" \t\r\n"
_MARKER = re.compile(re.escape(MARKER))
_FENCE = re.compile(rb"(?:```|~~~)[^\n]{0,200}")
_COMMENT = re.compile(rb"(?://|#)[^\n]{0,200}|/\*[\s\S]{0,2000}?\*/|/\*|<!--[\s\S]{0,2000}?-->|<!--")
_TAG = re.compile(rb"</?[A-Za-z!?][^<>\n]{0,200}>")
_FORMATTING = ((Cause.FENCE, _FENCE), (Cause.COMMENT, _COMMENT), (Cause.TAG, _TAG))
_MOST_SEPARATORS = 20

_Guilty = tuple[Cause, int, int]


def _around(data: bytes, start: int, error: int) -> _Guilty | None:
    end = len(data.rstrip(_SPACES))
    first = start + len(data[start:]) - len(data[start:].lstrip(_SPACES))
    if first >= end:
        return Cause.EMPTY, start - len(MARKER), start
    return (
        _separators(data, start)
        or _formatting(data, first)
        or (_after(data, start, error, end) if error > start else None)
        or _formatting(data, error)
        or _before(data, first)
    )


def _separators(data: bytes, start: int) -> _Guilty | None:
    later = [found.start() for found in _MARKER.finditer(data, start)][:_MOST_SEPARATORS]
    if later and is_json(data, start, later[0]):
        return Cause.SECOND_SEPARATOR, later[0], later[0] + len(MARKER)
    looks_like_prose = data[start:].lstrip(_SPACES)[:1] not in (b"{", b"[")
    if later and (looks_like_prose or any(is_json(data, offset + len(MARKER)) for offset in later)):
        return Cause.QUOTED_SEPARATOR, start - len(MARKER), start
    return None


def _formatting(data: bytes, offset: int) -> _Guilty | None:
    """A code fence, a comment or a tag that stands exactly at `offset`."""
    for cause, pattern in _FORMATTING:
        if found := pattern.match(data, offset):
            return cause, found.start(), found.end()
    return None


def _after(data: bytes, start: int, error: int, end: int) -> _Guilty | None:
    """The JSON is over where the parser stopped: all that follows is too much."""
    if not is_json(data, start, error):
        return None
    return _formatting(data, error) or (Cause.AFTER, error, end)


def _before(data: bytes, first: int) -> _Guilty | None:
    """Something stands before the first brace, and from there on it is JSON, at least for a while."""
    brace = data.find(b"{", first)
    if brace <= first or data[first : first + 1] == b"[":
        return None
    try:
        parse(data, brace)
    except JsonError as error:
        if not is_json(data, brace, error.place.offset):
            return None
    return Cause.BEFORE, first, brace
