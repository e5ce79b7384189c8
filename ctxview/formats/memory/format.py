"""Recognise memory bundles by their content and open them: a folder of JSON lines, or one file of these."""

from __future__ import annotations

from pathlib import Path

import orjson

from ctxview.core.origin import JsonValue
from ctxview.formats.interface import FormatMatch, Source
from ctxview.formats.memory.records import CONTEXTS, ENTRIES, FILES, MEMORIES, TRACE
from ctxview.formats.peek import LINES_SUFFIXES, Peek

NAME = "memory"
SURE = 92
LIKELY = 80
PERHAPS = 50
LOCK = "memory.lock"
MOST_SAMPLED = 40


class MemoryFormat:
    name = NAME

    def recognise(self, peek: Peek) -> FormatMatch | None:
        found = _recognise_folder(peek) if peek.is_folder else _recognise_file(peek)
        return FormatMatch(NAME, *found) if found is not None else None

    def open(self, path: Path) -> Source:
        from ctxview.formats.memory.source import MemorySource

        return MemorySource(path)


FORMAT = MemoryFormat()


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


def _recognise_folder(peek: Peek) -> tuple[int, str] | None:
    from ctxview.formats.memory.files import file_kind

    present = [name for name in FILES if name in peek.names]
    fitting = [name for name in present if file_kind(sampled_lines(peek.below(name).head)) == name]
    if ENTRIES in fitting or CONTEXTS in fitting or MEMORIES in fitting:
        return SURE, f"a bundle with {', '.join(fitting)}"
    if TRACE in fitting:
        return LIKELY, "a trace of memory tools"
    if LOCK in peek.names and present:
        return PERHAPS, "the folder of a memory server"
    return None


def _recognise_file(peek: Peek) -> tuple[int, str] | None:
    if peek.path.suffix.lower() not in (*LINES_SUFFIXES, ".log", ".json", ".txt"):
        return None
    if b"ntry" not in peek.head and b"ontext" not in peek.head and b"memor" not in peek.head:
        return None
    from ctxview.formats.memory.files import file_kind

    kind = file_kind(sampled_lines(peek.head))
    if kind in (ENTRIES, CONTEXTS):
        return SURE, f"the {kind.partition('.')[0]} of a memory"
    return (LIKELY, "a trace of memory tools") if kind == TRACE else None
