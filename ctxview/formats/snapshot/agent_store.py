"""Reads what an `.agent` folder holds beside its logs: persistent memory, its queue, the todo list.

Each part may be absent or broken; that becomes a problem with its place and never stops the others. Nothing
is written, locked or created beside the databases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ctxview.files.json_document import JsonError, parse
from ctxview.files.reading import Unreadable, read_bytes
from ctxview.files.readonly_sqlite import Database, SqlValue, open_readonly
from ctxview.files.stamps import lasting, stamp_of
from ctxview.formats.snapshot.model import AgentStore, MemoryEntry, QueueLine, TodoRow

ENTRIES = "persistent_memory_entries"
PAYLOADS = "persistent_memory_tag_payloads"
FULL_TEXT = "persistent_memory_fts"
TODO_ITEMS = "todo_items"
WATCHED = ("memory.db-wal", "memory.db", "memory-queue.wal", "todo.db-wal", "todo.db")
"""Where agents write; a database first writes into the file beside it."""


class StoreLook:
    """One look at a store: read when somebody first asks, and as it was when the look was taken or later."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files = tuple(folder / name for name in WATCHED)
        self._stamps = tuple(lasting(stamp_of(file)) for file in self.files)

    @cached_property
    def store(self) -> AgentStore:
        return read_store(self._folder)

    def still_true(self) -> bool:
        """Whether another look would read the same."""
        return self._stamps == tuple(stamp_of(file) for file in self.files)


def read_store(folder: Path) -> AgentStore:
    """Everything readable in an `.agent` folder, and why the rest is not."""
    problems: list[tuple[str, str]] = []
    memory = _read_memory(folder / "memory.db", problems)
    queue_path, todo_path = folder / "memory-queue.wal", folder / "todo.db"
    return AgentStore(
        folder=str(folder),
        database=str(folder / "memory.db") if (folder / "memory.db").exists() else None,
        entries=memory.entries,
        payloads=memory.payloads,
        fts_rows=memory.fts_rows,
        queue=str(queue_path) if queue_path.exists() else None,
        queue_lines=_read_queue(queue_path, problems),
        todo_database=str(todo_path) if todo_path.exists() else None,
        todo_rows=_read_todo(todo_path, problems),
        problems=tuple(problems),
    )


def _is_there(path: Path, problems: list[tuple[str, str]]) -> bool:
    if path.is_symlink():
        problems.append((str(path), "this is a link; what it leads to may lie outside and is not followed"))
        return False
    return path.exists()


# -- memory.db ---------------------------------------------------------------------------------------------


@dataclass
class _Memory:
    entries: tuple[MemoryEntry, ...] | None = None
    payloads: dict[str, str] = field(default_factory=dict)
    fts_rows: int | None = None


def _read_memory(path: Path, problems: list[tuple[str, str]]) -> _Memory:
    memory = _Memory()
    if not _is_there(path, problems):
        return memory
    try:
        with open_readonly(path) as database:
            tables = database.tables()
            if ENTRIES not in tables:
                problems.append((str(path), f"the table {ENTRIES} is missing"))
                return memory
            memory.entries = tuple(_entry(row) for row in _rows(database, ENTRIES))
            if PAYLOADS in tables:
                payloads = _rows(database, PAYLOADS)
                memory.payloads = {_text(row, "tag_id"): _text(row, "full_content") for row in payloads}
            memory.fts_rows = _count_full_text(database, tables)
    except Unreadable as error:
        problems.append((str(path), error.reason))
    return memory


def _rows(database: Database, table: str) -> Iterator[dict[str, SqlValue]]:
    """The rows of a table by column name; older databases have fewer columns."""
    names = [str(row[1]) for row in database.rows(f"PRAGMA table_info({table})")]
    for row in database.rows(f"SELECT * FROM {table} ORDER BY rowid"):
        yield dict(zip(names, row, strict=True))


def _count_full_text(database: Database, tables: frozenset[str]) -> int | None:
    """How many rows the full-text index has, from its own content table; None without an index."""
    if f"{FULL_TEXT}_content" not in tables:
        return None
    counted = database.rows(f"SELECT count(*) FROM {FULL_TEXT}_content")[0][0]
    return counted if isinstance(counted, int) else None


def _entry(row: Mapping[str, SqlValue]) -> MemoryEntry:
    return MemoryEntry(
        row=_integer(row, "id") or 0,
        block_id=_text(row, "block_id"),
        source_tier=_text(row, "source_tier", "core"),
        memory_type=_text(row, "memory_type"),
        summary=_text(row, "summary"),
        content=_text(row, "content"),
        content_state=_text(row, "content_state", "active"),
        tag_id=_text(row, "tag_id") or None,
        tag_summary=_text(row, "tag_summary") or None,
        confidence=_number(row, "confidence"),
        decay=_number(row, "decay"),
        status=_text(row, "status"),
        content_hash=_text(row, "content_hash"),
        first_seen_round=_integer(row, "first_seen_round"),
        last_seen_round=_integer(row, "last_seen_round"),
        recall_count=_integer(row, "recall_count") or 0,
        updated_at=_text(row, "updated_at") or None,
    )


def _text(row: Mapping[str, SqlValue], name: str, default: str = "") -> str:
    value = row.get(name)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return default if value is None else str(value)


def _integer(row: Mapping[str, SqlValue], name: str) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) else None


def _number(row: Mapping[str, SqlValue], name: str) -> float | None:
    value = row.get(name)
    return value if isinstance(value, int | float) else None


# -- queue and todo ----------------------------------------------------------------------------------------


def _read_queue(path: Path, problems: list[tuple[str, str]]) -> tuple[QueueLine, ...] | None:
    if not _is_there(path, problems):
        return None
    try:
        return tuple(_queue_lines(read_bytes(path)))
    except Unreadable as error:
        problems.append((str(path), error.reason))
        return None


def _queue_lines(data: bytes) -> Iterator[QueueLine]:
    start = 0
    for number, raw in enumerate(data.split(b"\n"), 1):
        end = start + len(raw)
        if raw.strip():
            yield _queue_line(data, number, start, end)
        start = end + 1


def _queue_line(data: bytes, number: int, start: int, end: int) -> QueueLine:
    try:
        value = parse(data, start, end).value
    except JsonError as error:
        return QueueLine(number, start, end, None, error.reason)
    if not isinstance(value, dict):
        return QueueLine(number, start, end, None, "the line is JSON, but no object")
    return QueueLine(number, start, end, value, None)


def _read_todo(path: Path, problems: list[tuple[str, str]]) -> tuple[TodoRow, ...] | None:
    if not _is_there(path, problems):
        return None
    try:
        with open_readonly(path) as database:
            if TODO_ITEMS not in database.tables():
                problems.append((str(path), f"the table {TODO_ITEMS} is missing"))
                return None
            rows = _rows(database, TODO_ITEMS)
            items = [
                TodoRow(
                    _integer(row, "id") or 0, _text(row, "title"), _text(row, "note"), _text(row, "status")
                )
                for row in rows
            ]
            return tuple(sorted(items, key=lambda item: item.id))
    except Unreadable as error:
        problems.append((str(path), error.reason))
        return None
