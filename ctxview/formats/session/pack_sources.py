"""Which files of a session a pack item may name as its source, and what is wrong with any other."""

from __future__ import annotations

from ctxview.formats.session.names import is_hash_id, is_name

SESSION_SOURCES = frozenset(
    (
        "messages.jsonl",
        "events.jsonl",
        "latest.md",
        "state",
        "cwd",
        "created_at",
        "updated_at",
        "meta.json",
    )
)
CONTEXT_SOURCES = frozenset(
    (
        "budget",
        "pack.json",
        "pack.md",
        "plan.json",
        "summary.md",
        "todo.md",
        "facts.jsonl",
        "decisions.jsonl",
        "refs.jsonl",
    )
)
CHILD_SOURCES = frozenset(("handoff.md", "result.md", "refs.jsonl"))
HISTORIES = frozenset(("messages.jsonl", "events.jsonl"))


def source_fault(source: str) -> str | None:
    """Why a pack may not take this as a source; None when it may."""
    if not source:
        return "it is empty"
    if source.startswith("/"):
        return "it is absolute"
    parts = source.split("/")
    for part, reason in (("", "an empty part"), (".", "a part ."), ("..", "a part ..")):
        if part in parts:
            return f"it has {reason}"
    match parts:
        case [name] if name in SESSION_SOURCES:
            return None
        case ["context", name] if name in CONTEXT_SOURCES:
            return None
        case ["context", "pinned" | "swap" | "dedup", name] if is_name(name) or is_hash_id(name):
            return None
        case ["context", "child", *rest]:
            return _child_fault(rest)
    return "no pack source stands there"


def is_child_history(source: str) -> bool:
    """Whether this is the history of a child, which stays the child's own."""
    parts = source.split("/")
    return parts[-1] in HISTORIES and len(parts) > 1


def _child_fault(parts: list[str]) -> str | None:
    match parts:
        case [name, file] if is_name(name) and file in CHILD_SOURCES:
            return None
        case [name, "artifact", file] if is_name(name) and is_name(file):
            return None
    return "of a child only handoff.md, result.md, refs.jsonl and artifacts can be taken"
