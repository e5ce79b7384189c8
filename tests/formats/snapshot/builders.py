"""Small snapshots, replies and logs for tests, written as bytes and read back through the real reader."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ctxview.files.strict_json.document import parse
from ctxview.formats import Source
from ctxview.formats.snapshot.model import SEPARATOR, TIERS, Reply, SavedLog, Snapshot, SnapshotRole
from ctxview.formats.snapshot.parser import parse_file
from ctxview.formats.snapshot.profile import load_profile
from ctxview.formats.snapshot.runtime.projection import project

Json = dict[str, Any]
STARTUP = 1_700_000_000_000


def block(id: str = "a", **fields: Any) -> Json:  # noqa: A002 - the protocol's own word
    """A block every tier shows; a field set to `...` is left out."""
    whole = {
        "id": id,
        "type": "note",
        "decay": 0.1,
        "confidence": 0.9,
        "round": 1,
        "tags": ["t"],
        "content": f"what {id} says",
        **fields,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def snapshot_value(
    core: Sequence[Any] = (),
    working: Sequence[Any] = (),
    ephemeral: Sequence[Any] = (),
    longterm: Sequence[Any] = (),
    *,
    round: int = 1,  # noqa: A002 - the protocol's own word
    cursor: Any = ...,
    **top: Any,
) -> Json:
    """A valid snapshot; keywords replace or add top-level members, and `...` leaves one out."""
    tiers = dict(zip(TIERS, (core, working, ephemeral, longterm), strict=True))
    todo = {"summary": "暂无TODO", "total": 0, "step": 0, "cursor": cursor}
    whole = {
        "version": 3,
        "runtime": {
            "round": round,
            "workspace": "/work/space/",
            "datetime": "2026-02-25T10:00:00.000Z",
            "startup_at": STARTUP,
        },
        "memory": {tier: list(blocks) for tier, blocks in tiers.items()},
        "todo": {key: value for key, value in todo.items() if value is not ...},
        **top,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def at(number: int, *, start: int = STARTUP, time: str | None = None, **fields: Any) -> Json:
    """A snapshot of round `number`, with a time that follows from it."""
    value = snapshot_value(round=number, **fields)
    value["runtime"] |= {"startup_at": start, "datetime": time or f"2026-02-25T10:{number:02}:00.000Z"}
    return value


def to_bytes(value: Any, **options: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, **options).encode("utf-8", "surrogatepass")


def snapshot(
    *args: Any, role: SnapshotRole = SnapshotRole.STORED, file: str = "snapshot.json", **fields: Any
) -> Snapshot:
    """`snapshot(working=[block("a")])`, read back from bytes."""
    return snapshot_of(snapshot_value(*args, **fields), role=role, file=file)


def snapshot_of(
    value: Json, role: SnapshotRole = SnapshotRole.STORED, file: str = "snapshot.json"
) -> Snapshot:
    if role is SnapshotRole.EMITTED:
        found = reply(value, file=file).snapshot
    elif role is SnapshotRole.INJECTED:
        found = parse_file(file, to_bytes({"modelContext": value, "meta": {}})).snapshot
    else:
        found = Snapshot(file, parse(to_bytes(value)), "", value, SnapshotRole.STORED)
    assert found is not None
    return found


def reply_bytes(value: Any, prose: str = "Done.", after: str = "") -> bytes:
    return f"{prose}\n{SEPARATOR}\n".encode() + to_bytes(value) + after.encode()


def reply(
    value: Any, prose: str = "Done.", after: str = "", file: str = "reply.txt", enabled: bool = True
) -> Reply:
    return reply_from(reply_bytes(value, prose, after), file, enabled)


def reply_from(data: bytes, file: str = "reply.txt", enabled: bool = True) -> Reply:
    found = parse_file(file, data, enabled).reply
    assert found is not None
    return found


def full_log_value(value: Json, **members: Any) -> Json:
    """A full log as the runtime writes it: the stored snapshot, its injected copy, and the counts."""
    stored = snapshot_of(value)
    projection = project(stored, load_profile())
    tiers = {tier.name: [shown.normal.value for shown in tier.shown] for tier in projection.tiers}
    injected = {key: item for key, item in value.items() if key not in ("task_checkpoint", "last_task")}
    drops: dict[str, int] = {}
    for hidden in projection.hidden():
        drops[hidden.verdict.drop.value] = drops.get(hidden.verdict.drop.value, 0) + 1
    debug = {
        "round": stored.round,
        "rawCounts": {tier.name: tier.raw_count for tier in projection.tiers},
        "injectedCounts": {name: len(shown) for name, shown in tiers.items()},
        "droppedByReason": drops,
        "droppedSamples": {},
    }
    return {
        "saved_at": "2026-02-25T10:00:01.000Z",
        "context": value,
        "injectedContext": {**injected, "memory": tiers},
        "projectionDebug": debug,
        **members,
    }


def log(value: Json, file: str = "context_20260225100001.log", **members: Any) -> SavedLog:
    return log_of(full_log_value(value, **members), file)


def log_of(envelope: Json, file: str = "context_20260225100001.log") -> SavedLog:
    found = parse_file(file, to_bytes(envelope, indent=2)).log
    assert found is not None
    return found


def labels(source: Source) -> list[str]:
    return [revision.label for revision in source.revisions]


ENTRY_COLUMNS = (
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
    database.execute(f"CREATE TABLE persistent_memory_entries ({ENTRY_COLUMNS})")
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
