"""Reads the files of a bundle into its model, in any spelling. It never raises and never judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from msgspec.structs import replace

from ctxview.core.origin import JsonValue
from ctxview.formats.kit.history import HistoryStream
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.kit.json_records import line_spans
from ctxview.formats.memory.model import (
    BrokenLine,
    ContextSnapshot,
    Entry,
    MemoryBundle,
    MemoryRecord,
    OutboxRow,
    Place,
)
from ctxview.formats.memory.records import (
    CONTEXTS,
    CORRECTIONS,
    ENTRIES,
    MEMORIES,
    OUTBOX,
    TRACE,
    VAULTS,
    text_of,
    unwrapped,
    value_of,
)
from ctxview.formats.memory.trace import read_trace

MOST: Final = {VAULTS: 1000, MEMORIES: 5000, ENTRIES: 300_000, CONTEXTS: 1000, OUTBOX: 20_000, TRACE: 50_000}
"""How many of the last lines of each file are read."""
FIRST_LOOK: Final = 200

T = TypeVar("T")
Line = tuple[HistoryLine, Callable[[], HistoryLine]]


class DraftLines:
    """The lines of a draft, which is in memory."""

    complete = True

    def __init__(self, name: str, file: str, data: bytes) -> None:
        self.name = name
        self._lines = [
            HistoryLine(name, file, number, start, end, data[start:end], int(end < len(data)))
            for number, start, end in line_spans(data)
        ]
        self.size = len(data)

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int, /) -> HistoryLine:
        return self._lines[number]

    def tail(self, count: int, /) -> list[HistoryLine]:
        return self._lines[-count:]

    def scan(self, first: int = 0, /) -> Iterator[HistoryLine]:
        yield from self._lines[first:]


Lines = HistoryStream | DraftLines


def read_bundle(
    streams: Mapping[str, Lines],
    files: Mapping[str, str],
    gap_minutes: int,
    *,
    whole: bool,
    before: MemoryBundle | None = None,
) -> MemoryBundle:
    """Read the last lines of all files, or with `whole` all of them up to `MOST`.

    Of `before`, an earlier reading of files that only grew, everything that did not change is used again.
    """
    known = before if before is not None and before.complete and whole else None
    kept = {name for name, stream in streams.items() if known and known.streams.get(name) is stream}
    broken = [each for each in (known.broken if known else ()) if each.file in kept]
    left_out = {
        name: f"only the last {MOST[name]:,} of {len(stream):,} lines were read"
        for name, stream in streams.items()
        if whole and len(stream) > MOST[name]
    }

    def lines(name: str, first: int = 0) -> Iterator[Line]:
        stream = streams.get(name)
        if stream is None:
            return
        first = max(first, len(stream) - MOST[name])
        for line in stream.scan(first) if whole else stream.tail(FIRST_LOOK):
            if line.is_blank:
                continue
            if line.value is None:
                broken.append(BrokenLine(name, line.problem or "not a record", line))
                continue
            yield line, partial(_same, line) if line.number is None else partial(stream.line, line.number)

    def part(name: str, read: Callable[[Iterator[Line]], Iterable[T]], old: Sequence[T]) -> tuple[T, ...]:
        return tuple(old) if name in kept else tuple(read(lines(name)))

    old = known or MemoryBundle(files={})
    part(VAULTS, iter, ())  # only its broken lines are of interest
    return MemoryBundle(
        files=files,
        memories=part(MEMORIES, _memories, old.memories),
        entries=_grown_entries(lines, streams, known) if ENTRIES not in kept else old.entries,
        snapshots=part(CONTEXTS, _snapshots, old.snapshots),
        outbox=part(OUTBOX, _outbox, old.outbox),
        sessions=part(TRACE, partial(read_trace, gap_minutes=gap_minutes), old.sessions),
        broken=broken,
        left_out=left_out,
        streams=dict(streams),
        lines={name: len(stream) for name, stream in streams.items()},
        complete=whole,
    )


def _grown_entries(
    lines: Callable[[str, int], Iterator[Line]], streams: Mapping[str, Lines], known: MemoryBundle | None
) -> tuple[Entry, ...]:
    """Return the entries; those of an earlier reading are not read again when the file only grew."""
    if known is None or isinstance(streams.get(ENTRIES), DraftLines) or ENTRIES in known.left_out:
        return _entries(lines(ENTRIES, 0))
    if any(each.file == ENTRIES for each in known.broken):
        return _entries(lines(ENTRIES, 0))
    return _entries(lines(ENTRIES, known.lines.get(ENTRIES, 0)), known.entries)


def _same(line: HistoryLine) -> HistoryLine:
    return line


def entry_in(members: Mapping[str, JsonValue], place: Place) -> Entry:
    tags = value_of(members, "tags")
    return Entry(
        id=text_of(members, "entryId"),
        memory=text_of(members, "memoryId"),
        raw=text_of(members, "rawEntry"),
        summary=text_of(members, "summary"),
        time=text_of(members, "creationTime"),
        tags=tags if isinstance(tags, dict) else None,
        corrected=tuple(name for name in CORRECTIONS if value_of(members, name) is not None),
        place=place,
    )


def is_tag_update(members: Mapping[str, JsonValue]) -> bool:
    """Whether a line changes the tags of an earlier entry."""
    return value_of(members, "rawEntry") is None and value_of(members, "updateTime") is not None


def _memories(lines: Iterator[Line]) -> Iterator[MemoryRecord]:
    for line, again in lines:
        members = line.value or {}
        if (found := text_of(members, "memoryId")) is not None:
            yield MemoryRecord(found, text_of(members, "title"), text_of(members, "memoryType"), Place(again))


def _entries(lines: Iterator[Line], before: Sequence[Entry] = ()) -> tuple[Entry, ...]:
    """Return the entries with their latest tags; a line that repeats an entry word for word counts once."""
    found = list(before)
    places = {entry.id: number for number, entry in enumerate(found) if entry.id is not None}
    for line, again in lines:
        members = line.value or {}
        entry = entry_in(members, Place(again))
        known = places.get(entry.id) if entry.id is not None else None
        if is_tag_update(members):
            if known is not None:
                found[known] = replace(found[known], tags=entry.tags)
            continue
        if known is not None and (found[known].raw, found[known].time) == (entry.raw, entry.time):
            continue
        if entry.id is not None:
            places[entry.id] = len(found)
        found.append(entry)
    return tuple(found)


def _snapshots(lines: Iterator[Line]) -> Iterator[ContextSnapshot]:
    for line, again in lines:
        members = line.value or {}
        found = (
            value_of(members, "activeContext") if "context" not in members else value_of(members, "context")
        )
        written = found if isinstance(found, str) else None
        wrapped = "context" not in members
        if isinstance(found, dict) and isinstance(inner := found.get("activeContext"), str):
            written, wrapped = inner, True
        if written is None:
            written = "" if found is None else _as_json(found)
        text = unwrapped(written)
        yield ContextSnapshot(
            id=text_of(members, "contextId"),
            memory=text_of(members, "memoryId"),
            text=text,
            time=text_of(members, "creationTime"),
            place=Place(again),
            wrapped=wrapped or text != written,
        )


def _as_json(value: JsonValue) -> str:
    import orjson

    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _outbox(lines: Iterator[Line]) -> Iterator[OutboxRow]:
    for line, again in lines:
        members = line.value or {}
        attempts = value_of(members, "attemptCount")
        yield OutboxRow(
            id=str(members.get("id", line.number)),
            target=text_of(members, "aggregateId"),
            operation=text_of(members, "op"),
            status=text_of(members, "status"),
            attempts=attempts if isinstance(attempts, int) else 0,
            place=Place(again),
        )
