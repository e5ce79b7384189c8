"""Small files of JSON lines, such as facts and indexes: each line is a record with its position or problem.

For derived files that fit into memory; `history` reads histories.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from ctxview.core.origin import JsonValue, Origin
from ctxview.files.line_columns import LineColumns
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.files.strict_json.tree import join

if TYPE_CHECKING:
    from ctxview.formats.kit.folder import FolderFile

MOST_RECORDS = 20_000


class JsonObjectFile(Struct, frozen=True):
    """A file that should be one JSON object."""

    part: FolderFile
    document: JsonDocument | None = None
    error: JsonError | None = None

    @property
    def file(self) -> str:
        return self.part.file

    @property
    def members(self) -> dict[str, JsonValue]:
        value = self.document.value if self.document is not None else None
        return value if isinstance(value, dict) else {}

    @property
    def is_object(self) -> bool:
        return self.document is not None and isinstance(self.document.value, dict)

    def origin(self, *path: str | int) -> Origin:
        if self.document is not None:
            return self.document.origin(self.file, join("", *path))
        if self.error is not None:
            place = self.error.place
            return Origin(self.file, None, place.offset, place.offset, place.line, place.column)
        return Origin(self.file)


def read_object(part: FolderFile) -> JsonObjectFile:
    if part.data is None or not part.data.strip():
        return JsonObjectFile(part)
    try:
        return JsonObjectFile(part, parse(part.data))
    except JsonError as error:
        return JsonObjectFile(part, None, error)


class JsonRecord(Struct, frozen=True):
    """One non-blank line. `index` counts lines from 0 and begins its pointers: `/3/text`."""

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
        """Return a member that is a whole number of zero or more, or None."""
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
        """Return the origin of the value at `path`, or of the nearest existing value above it."""
        if self.document is None or not path:
            start = self.start if self.error_at is None else self.error_at
            return Origin(self.file, self.pointer, start, self.end, self.line, 1)
        found = self.document.origin(self.file, join("", *path))
        pointer = f"{self.pointer}{found.pointer or ''}"
        return Origin(self.file, pointer, found.start, found.end, found.line, found.column)


class JsonRecordFile(Struct, frozen=True, dict=True):
    """A file of records; it has none when it is absent, empty or unreadable."""

    part: FolderFile
    records: tuple[JsonRecord, ...] = ()
    left_out: int = 0
    """The number of records beyond `MOST_RECORDS`, which were not read."""

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


def read_records(part: FolderFile) -> JsonRecordFile:
    records: list[JsonRecord] = []
    left_out = 0
    data = part.data or b""
    places = LineColumns(data)
    for index, start, end in line_spans(data):
        if not data[start:end].strip():
            continue
        if len(records) < MOST_RECORDS:
            records.append(_record(part.file, data, index, start, end, places))
        else:
            left_out += 1
    return JsonRecordFile(part, tuple(records), left_out)


def line_spans(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield index, start and end of each line, without its newline and a carriage return before it."""
    start = index = 0
    while start < len(data):
        newline = data.find(b"\n", start)
        end = len(data) if newline < 0 else newline
        yield index, start, end - 1 if data[start:end].endswith(b"\r") else end
        start, index = end + 1, index + 1


def _record(file: str, data: bytes, index: int, start: int, end: int, places: LineColumns) -> JsonRecord:
    try:
        document = parse(data, start, end, places=places)
    except JsonError as error:
        reason = f"not JSON: {error.reason}"
        return JsonRecord(file, index, start, end, None, reason, None, error.place.offset)
    value = document.value
    if not isinstance(value, dict):
        return JsonRecord(file, index, start, end, None, "the line is JSON, but not an object", document)
    return JsonRecord(file, index, start, end, value, None, document)
