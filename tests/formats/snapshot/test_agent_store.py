"""An agent's store is read part by part; what is absent or broken is named and harms nothing else."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from ctxview.formats.snapshot.agent_store import read_store

COLUMNS = (
    "id INTEGER PRIMARY KEY, block_id TEXT, source_tier TEXT, memory_type TEXT, summary TEXT, content TEXT, "
    "content_state TEXT, tag_id TEXT, tag_summary TEXT, tags_json TEXT, confidence REAL, decay REAL, "
    "status TEXT, content_hash TEXT, first_seen_round INTEGER, last_seen_round INTEGER, "
    "recall_count INTEGER, updated_at INTEGER"
)


def memory_db(
    path: Path, entries: Sequence[tuple[str, str, str | None]] = (), payloads: dict[str, str] | None = None
) -> None:
    """Entries as (block id, content, tag id): with a tag they are tag_ref."""
    database = sqlite3.connect(path)
    database.execute(f"CREATE TABLE persistent_memory_entries ({COLUMNS})")
    database.execute(
        "CREATE TABLE persistent_memory_tag_payloads "
        "(tag_id TEXT PRIMARY KEY, full_content TEXT, created_at INTEGER)"
    )
    database.execute("CREATE VIRTUAL TABLE persistent_memory_fts USING fts5(entry_id UNINDEXED, content)")
    for number, (name, content, tag) in enumerate(entries, 1):
        digest = hashlib.sha256(content.encode()).hexdigest()
        state = "tag_ref" if tag else "active"
        row = (
            number,
            name,
            "longterm",
            "note",
            "",
            content,
            state,
            tag,
            None,
            "[]",
            0.9,
            0.1,
            None,
            digest,
            1,
            2,
            0,
            5,
        )
        database.execute(f"INSERT INTO persistent_memory_entries VALUES ({','.join('?' * len(row))})", row)
        database.execute(
            "INSERT INTO persistent_memory_fts (entry_id, content) VALUES (?, ?)", (number, content)
        )
    for tag, content in (payloads or {}).items():
        database.execute("INSERT INTO persistent_memory_tag_payloads VALUES (?, ?, 0)", (tag, content))
    database.commit()
    database.close()


def todo_db(path: Path, statuses: Sequence[str]) -> None:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE todo_items (id INTEGER PRIMARY KEY, title TEXT, note TEXT, status TEXT)")
    for number, status in enumerate(statuses, 1):
        database.execute("INSERT INTO todo_items VALUES (?, ?, '', ?)", (number, f"item {number}", status))
    database.commit()
    database.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".agent").mkdir()
    return tmp_path / ".agent"


def test_an_empty_folder_is_an_empty_store(folder: Path) -> None:
    store = read_store(folder)
    assert (store.entries, store.queue_lines, store.todo_rows, store.problems) == (None, None, None, ())


def test_entries_payloads_and_the_index_are_read(folder: Path) -> None:
    memory_db(folder / "memory.db", [("a", "text", None), ("b", "[tag:b]", "tag:b")], {"tag:b": "all of b"})
    store = read_store(folder)
    assert store.entries is not None
    assert [(entry.block_id, entry.content_state, entry.tag_id) for entry in store.entries] == [
        ("a", "active", None),
        ("b", "tag_ref", "tag:b"),
    ]
    assert store.payloads == {"tag:b": "all of b"}
    assert store.fts_rows == 2


def test_a_database_of_the_first_schema_is_read(folder: Path) -> None:
    database = sqlite3.connect(folder / "memory.db")
    database.execute(
        "CREATE TABLE persistent_memory_entries (id INTEGER PRIMARY KEY, block_id TEXT, content TEXT)"
    )
    database.execute("INSERT INTO persistent_memory_entries VALUES (1, 'a', 'old')")
    database.commit()
    database.close()
    store = read_store(folder)
    assert store.entries is not None
    assert (store.entries[0].source_tier, store.entries[0].content_state) == ("core", "active")
    assert store.fts_rows is None


def test_a_broken_database_leaves_the_other_parts_alone(folder: Path) -> None:
    (folder / "memory.db").write_bytes(b"not a database at all" * 100)
    todo_db(folder / "todo.db", ["done", "open"])
    store = read_store(folder)
    assert store.entries is None
    assert [row.status for row in store.todo_rows or ()] == ["done", "open"]
    ((file, _),) = store.problems
    assert file.endswith("memory.db")


def test_a_database_without_its_table_is_a_problem(folder: Path) -> None:
    sqlite3.connect(folder / "memory.db").execute("CREATE TABLE other (x)").connection.close()
    assert read_store(folder).problems[0][1] == "the table persistent_memory_entries is missing"


def test_a_folder_in_place_of_a_database_is_a_problem(folder: Path) -> None:
    (folder / "memory.db").mkdir()
    (folder / "memory-queue.wal").mkdir()
    assert len(read_store(folder).problems) == 2


def test_a_bad_queue_line_is_a_row_not_the_end(folder: Path) -> None:
    good = json.dumps({"jobId": "j", "text": "a\u2028b"}, ensure_ascii=False)
    (folder / "memory-queue.wal").write_text(f"{good}\n{{broken\n\n[1]\n{good}", encoding="utf-8")
    lines = read_store(folder).queue_lines or ()
    assert [(line.line, line.job is not None) for line in lines] == [
        (1, True),
        (2, False),
        (4, False),
        (5, True),
    ]
    assert lines[2].problem == "the line is JSON, but no object"


def test_reading_leaves_no_trace(folder: Path) -> None:
    memory_db(folder / "memory.db", [("a", "text", None)])
    todo_db(folder / "todo.db", ["open"])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    read_store(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
