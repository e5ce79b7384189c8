"""Content as the histories hold it, in one canonical form, so that a hash of it means something. Only reads.

A range of records is its lines without blank ones, each as it is stored and ended by one line feed: the very
bytes of the file where that has no blank lines and no carriage returns. A tool's output is its text as UTF-8,
nothing added; the parts of an output in parts are joined by a line feed. A file is its bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from ctxview.files.lines import never
from ctxview.files.reading import LIMIT, Unreadable, read_beneath
from ctxview.formats.session.folder import SessionFolder
from ctxview.formats.session.history import History, Stream
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import content_text, parts_of
from ctxview.formats.session.names import EVENTS, MESSAGES, SourceKind, cited_range
from ctxview.formats.session.records import Record
from ctxview.formats.session.survey import StreamFacts
from ctxview.state import JsonValue

LARGEST = LIMIT
"""A chunk or blob beyond this could not be read back and verified in one go."""

CALL_TYPES = frozenset(("start", "tool_call", "approval_request"))
"""Events that carry an id but no output."""


class NoContent(Exception):
    """The histories do not hold what was asked for; the message says why."""


@dataclass
class RawContent:
    """Answers from both histories of a session; each is walked through once, when first asked about."""

    folder: SessionFolder
    history: History
    _layouts: dict[str, StreamFacts] = field(default_factory=dict)

    def count(self, stream: str) -> int:
        """How many records a history has."""
        return self._layout(stream).records

    def records(self, stream: str) -> Iterator[tuple[int, HistoryLine]]:
        """Every record with its number, from 1, in bounded memory; rows that cannot be read are left out."""
        blanks = 0
        for place, line in enumerate(self.history.stream(stream).scan()):
            number = place if line.number is None else line.number
            if line.is_blank:
                blanks += 1
            else:
                yield number + 1 - blanks, line

    def lines(self, stream: str, first: int, last: int) -> Iterator[HistoryLine]:
        """The lines of some records, counted from 1, both ends included; raises `NoContent`."""
        facts = self._layout(stream)
        if not 1 <= first <= last:
            raise NoContent(f"{first}-{last} is no range")
        if last > facts.records:
            raise NoContent(f"{stream} has only {facts.records:,} records, so there is no {last:,}")
        for record in range(first, last + 1):
            yield self.history.stream(stream).line(facts.line_of(record))

    def range(self, stream: str, first: int, last: int) -> bytes:
        """A range of records in its canonical form; raises `NoContent`."""
        pieces: list[bytes] = []
        size = 0
        for record, line in enumerate(self.lines(stream, first, last), first):
            _require_whole(line, record)
            pieces += (line.content, b"\n")
            size += len(line.content) + 1
            if size > LARGEST:
                raise NoContent(f"the range holds more than {LARGEST // 1024 // 1024} MiB; take a part of it")
        return b"".join(pieces)

    def output(self, event: str) -> bytes:
        """What the tool call or event of that id put out; raises `NoContent`."""
        known, found = self._outputs(EVENTS, event)
        if not known:
            raise NoContent(f"no event has the id {event}")
        found = found or self._outputs(MESSAGES, event)[1]
        if not found:
            raise NoContent(f"nothing was put out for {event} yet")
        if len(found) > 1:
            raise NoContent(f"{event} has {len(found)} different outputs; take the range of the one you mean")
        return found.pop().encode("utf-8", "surrogatepass")

    def of(self, entry: Record) -> bytes:
        """What a line of the swap index stands for; raises `NoContent`."""
        source, written, event = entry.text("source") or "", entry.text("range"), entry.text("event")
        if written is not None:
            cited = cited_range(source, written)
            if cited.kind is SourceKind.OTHER or cited.first is None or cited.last is None:
                raise NoContent(f"the range {written} of {source or 'nothing'} cannot be resolved")
            return self.range(source, cited.first, cited.last)
        if event is not None:
            return self.output(event)
        if entry.text("kind") == "file" and source not in (MESSAGES, EVENTS):
            try:
                return read_beneath(self.folder.root, source)
            except Unreadable as error:
                raise NoContent(f"{source}: {error.reason}") from None
        raise NoContent("its index line names neither a range nor an event")

    def _layout(self, stream: str) -> StreamFacts:
        if stream not in self._layouts:
            self._layouts[stream] = _layout(self.history.stream(stream))
        return self._layouts[stream]

    def _outputs(self, stream: str, event: str) -> tuple[bool, set[str]]:
        """Whether any event has the id, and the different texts put out for it."""
        history = self.history.stream(stream)
        history.index(never)
        known, found = False, set[str]()
        for number in history.find(event, 0, False, never):
            value = history.line(number).value or {}
            known = known or value.get("id") == event
            found.update(outputs_in(value, event))
        return known, found


def outputs_in(value: dict[str, JsonValue], event: str) -> Iterator[str]:
    """What a record says that a tool call, or it itself under that id, has put out."""
    for part in parts_of(value.get("content")):
        if part.get("type") == "tool_result" and part.get("tool_call_id") == event:
            yield content_text(part.get("content"))
    if value.get("id") == event and value.get("type") not in CALL_TYPES:
        texts = (content_text(value.get(name)) for name in ("content", "output", "text"))
        yield from filter(None, texts)


def _layout(stream: Stream) -> StreamFacts:
    stream.index(never)
    blanks = array("Q")
    lines = 0
    for line in stream.scan():
        number = lines if line.number is None else line.number
        lines = number + 1
        if line.is_blank:
            blanks.append(number)
    return StreamFacts(max(lines, len(stream)), stream.size, blanks)


def _require_whole(line: HistoryLine, record: int) -> None:
    if line.cut:
        raise NoContent(f"record {record:,} has {line.size:,} bytes, too many for a chunk")
    if line.ending == 0:
        raise NoContent(f"record {record:,} has no end yet: it is being written, or was torn")
    if not line.content:
        raise NoContent(f"record {record:,} cannot be read: {line.problem}")
