"""The two histories of a session: files of JSON lines, or a columnar store in `.store/` behind empty files.

A store holds Parquet shards and then a write-ahead log. Shards need the optional package pyarrow; without it
their rows are counted, but cannot be read. The content of a shard is read from the shard itself, because the
manifest and the index may be wrong.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from functools import cached_property
from threading import Lock

from msgspec import Struct

from ctxview.files.reading import ReadError, read_beneath
from ctxview.files.strict_json.values import whole_number
from ctxview.formats.kit.folder import EntryKind, FolderEntry, SourceFolder
from ctxview.formats.kit.history import (
    Cancelled,
    FileHistoryStream,
    HistoryStream,
    LoadedHistoryStream,
    open_stream,
    stream_again,
)
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.kit.json_records import JsonObjectFile, JsonRecord, JsonRecordFile, read_records
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.model import Session

WAL = ".store/wal.jsonl"
DATA = ".store/data"
MOST_SHARDS = 100_000
LARGEST_SHARD = 64 * 1024 * 1024
MOST_CACHED_SHARDS = 8
STREAM_WORDS = {MESSAGES: "messages", EVENTS: "events"}
NO_PYARROW = "this row is in a Parquet shard; install ctxview[columnar] to read it"


class SessionHistory(Struct, frozen=True):
    """Both histories of a session, and the store when they are in one."""

    messages: HistoryStream
    events: HistoryStream
    store: ColumnarStore | None = None

    def again(self, session: Session) -> tuple[SessionHistory, bool]:
        """Open both again, and return whether they only grew: then earlier results are still true."""
        if self.store is not None or session.manifest is not None:
            return open_history(session), False
        messages, events = (stream_again(stream, session.folder) for stream in (self.messages, self.events))
        if (messages[0], events[0]) == (self.messages, self.events):
            return self, True
        return SessionHistory(messages[0], events[0]), messages[1] and events[1]

    @property
    def held_back(self) -> tuple[str, ...]:
        """The names of the histories whose last line is still being written."""
        return tuple(
            stream.name
            for stream in (self.messages, self.events)
            if isinstance(stream, FileHistoryStream) and stream.held_back
        )

    @property
    def unreadable_rows(self) -> str | None:
        """Why some lines or rows of the histories cannot be read; None when all can."""
        problems = (f"{each.name}: {each.problem}" for each in self.streams if each.problem is not None)
        return next(problems, None) or (self.store.unreadable_rows if self.store is not None else None)

    @property
    def streams(self) -> tuple[HistoryStream, HistoryStream]:
        return self.messages, self.events

    @property
    def size(self) -> int:
        return self.messages.size + self.events.size

    def stream(self, name: str) -> HistoryStream:
        return self.events if name == EVENTS else self.messages


def open_history(session: Session) -> SessionHistory:
    """Open both histories; a missing or unreadable one is empty."""
    if session.manifest is not None:
        store = ColumnarStore(session.folder, session.manifest)
        return SessionHistory(ColumnarStream(store, MESSAGES), ColumnarStream(store, EVENTS), store)
    return SessionHistory(open_stream(session.folder, MESSAGES), open_stream(session.folder, EVENTS))


class WalRow(Struct, frozen=True):
    """A row in the write-ahead log; `payload` is the line of the history."""

    stream: str
    ordinal: int
    payload: str
    record: JsonRecord


class ColumnarStore:
    def __init__(self, folder: SourceFolder, manifest: JsonObjectFile) -> None:
        self.folder = folder
        self.manifest = manifest
        self._shards: OrderedDict[tuple[int, str], list[tuple[int, bytes]] | str] = OrderedDict()
        self._lock = Lock()

    def head(self, stream: str, name: str) -> int:
        """Return the `lines`, `bytes` or `index_records` that the manifest gives for a history."""
        found = self.manifest.members.get(STREAM_WORDS[stream])
        counted = whole_number(found.get(name)) if isinstance(found, dict) else None
        return max(0, counted or 0)

    @property
    def shards(self) -> int:
        return min(max(0, whole_number(self.manifest.members.get("next_shard")) or 0), MOST_SHARDS)

    @cached_property
    def present(self) -> dict[str, FolderEntry]:
        return {entry.name: entry for entry in self.folder.entries(DATA)}

    @cached_property
    def wal(self) -> JsonRecordFile:
        return read_records(self.folder.read(WAL))

    @cached_property
    def wal_rows(self) -> tuple[WalRow, ...]:
        return tuple(row for record in self.wal.records if (row := wal_row(record)) is not None)

    @cached_property
    def readable(self) -> bool:
        """Whether pyarrow is installed."""
        try:
            import pyarrow.parquet  # noqa: F401 - only checks that it is installed
        except ImportError:
            return False
        return True

    @cached_property
    def problem(self) -> str | None:
        """Why the number of rows is not known: the manifest or the log cannot be read."""
        if not self.manifest.is_object:
            reason = self.manifest.error.reason if self.manifest.error is not None else "it is not an object"
            return f"the manifest cannot be read: {self.manifest.part.problem or reason}"
        log = self.wal.part
        return f"the log cannot be read: {log.problem}" if log.exists and not log.readable else None

    @cached_property
    def unreadable_rows(self) -> str | None:
        """Why some rows of the shards cannot be read; None when all can."""
        loaded = (self.shard(each, name) for each in range(self.shards) for name in STREAM_WORDS)
        return next((rows for rows in loaded if isinstance(rows, str)), None)

    def shard(self, number: int, stream: str) -> list[tuple[int, bytes]] | str:
        """Return ordinal and payload of a shard's rows of one history, in order, or why it cannot be read."""
        key = (number, stream)
        with self._lock:
            if key in self._shards:
                self._shards.move_to_end(key)
                return self._shards[key]
        rows = self._load(number, stream)
        with self._lock:
            self._shards[key] = rows
            while len(self._shards) > MOST_CACHED_SHARDS:
                self._shards.popitem(last=False)
        return rows

    def _load(self, number: int, stream: str) -> list[tuple[int, bytes]] | str:
        if not self.readable:
            return NO_PYARROW
        name = f"{DATA}/{shard_name(number)}"
        try:
            data = read_beneath(self.folder.root, name, LARGEST_SHARD)
        except ReadError as error:
            return f"the shard {shard_name(number)} cannot be read: {error.reason}"
        return _rows_in(data, STREAM_WORDS[stream])


