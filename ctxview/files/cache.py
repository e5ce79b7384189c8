"""Numbers worked out from content, kept for the next time under its hash, in the user's cache folder.

Losing it loses nothing: whatever is wrong with the file, it is thrown away and things are worked out again.
Several processes may use it at once. Content itself is never stored.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import randrange
from threading import Lock
from typing import TYPE_CHECKING, Final
from zlib import crc32

from ctxview.files.user_folders import cache_folder

if TYPE_CHECKING:
    import sqlite3

LIMIT: Final = 64 * 1024 * 1024
"""The most bytes the cache takes on disk, which is some two million numbers."""

_NAME: Final = "numbers-1.sqlite"
_PAGE: Final = 4096
_AT_ONCE: Final = 500
_WAIT_SECONDS: Final = 2.0
_TABLE: Final = "CREATE TABLE IF NOT EXISTS numbers (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
# Keys are hashes: one bit of them makes any half of what there is, and another half every time.
_FORGET_HALF: Final = "DELETE FROM numbers WHERE substr(key, ?, 1) >= x'80'"


def content_key(kind: str, *contents: bytes) -> bytes:
    """The name of the numbers of some kind (what was counted, and how) of some contents."""
    hashed = sha256(f"{kind}\0".encode())
    hashed.update(array("Q", map(len, contents)))
    hashed.update(b"".join(contents))
    return hashed.digest()[:16]


class NumberCache:
    """Remembers numbers by key. Never raises, and may be used by several threads."""

    def __init__(self, folder: Path | None = None, limit: int = LIMIT) -> None:
        self._folder = folder
        self._limit = limit
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Sequence[int]]:
        """The numbers that are known, of those asked for."""
        import sqlite3

        found: dict[bytes, Sequence[int]] = {}
        rest = iter(keys)
        with self._lock:
            try:
                while some := list(islice(rest, _AT_ONCE)):
                    query = f"SELECT key, value FROM numbers WHERE key IN ({','.join('?' * len(some))})"
                    rows = self._opened().execute(query, some)
                    found |= {key: _unsealed(key, value) for key, value in rows}
            except (sqlite3.Error, _Damaged) as error:
                self._recover(error)
        return found

    def put(self, numbers: Mapping[bytes, Sequence[int]]) -> None:
        """Keep some numbers, each from 0 to 2³² - 1."""
        import sqlite3

        rows = [(key, _sealed(key, value)) for key, value in sorted(numbers.items())]
        with self._lock:
            for _ in range(2):
                try:
                    with self._opened() as transaction:
                        transaction.executemany("INSERT OR REPLACE INTO numbers VALUES (?, ?)", rows)
                    return
                except sqlite3.Error as error:
                    self._recover(error)

    def __del__(self) -> None:
        self._close()

    def close(self) -> None:
        with self._lock:
            self._close()

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        import sqlite3

        for _ in range(2):
            try:
                folder = self._folder or cache_folder()
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                return self._prepared(str(folder / _NAME))
            except (OSError, sqlite3.Error) as error:
                self._recover(error)
        return self._prepared(":memory:")

    def _prepared(self, name: str) -> sqlite3.Connection:
        import sqlite3

        connection = sqlite3.connect(name, timeout=_WAIT_SECONDS, check_same_thread=False)
        try:
            connection.execute("PRAGMA synchronous = OFF")  # a crash of the machine may cost the cache
            connection.execute(f"PRAGMA max_page_count = {self._limit // _PAGE}")
            connection.execute(_TABLE)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _recover(self, error: Exception) -> None:
        """Make room in a full cache; let a busy one be; throw away any other."""
        import sqlite3

        code = getattr(error, "sqlite_errorcode", None)
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return
        if code == sqlite3.SQLITE_FULL and self._connection:
            with suppress(sqlite3.Error), self._connection as transaction:
                transaction.execute(_FORGET_HALF, (randrange(1, 17),))
                return
        self._close()
        folder = self._folder or cache_folder()
        for name in (f"{_NAME}-journal", _NAME):
            with suppress(OSError):
                (folder / name).unlink()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Damaged(Exception):
    """What stands under a key is not what was put there."""


def _sealed(key: bytes, numbers: Sequence[int]) -> bytes:
    """With a checksum: SQLite does not notice bytes that went bad, and a wrong number is worse than none."""
    packed = array("I", numbers).tobytes()
    return packed + crc32(key + packed).to_bytes(4, "big")


def _unsealed(key: bytes, value: object) -> Sequence[int]:
    if not isinstance(value, bytes) or crc32(key + value[:-4]).to_bytes(4, "big") != value[-4:]:
        raise _Damaged
    return array("I", value[:-4])
