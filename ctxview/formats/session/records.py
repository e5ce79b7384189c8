"""Small files of JSON lines, such as facts and indexes: each line a record with its place or its problem.

For the derived files of a session, which fit into memory; the histories are read by `history`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ctxview.files.json_document import JsonDocument, JsonError, join, parse
from ctxview.files.places import Places
from ctxview.formats.session.folder import Part
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue, Origin

MOST_RECORDS = 20_000


@dataclass(frozen=True)
class Record:
    """One line that is not blank. `index` counts lines from 0 and begins its pointers: `/3/text`."""

    file: str
    index: int
    start: int
    end: int
    value: dict[str, JsonValue] | None
    problem: str | None
    document: JsonDocument | None
    error_at: int | None = None
    """The byte where the line stops being JSON."""

    @property
    def members(self) -> dict[str, JsonValue]:
        return self.value or {}

    def text(self, name: str) -> str | None:
        found = self.members.get(name)
        return found if isinstance(found, str) else None

    def number(self, name: str) -> int | None:
        """A whole number of zero or more."""
        found = self.members.get(name)
        whole = isinstance(found, int) and not isinstance(found, bool) and found >= 0
        return found if whole and isinstance(found, int) else None

    @property
    def pointer(self) -> str:
        return join("", self.index)

    @property
    def line(self) -> int:
        return self.index + 1

    def origin(self, *path: str | int) -> Origin:
        """Where something inside the record stands; the nearest thing above it that exists."""
        if self.document is None or not path:
            start = self.start if self.error_at is None else self.error_at
            return Origin(self.file, self.pointer, start, self.end, self.line, 1)
        found = self.document.origin(self.file, join("", *path))
        pointer = f"{self.pointer}{found.pointer or ''}"
        return Origin(self.file, pointer, found.start, found.end, found.line, found.column)


@dataclass(frozen=True)
class RecordFile:
    """A file of records; none when it is absent, empty or unreadable."""

    part: Part
    records: tuple[Record, ...] = ()
    left_out: int = 0
    """How many records were too many to be looked at."""

    @property
    def file(self) -> str:
        return self.part.file

    @property
    def torn(self) -> bool:
        """Whether the last line has no end."""
        return bool(self.part.data) and not (self.part.data or b"").endswith(b"\n")

    @cached_property
    def lines(self) -> int:
        return (self.part.data or b"").count(b"\n") + self.torn


def read_records(part: Part) -> RecordFile:
    """The records of a file, as they are."""
    records: list[Record] = []
    left_out = 0
    data = part.data or b""
    places = Places(data)
    for index, start, end in line_spans(data):
        if not data[start:end].strip():
            continue
        if len(records) < MOST_RECORDS:
            records.append(_record(part.file, data, index, start, end, places))
        else:
            left_out += 1
    return RecordFile(part, tuple(records), left_out)


def line_spans(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Index, start and end of each line, without its newline or a carriage return before that."""
    start = index = 0
    while start < len(data):
        newline = data.find(b"\n", start)
        end = len(data) if newline < 0 else newline
        yield index, start, end - 1 if data[start:end].endswith(b"\r") else end
        start, index = end + 1, index + 1


def _record(file: str, data: bytes, index: int, start: int, end: int, places: Places) -> Record:
    try:
        document = parse(data, start, end, places=places)
    except JsonError as error:
        reason = f"not JSON: {error.reason}"
        return Record(file, index, start, end, None, reason, None, error.place.offset)
    value = document.value
    if not isinstance(value, dict):
        return Record(file, index, start, end, None, "the line is JSON, but no object", document)
    return Record(file, index, start, end, value, None, document)
