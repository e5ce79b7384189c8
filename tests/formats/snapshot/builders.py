"""Small snapshots, replies and logs for tests, written as bytes and read back through the real reader."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ctxview.files.json_document import parse
from ctxview.formats.snapshot.model import SEPARATOR, TIERS, Reply, Role, SavedLog, Snapshot
from ctxview.formats.snapshot.profiles import load_profile
from ctxview.formats.snapshot.projection import project
from ctxview.formats.snapshot.read import read

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
    """A sound snapshot; keywords replace or add top-level members, and `...` leaves one out."""
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


def to_bytes(value: Any, **options: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, **options).encode("utf-8", "surrogatepass")


def snapshot(*args: Any, role: Role = Role.STORED, file: str = "snapshot.json", **fields: Any) -> Snapshot:
    """`snapshot(working=[block("a")])`, read back from bytes."""
    return snapshot_of(snapshot_value(*args, **fields), role=role, file=file)


def snapshot_of(value: Json, role: Role = Role.STORED, file: str = "snapshot.json") -> Snapshot:
    if role is Role.EMITTED:
        found = reply(value, file=file).snapshot
    elif role is Role.INJECTED:
        found = read(file, to_bytes({"modelContext": value, "meta": {}})).snapshot
    else:
        found = Snapshot(file, parse(to_bytes(value)), "", value, Role.STORED)
    assert found is not None
    return found


def reply_bytes(value: Any, prose: str = "Done.", after: str = "") -> bytes:
    return f"{prose}\n{SEPARATOR}\n".encode() + to_bytes(value) + after.encode()


def reply(
    value: Any, prose: str = "Done.", after: str = "", file: str = "reply.txt", enabled: bool = True
) -> Reply:
    return reply_from(reply_bytes(value, prose, after), file, enabled)


def reply_from(data: bytes, file: str = "reply.txt", enabled: bool = True) -> Reply:
    found = read(file, data, enabled).reply
    assert found is not None
    return found


def full_log_value(value: Json, **members: Any) -> Json:
    """A full log as the runtime writes it: the stored snapshot, what is injected of it, and the counts."""
    stored = snapshot_of(value)
    projection = project(stored, load_profile())
    tiers = {tier.name: [shown.normal.value for shown in tier.shown] for tier in projection.tiers}
    kept = {key: item for key, item in value.items() if key not in ("task_checkpoint", "last_task")}
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
        "injectedContext": {**kept, "memory": tiers},
        "projectionDebug": debug,
        **members,
    }


def log(value: Json, file: str = "context_20260225100001.log", **members: Any) -> SavedLog:
    return log_of(full_log_value(value, **members), file)


def log_of(envelope: Json, file: str = "context_20260225100001.log") -> SavedLog:
    found = read(file, to_bytes(envelope, indent=2)).log
    assert found is not None
    return found
