"""Read a transcript of any size: the end first, then all rows in slices."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Protocol

import orjson
from msgspec.structs import asdict

from ctxview.core.origin import Origin
from ctxview.files.line_file import LineFile
from ctxview.formats.kit.history import FileHistoryStream
from ctxview.formats.kit.history_line import HistoryLine, PassClock
from ctxview.formats.kit.history_passes import SlicedPass
from ctxview.formats.transcript.accounting import mark_placeholders
from ctxview.formats.transcript.claude import lineage as claude_lineage
from ctxview.formats.transcript.claude.reader import ClaudeCodeReader
from ctxview.formats.transcript.codex import context as codex_context
from ctxview.formats.transcript.codex.reader import CodexReader
from ctxview.formats.transcript.model import (
    SUBAGENT_OF,
    Dialect,
    LineProblem,
    LiveContext,
    ModelCall,
    Record,
    TranscriptLog,
)
from ctxview.formats.transcript.opencode import reader as opencode
from ctxview.formats.transcript.records import FoundRecords, records_of
from ctxview.formats.transcript.requests import parts as request_parts

SMALL = 4 * 1024 * 1024
"""Files up to this size are read at once."""
MOST_AT_END = 16 * 1024 * 1024
END_WITHOUT_CUT = 2 * 1024 * 1024
"""How much of the end is read first when there is no compaction in reach."""
_BRACE = ord("}")
_CUTS = {Dialect.CLAUDE_CODE: b'"compact_boundary"', Dialect.CODEX: b'"compacted"'}


class LogHolder(Protocol):
    """A log, and whether it is a sub-agent's own."""

    log: TranscriptLog
    alone: bool


class RowReader(LogHolder, Protocol):
    """Adds records to a log."""

    def add(self, value: Record, start: int, end: int, line: int | None) -> None: ...
    def copy(self, log: TranscriptLog) -> RowReader: ...


def reader_for(dialect: Dialect, file: str) -> RowReader:
    log = TranscriptLog(dialect, file)
    return CodexReader(log) if dialect is Dialect.CODEX else ClaudeCodeReader(log)


class LogPass(SlicedPass):
    """The reading of all rows."""

    def __init__(self, stream: FileHistoryStream, reader: RowReader, first: int = 0, done: int = 0) -> None:
        """`first` is the line to begin with, and `done` the number of bytes before it."""
        self.stream, self.reader = stream, reader
        self.size = stream.size
        self._next, self._done, self._torn = first, done, False
        super().__init__()

    @property
    def log(self) -> TranscriptLog:
        return self.reader.log

    def on(self, stream: FileHistoryStream) -> LogPass:
        """Return a pass over the grown file that continues from here."""
        if not self.complete or self._torn:
            return LogPass(stream, reader_for(self.log.dialect, self.log.file))
        log = copy(self.log)
        for name, value in asdict(self.log).items():
            if isinstance(value, list | dict):
                setattr(log, name, copy(value))
        log.graph = None
        return LogPass(stream, self.reader.copy(log), self._next, self._done)

    def _pass(self) -> Iterator[int]:
        clock = PassClock()
        if self._next:
            # Only numbered lines can be reached by their number.
            self.stream.index()
        add = self.reader.add
        for run in self.stream.runs(self._next):
            start = run.start
            for content in run.lines:
                end = start + len(content)
                value = _plain_record(content) if run.end is None else None
                if value is not None:
                    add(value, start, end, self._next)
                else:
                    line = self.stream.line_of(run, self._next, start, content)
                    take_line(self.reader, line)
                    self._torn = not line.ending and not line.is_blank
                    end = line.end + line.ending - 1
                self._next += 1
                self._done += end - start + 1
                if clock.due(end - start):
                    yield self._done
                start = end + 1
        finish(self.reader)


def _plain_record(content: bytes) -> Record | None:
    """Return the record of a line that is nothing but one; None for any other line."""
    if len(content) > SMALL:
        return None
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    # What ends with the brace has no carriage return.
    return value if type(value) is dict and content[-1] == _BRACE else None


