"""Records of derived files as JSON lines, and the messages of one rule about a session."""

from __future__ import annotations

from pathlib import Path

from ctxview.formats.session import rules
from tests.formats.session.builders import compact
from tests.formats.session.sources import CORTEXFS, read_facts

FACTS, DECISIONS, REFS = "context/facts.jsonl", "context/decisions.jsonl", "context/refs.jsonl"
SWAP, DEDUP, PACK = "context/swap/index.jsonl", "context/dedup/index.jsonl", "context/pack.json"
GC = "context/gc.policy"


def fact(**members: object) -> str:
    return compact({"id": "f9", "text": "It works.", "source": "messages:1", **members})


def ref(**members: object) -> str:
    return compact(
        {"id": "r9", "path": "context/todo.md", "kind": "file", "summary": "what is left", **members}
    )


def swapped(**members: object) -> str:
    whole = {"id": "sha256-a", "kind": "message_range", "source": "messages.jsonl", "range": "1-2"}
    return compact({**whole, "summary": "s", "tokens": 1, **members})


def shared(**members: object) -> str:
    return compact({"hash": "sha256-a", "refs": ["messages:1"], "bytes": 1, "tokens": 1, **members})


def decision(name: str, text: str = "x") -> str:
    return compact({"id": name, "decision": text, "source": "a person"})


def pack_item(**members: object) -> str:
    item = {"kind": "summary", "source": "context/summary.md", "tokens": 10, **members}
    return compact({"session": "default", "items": [item]})


def messages_of(root: Path, rule: int, profile=CORTEXFS) -> list[str]:
    return [
        each.message
        for each in rules.check_session(read_facts(root, profile))
        if each.rule == f"ABI{rule:03}"
    ]
