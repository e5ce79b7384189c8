"""Parse the bytes of one file into records: an object, a list, JSON lines, and records inside records.

Never raises and never reports findings: parts that are not JSON or not a record are returned with their
origin, and the rest is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from itertools import islice

from msgspec import Struct

from ctxview.analysis.wording import counted
from ctxview.core.origin import JsonValue, Origin
from ctxview.files.line_columns import LineColumns
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse, parse_once
from ctxview.files.strict_json.tree import join
from ctxview.formats.envelope.field_specs import FIELDS, kind_of
from ctxview.formats.envelope.model import Record, RecordReference, StrayValue
from ctxview.formats.envelope.vocabulary import OWN_ID, RecordKind
from ctxview.formats.peek import LINES_SUFFIXES

MOST_RECORDS = 50_000
DEEPEST = 200
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LABELS = frozenset(("metadata", "title", "token_estimate", "byte_size", "priority"))
"""The fields of a record that a reference may repeat without being an embedded record."""
_LIST = re.compile(rb"\s*+\[")
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[{}\[\]]', re.DOTALL)


class RecordLayout(StrEnum):
    """How a file lays out its records."""

    OBJECT = "one object"
    ARRAY = "a list"
    LINES = "JSON lines"


class ParseProblem(Struct, frozen=True):
    """A part of a file that is not JSON."""

    origin: Origin
    error: JsonError

    @property
    def reason(self) -> str:
        return self.error.reason


class RecordFile(Struct, frozen=True):
    """One parsed file: its records with embedded ones, and the parts that could not be read."""

    file: str
    data: bytes
    layout: RecordLayout
    records: tuple[Record, ...]
    problems: tuple[ParseProblem, ...] = ()
    """The parts that are not JSON."""
    strays: tuple[StrayValue, ...] = ()
    """The JSON values that are not records."""
    documents: tuple[tuple[str, JsonDocument], ...] = ()
    """Every JSON text in the file with its pointer prefix: one text, or one for each line."""
    left_out: str | None = None
    """Which part was not read because a limit was reached, or None."""

    @property
    def broken_parts(self) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and text of the parts between the JSON texts."""
        done = 0
        for start, end in (*((each.start, each.end) for _, each in self.documents), (len(self.data), 0)):
            if (part := self.data[done:start]).strip(b" \t\r\n,[]\0"):
                yield done, start, part.decode("utf-8", "surrogateescape")
            done = end


def parse_record_file(file: str, data: bytes, *, whole: bool = True) -> RecordFile:
    """Parse the records in `data`. Unless it is the `whole` file, a cut-off end is not a problem."""
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


# One edit parses the same bytes several times: to apply it, to verify it, to review it.
read_again = lru_cache(maxsize=16)(parse_record_file)


def embedded(
    reference: RecordReference,
) -> tuple[RecordKind, Mapping[str, JsonValue], tuple[str | int, ...]] | None:
    """The kind, members and path of the record that replaces a reference; None for a plain reference."""
    for members, path in ((reference.members, ()), (reference.wrapped, ("item_ref",))):
        for kind in reference.leads_to:
            own = OWN_ID[kind]
            if own in members and members.keys() & FIELDS[kind].keys() - LABELS - {own}:
                return kind, members, (*reference.path, *path)
    return None


class _Reader:
    """Collects the records and problems of one file."""

    def __init__(self, file: str, data: bytes, whole: bool) -> None:
        self.file = file
        self.data = data
        self.whole = whole
        self.records: list[Record] = []
        self.problems: list[ParseProblem] = []
        self.strays: list[StrayValue] = []
        self.documents: list[tuple[str, JsonDocument]] = []
        self.left_out: str | None = None
        self._places = LineColumns(data)

    def bounds(self) -> tuple[int, int]:
        """The start and end of the text, without a byte order mark and the NULs that a crash leaves."""
        start = len(BYTE_ORDER_MARK) if self.data.startswith(BYTE_ORDER_MARK) else 0
        end = max(start, len(self.data.rstrip(b"\0")))
        if end < len(self.data):
            reason = f"the file ends in {counted(len(self.data) - end, 'NUL byte')}"
            self._broken(JsonError(reason, self._places.at(end)), len(self.data))
        return start, end

    def read(self, start: int, end: int) -> RecordLayout:
        if self.file.lower().endswith(LINES_SUFFIXES) and self._begins_with_a_line(start, end):
            return self._read_lines(start, end)
        try:
            document = self._parse_all(start, end)
        except JsonError as error:
            return self._read_broken(start, end, error)
        self.documents.append(("", document))
        if isinstance(document.value, list):
            for index, element in enumerate(document.value):
                self._add(document, element, join("", index), "")
            return RecordLayout.ARRAY
        self._add(document, document.value, "", "")
        return RecordLayout.OBJECT

    def _parse_all(self, start: int, end: int) -> JsonDocument:
        if (start, end) == (0, len(self.data)):
            return parse_once(self.data)
        return parse(self.data, start, end, places=self._places)

    def _read_broken(self, start: int, end: int, error: JsonError) -> RecordLayout:
        """Read JSON lines, or the elements of a broken list before the break."""
        if self._begins_with_a_line(start, end):
            return self._read_lines(start, end)
        if self.whole:
            self._broken(error, end)
        if not self._is_list(start):
            return RecordLayout.OBJECT
        for index, (first, last) in enumerate(_elements(self.data, start, end)):
            self._add_text(first, last, join("", index), torn=True)
        return RecordLayout.ARRAY

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

    def _read_lines(self, start: int, end: int) -> RecordLayout:
        line = self.data.count(b"\n", 0, start)
        at = start
        for first, last in _lines(self.data, start, end):
            line += self.data.count(b"\n", at, first)
            at = first
            torn = not self.whole and self.data.find(b"\n", last, end) < 0
            self._add_text(first, last, join("", line), torn)
        return RecordLayout.LINES

    def _add_text(self, start: int, end: int, prefix: str, torn: bool) -> None:
        """Add one of several texts; a `torn` one that is not JSON is reported elsewhere."""
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
            origin = Origin(self.file, prefix + inner, found.start, found.end, found.line, found.column)
            self.strays.append(StrayValue(value, origin))
            return
        waiting = [Record(kind, value, self.file, document, inner, prefix)]
        while waiting:
            if len(self.records) >= MOST_RECORDS:
                self.left_out = f"only the first {MOST_RECORDS:,} records were read"
                return
            record = waiting.pop()
            self.records.append(record)
            if record.inner.count("/") < DEEPEST:
                inside = [each for reference in record.references if (each := embedded(reference))]
                for kind, members, path in reversed(inside):
                    place = join(record.inner, *path)
                    waiting.append(Record(kind, members, self.file, document, place, prefix, record))
            else:
                self.left_out = f"records nested more than {DEEPEST} levels deep were not read"

    def _broken(self, error: JsonError, end: int) -> None:
        place = error.place
        origin = Origin(self.file, None, place.offset, end, place.line, place.column)
        self.problems.append(ParseProblem(origin, error))


def _lines(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line that is not blank, without its line ending."""
    while start < end:
        newline = data.find(b"\n", start, end)
        last = end if newline < 0 else newline
        if data[start:last].strip():
            yield start, last - 1 if data[last - 1 : last] == b"\r" else last
        start = last + 1


def _elements(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each complete object of a broken list, by brackets and quotes."""
    depth, first = 0, start
    for token in _TOKEN.finditer(data, start, end):
        if token[0] in b"{[":
            depth += 1
            first = token.start() if depth == 2 else first
        elif token[0] in b"}]":
            depth -= 1
            if depth == 1:
                yield first, token.end()
