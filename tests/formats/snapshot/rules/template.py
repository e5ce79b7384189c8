"""The snapshot of the protocol document, and a valid log and store around it, for examples and tests."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

from ctxview.formats.snapshot.model import AgentStore, MemoryEntry, TodoRow
from tests.formats.snapshot.builders import full_log_value

Json = dict[str, Any]

TEMPLATE: Json = {
    "version": 3.0,
    "runtime": {
        "round": 1,
        "workspace": "/workspace/path/",
        "datetime": "2026-02-25T10:00:00.000Z",
        "startup_at": 1700000000000,
    },
    "memory": {
        "core": [
            {
                "id": "core-001",
                "type": "identity",
                "decay": 0.05,
                "confidence": 0.95,
                "round": 1,
                "tags": ["agent", "identity"],
                "content": "长期核心记忆",
            }
        ],
        "working": [
            {
                "id": "work-001",
                "type": "task",
                "decay": 0.4,
                "confidence": 0.78,
                "round": 1,
                "tags": ["task", "active"],
                "content": "当前任务相关记忆",
            }
        ],
        "ephemeral": [
            {
                "id": "temp-001",
                "type": "hint",
                "decay": 0.75,
                "confidence": 0.55,
                "round": 1,
                "tags": ["temporary"],
                "content": "临时上下文信息",
            }
        ],
        "longterm": [
            {
                "id": "longterm-001",
                "type": "knowledge",
                "decay": 0.25,
                "confidence": 0.85,
                "round": 1,
                "tags": ["reference", "persistent"],
                "content": "可长期复用的业务知识",
            }
        ],
    },
    "todo": {
        "summary": "进行中 1/3（当前第2步）",
        "total": 3,
        "step": 2,
        "cursor": {
            "v": 1,
            "phase": "doing",
            "next": "todo_complete",
            "targetId": 2,
            "note": "完成当前步骤后继续验证",
        },
    },
    "capabilities": [{"name": "memory", "scope": "write_once"}],
    "active_task": "当前执行任务摘要",
}


def template() -> Json:
    return copy.deepcopy(TEMPLATE)


def full_log() -> Json:
    return copy.deepcopy(full_log_value(template()))


def lite_log() -> Json:
    whole = full_log()
    shown = whole["injectedContext"]
    sizes = {"rawContextBytes": compact_bytes(whole["context"]), "modelContextBytes": compact_bytes(shown)}
    meta = {**sizes, "projectionDebug": whole["projectionDebug"]}
    return {"saved_at": whole["saved_at"], "modelContext": shown, "meta": meta}


def compact_bytes(value: Json) -> int:
    """The template has no number that JavaScript writes otherwise, but 3.0, which it writes as 3."""
    whole = {**value, "version": 3}
    return len(json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode())


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def entry(**fields: Any) -> MemoryEntry:
    whole: Json = {
        "row": 1,
        "block_id": "core-001",
        "source_tier": "core",
        "memory_type": "identity",
        "summary": "who the agent is",
        "content": "the agent reviews code",
        "content_state": "active",
        "tag_id": None,
        "tag_summary": None,
        "confidence": 0.9,
        "decay": 0.1,
        "status": "",
        "content_hash": sha256("the agent reviews code"),
        "first_seen_round": 2,
        "last_seen_round": 3,
        "recall_count": 0,
        "updated_at": None,
    }
    return MemoryEntry(**{**whole, **fields})


def todo_rows() -> tuple[TodoRow, ...]:
    statuses = ("done", "open", "open")
    return tuple(TodoRow(number, f"step {number}", "", status) for number, status in enumerate(statuses, 1))


def store(**fields: Any) -> AgentStore:
    whole: Json = {
        "folder": ".agent",
        "database": ".agent/memory.db",
        "entries": (entry(),),
        "fts_rows": 1,
        "queue": ".agent/memory-queue.wal",
        "queue_lines": (),
        "todo_database": ".agent/todo.db",
        "todo_rows": todo_rows(),
    }
    return AgentStore(**{**whole, **fields})
