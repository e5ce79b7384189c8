"""The files of a bundle, the fields of their records in both spellings, and fixed words of the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ctxview.core.origin import JsonValue

VAULTS: Final = "vaults.jsonl"
MEMORIES: Final = "memories.jsonl"
ENTRIES: Final = "entries.jsonl"
CONTEXTS: Final = "contexts.jsonl"
OUTBOX: Final = "outbox.jsonl"
TRACE: Final = "trace.jsonl"
FILES: Final = (VAULTS, MEMORIES, ENTRIES, CONTEXTS, OUTBOX, TRACE)

PLACEHOLDER: Final = (
    "This is default context that's created with the memory. Instructions for AI Agent: "
    "Provide relevant context as soon as it's available."
)

TOOLS: Final = (
    "create_memory",
    "get_memory",
    "add_entry",
    "list_entries",
    "get_context",
    "put_context",
    "await_consistency",
    "get_user",
    "search_memories",
)
"""The tools of the document. `profiles/` says which of them a profile knows."""

_SNAKE: Final = {
    "vaultId": "vault_id",
    "actorId": "actor_id",
    "memoryId": "memory_id",
    "memoryType": "memory_type",
    "entryId": "entry_id",
    "rawEntry": "raw_entry",
    "contextId": "context_id",
    "creationTime": "creation_time",
    "expirationTime": "expiration_time",
    "conversationTime": "conversation_time",
    "updateTime": "update_time",
    "correctionTime": "correction_time",
    "correctionReason": "correction_reason",
    "correctedEntryId": "corrected_entry_id",
    "correctedEntryMemoryId": "corrected_entry_memory_id",
    "correctedEntryCreationTime": "corrected_entry_creation_time",
    "aggregateId": "aggregate_id",
    "attemptCount": "attempt_count",
}
CORRECTIONS: Final = tuple(name for name in _SNAKE if name.startswith("correct"))


def spelled(members: Mapping[str, JsonValue], name: str) -> str:
    """Return the spelling of `name` in a record: camelCase as it is sent, or snake_case as it is stored."""
    snake = _SNAKE.get(name, name)
    return snake if name not in members and snake in members else name


def value_of(members: Mapping[str, JsonValue], name: str) -> JsonValue:
    return members.get(spelled(members, name))


def text_of(members: Mapping[str, JsonValue], name: str) -> str | None:
    found = value_of(members, name)
    return found if isinstance(found, str) else None


def unwrapped(context: str) -> str:
    """Return a context document without the object `{"activeContext": …}` around it."""
    if not context.lstrip().startswith("{"):
        return context
    import orjson

    try:
        value = orjson.loads(context)
    except orjson.JSONDecodeError:
        return context
    inner = value.get("activeContext") if isinstance(value, dict) and len(value) == 1 else None
    return inner if isinstance(inner, str) else context
