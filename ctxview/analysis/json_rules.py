"""The rules about strict JSON in any file (JSN): text that a JavaScript runtime refuses or reads differently.

Independent of formats. In the examples `﻿` at the start is the character itself, and `[* 201]` for so
many brackets, opened and closed again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from ctxview.analysis.wording import excerpt, quoted
from ctxview.core.findings import Effect, Finding, Hit, Severity, rule, rules_in, run
from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import Origin
from ctxview.files.line_columns import LineColumns
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.files.strict_json.outline import value_end
from ctxview.files.strict_json.values import path_pointer, walk

_MOST_NUMBERS = 100
MAX_SAFE_INTEGER = 2**53 - 1
"""The greatest integer that a JavaScript number holds exactly."""
MOST_BAD_LINES = 100
"""Lines of one file that are reported one by one: more would hide other findings."""


class JsonText(Struct, frozen=True):
    """A file that should be JSON: parsed, or the reason why not."""

    file: str
    data: bytes
    document: JsonDocument | None
    error: JsonError | None


def check_json(file: str, data: bytes) -> Iterator[Finding]:
    """Run the JSN rules on a file that should be one JSON text."""
    try:
        document = parse(data)
    except JsonError as error:
        yield from run(_RULES, JsonText(file, data, None, error))
    else:
        yield from check_document(file, document)


def check_document(file: str, document: JsonDocument) -> Iterator[Finding]:
    """Run the JSN rules on JSON that was already parsed."""
    yield from run(_RULES, JsonText(file, document.data, document, None))


def check_json_lines(file: str, data: bytes) -> Iterator[Finding]:
    """Run the JSN rules on a file of JSON lines; of many bad lines only the first are reported one by one."""
    places = LineColumns(data)
    if _fills_lines(data):
        reason = "one value fills several lines, but each line must be a value"
        yield from check_json_texts(file, data, (), [JsonError(reason, places.at(0))])
        return
    documents: list[JsonDocument] = []
    errors: list[JsonError] = []
    start = bad = 0
    for line in data.split(b"\n"):
        end = start + len(line)
        if line.strip():
            try:
                documents.append(parse(data, start, end, places=places))
            except JsonError as error:
                bad += 1
                if bad <= MOST_BAD_LINES:
                    errors.append(JsonError(_with_cause(error.reason, line), error.place))
        start = end + 1
    if bad > MOST_BAD_LINES:
        last = errors.pop()
        errors.append(
            JsonError(f"{last.reason}; {bad - MOST_BAD_LINES:,} more lines are not JSON", last.place)
        )
    yield from check_json_texts(file, data, documents, errors)


def check_json_texts(
    file: str, data: bytes, documents: Iterable[JsonDocument], errors: Iterable[JsonError]
) -> Iterator[Finding]:
    """Run the JSN rules on a file of several JSON texts, such as JSON lines, parsed or not."""
    yield from run(_RULES, JsonText(file, data, None, None))
    for error in errors:
        yield from run(_RULES, JsonText(file, b"", None, error))
    for document in documents:
        yield from run(_RULES, JsonText(file, b"", document, None))


def needs_closer_look(line: bytes) -> bool:
    """Whether a line that is JSON may break a rule other than that about duplicate keys; False is certain."""
    openings = line.count(b"[") + line.count(b"{")
    return (
        openings > _DEPTHS[0][0]
        or _LONG_NUMBER.search(line) is not None
        or _SURROGATE_ESCAPE.search(line) is not None
    )


def unsafe_numbers(document: JsonDocument) -> Iterator[tuple[str, float]]:
    """Yield pointer and value of every number that JavaScript cannot hold exactly, or at all."""
    span = document.start, document.end
    if not (_LONG_NUMBER.search(document.data, *span) and _GREAT_NUMBER.search(document.data, *span)):
        return
    for path, value in walk(document.value):
        if isinstance(value, int | float) and abs(value) > MAX_SAFE_INTEGER:
            yield path_pointer(path), value


@rule("JSN001", name="not-json", severity=Severity.ERROR, effect=Effect.REJECTED)
def not_json(text: JsonText) -> Iterator[Hit]:
    """The file is not JSON as `JSON.parse` understands it.

    ## Why
    Whatever reads it refuses all of it, not only the wrong place. Lenient readers that take it hide the
    problem until a strict one comes along.
    ## Bad
    {"version": 3.0, "memory": {},}
    ## Good
    {"version": 3.0, "memory": {}}
    ## Fix
    Go to the place that is named; the reason says what was found there.
    ## Source
    ECMA-404, and ECMAScript JSON.parse: no comments, no trailing commas, no NaN, no text around the value.
    """
    if text.error is not None and (_likely_cause(text.data) or foreign_encoding(text.data) is None):
        place = text.error.place
        origin = Origin(text.file, None, place.offset, place.offset, place.line, place.column)
        yield Hit(origin, f"not JSON: {excerpt(_with_cause(text.error.reason, text.data), 300)}")


@rule("JSN002", name="duplicate-key", severity=Severity.WARNING, effect=Effect.IGNORED)
def duplicate_key(text: JsonText) -> Iterator[Hit]:
    """An object holds the same key twice.

    ## Why
    Most readers keep the last value and forget the others without a word; some keep the first. What a
    person sees in the file is not what the program works with.
    ## Bad
    {"decay": 0.1, "decay": 0.9}
    ## Good
    {"decay": 0.9}
    ## Fix
    Keep the one that is meant. Editing inside such an object is refused here, because it could change the
    other.
    ## Source
    RFC 8259 section 4; ECMAScript: the last one wins.
    """
    document = text.document
    # Without a colon there is no key, and most records need no outline.
    if document is None or document.data.find(b":", document.start, document.end) < 0:
        return
    repeated = document.outline.repeated
    for each in repeated:
        key = each.pointer.rpartition("/")[2]
        end = value_end(document.data, each.value, document.end)
        yield Hit(
            document.origin_at(text.file, each.pointer, each.value, end),
            f"the key {quoted(key)} is here a second time; the last value wins",
        )
    if more := document.outline.count - len(repeated):
        yield Hit(
            document.origin_at(text.file, "", *document.root_span),
            f"{more:,} more keys are there a second time",
        )


@rule("JSN003", name="number-out-of-range", severity=Severity.WARNING, effect=Effect.STORED)
def number_out_of_range(text: JsonText) -> Iterator[Hit]:
    """A number is too great for a JavaScript number to hold exactly, or at all.

    ## Why
    Beyond 9007199254740991 neighbouring integers become the same number, so ids and times change silently.
    What is greater than about 1.8e308 is read as infinity and becomes null when it is saved again.
    ## Bad
    {"id": 9007199254740993}
    ## Good
    {"id": 9007199254740991}
    ## Fix
    Write great ids as strings.
    ## Source
    RFC 8259 section 6; ECMAScript Number.MAX_SAFE_INTEGER.
    """
    document = text.document
    if document is None:
        return
    unsafe = unsafe_numbers(document)
    for pointer, value in islice(unsafe, _MOST_NUMBERS):
        message, effect = unsafe_number_message(document, pointer, value)
        yield Hit(document.origin(text.file, pointer), message, effect=effect)
    if more := sum(1 for _ in unsafe):
        message = f"{more:,} more numbers are beyond {MAX_SAFE_INTEGER}"
        yield Hit(document.origin_at(text.file, "", *document.root_span), message)


@rule("JSN004", name="not-utf8", severity=Severity.ERROR, effect=Effect.REJECTED)
def not_utf8(text: JsonText) -> Iterator[Hit]:
    r"""The file is not plain UTF-8: it has a byte order mark or another encoding.

    ## Why
    JSON between programs is UTF-8 without a mark. `JSON.parse` refuses a mark, and bytes of another
    encoding come out as other characters or not at all.
    ## Bad
    \ufeff{"version": 3.0}
    ## Good
    {"version": 3.0}
    ## Fix
    Save the file as UTF-8 without a byte order mark.
    ## Source
    RFC 8259 section 8.1.
    """
    found = foreign_encoding(text.data)
    if found is not None and _likely_cause(text.data) is None:
        offset, reason = found
        place = LineColumns(text.data).at(offset)
        yield Hit(Origin(text.file, None, offset, offset + 1, place.line, place.column), reason)


@rule("JSN005", name="lone-surrogate", severity=Severity.WARNING, effect=Effect.STORED)
def lone_surrogate(text: JsonText) -> Iterator[Hit]:
    r"""A string holds half of a character: a surrogate escape without its partner.

    ## Why
    JavaScript carries it along; most other programs refuse the whole file or put a replacement character
    there. It usually comes from cutting a text in the middle of an emoji.
    ## Bad
    {"content": "cut here \ud83d"}
    ## Good
    {"content": "whole \ud83d\ude00"}
    ## Fix
    Remove the escape, or complete the pair.
    ## Source
    RFC 8259 section 8.2; Unicode chapter 3.8.
    """
    document = text.document
    if document is None or not _SURROGATE_ESCAPE.search(document.data, document.start, document.end):
        return
    for path, value in walk(document.value):
        if isinstance(value, str) and (found := _SURROGATE.search(value)):
            where = quoted(value[max(0, found.start() - 12) : found.end()])
            yield Hit(document.origin(text.file, path_pointer(path)), f"half a character: {where}")
        elif isinstance(value, dict):
            for key in value:
                if _SURROGATE.search(key):
                    origin = document.origin(text.file, path_pointer((path, key)))
                    yield Hit(origin, f"half a character in the key {quoted(key)}")


@rule("JSN006", name="nested-too-deep", severity=Severity.WARNING, effect=Effect.NONE)
def nested_too_deep(text: JsonText) -> Iterator[Hit]:
    """Arrays and objects are nested deeper than common parsers follow.

    ## Why
    JavaScript reads it, other programs give up or crash: at 200 levels (pydantic), about 1000 (Python's
    json) or 1024 (orjson). Depth like this is a mistake in a loop or an attempt to crash a reader.
    ## Bad
    [* 201]
    ## Good
    [* 200]
    ## Fix
    Flatten the data, or find out what wrote it.
    ## Source
    RFC 8259 section 9 lets parsers set limits; the numbers are those of the named parsers.
    """
    document = text.document
    if document is None:
        return
    openings = sum(document.data.count(opening, document.start, document.end) for opening in (b"[", b"{"))
    if openings <= _DEPTHS[0][0]:
        return
    depth = document.outline.depth
    refusing = [name for limit, name in _DEPTHS if depth > limit]
    if refusing:
        message = (
            f"nested {depth} levels deep: {', '.join(refusing)} {'give' if refusing[1:] else 'gives'} up"
        )
        yield Hit(document.origin_at(text.file, "", *document.root_span), message)


def unsafe_number_message(document: JsonDocument, pointer: str, value: float) -> tuple[str, Effect | None]:
    """The message for a number of `unsafe_numbers`, and its effect where it differs from the rule's."""
    literal = excerpt(document.literal(pointer).decode("utf-8", "replace"), 24)
    if math.isinf(value):
        return f"{literal} is read as infinity and becomes null when it is saved", Effect.WIPED
    return f"{literal} is beyond {MAX_SAFE_INTEGER}: its last digits may change", None


