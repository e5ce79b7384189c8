"""Recognises v3 snapshots by their content: a file, a folder of rounds, an `.agent` folder."""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import splitext

from ctxview.core.format_spec import FormatMatch
from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue
from ctxview.files.reading import LIMIT
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.formats.peek import Peek

NAME = "snapshot"
STORE_FILES = frozenset(("memory.db", "memory-queue.wal", "todo.db"))
STORE_PARTS = STORE_FILES | {"log"}
SUFFIXES = frozenset((".json", ".txt", ".log", ".md"))
REPLY_SUFFIXES = frozenset(("", ".txt", ".log", ".json"))
"""A text of such a name with separator and payload is a reply, whatever follows the payload."""
PROGRAM_SUFFIXES = frozenset((".py", ".js", ".ts", ".tsx", ".go", ".rs", ".java", ".rb", ".html", ".sh"))
SURE = 90
LIKELY = 75
PERHAPS = 45
MOST_FILES_PEEKED = 60
"""How many files of a folder are read to recognise it."""

_SEPARATOR = b"<<<CONTEXT>>>"
_OWN_LINE = lazy_pattern(rb"^[ \t>*`]*<<<CONTEXT>>>[ \t*`]*(?:json)?[ \t]*\r?$", re.MULTILINE)
"""The separator alone on a line; within a sentence it is only mentioned."""
_PAYLOAD = lazy_pattern(rb"<<<CONTEXT>>>[\s`\w]{0,40}[{\[]")
_TAGGED = lazy_pattern(rb"""<context>\s{0,40}(?:\{\s{0,40}(?:["']|\w{1,40}\s{0,4}:)|version\b|runtime:)""")
"""A tag before keys; a placeholder of a template, such as `{{ text }}`, is none."""
_BROKEN = (lazy_pattern(rb'"memory"\s*:\s*\{'), lazy_pattern(rb'"(?:version|runtime|projectionDebug)"\s*:'))
_REPLY_NAME = lazy_pattern(r"reply|response|answer|emitted", re.IGNORECASE)


def recognise(peek: Peek) -> FormatMatch | None:
    if peek.is_folder:
        return _recognise_folder(peek)
    found = recognise_bytes(peek)
    return FormatMatch(NAME, *found) if found is not None else None


def belongs_to_source(peek: Peek) -> bool:
    """Whether a file of a folder is a round: by content, or by name, as a reply may lack a snapshot.

    JSON that cannot be read may have been a round, so that it is reported.
    """
    if peek.data is None or recognise(peek) is not None or _REPLY_NAME.search(peek.path.stem):
        return True
    return peek.is_broken_json


def agent_folder(peek: Peek) -> Path | None:
    """Return the `.agent` folder that is at `peek`, in it, or around it if it is a log folder; else None."""
    if ".agent" in peek.names and is_store(peek.below(".agent")):
        return peek.path / ".agent"
    if is_store(peek):
        return peek.path
    parent = Peek(peek.path.resolve().parent)
    return parent.path if peek.path.resolve().name == "log" and is_store(parent) else None


def is_store(peek: Peek) -> bool:
    """Whether a folder is a store: one part is enough in `.agent`, else the database and another part."""
    parts = STORE_PARTS & set(peek.names)
    if peek.path.absolute().name == ".agent":
        return peek.is_folder and bool(parts)
    return "memory.db" in parts and len(parts) > 1


def recognise_bytes(peek: Peek) -> tuple[int, str] | None:
    """Return score and reason for a file by its content; None when it is not a snapshot file."""
    data = peek.data if peek.data is not None else peek.head
    if peek.size > LIMIT:
        return None
    if peek.path.name in STORE_FILES and is_store(peek.parent):
        return LIKELY, "part of an agent's store"
    if isinstance(peek.json, dict):
        return _recognise_json(peek.json)
    if peek.json is not None or peek.path.suffix.lower() in PROGRAM_SUFFIXES:
        return None
    is_page = _is_page(peek, data)
    if _PAYLOAD.search(data) and not is_page:
        return SURE - 5, "a text with the separator and a payload"
    if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[") and all(
        sign.search(data) for sign in _BROKEN
    ):
        return LIKELY - 10, "broken or very long JSON with memory and version or runtime"
    if _TAGGED.search(data):
        return LIKELY - 5, "a text with a context tag"
    from ctxview.formats.snapshot.separator import near_misses

    if not is_page and any(near.before_json and near.brackets > 2 for near in near_misses(data)):
        return PERHAPS, "a text with a misspelled separator"
    return (PERHAPS, "a text with the separator") if _OWN_LINE.search(data) and not is_page else None


def _is_page(peek: Peek, data: bytes) -> bool:
    """Whether a page is about replies instead of being one: it goes on after the example."""
    if peek.path.suffix.lower() in REPLY_SUFFIXES or _REPLY_NAME.search(peek.path.stem):
        return False
    rest = data.partition(_SEPARATOR)[2].strip(b" \t\r\n`").removeprefix(b"json")
    try:
        return bool(rest) and parse(rest) is None
    except JsonError as error:
        return "never closed" not in error.reason  # a reply that was cut off


def _recognise_json(value: dict[str, JsonValue]) -> tuple[int, str] | None:
    from ctxview.formats.snapshot.parser import is_log, is_snapshot

    inner = value.get("data") if value.get("ok") is True else value
    wrapped = " in an API response" if inner is not value else ""
    if not isinstance(inner, dict):
        return None
    if is_log(inner):
        return SURE + 5, f"a log envelope{wrapped}"
    if is_snapshot(inner):
        complete = "version" in inner and isinstance(inner.get("memory"), dict)
        return (SURE, f"memory and version{wrapped}") if complete else (LIKELY, f"a snapshot's keys{wrapped}")
    error = value.get("error")
    if value.get("ok") is False and isinstance(error, dict) and "code" in error:
        return PERHAPS, "an API error"
    messages = inner.get("messages")
    if isinstance(messages, list) and any(map(_has_context_block, messages[:5])):
        return LIKELY, "messages with a context block"
    return None


def _has_context_block(message: JsonValue) -> bool:
    try:
        return "<context>" in str(message)[:100_000]
    except RecursionError:
        return False


def _recognise_folder(peek: Peek) -> FormatMatch | None:
    if (store := agent_folder(peek)) is not None:
        why = "an .agent folder" if store == peek.path else "a workspace with an .agent folder"
        return FormatMatch(NAME, SURE + 5, why)
    if peek.is_lost(LIKELY):
        return None
    candidates = [name for name in peek.names if splitext(name)[1] in SUFFIXES and not name.startswith(".")]
    peeked = [below for name in candidates[:MOST_FILES_PEEKED] if not (below := peek.below(name)).is_folder]
    fits = [recognise_bytes(below) is not None for below in peeked]
    fitting = sum(fits)
    if not fitting:
        return None
    # Broken JSON beside rounds may have been a round, so it does not count against them.
    others = [below for below, fit in zip(peeked, fits, strict=True) if not fit and not below.is_broken_json]
    why = f"{fitting} of {len(peeked)} files are snapshots or replies"
    return FormatMatch(NAME, LIKELY if fitting >= len(others) else PERHAPS, why, flat=True)


def log_folder(path: Path, store: Path | None) -> Path:
    """Return the folder that holds the rounds."""
    return path if store is None else store / "log"