class ColumnarStream(LoadedHistoryStream):
    """One history of a store, as long as manifest and log say; a missing row is a line with a problem."""

    def __init__(self, store: ColumnarStore, name: str) -> None:
        self.name = name
        self.store = store
        self._committed = store.head(name, "lines")

    @property
    def problem(self) -> str | None:
        return self.store.problem

    @property
    def size(self) -> int:
        return self.store.head(self.name, "bytes") + sum(len(row.payload) + 1 for row in self._fresh)

    def __len__(self) -> int:
        return self._committed + len(self._fresh)

    def line(self, number: int, /) -> HistoryLine:
        if number < 0:
            number += len(self)
        if not 0 <= number < len(self):
            raise IndexError(f"there is no line {number}")
        if number >= self._committed:
            return self._from_wal(self._fresh[number - self._committed], number)
        return self._from_shard(number)

    def scan(self, first: int = 0, /) -> Iterator[HistoryLine]:
        for shard in range(self.store.shards) if self._committed > first else ():
            rows = self.store.shard(shard, self.name)
            for ordinal, payload in rows if not isinstance(rows, str) else ():
                if ordinal >= first:
                    yield self._line(self._shard_file(shard), ordinal, payload)
        for number, row in enumerate(self._fresh, self._committed):
            if number >= first:
                yield self._from_wal(row, number)

    def digests(self, lengths: list[int], cancelled: Cancelled, /) -> tuple[str, ...] | None:
        """Return hashes of the lines as the runtime shows them, or None when some cannot be read."""
        unread = self.problem is not None or (self._committed and not self.store.readable)
        return None if unread else super().digests(lengths, cancelled)

    @cached_property
    def _fresh(self) -> tuple[WalRow, ...]:
        """The rows of the log that are not in a shard yet."""
        found: list[WalRow] = []
        for row in self.store.wal_rows:
            # A row that goes back repeats an earlier one.
            least = found[-1].ordinal + 1 if found else self._committed
            if row.stream == self.name and row.ordinal >= least:
                found.append(row)
        return tuple(found)

    def _from_wal(self, row: WalRow, number: int) -> HistoryLine:
        content = row.payload.encode("utf-8", "surrogatepass")
        line = HistoryLine(self.name, row.record.file, number, row.record.start, 0, content)
        line.end = line.start + len(content)
        return line

    def _from_shard(self, number: int) -> HistoryLine:
        for shard in self._likely_shards(number):
            rows = self.store.shard(shard, self.name)
            if isinstance(rows, str):
                return self._line(self._shard_file(shard), number, b"", rows)
            at = bisect_right(rows, number, key=lambda row: row[0]) - 1
            if at >= 0 and rows[at][0] == number:
                return self._line(self._shard_file(shard), number, rows[at][1])
        return self._line(self.store.folder.file(DATA), number, b"", "no shard holds this row")

    def _likely_shards(self, number: int) -> Iterator[int]:
        """Yield the shard that the index names, then all others, because the index may be wrong."""
        named = (shard for first, count, shard in self._index_records if first <= number < first + count)
        indexed = next((shard for shard in named if shard < self.store.shards), None)
        if indexed is not None:
            yield indexed
        yield from (shard for shard in range(self.store.shards) if shard != indexed)

    @cached_property
    def _index_records(self) -> list[tuple[int, int, int]]:
        """First line, number of lines and shard of each record of the index file."""
        data = self.store.folder.read(f".store/index/{STREAM_WORDS[self.name]}.idx").data or b""
        records = (data[at : at + 48] for at in range(0, len(data) - 47, 48))
        fields = ([int.from_bytes(each[k : k + 8], "little") for k in (16, 24, 32)] for each in records)
        return [(first, count, shard) for first, count, shard in fields]

    def _shard_file(self, shard: int) -> str:
        return self.store.folder.file(f"{DATA}/{shard_name(shard)}")

    def _line(self, file: str, number: int, content: bytes, problem: str | None = None) -> HistoryLine:
        return HistoryLine(self.name, file, number, 0, len(content), content, 1, problem)


