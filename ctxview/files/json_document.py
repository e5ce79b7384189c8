"""Strict JSON that remembers its bytes: values as `JSON.parse` reads them, and the span of every one of them.

A document may be a window inside a larger file; all offsets, lines and columns are those of the file. It
changes nothing: splices make new bytes (see `splice`).
"""

from __future__ import annotations

from functools import cached_property

import orjson

from ctxview.files import json_reasons as reasons
from ctxview.files.json_reasons import Malformed
from ctxview.files.json_scanner import scan
from ctxview.files.json_tree import JsonTree, escape_token, join
from ctxview.files.places import Place, Places
from ctxview.origin import JsonValue, Origin

__all__ = ["JsonDocument", "JsonError", "Place", "Places", "escape_token", "join", "parse"]


class JsonError(ValueError):
    """A text that is not JSON: where it stops being so, and why, in a sentence for a person."""

    def __init__(self, reason: str, place: Place) -> None:
        super().__init__(f"{place}: {reason}")
        self.reason = reason
        self.place = place


def parse(
    data: bytes, start: int = 0, end: int | None = None, *, places: Places | None = None
) -> JsonDocument:
    """The JSON text in `data[start:end]`; raises `JsonError`. Windows of one file may share `places`."""
    return JsonDocument(data, start, len(data) if end is None else end, places or Places(data))


class JsonDocument:
    """One JSON text as it was read. Nobody may change its `value`; spans take one scan, when first asked."""

    def __init__(self, data: bytes, start: int, end: int, places: Places) -> None:
        self.data = data
        self.start = start
        self.end = end
        self._places = places
        self._settle()

    @cached_property
    def value(self) -> JsonValue:
        """What `JSON.parse` reads: the last duplicate wins, 1e400 is infinite, lone surrogates are kept."""
        return self.tree.value()

    @cached_property
    def tree(self) -> JsonTree:
        """The nodes behind the value, for those who need more than spans."""
        return self._scan()

    @cached_property
    def duplicates(self) -> tuple[str, ...]:
        """The pointer of every member that repeats a key of its object."""
        return tuple(self.tree.pointer(node) for node in self.tree.duplicates())

    def span(self, pointer: str) -> tuple[int, int] | None:
        """Where the value at `pointer` stands in the file, from byte to byte; None when there is none."""
        node = self.tree.find(pointer)
        return None if node is None else self.tree.span(node)

    def key_span(self, pointer: str) -> tuple[int, int] | None:
        """Where the key of the member at `pointer` stands, quotes included; None for all else."""
        node = self.tree.find(pointer)
        return None if node is None else self.tree.key_span(node)

    def literal(self, pointer: str) -> bytes:
        """The value at `pointer` as it is spelled; raises `KeyError`."""
        span = self.span(pointer)
        if span is None:
            raise KeyError(pointer)
        return self.data[slice(*span)]

    def place(self, offset: int) -> Place:
        return self._places.at(offset)

    def origin(self, file: str, pointer: str) -> Origin:
        """Where `pointer` leads, or the nearest thing above it that exists."""
        span = self.span(pointer)
        while span is None:
            pointer = pointer.rpartition("/")[0]
            span = self.span(pointer)
        place = self.place(span[0])
        return Origin(file, pointer, span[0], span[1], place.line, place.column)

    def _settle(self) -> None:
        """Find out whether this is JSON at all; raises `JsonError`."""
        try:
            # This is the cached property: when orjson says yes nothing has to be scanned for the value.
            self.__dict__["value"] = orjson.loads(memoryview(self.data)[self.start : self.end])
        except orjson.JSONDecodeError:
            # orjson refuses texts JSON.parse takes (1e400, lone surrogates, great depth): scan to decide.
            self._demand_utf8()
            self.__dict__["tree"] = self._scan()

    def _scan(self) -> JsonTree:
        try:
            return JsonTree(self.data, scan(self.data, self.start, self.end))
        except Malformed as error:
            raise JsonError(error.reason, self.place(error.offset)) from None

    def _demand_utf8(self) -> None:
        try:
            str(memoryview(self.data)[self.start : self.end], "utf-8")
        except UnicodeDecodeError as error:
            offset = self.start + error.start
            raise JsonError(reasons.not_utf8(self.data[offset]), self.place(offset)) from None
