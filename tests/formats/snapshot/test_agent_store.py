"""An agent's store is read part by part; a broken part is named and does not affect the others."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ctxview.cli import main
from ctxview.formats.snapshot.agent_store import read_store
from tests.formats.snapshot.builders import memory_db, todo_db


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


def test_a_broken_database_does_not_affect_the_other_parts(folder: Path) -> None:
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


def test_logs_that_cannot_be_listed_are_a_problem(folder: Path) -> None:
    os.mkfifo(folder / "log")
    assert read_store(folder).problems == ((str(folder / "log"), "part of the path is not a folder"),)
    assert main(["check", str(folder)]) == 2


def test_the_lines_after_a_bad_queue_line_are_read(folder: Path) -> None:
    good = json.dumps({"jobId": "j", "text": "a\u2028b"}, ensure_ascii=False)
    (folder / "memory-queue.wal").write_text(f"{good}\n{{broken\n\n[1]\n{good}", encoding="utf-8")
    lines = read_store(folder).queue_lines or ()
    assert [(line.line, line.job is not None) for line in lines] == [
        (1, True),
        (2, False),
        (4, False),
        (5, True),
    ]
    assert lines[2].problem == "the line is JSON, but not an object"


def test_reading_writes_nothing(folder: Path) -> None:
    memory_db(folder / "memory.db", [("a", "text", None)])
    todo_db(folder / "todo.db", ["open"])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    read_store(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_text_that_is_not_utf8_is_named_and_the_rest_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory_db(folder / "memory.db", [("a", "text", None), ("b", "other", None)])
    todo_db(folder / "todo.db", ["done", "open"])
    for name, query in (
        (
            "memory.db",
            "UPDATE persistent_memory_entries SET content = CAST(x'41FF' AS TEXT) WHERE block_id = 'b'",
        ),
        ("todo.db", "UPDATE todo_items SET title = CAST(x'FF42' AS TEXT) WHERE id = 1"),
    ):
        with closing(sqlite3.connect(folder / name)) as database:
            database.execute(query)
            database.commit()
    store = read_store(folder)
    assert [entry.content for entry in store.entries or ()] == ["text", "A\ufffd"]
    assert (store.todo_rows or ())[0].title == "\ufffdB"
    assert main(["check", str(folder), "--select", "RAW", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [each["message"].split(",")[0] for each in found if each["rule"] == "RAW004"] == [
        "1 text of persistent_memory_entries is not UTF-8",
        "1 text of todo_items is not UTF-8",
    ]


@pytest.mark.parametrize("damage", ["column", "schema"])
def test_a_schema_that_is_not_utf8_is_a_finding_and_not_a_traceback(
    folder: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    memory_db(folder / "memory.db", [("a", "text", None)])
    todo_db(folder / "todo.db", ["open"])
    for name, table in (("memory.db", "persistent_memory_entries"), ("todo.db", "todo_items")):
        with closing(sqlite3.connect(folder / name)) as database:
            database.execute(f"ALTER TABLE {table} ADD COLUMN surplus TEXT")
            database.commit()
        wanted, bad = {
            "column": (b"surplus", b"surpl\xff\xfe"),
            "schema": (b"CREATE TABLE", b"CREATE T\xffBLE"),
        }[damage]
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data.replace(wanted, bad))

    assert main(["check", str(folder)]) == (1 if damage == "column" else 2)
    assert main(["show", str(folder)]) == 0
    output = capsys.readouterr().out
    assert "not UTF-8" in output
    if damage == "column":
        assert [entry.content for entry in read_store(folder).entries or ()] == ["text"]
        assert [row.status for row in read_store(folder).todo_rows or ()] == ["open"]
