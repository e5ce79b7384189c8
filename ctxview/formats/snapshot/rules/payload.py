"""The rules about the payload of a reply (SNP002, 003, 005, 006, 008, 009).

`diagnose` finds the one cause why `JSON.parse` refuses a payload. The examples are whole replies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto

from msgspec import Struct

from ctxview.analysis.json_rules import unsafe_number_message, unsafe_numbers
from ctxview.analysis.wording import excerpt, json_excerpt, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import Origin
from ctxview.files.line_columns import LineColumns
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.formats.snapshot.model import SEPARATOR, Reply
from ctxview.formats.snapshot.profile import Profile

MARKER = SEPARATOR.encode()


class PayloadFault(Enum):
    """The cause why a payload is not JSON."""

    EMPTY = auto()
    GRAMMAR = auto()
    BEFORE = auto()
    AFTER = auto()
    FENCE = auto()
    TAG = auto()
    COMMENT = auto()
    QUOTED_SEPARATOR = auto()
    """The first separator is part of the prose; a later one is meant."""
    SECOND_SEPARATOR = auto()
    """Another separator follows the JSON."""


class PayloadDiagnosis(Struct, frozen=True):
    """The cause, the bytes at fault from start to end, and the parser's message."""

    cause: PayloadFault
    start: int
    end: int
    reason: str


def diagnose(reply: Reply) -> PayloadDiagnosis | None:
    """Return why `JSON.parse` refuses the payload; None when it does not."""
    if reply.error is None:
        return None
    offset, reason = reply.error.place.offset, reply.error.reason
    if reply.payload_start is None:
        return PayloadDiagnosis(PayloadFault.GRAMMAR, offset, offset, reason)
    found = _around(reply.data, reply.payload_start, offset) or (PayloadFault.GRAMMAR, offset, offset)
    return PayloadDiagnosis(*found, reason)


def is_json(data: bytes, start: int, end: int | None = None) -> bool:
    try:
        parse(data, start, end)
    except JsonError:
        return False
    return True


def origin_in(reply: Reply, start: int, end: int) -> Origin:
    """Return the origin of the bytes from `start` to `end` of the reply."""
    place = LineColumns(reply.data).at(start)
    return Origin(reply.file, None, start, end, place.line, place.column)


_SPACES = b" \t\r\n"
_MARKER = re.compile(re.escape(MARKER))
_FENCE = re.compile(rb"(?:```|~~~)[^\n]{0,200}")
_COMMENT = re.compile(rb"(?://|#)[^\n]{0,200}|/\*[\s\S]{0,2000}?\*/|/\*|<!--[\s\S]{0,2000}?-->|<!--")
_TAG = re.compile(rb"</?[A-Za-z!?][^<>\n]{0,200}>")
_FORMATTING = {PayloadFault.FENCE: "code fence", PayloadFault.TAG: "tag", PayloadFault.COMMENT: "comment"}
_FORMATTING_BYTES = ((PayloadFault.FENCE, _FENCE), (PayloadFault.COMMENT, _COMMENT), (PayloadFault.TAG, _TAG))
_MOST_SEPARATORS = 20

_FaultyBytes = tuple[PayloadFault, int, int]


def _around(data: bytes, start: int, error: int) -> _FaultyBytes | None:
    end = len(data.rstrip(_SPACES))
    first = start + len(data[start:]) - len(data[start:].lstrip(_SPACES))
    if first >= end:
        return PayloadFault.EMPTY, start - len(MARKER), start
    return (
        _separators(data, start)
        or _formatting(data, first)
        or _formatting(data, error)
        or ((PayloadFault.AFTER, error, end) if error > start and is_json(data, start, error) else None)
        or _before(data, first)
    )


def _separators(data: bytes, start: int) -> _FaultyBytes | None:
    later = [found.start() for found in _MARKER.finditer(data, start)][:_MOST_SEPARATORS]
    if later and is_json(data, start, later[0]):
        return PayloadFault.SECOND_SEPARATOR, later[0], later[0] + len(MARKER)
    looks_like_prose = data[start:].lstrip(_SPACES)[:1] not in (b"{", b"[")
    if later and (looks_like_prose or any(is_json(data, offset + len(MARKER)) for offset in later)):
        return PayloadFault.QUOTED_SEPARATOR, start - len(MARKER), start
    return None


def _formatting(data: bytes, offset: int) -> _FaultyBytes | None:
    """Return the code fence, comment or tag that begins at `offset`."""
    for cause, pattern in _FORMATTING_BYTES:
        if found := pattern.match(data, offset):
            return cause, found.start(), found.end()
    return None


def _before(data: bytes, first: int) -> _FaultyBytes | None:
    """Return the text before the first brace, if the rest begins with a JSON value."""
    brace = data.find(b"{", first)
    if brace <= first or data[first : first + 1] == b"[":
        return None
    try:
        parse(data, brace)
    except JsonError as error:
        if not is_json(data, brace, error.place.offset):
            return None
    return PayloadFault.BEFORE, first, brace


