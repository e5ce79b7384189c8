"""Redact the texts of a SQLite database in a private copy, so that no freed page keeps them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

MAGIC: Final = b"SQLite format 3\0"
_JOURNAL_MODE: Final = slice(18, 20)
"""The bytes of the header that say whether the database uses a write-ahead log."""
_FULL_TEXT: Final = re.compile(r"\bUSING\s+fts5\b", re.IGNORECASE)


class DatabaseRefused(Exception):
    """A database that cannot be rewritten, with the reason; it is left out of a copy."""


def is_database(data: bytes) -> bool:
    return data.startswith(MAGIC)


def redacted_database(data: bytes, redact: Callable[[str], str]) -> bytes:
    """Return a database with all its texts passed through `redact`; raises `DatabaseRefused`."""
    with TemporaryDirectory(prefix="ctxview-") as folder:
        file = Path(folder) / "copy.db"
        file.write_bytes(data)
        try:
            with closing(sqlite3.connect(file, isolation_level=None)) as database:
                changed = _rewrite(database, redact)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise DatabaseRefused(f"the database cannot be rewritten: {error}") from None
        if not changed:
            return data
        written = bytearray(file.read_bytes())
    written[_JOURNAL_MODE] = data[_JOURNAL_MODE]
    return bytes(written)


def with_log(data: bytes, log: bytes) -> bytes:
    """Return a database with its write-ahead log written into it; the database alone if that fails."""
    with TemporaryDirectory(prefix="ctxview-") as folder:
        file = Path(folder) / "copy.db"
        file.write_bytes(data)
        (Path(folder) / "copy.db-wal").write_bytes(log)
        try:
            with closing(sqlite3.connect(file, isolation_level=None)) as database:
                database.execute("PRAGMA trusted_schema = OFF")
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error:
            return data
        return file.read_bytes()


def _rewrite(database: sqlite3.Connection, redact: Callable[[str], str]) -> bool:
    """Change the texts of every table, then write the whole file anew; whether it had anything to change."""
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA journal_mode = DELETE")
    database.execute("PRAGMA secure_delete = ON")
    schema = database.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    virtual = [(name, sql) for kind, name, sql in schema if kind == "table" and "VIRTUAL" in sql.upper()[:16]]
    if any(not _FULL_TEXT.search(sql) for _, sql in virtual):
        raise DatabaseRefused("the database has a virtual table that cannot be rewritten")
    if any(redact(sql) != sql for _, _, sql in schema):
        raise DatabaseRefused("the redacted text is a name of the database")
    triggers = [(name, sql) for kind, name, sql in schema if kind == "trigger"]
    shadows = tuple(f"{name}_" for name, _ in virtual)
    database.execute("BEGIN IMMEDIATE")
    for name, _ in triggers:
        # A trigger is code of the file: none of it runs.
        database.execute(f"DROP TRIGGER {_name(name)}")
    changed = False
    for kind, name, sql in schema:
        if kind == "table" and not name.startswith(("sqlite_", *shadows)) and (name, sql) not in virtual:
            changed |= _rewrite_table(database, name, redact)
    for name, _ in virtual:
        changed |= _rewrite_table(database, name, redact)
    for name, _ in virtual:
        if changed:
            # The index still has the words of the old texts.
            database.execute(f"INSERT INTO {_name(name)}({_name(name)}) VALUES ('rebuild')")
    for _, sql in triggers:
        database.execute(sql)
    database.execute("COMMIT" if changed else "ROLLBACK")
    if changed:
        database.execute("VACUUM")
    return changed


def _rewrite_table(database: sqlite3.Connection, name: str, redact: Callable[[str], str]) -> bool:
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({_name(name)})")]
    listed = ", ".join(map(_name, columns))
    changed = False
    for number, *values in database.execute(f"SELECT rowid, {listed} FROM {_name(name)}").fetchall():
        new = {
            column: text
            for column, value in zip(columns, values, strict=True)
            for text in _new(value, redact)
        }
        if new:
            assigned = ", ".join(f"{_name(column)} = ?" for column in new)
            database.execute(f"UPDATE {_name(name)} SET {assigned} WHERE rowid = ?", [*new.values(), number])
            changed = True
    return changed


def _new(value: object, redact: Callable[[str], str]) -> Iterator[str | bytes]:
    """Yield the redacted value if it differs."""
    if isinstance(value, str) and (text := redact(value)) != value:
        yield text
    elif (
        isinstance(value, bytes)
        and (text := redact(value.decode("utf-8", "surrogateescape"))).encode("utf-8", "surrogateescape")
        != value
    ):
        yield text.encode("utf-8", "surrogateescape")


def texts_of(data: bytes) -> Iterator[str]:
    """Yield every text of a database; raises `DatabaseRefused`."""
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    redacted_database(data, keep)
    yield from found


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
