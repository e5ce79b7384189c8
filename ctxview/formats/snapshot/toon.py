"""Reads the TOON text between the `<context>` tags of a prompt, as far as it can be parsed.

Covers what the reference runtime writes with `@toon-format/toon` 2.1: indented objects, lists on one line,
lists of elements after hyphens, and tables. A line that cannot be parsed becomes a problem with its place.
Nothing is guessed.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ctxview.core.lazy import lazy_pattern
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
        self.inside = inside
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
        if self.inside is None:
            return super().origin(file, pointer)
        document, place = self.inside
        return document.origin(file, place)


class _Line(Struct):
    """One line of the text, without its indentation."""

    indent: int
    text: str
    start: int
    end: int


_QUOTED = r'"(?:[^"\\]|\\.)*"'
_MEMBER = lazy_pattern(
    rf"(?P<key>{_QUOTED}|[^\s:\[\]{{}}\",][^:\[\]{{}}\"]*)?"
    r"(?:\[#?(?P<count>[0-9]{1,9})(?P<delimiter>[|\t])?\]"
    rf"(?:\{{(?P<fields>(?:{_QUOTED}|[^}}\"])*)\}})?)?"
    r":(?: (?P<rest>.*))?",
    re.DOTALL,
)
"""`key: value`, `key[2]: a,b`, `key[2]{a,b}:` or the same without a key, which then is empty."""
_TEXT = lazy_pattern(_QUOTED, re.DOTALL)
_INTEGER = lazy_pattern(r"-?(?:0|[1-9][0-9]{0,14})")
_NUMBER = lazy_pattern(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}
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
            member = _member(line.text)
            if member is None:
                self._skip("is not `key: value`")
                continue
            self._at += 1
            key = _key(member["key"] or "")
            place = join(pointer, key)
            found[key] = self._member_value(member, line, place, depth)
            self.spans[place] = (line.start, self._lines[self._at - 1].end)
        return found

    def _member_value(self, member: re.Match[str], line: _Line, pointer: str, depth: int) -> JsonValue:
        rest = (member["rest"] or "").strip(" ")
        if member["count"] is not None:
            return self._items(member, rest, line, pointer, depth)
        if rest:
            return self._primitive(rest, line)
        below = self._peek()
        if below is None or below.indent <= line.indent:
            return {}
        return self.read_object(below.indent, pointer, depth + 1)

    def _items(
        self, member: re.Match[str], rest: str, line: _Line, pointer: str, depth: int
    ) -> list[JsonValue]:
        """Read the elements of a list: on its own line, as the rows of a table, or one after each hyphen."""
        delimiter = member["delimiter"] or ","
        heads = member["fields"]
        names = [_key(cell) for cell in _cells(heads, delimiter)] if heads is not None else None
        items: list[JsonValue] = []
        if rest:
            items += (self._primitive(cell, line) for cell in _cells(rest, delimiter))
        while not rest and (below := self._peek()) is not None and below.indent > line.indent:
            place = join(pointer, len(items))
            if names is not None:
                self._at += 1
                items.append(self._row(names, below, delimiter))
            elif below.text == "-" or below.text.startswith("- "):
                items.append(self._list_item(below, place, depth))
            else:
                self._skip("is not an element of the list above")
                continue
            self.spans[place] = (below.start, self._lines[self._at - 1].end)
        if len(items) != int(member["count"]):
            problem = f"{member['count']} elements are announced, {len(items)} could be read"
            self.problems.append((line.start, problem))
        return items

    def _row(self, names: list[str], line: _Line, delimiter: str) -> dict[str, JsonValue]:
        cells = [self._primitive(cell, line) for cell in _cells(line.text, delimiter)]
        if len(cells) != len(names):
            self.problems.append((line.start, f"the row has {len(cells)} cells, its head {len(names)}"))
        return dict(zip(names, cells, strict=False))

    def _list_item(self, line: _Line, pointer: str, depth: int) -> JsonValue:
        text = line.text[1:].strip(" ")
        member = _member(text) if text else None
        if member is None:
            self._at += 1
            return self._primitive(text, line) if text else {}
        if member["key"] is None and member["fields"] is None:
            # A list in a list. A table is never one: without a key it is a member under the empty key.
            if depth > DEEPEST_OBJECT:
                self._skip("is in too many lists")
                return []
            self._at += 1
            return self._items(member, (member["rest"] or "").strip(" "), line, pointer, depth + 1)
        # The first member is on the line of the hyphen, the others are two columns further right.
        self._lines[self._at] = _Line(line.indent + 2, text, line.start, line.end)
        return self.read_object(line.indent + 2, pointer, depth + 1)

    def _primitive(self, text: str, line: _Line) -> JsonValue:
        if text.startswith('"'):
            if _TEXT.fullmatch(text):
                return _unescaped(text)
            self.problems.append((line.start, "a text in quotes does not end with its quote"))
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.fullmatch(text):
            return int(text)
        return float(text) if _NUMBER.fullmatch(text) else text

    def _peek(self) -> _Line | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def _skip(self, reason: str) -> None:
        self.problems.append((self._lines[self._at].start, f"the line {reason}"))
        self._at += 1


def _lines(data: bytes, start: int, end: int) -> list[_Line]:
    """Split at newlines only: every other character, such as U+0085, may be part of a text."""
    found = []
    for raw in data[start:end].split(b"\n"):
        whole = raw.removesuffix(b"\r").rstrip(b" ")
        bare = whole.lstrip(b" ")
        if bare:
            indent = len(whole) - len(bare)
            found.append(_Line(indent, _decoded(bare), start + indent, start + len(whole)))
        start += len(raw) + 1
    margin = min((line.indent for line in found), default=0)
    for line in found:
        line.indent -= margin
    return found


def _decoded(data: bytes) -> str:
    try:
        # Saved messages may have half a pair, where a content was cut.
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def _member(text: str) -> re.Match[str] | None:
    member = _MEMBER.fullmatch(text)
    return member if member is not None and (member["key"] or member["count"]) else None


def _key(text: str) -> str:
    """Return a key or the head of a column; `null` and `true` are keys like any other."""
    return _unescaped(text) if text.startswith('"') else text.strip(" ")


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), text[1:-1])


def _cells(text: str, delimiter: str) -> list[str]:
    cells, quoted, begin, position = [], False, 0, 0
    while position < len(text):
        char = text[position]
        if char == "\\" and quoted:
            position += 1
        elif char == '"':
            quoted = not quoted
        elif char == delimiter and not quoted:
            cells.append(text[begin:position].strip(" "))
            begin = position + 1
        position += 1
    return [*cells, text[begin:].strip(" ")]