def take_line(reader: RowReader, line: HistoryLine) -> None:
    """Add the records of a line to a log, and note what is wrong with the line."""
    value = line.value if line.ending == 1 and line.size <= SMALL else None
    found = FoundRecords(((value, line.start, line.end),)) if value is not None else records_of(line)
    problems = reader.log.problems
    problems += found.problems
    if found.pending:
        origin: Origin = line.origin()
        problems.append(LineProblem("TRF002", origin, "the last line is unfinished"))
    for each, start, end in found.records:
        reader.add(each, start, end, line.number)


def finish(reader: RowReader) -> None:
    """Work out what needs all rows: the calls that others continue, and placeholder figures."""
    log = reader.log
    if isinstance(reader, CodexReader):
        reader.drop_copied()
    if isinstance(reader, ClaudeCodeReader):
        _note_subagent(reader)
        if not reader.alone:
            claude_lineage.drop_side_calls(log)
        mark_placeholders(log)
        claude_lineage.previous_calls(log, alone=reader.alone)


def _note_subagent(reader: ClaudeCodeReader) -> None:
    """Note whether the file is a sub-agent's own, and the session that started it."""
    log = reader.log
    messages = [row for row in log.rows if row.role in ("user", "assistant")]
    reader.alone = bool(messages) and all(row.side for row in messages)
    if reader.alone and log.sessions:
        log.facts[SUBAGENT_OF] = log.sessions.most_common(1)[0][0]


def context_of(reader: LogHolder, call: ModelCall | None) -> LiveContext:
    """Return the context that a call was sent, or the one that the next call will be sent."""
    if reader.log.dialect is Dialect.CODEX:
        return codex_context.live_context(reader.log, call)
    if reader.log.dialect is Dialect.BODY:
        return request_parts.live_context(reader.log, call)
    if reader.log.dialect is Dialect.OPENCODE:
        return opencode.live_context(reader.log, call)
    return claude_lineage.live_context(reader.log, call, alone=reader.alone)


def read_end(lines: LineFile, stream: FileHistoryStream, dialect: Dialect, file: str) -> RowReader:
    """Read the newest compaction and what follows it: the whole live context, for any size of the file."""
    reader = reader_for(dialect, file)
    size = lines.size
    start = _last_cut(lines, dialect, size)
    for line in _lines_from(lines, stream, 0, 1):
        # The first row of a rollout has the system prompt.
        if dialect is Dialect.CODEX:
            take_line(reader, line)
    for line in _lines_from(lines, stream, start, None):
        take_line(reader, line)
    reader.log.partial = True
    if isinstance(reader, ClaudeCodeReader):
        _note_subagent(reader)
        mark_placeholders(reader.log)
    return reader


def _last_cut(lines: LineFile, dialect: Dialect, size: int) -> int:
    """Return where the line of the newest compaction begins, or a place near the end."""
    found = lines.find(_CUTS[dialect], size, backwards=True)
    if found is None or size - found > MOST_AT_END:
        found = max(0, size - END_WITHOUT_CUT)
        skip = lines.read(found, min(size, found + MOST_AT_END)).find(b"\n") + 1
        return found + skip if found else 0
    step = 64 * 1024
    at = found
    while at > 0:
        chunk = lines.read(max(0, at - step), at)
        newline = chunk.rfind(b"\n")
        if newline >= 0:
            return max(0, at - step) + newline + 1
        at = max(0, at - step)
    return 0


def _lines_from(
    lines: LineFile, stream: FileHistoryStream, start: int, most: int | None
) -> Iterator[HistoryLine]:
    """Yield the lines from byte `start`, without numbers."""
    size = lines.size
    end = size if most is None else min(size, start + 1024 * 1024)
    data = lines.read(start, end)
    at, count = 0, 0
    while at < len(data) and (most is None or count < most):
        newline = data.find(b"\n", at)
        if newline < 0 and end < size:
            return
        stop = len(data) if newline < 0 else newline
        content = data[at:stop]
        ending = 0 if newline < 0 else 1
        if content.endswith(b"\r"):
            content, ending = content[:-1], ending + 1
        first = start + at
        yield HistoryLine(stream.name, str(lines.path), None, first, first + len(content), content, ending)
        at, count = stop + 1, count + 1