_RULES = rules_in(__name__)
# Begins with one class, not with a choice: that is eight times as fast over large files.
_LONG_NUMBER = lazy_pattern(rb"[0-9](?:[0-9]{15}|[eE]\+?[0-9]{2})")
# Without the digits of a fraction, which make a number long but not great.
_GREAT_NUMBER = lazy_pattern(rb"(?<![0-9.])[0-9]{16}|[0-9][eE]\+?[0-9]{2}")
_SURROGATE_ESCAPE = lazy_pattern(rb"\\u[dD][89a-fA-F]")
_SURROGATE = lazy_pattern("[\ud800-\udfff]")
_DEPTHS = ((200, "pydantic"), (994, "Python's json"), (1024, "orjson"))
_MARKS = (
    (b"\xef\xbb\xbf", "UTF-8"),
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


_WIDE = (("UTF-32BE", 4, 3), ("UTF-32LE", 4, 0), ("UTF-16BE", 2, 1), ("UTF-16LE", 2, 0))
"""Encodings without a mark: the bytes of a character, and which of them is not NUL in ASCII text."""
_SIGNATURES = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
    b"SQLite format 3\x00": "an SQLite database",
    b"PAR1": "a Parquet table",
    b"\x7fELF": "a program",
}


def binary_kind(data: bytes) -> str | None:
    """Return the kind of a common binary file, such as "a PNG picture", by its first bytes."""
    return next((kind for start, kind in _SIGNATURES.items() if data.startswith(start)), None)


