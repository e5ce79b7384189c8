"""The index of a memory server: the records of a bundle by memory and time, and a ranked search, in memory.

It follows the files, so that it also knows the lines that other processes wrote. It never writes.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from threading import RLock
from typing import Final

import orjson
from msgspec import Struct

from ctxview.analysis.rfc3339 import parse_time
from ctxview.core.origin import JsonValue
from ctxview.formats.memory.records import CONTEXTS, ENTRIES, MEMORIES, VAULTS, text_of, unwrapped, value_of
from ctxview.formats.memory.server.log_files import LogFile, LogFolder

MOST_RANKED: Final = 1500
"""A search ranks this many of the newest matches."""
MOST_WORDS: Final = 32
_SCHEMA: Final = """
CREATE TABLE records(
    number INTEGER PRIMARY KEY, kind INT, id TEXT, memory INT, time TEXT, start INT, length INT,
    UNIQUE(kind, id)
);
CREATE INDEX by_time ON records(kind, memory, time);
CREATE TABLE tags(entry TEXT PRIMARY KEY, start INT, length INT);
"""
_SELECT: Final = "SELECT start, length, id FROM records"
_KINDS: Final = {ENTRIES: 0, CONTEXTS: 1}
_WORD: Final = re.compile(r"\w+")
_OWN_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")

Members = dict[str, JsonValue]


class RankedRecord(Struct, frozen=True):
    """One search result: the record and its score; higher is better."""

    members: Members
    score: float


class MemoryIndex:
    """The records of a bundle. Every method first reads the lines that were added since the last one."""

    def __init__(self, folder: LogFolder) -> None:
        self._folder = folder
        self._lock = RLock()
        self._replaced: dict[str, int] = {}
        self._start_over()

    def _start_over(self) -> None:
        self.vaults: dict[str, Members] = {}
        self.memories: dict[str, Members] = {}
        self._numbers: dict[str, int] = {}
        self._rows = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._rows.executescript(_SCHEMA)
        for name in (VAULTS, MEMORIES, *_KINDS):
            self._replaced[name] = self._folder.files[name].current()
            self._folder.files[name].reached = 0

    def follow(self) -> None:
        """Read the lines that were added to all files."""
        with self._lock:
            self.follow_memories()
            for name in _KINDS:
                self._follow_records(name)

    def follow_memories(self) -> None:
        """Read the lines that were added to the vaults and memories, which are few."""
        with self._lock:
            if any(self._folder.files[name].current() != known for name, known in self._replaced.items()):
                self._start_over()
            for name, known, key in ((VAULTS, "vaults", "vaultId"), (MEMORIES, "memories", "memoryId")):
                for _, _, members in self._new_records(name):
                    if (found := text_of(members, key)) is not None:
                        getattr(self, known).setdefault(found, members)

    def newest(self, memory: str, kind: str, count: int, *, before: str | None = None) -> list[Members]:
        """Return the newest records of a memory that are older than `before`, the newest first."""
        sql = f"{_SELECT} WHERE kind=? AND memory=? AND time<? ORDER BY time DESC LIMIT ?"
        return self._read(kind, sql, memory, before or "~", count)

    def oldest_after(self, memory: str, kind: str, count: int, after: str) -> list[Members]:
        """Return the oldest records of a memory that are newer than `after`, the newest of them first."""
        sql = f"{_SELECT} WHERE kind=? AND memory=? AND time>? ORDER BY time LIMIT ?"
        return self._read(kind, sql, memory, after, count)[::-1]

    def count(self, memory: str, kind: str) -> int:
        with self._lock:
            self.follow()
            sql = "SELECT count(*) FROM records WHERE kind=? AND memory=?"
            row = self._rows.execute(sql, (_KINDS[kind], self._number(memory))).fetchone()
            return int(row[0])

    def search(self, memory: str, kind: str, query: str, count: int) -> list[RankedRecord]:
        """Return the records that match all words of `query`, then those that match some, best first."""
        words = [f'"{word}"' for word in dict.fromkeys(_WORD.findall(query.lower()))][:MOST_WORDS]
        with self._lock:
            self.follow()
            table = f"{kind.partition('.')[0]}_{self._number(memory)}"
            known = self._rows.execute("SELECT 1 FROM sqlite_master WHERE name=?", (table,)).fetchone()
            if not words or known is None:
                return []
            found: dict[int, float] = {}
            for joined in (" ".join(words), " OR ".join(words)):
                if len(found) < count:
                    found = {**dict(self._ranked(table, joined)), **found}
            best = sorted(found.items(), key=lambda item: (-item[1], -item[0]))[:count]
            return [RankedRecord(self._record(kind, number), score) for number, score in best]

    def _ranked(self, table: str, match: str) -> Iterator[tuple[int, float]]:
        sql = f"SELECT rowid, -bm25({table}) FROM {table} WHERE {table} MATCH ? ORDER BY rowid DESC LIMIT ?"
        yield from self._rows.execute(sql, (match, MOST_RANKED))

    def _read(self, kind: str, sql: str, memory: str, bound: str, count: int) -> list[Members]:
        with self._lock:
            self.follow()
            rows = self._rows.execute(sql, (_KINDS[kind], self._number(memory), bound, count)).fetchall()
            return [self._members(kind, *row) for row in rows]

    def _record(self, kind: str, number: int) -> Members:
        sql = f"{_SELECT} WHERE number=?"
        return self._members(kind, *self._rows.execute(sql, (number,)).fetchone())

    def _members(self, kind: str, start: int, length: int, name: str) -> Members:
        file = self._folder.files[kind]
        members: Members = orjson.loads(file.read(start, length))
        row = self._rows.execute("SELECT start, length FROM tags WHERE entry=?", (name,)).fetchone()
        if row is not None and kind == ENTRIES:
            members["tags"] = value_of(orjson.loads(file.read(*row)), "tags")
        return members

    def _number(self, memory: str) -> int:
        return self._numbers.setdefault(memory, len(self._numbers))

    def _new_records(self, name: str) -> Iterator[tuple[int, int, Members]]:
        """Yield offset, length and members of each new record; lines that are none are left alone."""
        file: LogFile = self._folder.files[name]
        for start, line in file.new_lines():
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if isinstance(value, dict):
                yield start, len(line), value

    def _follow_records(self, name: str) -> None:
        kind, key, text = (
            _KINDS[name],
            *(("entryId", "rawEntry") if name == ENTRIES else ("contextId", "context")),
        )
        self._rows.execute("BEGIN")
        try:
            for start, length, members in self._new_records(name):
                found, memory = text_of(members, key), text_of(members, "memoryId")
                body = text_of(members, text)
                if found is None:
                    continue
                if body is not None and memory is not None:
                    self._add(kind, name, found, memory, members, body, start, length)
                elif body is None and name == ENTRIES and isinstance(value_of(members, "tags"), dict):
                    self._rows.execute("INSERT OR REPLACE INTO tags VALUES (?,?,?)", (found, start, length))
        finally:
            self._rows.execute("COMMIT")

    def _add(
        self,
        kind: int,
        name: str,
        found: str,
        memory: str,
        members: Members,
        body: str,
        start: int,
        length: int,
    ) -> None:
        number = self._number(memory)
        row = (kind, found, number, sortable_time(text_of(members, "creationTime")), start, length)
        sql = "INSERT OR IGNORE INTO records(kind, id, memory, time, start, length) VALUES (?,?,?,?,?,?)"
        added = self._rows.execute(sql, row)
        if not added.rowcount:
            return
        table = f"{name.partition('.')[0]}_{number}"
        self._rows.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {table} USING fts5(summary, body, content='')"
        )
        texts = (text_of(members, "summary") or "", unwrapped(body))
        self._rows.execute(
            f"INSERT INTO {table}(rowid, summary, body) VALUES (?,?,?)", (added.lastrowid, *texts)
        )


def sortable_time(text: str | None) -> str:
    """Return a time in the spelling of the server, which sorts as text; other texts stay as they are."""
    if text is None or _OWN_TIME.fullmatch(text):
        return text or ""
    found = parse_time(text)
    return f"{found:%Y-%m-%dT%H:%M:%S.%f}Z" if found is not None else text
