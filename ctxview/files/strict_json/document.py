"""Parse strict JSON: values as `JSON.parse` reads them, and the span of every value.

A document may be a window inside a larger file; all offsets, lines and columns are those of the file. It is
never changed: `splice` makes new bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from weakref import WeakValueDictionary

import msgspec
import orjson

from ctxview.core.origin import JsonValue, Origin
from ctxview.files.line_columns import LineColumn, LineColumns
from ctxview.files.strict_json import syntax_errors
from ctxview.files.strict_json.outline import JsonOutline, outline
from ctxview.files.strict_json.scanner import scan, skip_space
from ctxview.files.strict_json.syntax_errors import SyntaxFault
from ctxview.files.strict_json.tree import JsonTree, escape_token, join
from ctxview.files.strict_json.values import all_values

__all__ = [
    "JsonDocument",
    "JsonError",
    "LineColumn",
    "LineColumns",
    "escape_token",
    "join",
    "parse",
    "parse_once",
]

LARGE = 1024 * 1024
"""The value of a larger text is built when it is needed."""
MOST_REPEATED = 100
"""The most repeated keys in the outline of a document."""


class JsonError(ValueError):
    """A text that is not JSON: the place of the first error, and the reason in a sentence."""

    def __init__(self, reason: str, place: LineColumn | Callable[[], LineColumn]) -> None:
        super().__init__(reason)
        self.reason = reason
        self._place = place

    @cached_property
    def place(self) -> LineColumn:
        """Found when it is needed: counting characters takes longer than parsing."""
        return self._place() if callable(self._place) else self._place

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def parse(
    data: bytes, start: int = 0, end: int | None = None, *, places: LineColumns | None = None
) -> JsonDocument:
    """Parse the JSON text `data[start:end]`; raises `JsonError`. Windows of one file may share `places`."""
    return JsonDocument(data, start, len(data) if end is None else end, places or LineColumns(data))


def parse_once(data: bytes) -> JsonDocument:
    """Parse a whole file; the same `bytes` object gives the same document as long as that is in use.

    So a file that was parsed to recognise its format is not parsed again. Raises `JsonError`.
    """
    known = _in_use.get(id(data))
    if known is None or known.data is not data:
        known = _in_use[id(data)] = parse(data)
    return known


_in_use: WeakValueDictionary[int, JsonDocument] = WeakValueDictionary()
"""The documents of whole files, by the identity of their bytes, which they keep alive."""


class JsonDocument:
    """One parsed JSON text. Its `value` must not be changed; the text is scanned when spans are needed."""

    def __init__(self, data: bytes, start: int, end: int, places: LineColumns) -> None:
        self.data = data
        self.start = start
        self.end = end
        self._places = places
        self._check()

    @cached_property
    def value(self) -> JsonValue:
        """The value of `JSON.parse`: the last duplicate wins, 1e400 is infinite, lone surrogates stay."""
        try:
            value: JsonValue = orjson.loads(self._text)
        except orjson.JSONDecodeError:
            return self.tree.value()
        return value

    @cached_property
    def tree(self) -> JsonTree:
        """The nodes of the text, for more than spans."""
        return self._scan()

    @cached_property
    def duplicates(self) -> tuple[str, ...]:
        """The pointer of every member that repeats a key of its object."""
        # A text without repeated keys has as many nodes as its value has parts.
        if "tree" in self.__dict__ and len(self.tree) == sum(1 for _ in all_values(self.value)):
            return ()
        found = self.outline
        if found.count > len(found.repeated):
            found = outline(self.data, self.start, self.end)
        return tuple(each.pointer for each in found.repeated)

    @cached_property
    def outline(self) -> JsonOutline:
        """The nesting and the first repeated keys, which need neither the value nor the nodes."""
        return outline(self.data, self.start, self.end, MOST_REPEATED)

    def span(self, pointer: str) -> tuple[int, int] | None:
        """Return the byte span of the value at `pointer` in the file, or None."""
        node = self.tree.find(pointer)
        return None if node is None else self.tree.span(node)

    def key_span(self, pointer: str) -> tuple[int, int] | None:
        """Return the byte span of the key at `pointer` with its quotes; None for other values."""
        node = self.tree.find(pointer)
        return None if node is None else self.tree.key_span(node)

    def literal(self, pointer: str) -> bytes:
        """Return the bytes of the value at `pointer`; raises `KeyError`."""
        span = self.span(pointer)
        if span is None:
            raise KeyError(pointer)
        return self.data[slice(*span)]

    def place(self, offset: int) -> LineColumn:
        return self._places.at(offset)

    def origin(self, file: str, pointer: str) -> Origin:
        """Return the origin of the value at `pointer`, or of its nearest existing ancestor."""
        span = self.span(pointer)
        while span is None:
            pointer = pointer.rpartition("/")[0]
            span = self.span(pointer)
        return self.origin_at(file, pointer, *span)

    def origin_at(self, file: str, pointer: str, start: int, end: int) -> Origin:
        """Return the origin of the value at `pointer` with a known span, without a scan of the text."""
        place = self.place(start)
        return Origin(file, pointer, start, end, place.line, place.column)

    @property
    def root_span(self) -> tuple[int, int]:
        """The span of the whole value, without a scan of the text."""
        end = self.end
        while self.data[end - 1] in b" \t\n\r":
            end -= 1
        return skip_space(self.data, self.start, end), end

    @property
    def _text(self) -> memoryview:
        return memoryview(self.data)[self.start : self.end]

    def _check(self) -> None:
        """Check that the text is JSON; raises `JsonError`."""
        try:
            if len(self._text) > LARGE:
                msgspec.json.decode(self._text, type=msgspec.Raw)  # it checks the syntax, but not the UTF-8
                str(self._text, "utf-8")
            else:
                # This sets the cached property: when orjson accepts the text, the value needs no scan.
                self.__dict__["value"] = orjson.loads(self._text)
        except (ValueError, RecursionError):
            # Both reject some texts that JSON.parse accepts (1e400, lone surrogates, great depth): scan.
            try:
                str(self._text, "utf-8")
            except UnicodeDecodeError as error:
                offset = self.start + error.start
                raise JsonError(
                    syntax_errors.bad_utf8(self.data[offset]), partial(self.place, offset)
                ) from None
            self.__dict__["tree"] = self._scan()

    def _scan(self) -> JsonTree:
        try:
            return JsonTree(self.data, scan(self.data, self.start, self.end))
        except SyntaxFault as error:
            raise JsonError(error.reason, partial(self.place, error.offset)) from None
