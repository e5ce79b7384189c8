"""From the bytes of one file to its records: an object, a list, JSON lines, and the records inside records.

Never raises and never judges: what is no JSON or no record is kept with its place, and the rest is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from functools import lru_cache
from itertools import islice

from ctxview.analysis.wording import counted
from ctxview.files.json_document import JsonDocument, JsonError, join, parse
from ctxview.files.places import Places
from ctxview.formats.envelope.fields import FIELDS
from ctxview.formats.envelope.model import Record, Reference, Stray
from ctxview.formats.envelope.vocabulary import KIND_OF_ID, OWN_ID, Kind
from ctxview.origin import JsonValue, Origin
from ctxview.quick_dataclass import dataclass

MOST_RECORDS = 50_000
DEEPEST = 200
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LINE_FILES = (".jsonl", ".ndjson")
LABELS = frozenset(("metadata", "title", "token_estimate", "byte_size", "priority"))
"""What a reference may repeat of a record without being one."""
_LIST = re.compile(rb"\s*+\[")
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[{}\[\]]', re.DOTALL)


class Layout(StrEnum):
    """How the records of a file stand in it."""

    OBJECT = "one object"
    ARRAY = "a list"
    LINES = "JSON lines"


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of a file that is no JSON: where, and why."""

    origin: Origin
    error: JsonError

    @property
    def reason(self) -> str:
        return self.error.reason


@dataclass(frozen=True)
class RecordFile:
    """One file, read: its records with those inside them, and what could not be read."""

    file: str
    data: bytes = field(repr=False)
    layout: Layout
    records: tuple[Record, ...]
    problems: tuple[Problem, ...] = ()
    """What is no JSON."""
    strays: tuple[Stray, ...] = ()
    """What is JSON, and no record."""
    documents: tuple[tuple[str, JsonDocument], ...] = field(default=(), repr=False)
    """Every JSON text in the file with what stands before pointers into it: one, or one for each line."""
    left_out: str | None = None
    """What was too much to be looked at."""


def read_file(file: str, data: bytes, *, whole: bool = True) -> RecordFile:
    """The records in `data`. When that is not the `whole` file, its torn end is not held against it."""
    reader = _Reader(file, data, whole)
    start, end = reader.bounds()
    layout = reader.read(start, end)
    return RecordFile(
        file,
        data,
        layout,
        tuple(reader.records),
        tuple(reader.problems),
        tuple(reader.strays),
        tuple(reader.documents),
        reader.left_out,
    )


# An edit asks about the same bytes several times: to make it, to prove it, to review it.
read_again = lru_cache(maxsize=16)(read_file)


def kind_of(value: JsonValue) -> Kind | None:
    """What an object is, by the first id field it has; None when it is no record."""
    if not isinstance(value, dict):
        return None
    return next((kind for name, kind in KIND_OF_ID.items() if name in value), None)


def embedded(reference: Reference) -> tuple[Kind, Mapping[str, JsonValue], tuple[str | int, ...]] | None:
    """The whole record that stands in the place of a reference, with its path; None for a mere reference."""
    for members, path in ((reference.members, ()), (reference.within, ("item_ref",))):
        for kind in reference.leads_to:
            own = OWN_ID[kind]
            if own in members and members.keys() & FIELDS[kind].keys() - LABELS - {own}:
                return kind, members, (*reference.path, *path)
    return None


