"""Splits a file of unknown format into pieces: JSON members, JSON lines, paragraphs, or its first bytes.

Of a very large file only both ends are read, and the part that is left out is reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.json_rules import binary_kind
from ctxview.analysis.secrets import find_secrets
from ctxview.core.origin import JsonValue, Origin
from ctxview.files.line_columns import LineColumns
from ctxview.files.reading import LIMIT, ReadError, read_ends
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.files.strict_json.outline import items
from ctxview.files.strict_json.scanner import skip_space, string_end
from ctxview.files.strict_json.tree import join
from ctxview.formats.interface import OpenError

MOST_PIECES = 5000
LONGEST_TEXT = 20_000
LARGEST_VALUE = 1024 * 1024
LINES_TRIED = 40
LINES_IN_A_CHUNK = 40
BYTES_SHOWN = 2048
BYTES = "binary"
"""The type of a piece that is not text."""
_ARRAY, _OBJECT, _END_OF_ARRAY = b"[{]"
_TYPES = {_ARRAY: "array", _OBJECT: "object"}

_JSON_BEGINNING = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*+(?:\{\s*+["}]|\[\s*+(?:[\]\[{"\d-]|(?:true|false|null)\b))'
)


class RawKind(StrEnum):
    JSON = "a JSON tree"
    LINES = "JSON lines"
    TEXT = "plain text"
    BINARY = "bytes"


class RawPiece(Struct, frozen=True):
    """One part of the file: its group, name, type and text, and what is wrong with it."""

    group: str
    name: str
    type: str
    text: str
    origin: Origin
    problem: str | None = None


class RawFile(Struct, frozen=True):
    file: str
    data: bytes
    kind: RawKind
    pieces: tuple[RawPiece, ...]
    document: JsonDocument | None = None
    left_out: str | None = None

    @property
    def description(self) -> str:
        """A noun phrase for the content, such as "plain text"."""
        if not self.data:
            return "an empty file"
        if not self.data.strip():
            return "blank lines"
        known = binary_kind(self.data)
        return f"{self.kind} of {known}" if known and self.kind is RawKind.BINARY else self.kind.value


def read_raw_file(path: Path) -> tuple[bytes, str | None]:
    """Return the bytes of a file, or both its ends, and a note on the part left out; raises `OpenError`."""
    if path.is_dir():
        raise OpenError(f"{path}: a folder cannot be opened as raw; name one of its files")
    try:
        ends = read_ends(path, LIMIT)
    except ReadError as error:
        raise OpenError(f"{path}: {error.reason}") from None
    if ends.whole:
        return ends.head, None
    middle = ends.size - len(ends.head) - len(ends.tail)
    left_out = (
        f"{middle:,} of {ends.size:,} bytes in the middle were not read; positions after them are wrong"
    )
    return ends.head + b"\n" + ends.tail, left_out


def read_raw(file: str, data: bytes, left_out: str | None = None) -> RawFile:
    """Guess the kind of `data` and split it into pieces; never raises."""
    if _is_binary(data):
        return RawFile(file, data, RawKind.BINARY, (_byte_piece(file, data),), left_out=left_out)
    document = _json(data)
    if document is not None:
        pieces, kind = _json_pieces(file, document), RawKind.JSON
    elif looks_like_lines(data):
        pieces, kind = _line_pieces(file, data), RawKind.LINES
    else:
        pieces, kind = _paragraphs(file, data), RawKind.TEXT
    first = tuple(islice(pieces, MOST_PIECES))
    more = next(pieces, None) is not None
    note = f"only the first {MOST_PIECES:,} parts are shown" if more else None
    return RawFile(file, data, kind, first, document, left_out or note)


def looks_like_json(data: bytes) -> bool:
    """Whether `data` is meant to be JSON: it begins like an object or an array of values."""
    return _JSON_BEGINNING.match(data) is not None


def _json(data: bytes) -> JsonDocument | None:
    if not data.strip():
        return None
    try:
        return parse(data)
    except JsonError:
        return None


def _json_pieces(file: str, document: JsonDocument) -> Iterator[RawPiece]:
    """Yield the members of an object, then the elements of each of its arrays as a group.

    A key that is there twice is two parts, because both are in the file.
    """
    data, end = document.data, document.end
    root, stop = document.root_span
    if data[root] == _ARRAY:
        yield from _elements(file, document, "elements", "", root)
    elif data[root] == _OBJECT:
        arrays: list[tuple[str, int]] = []
        for at, start, stop in items(data, root, end):
            key = str(parse(data, at, string_end(data, at, end)).value)
            if data[start] == _ARRAY and data[skip_space(data, start + 1, end)] != _END_OF_ARRAY:
                arrays.append((key, start))
                if len(arrays) > MOST_PIECES:  # each of them has an element, so there are enough parts
                    break
            else:
                origin = document.origin_at(file, join("", key), start, stop)
                piece = _json_piece("members", key, data, start, stop, origin)
                if piece.type == "string" and find_secrets(named := f"{key}: {piece.text}"):
                    piece = replace(piece, text=named)  # the name shows that the value must be masked
                yield piece
        for key, start in arrays:
            yield from _elements(file, document, key, join("", key), start)
    else:
        origin = document.origin_at(file, "", root, stop)
        yield _json_piece("value", "value", data, root, stop, origin)


def _elements(file: str, document: JsonDocument, group: str, pointer: str, opener: int) -> Iterator[RawPiece]:
    data = document.data
    for index, (_, start, stop) in enumerate(items(data, opener, document.end)):
        origin = document.origin_at(file, join(pointer, index), start, stop)
        yield _json_piece(group, None, data, start, stop, origin, f"[{index}]")


def _json_piece(
    group: str, name: str | None, data: bytes, start: int, stop: int, origin: Origin, index: str = ""
) -> RawPiece:
    """Return the piece of one value; an element without a name is named by its id, its name or its index."""
    if data[start] in (_ARRAY, _OBJECT) and stop - start > LARGEST_VALUE:
        # Only its beginning is shown, so it is not read as a value.
        text = data[start : start + LONGEST_TEXT].decode("utf-8", "replace")
        text += f"… ({stop - start - LONGEST_TEXT:,} more bytes)"
        return RawPiece(group, name or index, _TYPES[data[start]], text, origin)
    value = parse(data, start, stop).value
    if name is None:
        named = value.get("id") or value.get("name") if isinstance(value, dict) else None
        name = named if isinstance(named, str) else index
    return RawPiece(group, name, _type(value), _spelled(value), origin)


def _type(value: JsonValue) -> str:
    if isinstance(value, dict):
        return _TYPES[_OBJECT]
    if isinstance(value, list):
        return _TYPES[_ARRAY]
    if isinstance(value, str):
        return "string"
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    return "number"


def _spelled(value: JsonValue) -> str:
    if isinstance(value, str):
        return _shortened(value)
    try:
        return _shortened(json.dumps(value, ensure_ascii=False, indent=2))
    except (RecursionError, ValueError):
        return "…"


def _shortened(text: str) -> str:
    more = len(text) - LONGEST_TEXT
    return f"{text[:LONGEST_TEXT]}… ({more:,} more characters)" if more > 0 else text


def looks_like_lines(data: bytes) -> bool:
    """Whether most of the first lines are JSON objects."""
    lines = data.split(b"\n", LINES_TRIED)[:LINES_TRIED]
    first = [line for line in lines if line.strip()]
    documents = [_json(line) for line in first]
    objects = sum(each is not None and isinstance(each.value, dict) for each in documents)
    return len(first) > 1 and objects * 2 >= len(first)


def _line_pieces(file: str, data: bytes) -> Iterator[RawPiece]:
    start = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            end = start + len(line)
            origin = Origin(file, start=start, end=end, line=number, column=1)
            text = _shortened(line.decode("utf-8", "replace"))
            problem = None
            try:
                kind = _type(parse(data, start, end).value)
            except JsonError as error:
                kind, problem = "broken", f"not JSON: {error.reason}"
            yield RawPiece("lines", f"line {number}", kind, text, origin, problem)
        start += len(line) + 1


def _paragraphs(file: str, data: bytes) -> Iterator[RawPiece]:
    """Yield the text between blank lines, in chunks of bounded length."""
    places = LineColumns(data)
    start = begin = 0
    lines: list[bytes] = []
    for line in (*data.split(b"\n"), b""):
        if lines and (not line.strip() or len(lines) == LINES_IN_A_CHUNK):
            chunk, place = b"\n".join(lines), places.at(begin)
            origin = Origin(file, start=begin, end=begin + len(chunk), line=place.line, column=place.column)
            text = _shortened(chunk.decode("utf-8", "replace"))
            yield RawPiece("text", f"line {place.line}", "text", text, origin)
            lines = []
        if line.strip():
            begin = begin if lines else start
            lines.append(line)
        start += len(line) + 1


def _is_binary(data: bytes) -> bool:
    head = data[:8192].rstrip(b"\0")  # a crash while writing may leave NUL bytes at the end
    if b"\0" in head:
        return True
    odd = head.decode("utf-8", "replace").count("\ufffd")
    return odd > len(head) // 10


def _byte_piece(file: str, data: bytes) -> RawPiece:
    rows = []
    for start in range(0, min(len(data), BYTES_SHOWN), 16):
        row = data[start : start + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        rows.append(f"{start:08x}  {row.hex(' '):<47}  {text}")
    origin = Origin(file, start=0, end=min(len(data), BYTES_SHOWN), line=1, column=1)
    return RawPiece("bytes", "first bytes", BYTES, "\n".join(rows), origin)