def shard_name(number: int) -> str:
    return f"part-{number:06}.parquet"


def wal_row(record: JsonRecord) -> WalRow | None:
    """Return a record of the log as a row, or None when it is not a row."""
    names = {word: stream for stream, word in STREAM_WORDS.items()}
    stream, ordinal, payload = record.text("stream"), record.number("ordinal"), record.text("payload")
    if stream not in names or ordinal is None or payload is None:
        return None
    return WalRow(names[stream], ordinal, payload, record)


def missing_shards(store: ColumnarStore) -> Iterator[str]:
    """Yield the names of the shards that the manifest counts and the folder does not hold.

    They are unknown, and none, when the folder cannot be listed.
    """
    for number in range(store.shards):
        entry = store.present.get(shard_name(number))
        absent = entry is None and DATA not in store.folder.seen.closed
        if absent or (entry is not None and entry.kind not in (EntryKind.FILE, EntryKind.UNKNOWN)):
            yield shard_name(number)


def _rows_in(data: bytes, word: str) -> list[tuple[int, bytes]] | str:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(
            pyarrow.BufferReader(data), columns=["stream", "ordinal", "payload_json"]
        )
        columns = table.to_pydict()
        rows = zip(columns["stream"], columns["ordinal"], columns["payload_json"], strict=True)
        return sorted((int(n), str(payload).encode()) for stream, n, payload in rows if stream == word)
    except (pyarrow.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        return f"the shard is damaged: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