@rule("SNP002", name="payload-not-json", severity=Severity.ERROR, effect=Effect.REJECTED)
def payload_not_json(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """The payload is not JSON as `JSON.parse` understands it.

    ## Why
    The runtime parses it without any repair. One trailing comma, NaN or unescaped line break fails the
    whole turn: the task attempt ends with an error and nothing is merged. When the cause is text around the
    JSON (SNP003), a second separator (SNP004) or a fence, tag or comment (SNP006), that rule reports it
    instead.
    ## Bad
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {},}
    ## Good
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Fix
    Mend the place that is named. A snapshot that was cut off in the middle cannot be mended: ask again with
    more room for output.
    ## Source
    Context Protocol 3.0, rules 4 and 5. Runtime: parse error, the generation fails.
    """
    found = diagnose(reply) if reply.enabled else None
    if found is None:
        return
    if found.cause is PayloadFault.EMPTY:
        yield Hit(
            origin_in(reply, found.start, found.end),
            f"nothing follows {SEPARATOR}; the whole reply is rejected",
        )
    elif found.cause is PayloadFault.GRAMMAR:
        message = f"not JSON: {excerpt(found.reason, 200)}; the whole reply is rejected, nothing is merged"
        yield Hit(origin_in(reply, found.start, found.end), message)


@rule("SNP003", name="text-around-payload", severity=Severity.ERROR, effect=Effect.REJECTED)
def text_around_payload(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """There is text other than spaces, tabs or line ends before or after the JSON.

    ## Why
    `JSON.parse` takes the payload whole. A closing sentence, a byte order mark or a no-break space is
    enough to fail the turn.
    ## Bad
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    Let me know if you need more!
    ## Good
    Done. Let me know if you need more!
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Fix
    Move the text before the separator, or remove it.
    ## Source
    Context Protocol 3.0, rules 2 and 6. Runtime: parse error, the generation fails.
    """
    found = diagnose(reply) if reply.enabled else None
    if found is None or found.cause not in (PayloadFault.BEFORE, PayloadFault.AFTER):
        return
    text = reply.data[found.start : found.end].decode("utf-8", "replace").strip(" \t\r\n")
    where = "before" if found.cause is PayloadFault.BEFORE else "after"
    origin = origin_in(reply, found.start, found.end)
    yield Hit(origin, f"there is {quoted(text)} {where} the JSON; the whole reply is rejected")


@rule("SNP005", name="payload-not-object", severity=Severity.ERROR, effect=Effect.IGNORED)
def payload_not_object(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """The payload is JSON, but not an object.

    ## Why
    The runtime merges objects only and silently ignores an array, a string or a number: the turn
    succeeds and nothing is stored.
    ## Bad
    Done.
    <<<CONTEXT>>>
    [{"version": 3.0, "memory": {}}]
    ## Good
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Fix
    Send the snapshot object itself.
    ## Source
    Context Protocol 3.0, context JSON template.
    """
    if reply.enabled and reply.document is not None and not isinstance(reply.document.value, dict):
        found = json_excerpt(reply.document.value)
        yield Hit(
            reply.document.origin(reply.file, ""), f"the payload is {found}, not an object; it is ignored"
        )


@rule("SNP006", name="formatted-payload", severity=Severity.ERROR, effect=Effect.REJECTED)
def formatted_payload(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """There is a code fence, an XML tag or a comment around or inside the JSON.

    ## Why
    Models like to wrap JSON for display. The runtime does not unwrap it: the turn fails.
    ## Bad
    Done.
    <<<CONTEXT>>>
    ```json
    {"version": 3.0, "memory": {}}
    ```
    ## Good
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}}
    ## Fix
    Remove the wrapping or the comment; send bare JSON.
    ## Source
    Context Protocol 3.0, strict output format: no markdown, no XML tags, no comments.
    """
    found = diagnose(reply) if reply.enabled else None
    if found is None or found.cause not in _FORMATTING:
        return
    text = reply.data[found.start : found.end].decode("utf-8", "replace")
    origin = origin_in(reply, found.start, found.end)
    yield Hit(
        origin, f"{_FORMATTING[found.cause]} {quoted(text)} in the payload; the whole reply is rejected"
    )


@rule("SNP008", name="duplicate-key", severity=Severity.WARNING, effect=Effect.IGNORED)
def duplicate_key(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """An object in the payload holds the same key twice.

    ## Why
    The last value wins and the others are silently lost: with two `working` keys the first tier is gone.
    ## Bad
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {"core": [{"id": "a"}], "core": []}}
    ## Good
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {"core": [], "working": []}}
    ## Fix
    Merge the two values under one key.
    ## Source
    Context Protocol 3.0, rule 5: what JSON.parse makes of it counts.
    """
    document = reply.document
    if not reply.enabled or document is None:
        return
    for pointer in document.duplicates:
        key = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        yield Hit(
            document.origin(reply.file, pointer),
            f"the key {quoted(key)} appears twice; only the last value counts",
        )


@rule("SNP009", name="number-out-of-range", severity=Severity.WARNING, effect=Effect.STORED)
def number_out_of_range(reply: Reply, profile: Profile) -> Iterator[Hit]:
    """A number in the payload is beyond what JavaScript can hold.

    ## Why
    Integers beyond 9007199254740991 lose their last digits, so a time or an id changes on the way. A number
    such as 1e400 becomes infinity, and null when the snapshot is saved.
    ## Bad
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}, "ticket": 9007199254740993}
    ## Good
    Done.
    <<<CONTEXT>>>
    {"version": 3.0, "memory": {}, "ticket": 9007199254740991}
    ## Fix
    Write large ids as strings.
    ## Source
    Context Protocol 3.0, rule 5; ECMAScript Number.MAX_SAFE_INTEGER.
    """
    document = reply.document
    if not reply.enabled or document is None:
        return
    for pointer, value in unsafe_numbers(document):
        message, effect = unsafe_number_message(document, pointer, value)
        yield Hit(document.origin(reply.file, pointer), message, effect=effect)
