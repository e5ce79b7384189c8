"""Texts of parts, read from the file when they are shown, and the rows of the History pane."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Protocol

from ctxview.analysis.wording import beginning
from ctxview.core.transcript import Row
from ctxview.files.line_file import LineFile
from ctxview.files.reading import ReadError
from ctxview.formats.kit.history import FileHistoryStream
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.kit.transcript import HistoryTranscript
from ctxview.formats.transcript.claude import texts as claude_texts
from ctxview.formats.transcript.codex import reader as codex
from ctxview.formats.transcript.loading import reader_for, take_line
from ctxview.formats.transcript.model import Absence, Dialect, LiveContext, LogPart, Record, TranscriptLog
from ctxview.formats.transcript.records import record_of, records_of

LONGEST_TEXT = 64 * 1024
LONGEST_ROW = 256 * 1024
MOST_KEPT = 24 * 1024 * 1024
"""Characters of texts that are kept for the next reading."""


_OPAQUE = (b'"encrypted_content":"', b'"type":"base64","data":"')


class Texts(Protocol):
    """Returns the text of a part: its beginning, or the whole."""

    def text(self, part: LogPart, limit: int = LONGEST_TEXT) -> str: ...
    def whole(self, part: LogPart) -> str: ...
    def same_bytes(self, row: int, other: int) -> bool:
        """Whether two rows are written in the same way."""


class PartTexts:
    """The texts of the parts of one file, the last used ones kept."""

    def __init__(self, lines: LineFile, log: TranscriptLog) -> None:
        self._lines, self.log = lines, log
        self._kept: OrderedDict[tuple[int, int], str] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def text(self, part: LogPart, limit: int = LONGEST_TEXT) -> str:
        """Return the beginning of the text of a part; empty when the file cannot be read any more."""
        row = self.log.rows[part.row]
        key = row.start, part.place
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return beginning(self._kept[key], limit)
        shown = beginning(self._read(part, row.start, row.end), LONGEST_TEXT)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = shown
                self._size += len(shown)
            while self._size > MOST_KEPT:
                self._size -= len(self._kept.popitem(last=False)[1])
        return beginning(shown, limit)

    def whole(self, part: LogPart) -> str:
        """Return the whole text of a part."""
        row = self.log.rows[part.row]
        return self._read(part, row.start, row.end)

    def same_bytes(self, row: int, other: int) -> bool:
        spans = [(self.log.rows[each].start, self.log.rows[each].end) for each in (row, other)]
        try:
            one, two = (self._lines.read(*span) for span in spans)
        except ReadError:
            return False
        return one == two

    def _read(self, part: LogPart, start: int, end: int) -> str:
        try:
            value = record_of(self._lines.read(start, end))
        except ReadError:
            return ""
        return text_of(self.log.dialect, value, part) if value is not None else ""


def text_of(dialect: Dialect, value: Record, part: LogPart) -> str:
    """Return the text of a part of a record."""
    if dialect is Dialect.CODEX:
        return codex.part_text(value, part)
    return claude_texts.part_text(value, part)


_REASONS = (None, *Absence)


def absent_lines(log: TranscriptLog, context: LiveContext) -> bytes:
    """Return for each line the number of the reason why the model does not get it; 0 is none.

    Every reading that is kept has one, so it takes a byte a line.
    """
    rows = log.rows
    found = bytearray((rows[-1].line or 0) + 1 if rows else 0)
    for why, gone in context.absent.items():
        number = _REASONS.index(why)
        for row in gone:
            if (line := rows[row].line) is not None:
                found[line] = number
    return bytes(found)


def history_rows(stream: FileHistoryStream, dialect: Dialect, absent: bytes) -> HistoryTranscript:
    """Return all rows for the History pane; `absent` is what `absent_lines` returns."""

    def row_of(line: HistoryLine, index: int) -> Row:
        role, kind, text, known = _decoded(line, dialect)
        unseen = None
        if not known and not line.is_blank:
            unseen = "not part of the conversation: only the program's screen uses it"
        elif line.number is not None and line.number < len(absent):
            unseen = _REASONS[absent[line.number]]
        broken = line.problem if not line.is_blank and line.value is None else None
        at = line.number if line.number is not None else index
        return Row(
            at, role, kind, beginning(text, LONGEST_ROW), None, line.origin(), line.size, broken, unseen
        )

    return HistoryTranscript(stream, row_of, lambda line: decoded_text(line, dialect))


def _decoded(line: HistoryLine, dialect: Dialect) -> tuple[str | None, str, str, bool]:
    """Return role, kind and text of a line, and whether it is part of a conversation."""
    if line.is_blank:
        return None, "blank", "", False
    reader = reader_for(dialect, line.file)
    take_line(reader, line)
    rows = reader.log.rows
    if not rows:
        return None, "broken", line.content[:LONGEST_ROW].decode("utf-8", "replace"), False
    row = rows[0]
    value = next((record for record, _, _ in records_of(line).records), {})
    text = "\n".join(text_of(dialect, value, part) for part in row.parts)
    kind = row.parts[0].kind.value if row.parts else row.sort
    if not row.parts:
        text = line.content[:4000].decode("utf-8", "replace")
    return row.role, kind, text, bool(row.parts)


def searched_bytes(line: HistoryLine) -> bytes:
    """Return the bytes of a line in which secrets are searched: not those of images and encrypted texts."""
    content = line.content
    for name in _OPAQUE:
        start = content.find(name)
        while start >= 0:
            start += len(name)
            end = content.find(b'"', start)
            content = content[:start] + content[end:] if end >= 0 else content
            start = content.find(name, start)
    return content


def decoded_text(line: HistoryLine, dialect: Dialect) -> str:
    """Return the text of a line as it is shown."""
    return _decoded(line, dialect)[2]
