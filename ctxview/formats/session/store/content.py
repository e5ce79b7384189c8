"""Content of the histories in a canonical form, so that its hash is well defined. It only reads.

A range of records is its non-blank lines, each as it is stored and ended by one line feed: the bytes of the
file if that has no blank lines and no carriage returns. A tool's output is its text as UTF-8; the parts of an
output in parts are joined by a line feed. A file is its bytes.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from ctxview.analysis.wording import excerpt, quoted
from ctxview.core.origin import JsonValue
from ctxview.files.line_file import never_cancelled
from ctxview.files.reading import LIMIT
from ctxview.formats.kit.folder import SourceFolder
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.kit.json_records import JsonRecord
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.grammar import cited_range, digest_in
from ctxview.formats.session.history import SessionHistory
from ctxview.formats.session.messages import content_text, outputs_in, parts_of, size_of
from ctxview.formats.session.store.blobs import ChunkReference
from ctxview.formats.session.survey.facts import SessionFacts, StreamFacts, StreamLayout, Survey

LARGEST = LIMIT
"""A larger chunk or blob could not be read back and verified at once."""


class ContentMissing(Exception):
    """The histories do not hold the requested content; the message says why.

    `member` is the wrong part of the request, such as the range or the event; None when none is wrong.
    """

    def __init__(self, why: str, member: str | None = None) -> None:
        super().__init__(why)
        self.member = member


class ContentUnreadable(ContentMissing):
    """Rows that cannot be read may hold the requested content."""


class RawContent(Struct):
    """Reads content from both histories of a session, with the line numbers of `survey` if there is one."""

    folder: SourceFolder
    history: SessionHistory
    survey: Survey | None = None
    _layouts: dict[str, StreamFacts] = field(default_factory=dict)

    def count(self, stream: str) -> int:
        return self._layout(stream).records

    def records(self, stream: str) -> Iterator[tuple[int, HistoryLine]]:
        """Yield every record with its number from 1, in bounded memory; unreadable rows are left out."""
        blanks = 0
        for place, line in enumerate(self.history.stream(stream).scan()):
            number = place if line.number is None else line.number
            if line.is_blank:
                blanks += 1
            else:
                yield number + 1 - blanks, line

    def lines(self, stream: str, first: int, last: int) -> Iterator[HistoryLine]:
        """Yield the lines of the records from `first` to `last`, counted from 1; raises `ContentMissing`."""
        facts = self._layout(stream)
        if facts.problem is not None:
            raise ContentUnreadable(f"{stream} cannot be read: {facts.problem}")
        if not 1 <= first <= last:
            raise ContentMissing(f"{first}-{last} is not a range", "range")
        if last > facts.records:
            why = f"{stream} has only {facts.records:,} records, so there is no {last:,}"
            raise ContentMissing(why, "range")
        for record in range(first, last + 1):
            yield self.history.stream(stream).line(facts.line_of(record))

    def range(self, stream: str, first: int, last: int) -> bytes:
        """Return a range of records in canonical form; raises `ContentMissing`."""
        pieces: list[bytes] = []
        size = 0
        for record, line in enumerate(self.lines(stream, first, last), first):
            if line.cut:
                raise ContentMissing(f"record {record:,} has {line.size:,} bytes, too many for a chunk")
            if line.ending == 0:
                raise ContentMissing(f"record {record:,} has no end yet: it is being written, or was torn")
            if line.unreadable:
                raise ContentUnreadable(f"record {record:,} cannot be read: {line.problem}")
            pieces += (line.content, b"\n")
            size += len(line.content) + 1
            if size > LARGEST:
                raise ContentMissing(
                    f"the range holds more than {LARGEST // 1024 // 1024} MiB; take a part of it"
                )
        return b"".join(pieces)

    def output(self, event: str) -> bytes:
        """Return the output of the tool call or event with that id; raises `ContentMissing`."""
        known, found = self._outputs(EVENTS, event)
        if not known:
            raise self._no_event(event)
        found = found or self._outputs(MESSAGES, event)[1]
        if not found:
            self._require_readable(f"the output of {excerpt(event)}")
            raise ContentMissing(f"{excerpt(event)} has no output yet")
        if len(found) > 1:
            several = f"{excerpt(event)} has {len(found)} different outputs"
            raise ContentMissing(f"{several}; take the range of the one you mean")
        return found.pop().encode("utf-8", "surrogatepass")

    def of(self, entry: JsonRecord) -> bytes:
        """Return the content that a line of the swap index names; raises `ContentMissing`."""
        source = entry.text("source") or ""
        if "range" in entry.members:
            return self.range(source, *self.bounds(source, entry.text("range") or ""))
        if "event" in entry.members:
            return self.output(entry.text("event") or "")
        if source in (MESSAGES, EVENTS):
            raise ContentMissing("its index line names neither a range nor an event")
        part = self.folder.read(source, LARGEST)
        if part.data is None:
            raise ContentMissing(f"{excerpt(source, 60)}: {part.problem}", "source")
        return part.data

    def bounds(self, source: str, written: str) -> tuple[int, int]:
        """Return the first and last record of a range such as `1-120`; raises `ContentMissing`."""
        cited = cited_range(source, written)
        if source not in (MESSAGES, EVENTS):
            raise ContentMissing(f"{quoted(source)} is not a history, so it has no range", "source")
        if cited.first is None or cited.last is None:
            raise ContentMissing(f"{quoted(written)} is not a range such as 1-120", "range")
        if cited.reversed:
            raise ContentMissing(f"the range {written} ends before it begins", "range")
        return cited.first, cited.last

    def event_record(self, event: str) -> int:
        """Return the record number of the event with that id; raises `ContentMissing`."""
        stream = self.history.events
        for number in self._lines_naming(EVENTS, event):
            if (stream.line(number).value or {}).get("id") == event:
                return self._layout(EVENTS).record_at(number)
        raise self._no_event(event)

    def _no_event(self, event: str) -> ContentMissing:
        self._require_readable(f"the event {excerpt(event)}")
        return ContentMissing(f"no event has the id {quoted(event)}", "event")

    def _require_readable(self, wanted: str) -> None:
        """Raise `ContentUnreadable` when some rows cannot be read: `wanted` may be among them."""
        if (why := self.history.unreadable_rows) is not None:
            raise ContentUnreadable(f"{wanted} was not found, and some rows cannot be read: {why}")

    def _layout(self, stream: str) -> StreamFacts:
        if self.survey is not None:
            return self.survey.facts(stream)
        if stream not in self._layouts:
            history, layout = self.history.stream(stream), StreamLayout()
            history.index(never_cancelled)
            for line in history.scan():
                layout.note(line)
            self._layouts[stream] = layout.facts(history)
        return self._layouts[stream]

    def _outputs(self, stream: str, event: str) -> tuple[bool, set[str]]:
        """Return whether any event has the id, and its different outputs."""
        history = self.history.stream(stream)
        known, found = False, set[str]()
        for number in self._lines_naming(stream, event):
            value = history.line(number).value or {}
            known = known or value.get("id") == event
            found.update(outputs_in(value, event))
        return known, found

    def _lines_naming(self, stream: str, event: str) -> Iterable[int]:
        """The numbers of the lines that may name an event, in order."""
        if self.survey is not None and event in self.survey.wanted:
            return self.survey.id_lines.get((stream, event), ())
        history = self.history.stream(stream)
        history.index(never_cancelled)
        return history.find(event, 0, False, never_cancelled)


class RebuiltContent(Struct, frozen=True):
    """Content with its place in `why`; without content, `why` is the reason and `member` the wrong part."""

    text: bytes | None
    why: str
    member: str | None = None
    unreadable: bool = False
    """Whether the content may be in rows that cannot be read."""

    @property
    def digest(self) -> str | None:
        return hashlib.sha256(self.text).hexdigest() if self.text is not None else None


def rebuild(facts: SessionFacts, record: JsonRecord) -> RebuiltContent:
    """Return the content of a swap entry from the lines, the event or the file it names."""
    try:
        return RebuiltContent(_raw(facts).of(record), _place(record))
    except ContentMissing as error:
        return RebuiltContent(None, str(error), error.member, isinstance(error, ContentUnreadable))


def follow_reference(facts: SessionFacts, reference: ChunkReference, name: str) -> RebuiltContent:
    """Return the content that the referring chunk `name` leads to."""
    records = [each for each in facts.session.swap.index.records if each.text("id") == name]
    try:
        place, content = referred(_raw(facts), reference, records)
    except ContentMissing as error:
        return RebuiltContent(None, str(error), error.member, isinstance(error, ContentUnreadable))
    return RebuiltContent(content, place)


def referred(raw: RawContent, reference: ChunkReference, records: Sequence[JsonRecord]) -> tuple[str, bytes]:
    """Return the place and content of a referring chunk, with its hash verified; raises `ContentMissing`.

    `records` are the index lines of the chunk. Messages have no ids, so a chunk that names them by id is
    followed through these lines if the hash agrees.
    """
    wanted = digest_in(reference.hash or "")
    try:
        place, content = _named(raw, reference)
    except ContentMissing as error:
        by_index = _indexed(raw, records, wanted) if error.member is None else None
        if by_index is None:
            raise
        return by_index
    if wanted is not None and (digest := hashlib.sha256(content).hexdigest()) != wanted:
        raise ContentMissing(f"{place} have another hash than the chunk says: {digest[:16]}…", "hash")
    return place, content


def _named(raw: RawContent, reference: ChunkReference) -> tuple[str, bytes]:
    source = reference.source or ""
    if source not in (MESSAGES, EVENTS):
        raise ContentMissing(f"its source is {quoted(source)}", "source")
    if reference.range is not None:
        first, last = raw.bounds(source, reference.range)
    elif source == EVENTS:
        first, last = (raw.event_record(each or "") for each in (reference.start, reference.end))
    else:
        raise ContentMissing("it names messages by id, but messages have none")
    return f"{source.removesuffix('.jsonl')} {first}-{last}", raw.range(source, first, last)


def _indexed(raw: RawContent, records: Sequence[JsonRecord], wanted: str | None) -> tuple[str, bytes] | None:
    for record in records:
        try:
            content = raw.of(record)
        except ContentMissing:
            continue
        if hashlib.sha256(content).hexdigest() == wanted:
            return _place(record), content
    return None


def _raw(facts: SessionFacts) -> RawContent:
    return RawContent(facts.session.folder, facts.history, facts.survey)


def _place(record: JsonRecord) -> str:
    source = excerpt(record.text("source") or "", 60)
    if "range" in record.members:
        return f"lines {record.text('range')} of {source}"
    if "event" in record.members:
        return f"the result of the call {excerpt(record.text('event') or '')}"
    return source


LONGEST_FIRST = 1024 * 1024
"""A content with a longer first line is not searched for as lines."""


class ContentShape(Struct, frozen=True):
    """The features that select a content before it is hashed: its size, its lines, and its first line."""

    size: int
    lines: int
    first: bytes


def shape_of(content: bytes) -> ContentShape:
    return ContentShape(len(content), content.count(b"\n"), content.partition(b"\n")[0][:LONGEST_FIRST])


def trace_content(raw: RawContent, wanted: Mapping[str, ContentShape]) -> dict[str, str]:
    """Return the place of each found content by its SHA-256: `messages 4-9` or `events 7`.

    A content is either some whole lines of a history or one text in it, in canonical form.
    """
    found: dict[str, str] = {}
    sizes = {shape.size for shape in wanted.values()}
    beginnings: defaultdict[bytes, list[str]] = defaultdict(list)
    for digest, shape in wanted.items():
        beginnings[shape.first].append(digest)
    for stream in (MESSAGES, EVENTS) if wanted else ():
        word = stream.removesuffix(".jsonl")
        for record, line in raw.records(stream):
            for digest in beginnings.get(line.content, ()):
                last = record + wanted[digest].lines - 1
                if digest not in found and _has_digest(raw, stream, record, last, digest):
                    found[digest] = f"{word} {record}-{last}"
            for digest in _text_digests(line, sizes) & wanted.keys():
                found.setdefault(digest, f"{word} {record}")
    return found


def texts_of(value: dict[str, JsonValue]) -> Iterator[str]:
    """Yield the texts of a record that can be a content: the whole text, and each part."""
    content = value.get("content")
    yield content_text(content)
    for part in parts_of(content):
        yield content_text(part.get("content", part.get("text")))
    for name in ("text", "output"):
        text = value.get(name)
        if isinstance(text, str):
            yield text


def _has_digest(raw: RawContent, stream: str, first: int, last: int, digest: str) -> bool:
    try:
        return hashlib.sha256(raw.range(stream, first, last)).hexdigest() == digest
    except ContentMissing:
        return False


def _text_digests(line: HistoryLine, sizes: set[int]) -> set[str]:
    """Return the hashes of the texts of a line that have one of the sizes."""
    if line.size < min(sizes, default=0) or line.value is None:
        return set()
    texts = {text for text in texts_of(line.value) if size_of(text) in sizes}
    return {hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts}
