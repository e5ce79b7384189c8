"""Content as the histories hold it, in one canonical form, so that a hash of it means something. Only reads.

A range of records is its lines without blank ones, each as it is stored and ended by one line feed: the very
bytes of the file where that has no blank lines and no carriage returns. A tool's output is its text as UTF-8,
nothing added; the parts of an output in parts are joined by a line feed. A file is its bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ctxview.analysis.wording import quoted, shown
from ctxview.files.lines import never
from ctxview.files.reading import LIMIT
from ctxview.formats.session.folder import SessionFolder
from ctxview.formats.session.history import History, Stream
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import outputs_in
from ctxview.formats.session.names import EVENTS, MESSAGES, cited_range
from ctxview.formats.session.records import Record
from ctxview.formats.session.survey import StreamFacts, Survey

LARGEST = LIMIT
"""A chunk or blob beyond this could not be read back and verified in one go."""


class NoContent(Exception):
    """The histories do not hold what was asked for; the message says why.

    `member` is what the one who asked wrote wrongly: the range, the event …; None when that was not it.
    """

    def __init__(self, why: str, member: str | None = None) -> None:
        super().__init__(why)
        self.member = member


@dataclass
class RawContent:
    """Answers from both histories of a session. What a survey knows is not looked for again."""

    folder: SessionFolder
    history: History
    survey: Survey | None = None
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
            raise NoContent(f"{first}-{last} is no range", "range")
        if last > facts.records:
            why = f"{stream} has only {facts.records:,} records, so there is no {last:,}"
            raise NoContent(why, "range")
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
            raise NoContent(f"no event has the id {quoted(event)}", "event")
        found = found or self._outputs(MESSAGES, event)[1]
        if not found:
            raise NoContent(f"nothing was put out for {shown(event)} yet")
        if len(found) > 1:
            several = f"{shown(event)} has {len(found)} different outputs"
            raise NoContent(f"{several}; take the range of the one you mean")
        return found.pop().encode("utf-8", "surrogatepass")

    def of(self, entry: Record) -> bytes:
        """What a line of the swap index stands for; raises `NoContent`."""
        source = entry.text("source") or ""
        if "range" in entry.members:
            return self.range(source, *self.bounds(source, entry.text("range") or ""))
        if "event" in entry.members:
            return self.output(entry.text("event") or "")
        if source in (MESSAGES, EVENTS):
            raise NoContent("its index line names neither a range nor an event")
        part = self.folder.read(source, LARGEST)
        if part.data is None:
            raise NoContent(f"{shown(source, 60)}: {part.problem}", "source")
        return part.data

    def bounds(self, source: str, written: str) -> tuple[int, int]:
        """The first and the last record of a range such as `1-120`; raises `NoContent`."""
        cited = cited_range(source, written)
        if source not in (MESSAGES, EVENTS):
            raise NoContent(f"{quoted(source)} is no history that could have a range", "source")
        if cited.first is None or cited.last is None:
            raise NoContent(f"{quoted(written)} is no range such as 1-120", "range")
        if cited.reversed:
            raise NoContent(f"the range {written} ends before it begins", "range")
        return cited.first, cited.last

    def event_record(self, event: str) -> int:
        """The number of the event that has an id; raises `NoContent`."""
        stream = self.history.events
        for number in self._telling(EVENTS, event):
            if (stream.line(number).value or {}).get("id") == event:
                return self._layout(EVENTS).record_at(number)
        raise NoContent(f"no event has the id {quoted(event)}", "event")

    def _layout(self, stream: str) -> StreamFacts:
        if self.survey is not None:
            return self.survey.facts(stream)
        if stream not in self._layouts:
            self._layouts[stream] = _layout(self.history.stream(stream))
        return self._layouts[stream]

    def _outputs(self, stream: str, event: str) -> tuple[bool, set[str]]:
        """Whether any event has the id, and the different texts put out for it."""
        history = self.history.stream(stream)
        known, found = False, set[str]()
        for number in self._telling(stream, event):
            value = history.line(number).value or {}
            known = known or value.get("id") == event
            found.update(outputs_in(value, event))
        return known, found

    def _telling(self, stream: str, event: str) -> Iterable[int]:
        """The lines that may tell of an event, in order."""
        if self.survey is not None and event in self.survey.wanted:
            return self.survey.telling.get((stream, event), ())
        history = self.history.stream(stream)
        history.index(never)
        return history.find(event, 0, False, never)


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
