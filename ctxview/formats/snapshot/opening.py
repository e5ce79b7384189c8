"""Recognises v3 snapshots by their content and opens them: a file, a folder of rounds, an `.agent` folder."""

from __future__ import annotations

import re
from pathlib import Path

from ctxview.files.reading import LIMIT
from ctxview.formats.interface import Match, Source
from ctxview.formats.peek import Peek
from ctxview.origin import JsonValue

NAME = "snapshot"
STORE_FILES = frozenset(("memory.db", "memory-queue.wal", "todo.db"))
STORE_PARTS = STORE_FILES | {"log"}
SUFFIXES = frozenset((".json", ".txt", ".log", ".md"))
SURE = 90
LIKELY = 75
PERHAPS = 45
MOST_PEEKS = 60
"""How many files of a folder are looked at to decide what it is."""

_SEPARATOR = b"<<<CONTEXT>>>"
_PAYLOAD = re.compile(rb"<<<CONTEXT>>>[\s`\w]{0,40}[{\[]")
_NEAR_MISS = re.compile(rb"<{2,4} ?context ?>{2,4}[\s`\w]{0,40}\{", re.IGNORECASE)
_TAGGED = re.compile(rb"<context>\s{0,40}(?:\{|version\b|runtime:)")
_BROKEN = (re.compile(rb'"memory"\s*:\s*\{'), re.compile(rb'"(?:version|runtime|projectionDebug)"\s*:'))
_REPLY_NAME = re.compile(r"reply|response|answer|emitted", re.IGNORECASE)


class SnapshotFormat:
    name = NAME

    def recognise(self, peek: Peek) -> Match | None:
        found = _recognise_folder(peek) if peek.is_folder else recognise_bytes(peek)
        return Match(NAME, *found) if found is not None else None

    def open(self, path: Path) -> Source:
        from ctxview.formats.snapshot.loading import load
        from ctxview.formats.snapshot.source import SnapshotSource

        return SnapshotSource(path, *load(path))


FORMAT = SnapshotFormat()


def belongs(path: Path) -> bool:
    """Whether a file of a folder is one of its rounds: by content, or, as a reply may lack all, by name."""
    peek = Peek(path, inside=path.parent)
    return peek.data is None or FORMAT.recognise(peek) is not None or bool(_REPLY_NAME.search(path.stem))


def agent_folder(peek: Peek) -> Path | None:
    """The `.agent` folder that `peek` is, holds, or keeps its logs in; None when there is none."""
    if ".agent" in peek.names and is_store(peek.below(".agent")):
        return peek.path / ".agent"
    if is_store(peek):
        return peek.path
    parent = Peek(peek.path.resolve().parent)
    return parent.path if peek.path.resolve().name == "log" and is_store(parent) else None


def is_store(peek: Peek) -> bool:
    """Any part of a store in a folder called `.agent`; the database and another part under another name."""
    parts = STORE_PARTS & set(peek.names)
    if peek.path.absolute().name == ".agent":
        return peek.is_folder and bool(parts)
    return "memory.db" in parts and len(parts) > 1


def recognise_bytes(peek: Peek) -> tuple[int, str] | None:
    """Score and reason for a file, by its shape."""
    data = peek.data if peek.data is not None else peek.head
    if peek.size > LIMIT:
        return None
    if peek.path.name in STORE_FILES and is_store(Peek(peek.path.parent)):
        return LIKELY, "a part of an agent's store"
    if isinstance(peek.json, dict):
        return _recognise_json(peek.json)
    if peek.json is not None:
        return None
    if _PAYLOAD.search(data):
        return SURE - 5, "a text with the separator and a payload"
    if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[") and all(
        sign.search(data) for sign in _BROKEN
    ):
        return LIKELY - 10, "memory and version or runtime in what is broken or very long JSON"
    if _TAGGED.search(data):
        return LIKELY - 5, "a text with a context tag"
    if _NEAR_MISS.search(data):
        return PERHAPS, "a text with something like the separator"
    return (PERHAPS, "a text with the separator") if _SEPARATOR in data else None


def _recognise_json(value: dict[str, JsonValue]) -> tuple[int, str] | None:
    from ctxview.formats.snapshot.read import is_log, is_snapshot

    inner = value.get("data") if value.get("ok") is True else value
    wrapped = " in an API answer" if inner is not value else ""
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
    if isinstance(messages, list) and any("<context>" in str(each)[:100_000] for each in messages[:5]):
        return LIKELY, "messages with a context block"
    return None


def _recognise_folder(peek: Peek) -> tuple[int, str] | None:
    if (store := agent_folder(peek)) is not None:
        return SURE + 5, "an .agent folder" if store == peek.path else "a workspace with an .agent folder"
    candidates = [name for name in peek.names if Path(name).suffix in SUFFIXES and not name.startswith(".")]
    looked_at = [below for name in candidates[:MOST_PEEKS] if not (below := peek.below(name)).is_folder]
    fitting = sum(recognise_bytes(below) is not None for below in looked_at)
    if not fitting:
        return None
    why = f"{fitting} of {len(looked_at)} files are snapshots or replies"
    return (LIKELY if fitting * 2 >= len(looked_at) else PERHAPS, why)


def log_folder(path: Path, store: Path | None) -> Path:
    """Where the rounds of a folder lie."""
    return path if store is None else store / "log"