def _with_cause(reason: str, data: bytes) -> str:
    cause = _likely_cause(data)
    return f"{reason} ({cause})" if cause is not None else reason


def _likely_cause(data: bytes) -> str | None:
    """Return what probably happened to a whole file that is not JSON; None when only one place is wrong."""
    if (kind := binary_kind(data)) is not None:
        return f"this is {kind}"
    if _foreign_mark(data) is not None:
        return None
    content = data.rstrip(b"\0")
    if nulls := len(data) - len(content):
        what = "ends in" if content else "holds only"
        return f"it {what} {nulls:,} NUL byte{'s'[: nulls > 1]}: probably a crash while writing"
    if content.lstrip().startswith(b"```"):
        return "there is a Markdown fence around the JSON"
    lines = [line.strip() for line in content.split(b"\n", 3)[:3] if line.strip()]
    if len(lines) > 1 and all(line.startswith(b"{") and line.endswith(b"}") for line in lines):
        return "these are several JSON values, one a line: such a file is named .jsonl"
    return None


def _fills_lines(data: bytes) -> bool:
    """Whether `data` is one JSON value over several lines."""
    try:
        return b"\n" in data.strip() and bool(parse(data))
    except JsonError:
        return False


def _foreign_mark(data: bytes) -> str | None:
    """Return how a file shows at its start that it is not plain UTF-8; None when it does not."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return f"the file starts with the byte order mark of {encoding}"
    head = data[:64]
    for encoding, size, place in _WIDE:
        others = [head[at::size] for at in range(size) if at != place]
        if len(head) >= size and 0 not in head[place::size] and not any(map(any, others)):
            return f"the file looks like {encoding} without a byte order mark"
    return None


def foreign_encoding(data: bytes) -> tuple[int, str] | None:
    """The offset where a file is not plain UTF-8, and why; None when it is."""
    if (mark := _foreign_mark(data)) is not None:
        return 0, mark
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start, f"the byte 0x{data[error.start]:02X} is not UTF-8"
    return None
