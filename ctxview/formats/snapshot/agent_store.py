"""Reads an `.agent` folder without its logs: persistent memory, its queue and the todo list.

A part that cannot be read becomes a problem with its file and does not affect the others. Nothing is written,
locked or created beside the databases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from msgspec import Struct, field

from ctxview.files.change_detector import stable_stamp, stamp_of
from ctxview.files.reading import ReadError, read_bytes
from ctxview.files.readonly_sqlite import SqlValue, open_readonly
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.formats.path_hints import unlisted_reason
from ctxview.formats.snapshot.model import AgentStore, MemoryEntry, QueueLine, TodoRow

ENTRIES = "persistent_memory_entries"
PAYLOADS = "persistent_memory_tag_payloads"
FULL_TEXT = "persistent_memory_fts"
TODO_ITEMS = "todo_items"
WATCHED = ("memory.db-wal", "memory.db", "memory-queue.wal", "todo.db-wal", "todo.db")
"""The files agents write to; a database writes to its `-wal` file first."""
LOGS = "log"
"""The folder of the saved snapshots, which are read elsewhere."""


class StoreReading:
    """A store that is read on first use; its stamps are taken before, so the content is at least as new."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files = tuple(folder / name for name in WATCHED)
        self._places = (*self.files, folder / LOGS)
        self._stamps = tuple(stable_stamp(stamp_of(place)) for place in self._places)

    @cached_property
    def store(self) -> AgentStore:
        return read_store(self._folder)

    def is_current(self) -> bool:
        """Whether the files are unchanged since the stamps were taken."""
        return self._stamps == tuple(stamp_of(place) for place in self._places)


def read_store(folder: Path) -> AgentStore:
    """Read every part of an `.agent` folder; a part that cannot be read is among the problems."""
    problems: list[tuple[str, str]] = []
    invalid: dict[str, Counter[str]] = {}
    memory = _read_memory(folder / "memory.db", problems, invalid)
    queue_path, todo_path = folder / "memory-queue.wal", folder / "todo.db"
    if _is_there(folder / LOGS, problems) and (reason := unlisted_reason(folder / LOGS)) is not None:
        problems.append((str(folder / LOGS), reason))
    return AgentStore(
        folder=str(folder),
        database=str(folder / "memory.db") if (folder / "memory.db").exists() else None,
        entries=memory.entries,
        payloads=memory.payloads,
        fts_rows=memory.fts_rows,
        queue=str(queue_path) if queue_path.exists() else None,
        queue_lines=_read_queue(queue_path, problems),
        todo_database=str(todo_path) if todo_path.exists() else None,
        todo_rows=_read_todo(todo_path, problems, invalid),
        problems=tuple(problems),
        invalid_texts=invalid,
    )


def _is_there(path: Path, problems: list[tuple[str, str]]) -> bool:
    if path.is_symlink():
        problems.append((str(path), "this is a link, which may lead out of the folder; it is not followed"))
        return False
    return path.exists()


class _Memory(Struct):
    entries: tuple[MemoryEntry, ...] | None = None
    payloads: dict[str, str] = field(default_factory=dict)
    fts_rows: int | None = None


def _read_memory(path: Path, problems: list[tuple[str, str]], invalid: dict[str, Counter[str]]) -> _Memory:
    memory = _Memory()
    if not _is_there(path, problems):
        return memory
    try:
        with open_readonly(path) as database:
            invalid[str(path)] = database.invalid_texts
            tables = database.tables()
            if ENTRIES not in tables:
                problems.append((str(path), f"the table {ENTRIES} is missing"))
                return memory
            memory.entries = tuple(_entry(row) for row in database.table(ENTRIES))
            if PAYLOADS in tables:
                payloads = database.table(PAYLOADS)
                memory.payloads = {_text(row, "tag_id"): _text(row, "full_content") for row in payloads}
            if f"{FULL_TEXT}_content" in tables:
                counted = database.rows(f"SELECT count(*) FROM {FULL_TEXT}_content")[0][0]
                memory.fts_rows = counted if isinstance(counted, int) else None
    except ReadError as error:
        problems.append((str(path), error.reason))
    return memory


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
    return default if value is None else str(value)


def _integer(row: Mapping[str, SqlValue], name: str) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) else None


def _number(row: Mapping[str, SqlValue], name: str) -> float | None:
    value = row.get(name)
    return value if isinstance(value, int | float) else None


def _read_queue(path: Path, problems: list[tuple[str, str]]) -> tuple[QueueLine, ...] | None:
    if not _is_there(path, problems):
        return None
    try:
        data = read_bytes(path)
    except ReadError as error:
        problems.append((str(path), error.reason))
        return None
    lines, start = [], 0
    for number, raw in enumerate(data.split(b"\n"), 1):
        end = start + len(raw)
        if raw.strip():
            lines.append(_queue_line(data, number, start, end))
        start = end + 1
    return tuple(lines)


def _queue_line(data: bytes, number: int, start: int, end: int) -> QueueLine:
    try:
        value = parse(data, start, end).value
    except JsonError as error:
        return QueueLine(number, start, end, None, error.reason)
    if not isinstance(value, dict):
        return QueueLine(number, start, end, None, "the line is JSON, but not an object")
    return QueueLine(number, start, end, value, None)


def _read_todo(
    path: Path, problems: list[tuple[str, str]], invalid: dict[str, Counter[str]]
) -> tuple[TodoRow, ...] | None:
    if not _is_there(path, problems):
        return None
    try:
        with open_readonly(path) as database:
            invalid[str(path)] = database.invalid_texts
            if TODO_ITEMS not in database.tables():
                problems.append((str(path), f"the table {TODO_ITEMS} is missing"))
                return None
            rows = database.table(TODO_ITEMS)
            items = [
                TodoRow(
                    _integer(row, "id") or 0, _text(row, "title"), _text(row, "note"), _text(row, "status")
                )
                for row in rows
            ]
            return tuple(sorted(items, key=lambda item: item.id))
    except ReadError as error:
        problems.append((str(path), error.reason))
        return None
