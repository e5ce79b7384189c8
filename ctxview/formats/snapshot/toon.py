"""Reads the TOON text between the `<context>` tags of a prompt, as far as it can be parsed.

Covers what the reference runtime writes: indented objects, lists, inline and tabular arrays. A line that
cannot be parsed becomes a problem with its place; nothing is guessed, and TOON is never written.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ctxview.core.origin import JsonValue, Origin
from ctxview.files.line_columns import LineColumn, LineColumns
from ctxview.files.strict_json.document import JsonDocument
from ctxview.files.strict_json.tree import join

DEEPEST_OBJECT = 40


class ToonDocument(JsonDocument):
    """A TOON text with the interface of a JSON document; `inside` is the JSON string it came from."""

    def __init__(
        self, data: bytes, start: int, end: int, inside: tuple[JsonDocument, str] | None = None
    ) -> None:
        # The parent's constructor is not called, because it parses JSON; all its attributes are set here.
        self.data, self.start, self.end = data, start, end
        self._places = LineColumns(data)
        self._inside = inside
        reader = _Reader(_lines(data, start, end))
        self.__dict__["value"] = reader.read_object(0, "", 0)
        self.__dict__["duplicates"] = ()
        self._spans = {**reader.spans, "": (start, end)}
        self.problems: tuple[tuple[LineColumn, str], ...] = tuple(
            (self.place(offset), reason) for offset, reason in reader.problems
        )

    def span(self, pointer: str) -> tuple[int, int] | None:
        return self._spans.get(pointer)

    def key_span(self, pointer: str) -> tuple[int, int] | None:  # noqa: ARG002 - part of the interface
        return None

    def origin(self, file: str, pointer: str) -> Origin:
        if self._inside is None:
            return super().origin(file, pointer)
        document, place = self._inside
        return document.origin(file, place)


class _Line(Struct):
    """One line of the text, without its indentation."""

    indent: int
    text: str
    start: int
    end: int


_MEMBER = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*"|[^\s:\[\]{}",][^:\[\]{}"]*)'
    r"(?:\[#?(?P<count>\d{1,9})(?P<delimiter>[|\t])?\](?:\{(?P<fields>[^}]*)\})?)?:(?: (?P<rest>.*))?$"
)
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,14})")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


class _Reader:
    def __init__(self, lines: list[_Line]) -> None:
        self._lines = lines
        self._at = 0
        self.spans: dict[str, tuple[int, int]] = {}
        self.problems: list[tuple[int, str]] = []

    def read_object(self, indent: int, pointer: str, depth: int) -> dict[str, JsonValue]:
        """Read the members at `indent`, up to the first line that is indented less."""
        found: dict[str, JsonValue] = {}
        while (line := self._peek()) is not None and line.indent >= indent:
            if line.indent > indent or depth > DEEPEST_OBJECT:
                self._skip("is indented, but no line above opens an object")
                continue
            member = _MEMBER.match(line.text)
            if member is None:
                self._skip("is not `key: value`")
                continue
            self._at += 1
            key = str(_primitive(member["key"])) if member["key"].startswith('"') else member["key"].strip()
            place = join(pointer, key)
            found[key] = self._member_value(member, line, place, depth)
            self.spans[place] = (line.start, self._lines[self._at - 1].end)
        return found

    def _member_value(self, member: re.Match[str], line: _Line, pointer: str, depth: int) -> JsonValue:
        rest = (member["rest"] or "").strip()
        if member["count"] is not None:
            items = self._items(member, rest, line, pointer, depth)
            if len(items) != int(member["count"]):
                problem = f"{member['count']} elements are announced, {len(items)} could be read"
                self.problems.append((line.start, problem))
            return items
        if rest:
            return _primitive(rest)
        below = self._peek()
        if below is None or below.indent <= line.indent:
            return {}
        return self.read_object(below.indent, pointer, depth + 1)

    def _items(
        self, member: re.Match[str], rest: str, line: _Line, pointer: str, depth: int
    ) -> list[JsonValue]:
        delimiter = member["delimiter"] or ","
        if rest:
            return [_primitive(cell) for cell in _cells(rest, delimiter)]
        fields = _cells(member["fields"], delimiter) if member["fields"] is not None else None
        items: list[JsonValue] = []
        while (below := self._peek()) is not None and below.indent > line.indent:
            place = join(pointer, len(items))
            if fields is not None:
                self._at += 1
                row = [_primitive(cell) for cell in _cells(below.text, delimiter)]
                items.append({str(_primitive(name)): cell for name, cell in zip(fields, row, strict=False)})
            elif below.text == "-" or below.text.startswith("- "):
                items.append(self._list_item(below, place, depth))
            else:
                self._skip("is not an element of the list above")
                continue
            self.spans[place] = (below.start, self._lines[self._at - 1].end)
        return items

    def _list_item(self, line: _Line, pointer: str, depth: int) -> JsonValue:
        text = line.text[1:].strip()
        if not text:
            self._at += 1
            return {}
        if _MEMBER.match(text) is None:
            self._at += 1
            return _primitive(text)
        # The first member is on the line of the hyphen, the others are two columns further right.
        self._lines[self._at] = _Line(line.indent + 2, text, line.start, line.end)
        return self.read_object(line.indent + 2, pointer, depth + 1)

    def _peek(self) -> _Line | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def _skip(self, reason: str) -> None:
        self.problems.append((self._lines[self._at].start, f"the line {reason}"))
        self._at += 1


def _lines(data: bytes, start: int, end: int) -> list[_Line]:
    found = []
    for raw in data[start:end].split(b"\n"):
        text = raw.decode("utf-8", "replace").rstrip()
        bare = text.lstrip(" ")
        if bare:
            indent = len(text) - len(bare)
            found.append(_Line(indent, bare, start + indent, start + len(raw.rstrip())))
        start += len(raw) + 1
    margin = min((line.indent for line in found), default=0)
    for line in found:
        line.indent -= margin
    return found


def _cells(text: str, delimiter: str) -> list[str]:
    cells, quoted, begin, position = [], False, 0, 0
    while position < len(text):
        char = text[position]
        if char == "\\" and quoted:
            position += 1
        elif char == '"':
            quoted = not quoted
        elif char == delimiter and not quoted:
            cells.append(text[begin:position].strip())
            begin = position + 1
        position += 1
    return [*cells, text[begin:].strip()]


def _primitive(text: str) -> JsonValue:
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), text[1:-1])
    if text in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text
