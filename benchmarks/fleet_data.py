"""Generated tables of a fleet, a million rows each, to ask questions about."""

from __future__ import annotations

from pathlib import Path

import duckdb

from ctxview.fleet.queries import TYPES
from ctxview.fleet.tables import TABLES

BATCHES = 50
SOURCES = 20_000
ROWS = 1_000_000
DAY = "2026-11-18"
SOURCE = "'/srv/agents/team-' || (i % 40) || '/session-' || {}"
TIME = "TIMESTAMP '2026-05-01' + INTERVAL 1 MINUTE * (i * 7919 % 280000)"
COLUMNS = {
    "sources": {
        "source": SOURCE.format("i"),
        "format": "'transcript'",
        "title": "'Task ' || i",
        "revisions": "50",
        "findings": "50",
        "open_todos": "i % 5",
        "compactions": "i % 3",
        "tokens_max": "20000 + i * 37 % 150000",
        "ended": "TIMESTAMP '2026-11-01' - INTERVAL 1 MINUTE * i",
        "review": "['approved', 'not reviewed', 'changed since', NULL][1 + i % 4]",
        "read_at": "TIMESTAMP '2026-11-18 06:00:00'",
        "ctxview": "'1'",
        "schema": "1",
        "moving": "false",
    },
    "revisions": {
        "source": SOURCE.format("(i // 50)").replace("(i % 40)", "(i // 50 % 40)"),
        "n": "i % 50",
        "label": "'call ' || (i % 50)",
        "kind": "'call'",
        "utc": TIME,
        "is_compaction": "i % 25 = 24",
        "tokens": "1000 + i * 131 % 160000",
        "todos_open": "i % 6",
        "todos_lost": "CASE WHEN i % 25 = 24 AND i % 7 = 0 THEN 1 + i % 3 END",
    },
    "findings": {
        "source": SOURCE.format("(i // 50)").replace("(i % 40)", "(i // 50 % 40)"),
        "rule": "'TR' || chr(65 + (i % 6)::INT) || lpad((i * 31 % 60)::VARCHAR, 3, '0')",
        "severity": "['error', 'warning', 'info'][1 + i % 3]",
        "effect": "'none'",
        "message": "'The result of call ' || i || ' was cut'",
        "file": "'session.jsonl'",
        "line": "i % 5000",
        "utc": TIME,
    },
    "tools": {
        "source": SOURCE.format("(i // 50)").replace("(i % 40)", "(i // 50 % 40)"),
        "n": "49",
        "tool": "'tool-' || (i % 50)",
        "calls": "1 + i % 20",
        "bytes": "i * 17 % 90000",
        "tokens": "i * 17 % 900",
    },
    "instructions": {
        "source": SOURCE.format("(i // 50)").replace("(i % 40)", "(i // 50 % 40)"),
        "file": "['AGENTS.md', 'CLAUDE.md', 'docs/style.md'][1 + i % 3]",
        "content": "md5((i * 7919 % 200000)::VARCHAR)",
        "bytes": "i % 20000",
        "tokens": "i % 5000",
    },
}


def write_tables(folder: Path, rows: int = ROWS, sources: int = SOURCES) -> None:
    """Write tables with so many rows each, in as many files as so many batches make."""
    connection = duckdb.connect()
    for table, columns in COLUMNS.items():
        count = (sources if table == "sources" else rows) // BATCHES
        (folder / table / f"day={DAY}").mkdir(parents=True)
        for batch in range(BATCHES):
            given = {"digest": "'d'", "stamp": "'s'", "batch": f"'batch-{batch:03}'", **columns}
            kinds = TABLES[table].__annotations__
            made = ", ".join(
                f"({given.get(name, 'NULL')})::{TYPES[kinds[name].removesuffix(' | None')]} AS {name}"
                for name in TABLES[table].__struct_fields__
            )
            connection.execute(
                f"COPY (SELECT {made} FROM range({batch * count}, {(batch + 1) * count}) AS t(i))"
                f" TO '{folder / table / f'day={DAY}' / f'batch-{batch:03}.parquet'}'"
                " (FORMAT parquet, COMPRESSION zstd)"
            )
