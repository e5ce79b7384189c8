"""Parse strict JSON: values as `JSON.parse` reads them, and the span of every value.

A document may be a window inside a larger file; all offsets, lines and columns are those of the file. It is
never changed: `splice` makes new bytes.
"""

from __future__ import annotations

from functools import cached_property

import orjson

from ctxview.core.origin import JsonValue, Origin
from ctxview.files.line_columns import LineColumn, LineColumns
from ctxview.files.strict_json import syntax_errors
from ctxview.files.strict_json.scanner import scan
from ctxview.files.strict_json.syntax_errors import SyntaxFault
from ctxview.files.strict_json.tree import JsonTree, escape_token, join

__all__ = ["JsonDocument", "JsonError", "LineColumn", "LineColumns", "escape_token", "join", "parse"]


class JsonError(ValueError):
    """A text that is not JSON: the place of the first error, and the reason in a sentence."""

    def __init__(self, reason: str, place: LineColumn) -> None:
        super().__init__(f"{place}: {reason}")
        self.reason = reason
        self.place = place


def parse(
    data: bytes, start: int = 0, end: int | None = None, *, places: LineColumns | None = None
) -> JsonDocument:
    """Parse the JSON text `data[start:end]`; raises `JsonError`. Windows of one file may share `places`."""
    return JsonDocument(data, start, len(data) if end is None else end, places or LineColumns(data))


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
        return self.tree.value()

    @cached_property
    def tree(self) -> JsonTree:
        """The nodes of the text, for more than spans."""
        return self._scan()

    @cached_property
    def duplicates(self) -> tuple[str, ...]:
        """The pointer of every member that repeats a key of its object."""
        return tuple(self.tree.pointer(node) for node in self.tree.duplicates())

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
        place = self.place(span[0])
        return Origin(file, pointer, span[0], span[1], place.line, place.column)

    def _check(self) -> None:
        """Check that the text is JSON; raises `JsonError`."""
        try:
            # This sets the cached property: when orjson accepts the text, the value needs no scan.
            self.__dict__["value"] = orjson.loads(memoryview(self.data)[self.start : self.end])
        except orjson.JSONDecodeError:
            # orjson rejects some texts that JSON.parse accepts (1e400, lone surrogates, great depth): scan.
            try:
                str(memoryview(self.data)[self.start : self.end], "utf-8")
            except UnicodeDecodeError as error:
                offset = self.start + error.start
                raise JsonError(syntax_errors.bad_utf8(self.data[offset]), self.place(offset)) from None
            self.__dict__["tree"] = self._scan()

    def _scan(self) -> JsonTree:
        try:
            return JsonTree(self.data, scan(self.data, self.start, self.end))
        except SyntaxFault as error:
            raise JsonError(error.reason, self.place(error.offset)) from None
