"""Read a SQLite file that an agent may have open, without touching it or the files beside it.

SQLite would take locks and create `-wal` and `-shm` files even to read. So the database and its write-ahead
log are read as plain bytes until two readings agree, and SQLite opens a private copy. The database is not
trusted: no code in its schema runs, and an endless query is stopped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, TypeAlias

from ctxview.files.reading import LIMIT, ReadError, read_bytes

if TYPE_CHECKING:
    import sqlite3


SqlValue: TypeAlias = str | int | float | None
Row: TypeAlias = tuple[SqlValue, ...]

_ATTEMPTS: Final = 5
_MAGIC: Final = b"SQLite format 3\0"
# A rollback journal that starts with these bytes belongs to an unfinished write.
_HOT_JOURNAL: Final = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_REPLACEMENT: Final = "\ufffd"
_TABLE: Final = re.compile(r"\bFROM (\w+)")
_STEPS_BETWEEN_CHECKS: Final = 100_000
_MOST_CHECKS: Final = 200


class ReadOnlyDatabase:
    """The opened copy of one SQLite file."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self.invalid_texts: Counter[str] = Counter()
        """By table, the texts and blobs read so far that are not UTF-8; U+FFFD replaces invalid bytes."""
        self._reading = "sqlite_schema"
        connection.text_factory = self._text

    def tables(self) -> frozenset[str]:
        return frozenset(
            str(name) for (name,) in self.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
        )

    def rows(self, query: str, parameters: Sequence[SqlValue | bytes] = (), most: int = 100_000) -> list[Row]:
        """Return the rows of `query`, blobs as text; raises `ReadError`, also for more rows than `most`."""
        import sqlite3

        table = _TABLE.search(query)
        self._reading = table[1] if table is not None else "sqlite_schema"
        checks = iter(range(_MOST_CHECKS))
        self._connection.set_progress_handler(lambda: next(checks, None) is None, _STEPS_BETWEEN_CHECKS)
        try:
            with closing(self._connection.execute(query, parameters)) as cursor:
                found = cursor.fetchmany(most + 1)
        except UnicodeDecodeError:
            # The module decodes error messages strictly, and these quote the schema.
            raise ReadError(self._path, "the database is damaged: its schema is not UTF-8") from None
        except sqlite3.Error as error:
            raise ReadError(self._path, _in_words(error)) from None
        if len(found) > most:
            raise ReadError(self._path, f"the database holds more than {most:,} rows of this kind")
        return [tuple(self._text(each) if isinstance(each, bytes) else each for each in row) for row in found]

    def table(self, name: str) -> Iterator[dict[str, SqlValue]]:
        """Yield the rows of the table `name`, a trusted word, by column; raises `ReadError`.

        A column whose name is not UTF-8 is left out: the module decodes the names of a result strictly.
        """
        columns = [str(row[1]) for row in self.rows(f"PRAGMA table_info({name})")]
        columns = [column for column in columns if _REPLACEMENT not in column]
        if not columns:
            return
        chosen = ", ".join('"{}"'.format(column.replace('"', '""')) for column in columns)
        for row in self.rows(f"SELECT {chosen} FROM {name} ORDER BY rowid"):
            yield dict(zip(columns, row, strict=True))

    def _text(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.invalid_texts[self._reading] += 1
            return data.decode(errors="replace")


def rows(path: Path, query: str, parameters: Sequence[SqlValue] = (), limit: int = LIMIT) -> list[Row]:
    """Return the rows of one query on the SQLite file at `path`; raises `ReadError`."""
    with open_readonly(path, limit) as database:
        return database.rows(query, parameters)


@contextmanager
def open_readonly(path: Path, limit: int = LIMIT) -> Iterator[ReadOnlyDatabase]:
    """Open the database at `path` as it is now; raises `ReadError`, also for a file over `limit` bytes."""
    import sqlite3

    content, log = _stable_content(path, limit)
    if content and not content.startswith(_MAGIC):
        raise ReadError(path, "this is not a SQLite database")
    with TemporaryDirectory(prefix="ctxview-") as folder:
        copy = Path(folder) / "copy.db"
        copy.write_bytes(content)
        if log:
            copy.with_name("copy.db-wal").write_bytes(log)
        mode = "mode=ro" if log else "mode=ro&immutable=1"
        try:
            connection = sqlite3.connect(f"{copy.as_uri()}?{mode}", uri=True, isolation_level=None)
        except sqlite3.Error as error:
            raise ReadError(path, _in_words(error)) from None
        with closing(connection):
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA query_only = ON")
            yield ReadOnlyDatabase(path, connection)


def _stable_content(path: Path, limit: int) -> tuple[bytes, bytes]:
    """Return the database and its log as they were at one moment."""
    previous = None
    for _ in range(_ATTEMPTS):
        # Two equal readings in a row: neither file changed while the other was read, so they match.
        now = (read_bytes(path, limit), _beside(path, "-wal", limit))
        if now == previous and not _beside(path, "-journal", limit).startswith(_HOT_JOURNAL):
            return now
        previous = now
    raise ReadError(path, "a write to the database is in progress, or was never finished")


def _beside(path: Path, suffix: str, limit: int) -> bytes:
    """Return the bytes of a file that SQLite keeps next to a database; empty when it does not exist."""
    neighbour = path.with_name(path.name + suffix)
    return read_bytes(neighbour, limit) if neighbour.exists() else b""


def _in_words(error: sqlite3.Error) -> str:
    text = str(error)
    if "interrupted" in text:
        return "the query took too long and was stopped"
    if "malformed" in text or "not a database" in text:
        return "the database is damaged"
    return f"the database cannot be read: {text}"
