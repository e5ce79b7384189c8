"""Recognise memory bundles by their content: a folder of JSON lines, or one file of these."""

from __future__ import annotations

import orjson

from ctxview.core.format_spec import FormatMatch
from ctxview.core.origin import JsonValue
from ctxview.formats.memory.records import CONTEXTS, ENTRIES, FILES, MEMORIES, OUTBOX, TRACE, VAULTS, value_of
from ctxview.formats.peek import Peek

NAME = "memory"
SURE = 92
LIKELY = 80
PERHAPS = 50
LOCK = "memory.lock"
MOST_SAMPLED = 40
_OF_A_MESSAGE = {"jsonrpc", "role", "message", "msg"}


def recognise(peek: Peek) -> FormatMatch | None:
    found = _recognise_folder(peek) if peek.is_folder else _recognise_file(peek)
    return FormatMatch(NAME, *found) if found is not None else None


def sampled_lines(head: bytes) -> list[dict[str, JsonValue]]:
    """Return the objects among the first lines of a file."""
    found = []
    for line in head.split(b"\n")[:MOST_SAMPLED]:
        try:
            value = orjson.loads(line) if line.lstrip().startswith(b"{") else None
        except orjson.JSONDecodeError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def file_kind(values: list[dict[str, JsonValue]]) -> str | None:
    """Return which file of a bundle these records are from, by their fields."""
    for value in values:
        if isinstance(value_of(value, "rawEntry"), str) and "jsonrpc" not in value:
            return ENTRIES
        if value_of(value, "contextId") is not None and "context" in value:
            return CONTEXTS
        if value_of(value, "memoryType") is not None and value_of(value, "memoryId") is not None:
            return MEMORIES
        if (
            value_of(value, "vaultId") is not None
            and "title" in value
            and value_of(value, "memoryId") is None
        ):
            return VAULTS
        if value_of(value, "aggregateId") is not None and "op" in value:
            return OUTBOX
        if value.keys() & _OF_A_MESSAGE and _is_traced(value):
            return TRACE
    return None


def _is_traced(value: dict[str, JsonValue]) -> bool:
    from ctxview.formats.memory.trace import is_traced

    return is_traced(value)


def _recognise_folder(peek: Peek) -> tuple[int, str] | None:
    present = [name for name in FILES if name in peek.names]
    fitting = [name for name in present if file_kind(sampled_lines(peek.below(name).head)) == name]
    if ENTRIES in fitting or CONTEXTS in fitting or MEMORIES in fitting:
        return SURE, f"a bundle with {', '.join(fitting)}"
    if TRACE in fitting:
        return LIKELY, "a trace of memory tools"
    if fitting:
        return LIKELY, f"a part of a bundle: {', '.join(fitting)}"
    if LOCK in peek.names and present:
        return PERHAPS, "the folder of a memory server"
    return None


def _recognise_file(peek: Peek) -> tuple[int, str] | None:
    if b"ntry" not in peek.head and b"ontext" not in peek.head and b"memor" not in peek.head:
        return None
    kind = file_kind(sampled_lines(peek.head))
    if kind in (ENTRIES, CONTEXTS):
        return SURE, f"the {kind.partition('.')[0]} of a memory"
    return (LIKELY, "a trace of memory tools") if kind == TRACE else None
