"""Takes a file apart without knowing what it is: JSON members, JSON lines, paragraphs, or its first bytes.

Bounded: of a very big file only both ends are looked at, and what is left out is said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import StrEnum

from ctxview.files.json_document import JsonDocument, JsonError, join, parse
from ctxview.files.places import Places
from ctxview.origin import JsonValue, Origin
from ctxview.quick_dataclass import dataclass

MOST_PIECES = 5000
LONGEST_TEXT = 20_000
LINES_TRIED = 40
LINES_IN_A_CHUNK = 40
BYTES_SHOWN = 2048
BYTES = "binary"
"""The type of a piece that is no text."""


_JSON_BEGINNING = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*+(?:\{\s*+["}]|\[\s*+(?:[\]\[{"\d-]|(?:true|false|null)\b))'
)


_BEGINNINGS = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"SQLite format 3\x00": "an SQLite database",
    b"PAR1": "a Parquet table",
    b"\x7fELF": "a program",
}
"""What people point at by mistake, by its first bytes."""


class Kind(StrEnum):
    JSON = "a JSON tree"
    LINES = "JSON lines"
    TEXT = "plain text"
    BINARY = "bytes"


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of the file: under which heading, its name, its text, and what is wrong with it."""

    group: str
    name: str
    type: str
    text: str
    origin: Origin
    problem: str | None = None


@dataclass(frozen=True)
class RawFile:
    file: str
    data: bytes
    kind: Kind
    pieces: tuple[Piece, ...]
    document: JsonDocument | None = None
    left_out: str | None = None

    @property
    def told(self) -> str:
        """What it is, in words."""
        if not self.data:
            return "an empty file"
        known = next((name for start, name in _BEGINNINGS.items() if self.data.startswith(start)), "")
        return f"{self.kind} of {known}" if known and self.kind is Kind.BINARY else self.kind.value


def read_raw(file: str, data: bytes, left_out: str | None = None) -> RawFile:
    """What `data` looks like, and its parts; never raises."""
    if _is_binary(data):
        return RawFile(file, data, Kind.BINARY, (_byte_piece(file, data),), left_out=left_out)
    document = _json(data)
    if document is not None:
        pieces, kind = _json_pieces(file, document), Kind.JSON
    elif _looks_like_lines(data):
        pieces, kind = _line_pieces(file, data), Kind.LINES
    else:
        pieces, kind = _paragraphs(file, data), Kind.TEXT
    kept, more = _bounded(pieces)
    note = f"only the first {MOST_PIECES:,} parts are shown" if more else None
    return RawFile(file, data, kind, kept, document, left_out or note)


def looks_like_json(data: bytes) -> bool:
    """Whether somebody meant this to be JSON: it begins like an object or an array of values."""
    return _JSON_BEGINNING.match(data) is not None


def _bounded(pieces: Iterator[Piece]) -> tuple[tuple[Piece, ...], bool]:
    kept = [piece for _, piece in zip(range(MOST_PIECES), pieces, strict=False)]
    return tuple(kept), next(pieces, None) is not None


def _json(data: bytes) -> JsonDocument | None:
    if not data.strip():
        return None
    try:
        return parse(data)
    except JsonError:
        return None


# -- JSON --------------------------------------------------------------------------------------------------


def _json_pieces(file: str, document: JsonDocument) -> Iterator[Piece]:
    """Arrays of an object become groups of their elements, its other members one group."""
    root = document.value
    if isinstance(root, list):
        yield from _elements(file, document, "elements", "", root)
    elif isinstance(root, dict):
        plain = {key: value for key, value in root.items() if not isinstance(value, list)}
        for key, value in plain.items():
            pointer = join("", key)
            yield Piece("members", key, _type(value), _spelled(value), document.origin(file, pointer))
        for key, items in root.items():
            if isinstance(items, list):
                yield from _elements(file, document, key, join("", key), items)
    else:
        yield Piece("value", "value", _type(root), _spelled(root), document.origin(file, ""))


def _elements(
    file: str, document: JsonDocument, group: str, pointer: str, items: list[JsonValue]
) -> Iterator[Piece]:
    for index, item in enumerate(items):
        origin = document.origin(file, join(pointer, index))
        yield Piece(group, _name(item, index), _type(item), _spelled(item), origin)


def _name(value: JsonValue, index: int) -> str:
    named = value.get("id") or value.get("name") if isinstance(value, dict) else None
    return named if isinstance(named, str) else f"[{index}]"


def _type(value: JsonValue) -> str:
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list):
        return "array"
    if isinstance(value, str):
        return "string"
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    return "number"


def _spelled(value: JsonValue) -> str:
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)[:LONGEST_TEXT]
    except (RecursionError, ValueError):
        return "…"


# -- lines and text ----------------------------------------------------------------------------------------


def _looks_like_lines(data: bytes) -> bool:
    lines = data.split(b"\n", LINES_TRIED)[:LINES_TRIED]
    first = [line for line in lines if line.strip()]
    objects = sum(isinstance(_json_line(line), dict) for line in first)
    return len(first) > 1 and objects * 2 >= len(first)


def _json_line(line: bytes) -> JsonValue:
    document = _json(line)
    return document.value if document is not None else None


def _line_pieces(file: str, data: bytes) -> Iterator[Piece]:
    start = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            end = start + len(line)
            origin = Origin(file, start=start, end=end, line=number, column=1)
            yield _line_piece(line, number, origin, data)
        start += len(line) + 1


def _line_piece(line: bytes, number: int, origin: Origin, data: bytes) -> Piece:
    text = line.decode("utf-8", "replace")[:LONGEST_TEXT]
    try:
        value = parse(data, origin.start or 0, origin.end).value
    except JsonError as error:
        return Piece("lines", f"line {number}", "broken", text, origin, f"not JSON: {error.reason}")
    return Piece("lines", f"line {number}", _type(value), text, origin)


def _paragraphs(file: str, data: bytes) -> Iterator[Piece]:
    """Stretches between blank lines; long ones in chunks, so that no piece grows without bound."""
    places = Places(data)
    start = begin = 0
    lines: list[bytes] = []
    for line in (*data.split(b"\n"), b""):
        if lines and (not line.strip() or len(lines) == LINES_IN_A_CHUNK):
            yield _text_piece(file, places, begin, b"\n".join(lines))
            lines = []
        if line.strip():
            begin = begin if lines else start
            lines.append(line)
        start += len(line) + 1


def _text_piece(file: str, places: Places, start: int, chunk: bytes) -> Piece:
    place = places.at(start)
    origin = Origin(file, start=start, end=start + len(chunk), line=place.line, column=place.column)
    return Piece(
        "text", f"line {place.line}", "text", chunk.decode("utf-8", "replace")[:LONGEST_TEXT], origin
    )


# -- bytes -------------------------------------------------------------------------------------------------


def _is_binary(data: bytes) -> bool:
    head = data[:8192]
    if b"\0" in head:
        return True
    odd = head.decode("utf-8", "replace").count("\ufffd")
    return odd > len(head) // 10


def _byte_piece(file: str, data: bytes) -> Piece:
    rows = []
    for start in range(0, min(len(data), BYTES_SHOWN), 16):
        row = data[start : start + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        rows.append(f"{start:08x}  {row.hex(' '):<47}  {shown}")
    origin = Origin(file, start=0, end=min(len(data), BYTES_SHOWN), line=1, column=1)
    return Piece("bytes", "first bytes", BYTES, "\n".join(rows), origin)
