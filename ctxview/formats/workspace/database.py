"""The session database: sessions, working memory and summary nodes, read without touching the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson
from msgspec import Struct, field

from ctxview.files.reading import ReadError
from ctxview.files.readonly_sqlite import ReadOnlyDatabase, SqlValue, open_readonly
from ctxview.formats.workspace.history_checks import HistoryMessage

MOST_MESSAGES = 100_000


class WorkingMemoryRow(Struct, frozen=True):
    """The working memory of one session (era D)."""

    session_id: str
    session_key: str | None
    content: str
    status: str
    last_updated_turn: int | None
    created_at: str | None
    updated_at: str | None

    @property
    def name(self) -> str:
        return self.session_key or f"session {self.session_id}"


class StoredSession(Struct, frozen=True):
    """One session, with the number of messages that it states and that there are."""

    id: str
    key: str
    updated_at: str | None
    stated: int | None
    messages: int


class SummaryNode(Struct, frozen=True):
    """One node of the summary tree of a session."""

    id: int
    session_id: str
    sources: tuple[int, ...]
    level: int
    created_at: str | None
    tokens: int | None


class StoredMessage(Struct, frozen=True):
    """A message with its row and its session."""

    id: int
    session_id: str
    message: HistoryMessage


class SessionDatabase(Struct, frozen=True):
    """What was read of sessions.db; `problem` says why nothing more could be read."""

    file: str
    sessions: tuple[StoredSession, ...] = ()
    working_memory: tuple[WorkingMemoryRow, ...] = ()
    has_working_memory: bool = False
    nodes: tuple[SummaryNode, ...] = ()
    own_node_ids: bool = False
    """Whether node ids are per session, as the later schema has them."""
    messages: int = 0
    indexed: int | None = None
    """The number of messages in the full-text index; None when there is none."""
    problem: str | None = None
    invalid_texts: Mapping[str, int] = field(default_factory=dict)
    """By table, the texts that are not UTF-8; of the messages only their sessions were read."""


def read_database(path: Path) -> SessionDatabase:
    """Read the tables that are there; never raises."""
    try:
        with open_readonly(path) as database:
            return _read(str(path), database)
    except ReadError as error:
        return SessionDatabase(str(path), problem=error.reason)


def read_messages(path: Path, session: str | None = None) -> Iterator[StoredMessage]:
    """Yield the messages in order, of one session or of all; raises `ReadError`."""
    with open_readonly(path) as database:
        yield from messages_of(database, session)


def messages_of(database: ReadOnlyDatabase, session: str | None = None) -> Iterator[StoredMessage]:
    """Yield the messages of an opened database in order, of one session or of all; raises `ReadError`."""
    if "messages" not in database.tables():
        return
    names = {str(row[1]) for row in database.rows("PRAGMA table_info(messages)")}
    wanted = ("id", "session_id", "role", "content", "timestamp", "tool_calls", "tool_call_id")
    columns = ", ".join(name if name in names else f"NULL AS {name}" for name in wanted)
    where, given = ("WHERE session_id = ?", [session]) if session is not None else ("", [])
    for row in database.rows(f"SELECT {columns} FROM messages {where} ORDER BY id", given, MOST_MESSAGES):
        number = row[0] if isinstance(row[0], int) else 0
        session_id, role, content, time, calls, answers = map(_text, row[1:])
        message = HistoryMessage(role, f"{content or ''}\n{calls or ''}".strip(), time, _ids(calls), answers)
        yield StoredMessage(number, session_id or "", message)


def _ids(calls: str | None) -> tuple[str, ...]:
    try:
        found = orjson.loads(calls or "[]")
    except orjson.JSONDecodeError:
        return ()
    listed = found if isinstance(found, list) else []
    return tuple(each["id"] for each in listed if isinstance(each, dict) and isinstance(each.get("id"), str))


def _read(file: str, database: ReadOnlyDatabase) -> SessionDatabase:
    tables = database.tables()
    counts: Counter[str] = Counter()
    if "messages" in tables:
        rows = database.rows("SELECT session_id, count(*) FROM messages GROUP BY session_id")
        counts.update({_text(key) or "": int(number or 0) for key, number in rows})
    sessions = [
        StoredSession(
            id=name,
            key=_text(row.get("session_key")) or name,
            updated_at=_text(row.get("updated_at")),
            stated=_number(row.get("message_count")),
            messages=counts[name],
        )
        for row in (database.table("sessions") if "sessions" in tables else ())
        for name in [_text(row.get("id")) or ""]
    ]
    keys = {each.id: each.key for each in sessions}
    memories = [
        WorkingMemoryRow(
            session_id=name,
            session_key=keys.get(name),
            content=_text(row.get("content")) or "",
            status=_text(row.get("status")) or "",
            last_updated_turn=_number(row.get("last_updated_turn")),
            created_at=_text(row.get("created_at")),
            updated_at=_text(row.get("updated_at")),
        )
        for row in (database.table("working_memory") if "working_memory" in tables else ())
        for name in [_text(row.get("session_id")) or ""]
    ]
    nodes = list(database.table("summary_nodes")) if "summary_nodes" in tables else []
    return SessionDatabase(
        file=file,
        sessions=tuple(sessions),
        working_memory=tuple(memories),
        has_working_memory="working_memory" in tables,
        nodes=tuple(_node(row) for row in nodes),
        own_node_ids=any("id_kind" in row for row in nodes),
        messages=counts.total(),
        indexed=_indexed(database, tables),
        invalid_texts=database.invalid_texts,
    )


def _indexed(database: ReadOnlyDatabase, tables: frozenset[str]) -> int | None:
    # An index without its own content has no countable rows; its sizes are always there.
    for name in ("messages_fts_docsize", "messages_fts"):
        if name in tables:
            return _number(database.rows(f"SELECT count(*) FROM {name}")[0][0])
    return None


def _node(row: dict[str, SqlValue]) -> SummaryNode:
    try:
        sources = orjson.loads(_text(row.get("source_ids")) or "[]")
    except orjson.JSONDecodeError:
        sources = []
    numbers = tuple(each for each in sources if isinstance(each, int)) if isinstance(sources, list) else ()
    return SummaryNode(
        id=_number(row.get("id")) or 0,
        session_id=_text(row.get("session_id")) or "",
        sources=numbers,
        level=_number(row.get("level")) or 0,
        created_at=_text(row.get("created_at")),
        tokens=_number(row.get("tokens")),
    )


def _text(value: SqlValue) -> str | None:
    return value if value is None else str(value)


def _number(value: SqlValue) -> int | None:
    return value if isinstance(value, int) else None
