"""A cache of numbers that were computed from content, stored by the hash of the content.

The cache is a file in the user's cache folder. A damaged file is deleted, and its numbers are computed again.
Several processes may use the cache at once. The content itself is never stored.
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
"""The largest size of the cache on disk in bytes, which is about two million numbers."""

_NAME: Final = "numbers-1.sqlite"
_PAGE: Final = 4096
_AT_ONCE: Final = 500
_WAIT_SECONDS: Final = 2.0
_TABLE: Final = "CREATE TABLE IF NOT EXISTS numbers (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
# Keys are hashes: the top bit of any byte selects half of the rows, and each byte another half.
_DELETE_HALF: Final = "DELETE FROM numbers WHERE substr(key, ?, 1) >= x'80'"


def content_key(kind: str, *contents: bytes) -> bytes:
    """Return the key for the numbers of one `kind` (the unit and the method of counting) of `contents`."""
    hashed = sha256(f"{kind}\0".encode())
    hashed.update(array("Q", map(len, contents)))
    hashed.update(b"".join(contents))
    return hashed.digest()[:16]


class NumberCache:
    """Numbers by key. It never raises, and several threads may use it."""

    def __init__(self, folder: Path | None = None, limit: int = LIMIT) -> None:
        self._folder = folder
        self._limit = limit
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._deleted_by = randrange(16)  # the byte that selected the last deleted half

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Sequence[int]]:
        """Return the known numbers of `keys`."""
        import sqlite3

        found: dict[bytes, Sequence[int]] = {}
        rest = iter(keys)
        with self._lock:
            try:
                while batch := list(islice(rest, _AT_ONCE)):
                    query = f"SELECT key, value FROM numbers WHERE key IN ({','.join('?' * len(batch))})"
                    rows = self._opened().execute(query, batch)
                    found |= {key: _unpacked(key, value) for key, value in rows}
            except (sqlite3.Error, _Damaged) as error:
                self._recover(error)
        return found

    def put(self, numbers: Mapping[bytes, Sequence[int]]) -> None:
        """Store `numbers`, each from 0 to 2³² - 1."""
        import sqlite3

        rows = [(key, _packed(key, value)) for key, value in sorted(numbers.items())]
        with self._lock:
            for _ in range(3):
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
            connection.execute("PRAGMA synchronous = OFF")  # a crash of the machine may lose the cache
            connection.execute(f"PRAGMA max_page_count = {self._limit // _PAGE}")
            connection.execute(_TABLE)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _recover(self, error: Exception) -> None:
        """Make room in a full cache, leave a busy one alone, and delete any other."""
        import sqlite3

        code = getattr(error, "sqlite_errorcode", None)
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return
        if code == sqlite3.SQLITE_FULL and self._connection:
            with suppress(sqlite3.Error), self._connection as transaction:
                self._deleted_by = (self._deleted_by + 1) % 16
                transaction.execute(_DELETE_HALF, (self._deleted_by + 1,))
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
    """The value of a key is not the stored one."""


def _packed(key: bytes, numbers: Sequence[int]) -> bytes:
    """Pack `numbers` with a checksum: SQLite does not detect damaged bytes, and wrong numbers do harm."""
    packed = array("I", numbers).tobytes()
    return packed + crc32(key + packed).to_bytes(4, "big")


def _unpacked(key: bytes, value: object) -> Sequence[int]:
    if not isinstance(value, bytes) or crc32(key + value[:-4]).to_bytes(4, "big") != value[-4:]:
        raise _Damaged
    return array("I", value[:-4])
