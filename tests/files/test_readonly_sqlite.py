"""Reading SQLite files that are in use, without leaving anything beside them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ctxview.files.reading import ReadError
from ctxview.files.readonly_sqlite import open_readonly, rows


@pytest.fixture
def live(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """An agent that has its database open, with rows that are only in the write-ahead log."""
    with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as agent:
        agent.execute("PRAGMA journal_mode = wal")
        agent.execute("CREATE TABLE blocks (id TEXT, decay REAL)")
        agent.execute("INSERT INTO blocks VALUES ('a', 0.5), ('b', NULL)")
        yield agent


def traces(folder: Path) -> dict[str, tuple[int, int, int, int]]:
    """Return everything that reading could have changed in a folder."""
    statuses = {path.name: path.stat() for path in folder.iterdir()}
    return {
        name: (status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        for name, status in statuses.items()
    }


def test_a_live_database_is_read_with_its_log_and_left_alone(
    live: sqlite3.Connection, tmp_path: Path
) -> None:
    before = traces(tmp_path)

    assert rows(tmp_path / "memory.db", "SELECT * FROM blocks ORDER BY id") == [("a", 0.5), ("b", None)]

    assert traces(tmp_path) == before
    assert set(before) == {"memory.db", "memory.db-shm", "memory.db-wal"}


def test_a_reader_never_keeps_the_agent_from_writing(live: sqlite3.Connection, tmp_path: Path) -> None:
    live.execute("PRAGMA busy_timeout = 0")
    with open_readonly(tmp_path / "memory.db") as database:
        live.execute("INSERT INTO blocks VALUES ('c', 1)")
        live.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        assert database.rows("SELECT count(*) FROM blocks") == [(2,)]
    assert rows(tmp_path / "memory.db", "SELECT count(*) FROM blocks") == [(3,)]


def test_a_closed_database_gains_no_companions(live: sqlite3.Connection, tmp_path: Path) -> None:
    live.close()

    assert rows(tmp_path / "memory.db", "SELECT id FROM blocks WHERE decay > ?", (0.1,)) == [("a",)]
    assert [path.name for path in tmp_path.iterdir()] == ["memory.db"]


def test_the_tables_are_listed(live: sqlite3.Connection, tmp_path: Path) -> None:
    with open_readonly(tmp_path / "memory.db") as database:
        assert database.tables() == {"blocks"}


def test_an_empty_file_is_a_database_without_tables(tmp_path: Path) -> None:
    (tmp_path / "new.db").touch()

    with open_readonly(tmp_path / "new.db") as database:
        assert database.tables() == frozenset()


def test_invalid_text_does_not_stop_the_reading(live: sqlite3.Connection, tmp_path: Path) -> None:
    live.execute("INSERT INTO blocks VALUES (CAST(x'41FF' AS TEXT), 9)")

    assert rows(tmp_path / "memory.db", "SELECT id FROM blocks WHERE decay = 9") == [("A\ufffd",)]
    with open_readonly(tmp_path / "memory.db") as database:
        assert "A\ufffd" in {row["id"] for row in database.table("blocks")}
        assert database.invalid_texts == {"blocks": 1}


def test_invalid_text_is_counted_by_table_in_queries_and_blobs(
    live: sqlite3.Connection, tmp_path: Path
) -> None:
    live.execute("INSERT INTO blocks VALUES (x'42FF', 9)")

    with open_readonly(tmp_path / "memory.db") as database:
        assert database.rows("SELECT id FROM blocks WHERE decay = 9") == [("B\ufffd",)]
        assert database.invalid_texts == {"blocks": 1}


def reason_for(path: Path, query: str = "SELECT * FROM blocks", limit: int = 10**6) -> str:
    with pytest.raises(ReadError) as caught:
        rows(path, query, limit=limit)
    assert caught.value.path == path
    return caught.value.reason


def test_a_file_that_is_not_a_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("hello")

    assert reason_for(tmp_path / "text.db") == "this is not a SQLite database"
    assert reason_for(tmp_path / "missing.db") == "there is no such file"
    assert reason_for(tmp_path) == "this is a folder, not a file"


def test_a_damaged_database_is_reported(live: sqlite3.Connection, tmp_path: Path) -> None:
    live.close()
    whole = (tmp_path / "memory.db").read_bytes()
    (tmp_path / "cut.db").write_bytes(whole[:3000])
    (tmp_path / "bad.db").write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))

    assert reason_for(tmp_path / "cut.db") == "the database is damaged"
    assert reason_for(tmp_path / "bad.db") == "the database is damaged"


def test_a_database_over_the_limit_is_refused_with_its_size(live: sqlite3.Connection, tmp_path: Path) -> None:
    assert "more than the limit of 10 bytes" in reason_for(tmp_path / "memory.db", limit=10)


def test_an_unfinished_write_is_reported_after_some_attempts(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "todo.db")) as agent:
        agent.execute("CREATE TABLE blocks (text)")
        agent.commit()
        agent.execute("PRAGMA cache_size = 1")
        agent.executemany("INSERT INTO blocks VALUES (?)", [("x" * 3000,)] * 50)

        assert (tmp_path / "todo.db-journal").exists()
        assert "a write to the database is in progress" in reason_for(tmp_path / "todo.db")

        agent.commit()
        assert rows(tmp_path / "todo.db", "SELECT count(*) FROM blocks") == [(50,)]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT * FROM absent", "no such table"),
        ("INSERT INTO blocks VALUES (1, 1)", "readonly"),
        ("ATTACH 'other.db' AS other", "too many attached databases"),
        (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT count(*) FROM n",
            "took too long",
        ),
        (
            "SELECT x FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n)",
            "more than",
        ),
    ],
)
def test_queries_that_fail_write_or_never_end_are_stopped(
    live: sqlite3.Connection, tmp_path: Path, query: str, reason: str
) -> None:
    assert reason in reason_for(tmp_path / "memory.db", query)