class _Reader:
    """Collects what one file holds."""

    def __init__(self, file: str, data: bytes, whole: bool) -> None:
        self.file = file
        self.data = data
        self.whole = whole
        self.records: list[Record] = []
        self.problems: list[Problem] = []
        self.strays: list[Stray] = []
        self.documents: list[tuple[str, JsonDocument]] = []
        self.left_out: str | None = None
        self._places = Places(data)

    def bounds(self) -> tuple[int, int]:
        """Where the text stands, without a byte order mark and without the NULs a crash leaves behind."""
        start = len(BYTE_ORDER_MARK) if self.data.startswith(BYTE_ORDER_MARK) else 0
        end = max(start, len(self.data.rstrip(b"\0")))
        if end < len(self.data):
            reason = f"the file ends in {counted(len(self.data) - end, 'NUL byte')}"
            self._broken(JsonError(reason, self._places.at(end)), len(self.data))
        return start, end

    def read(self, start: int, end: int) -> Layout:
        if self.file.endswith(LINE_FILES) and self._begins_with_a_line(start, end):
            return self._read_lines(start, end)
        try:
            document = parse(self.data, start, end, places=self._places)
        except JsonError as error:
            return self._read_broken(start, end, error)
        self.documents.append(("", document))
        if isinstance(document.value, list):
            for index, element in enumerate(document.value):
                self._add(document, element, join("", index), "")
            return Layout.ARRAY
        self._add(document, document.value, "", "")
        return Layout.OBJECT

    def _read_broken(self, start: int, end: int, error: JsonError) -> Layout:
        """Lines are no JSON text together; of a broken list the elements before the break are whole."""
        if self._begins_with_a_line(start, end):
            return self._read_lines(start, end)
        if self.whole:
            self._broken(error, end)
        if not self._is_list(start):
            return Layout.OBJECT
        for index, (first, last) in enumerate(_elements(self.data, start, end)):
            self._add_text(first, last, join("", index), torn=True)
        return Layout.ARRAY

    def _begins_with_a_line(self, start: int, end: int) -> bool:
        """Whether one of the first lines is an object by itself."""
        if self._is_list(start):
            return False
        for first, last in islice(_lines(self.data, start, end), 3):
            try:
                if isinstance(parse(self.data, first, last, places=self._places).value, dict):
                    return True
            except JsonError:
                continue
        return False

    def _is_list(self, start: int) -> bool:
        return _LIST.match(self.data, start) is not None

    def _read_lines(self, start: int, end: int) -> Layout:
        line = self.data.count(b"\n", 0, start)
        at = start
        for first, last in _lines(self.data, start, end):
            line += self.data.count(b"\n", at, first)
            at = first
            torn = not self.whole and self.data.find(b"\n", last, end) < 0
            self._add_text(first, last, join("", line), torn)
        return Layout.LINES

    def _add_text(self, start: int, end: int, prefix: str, torn: bool) -> None:
        """One text of several; a torn one that is no JSON is told elsewhere."""
        try:
            document = parse(self.data, start, end, places=self._places)
        except JsonError as error:
            if not torn:
                self._broken(error, end)
            return
        self.documents.append((prefix, document))
        self._add(document, document.value, "", prefix)

    def _add(self, document: JsonDocument, value: JsonValue, inner: str, prefix: str) -> None:
        kind = kind_of(value)
        if kind is None or not isinstance(value, dict):
            found = document.origin(self.file, inner)
            pointer = prefix + inner
            origin = Origin(self.file, pointer, found.start, found.end, found.line, found.column)
            self.strays.append(Stray(value, origin))
            return
        waiting = [Record(kind, value, self.file, document, inner, prefix)]
        while waiting:
            if len(self.records) >= MOST_RECORDS:
                self.left_out = f"only the first {MOST_RECORDS:,} records were looked at"
                return
            record = waiting.pop()
            self.records.append(record)
            if record.inner.count("/") < DEEPEST:
                waiting.extend(reversed([*_inside(record)]))
            else:
                self.left_out = f"records inside records deeper than {DEEPEST} steps were not looked at"

    def _broken(self, error: JsonError, end: int) -> None:
        place = error.place
        origin = Origin(self.file, None, place.offset, end, place.line, place.column)
        self.problems.append(Problem(origin, error))


def _inside(record: Record) -> Iterator[Record]:
    for reference in record.references:
        if (found := embedded(reference)) is not None:
            kind, members, path = found
            inner = join(record.inner, *path)
            yield Record(kind, members, record.file, record.document, inner, record.prefix, record)


def _lines(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The lines that are not blank, without their ends."""
    while start < end:
        newline = data.find(b"\n", start, end)
        last = end if newline < 0 else newline
        if data[start:last].strip():
            yield start, last - 1 if data[last - 1 : last] == b"\r" else last
        start = last + 1


def _elements(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The objects of a broken list that are whole, as far as brackets and quotes tell."""
    depth, first = 0, start
    for token in _TOKEN.finditer(data, start, end):
        if token[0] in b"{[":
            depth += 1
            first = token.start() if depth == 2 else first
        elif token[0] in b"}]":
            depth -= 1
            if depth == 1:
                yield first, token.end()
