"""Recognise transcripts by their first lines or as a whole. Only an empty one is known by its name."""

from __future__ import annotations

import re
from collections import Counter

import orjson

from ctxview.analysis.wording import counted
from ctxview.core.format_spec import FormatMatch
from ctxview.core.origin import JsonValue
from ctxview.files.reading import LIMIT, ReadError, read_ends
from ctxview.formats.peek import HEAD, Peek
from ctxview.formats.transcript.model import Api, Dialect
from ctxview.formats.transcript.opencode.store import (
    MAGIC,
    SESSION_PREFIX,
    is_export,
    is_store,
    is_tree,
    store_sessions,
    tree_sessions,
)
from ctxview.formats.transcript.records import BOM
from ctxview.formats.transcript.requests.shapes import is_message, requests_in
from ctxview.formats.transcript.session_files import holds_sessions, is_rollout, is_session
from ctxview.formats.transcript.unpacking import can_unpack, packing_of, unpacked_head

NAME = "transcript"
SURE = 90
A_BODY = 80
BARE = 40
LARGE = LIMIT
MOST_LINES = 200
ENOUGH = 0.9
CODEX_TYPES = frozenset(
    (
        *("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"),
        *("inter_agent_communication", "inter_agent_communication_metadata", "security_risk_score"),
    )
)
LEGACY_ITEMS = frozenset(
    ("message", "reasoning", "function_call", "function_call_output", "local_shell_call")
)
_CLAUDE_IDS = frozenset(["uuid", "parentUuid", "sessionId", "leafUuid", "messageId", "isSidechain"])
_REQUEST_WORD = re.compile(rb'"(messages|input|role|request|body|entries|log|system|tools)"\s*:')
_CODEX_START = re.compile(rb'\s*\{.{0,200}?"type"\s*:\s*"(%s)"' % "|".join(sorted(CODEX_TYPES)).encode())
_CLAUDE_START = re.compile(rb'\s*\{.{0,400}?"(parentUuid|isSidechain|sessionId|leafUuid)"\s*:')


def dialect_at(peek: Peek) -> Dialect | None:
    """Return the dialect of a path; None for one that lists sessions."""
    found = packed_dialect(peek) or dialect_of(peek.head, whole=peek.size <= len(peek.head))
    if found is not None:
        return found
    match = recognise(peek)
    if match is not None and match.lists:
        return None
    if _opencode(peek) is not None:
        return Dialect.OPENCODE
    return Dialect.BODY if _requests(peek) is not None else Dialect.CLAUDE_CODE


def recognise(peek: Peek) -> FormatMatch | None:
    if (match := _opencode(peek)) is not None:
        return match
    if peek.is_folder:
        listed = holds_sessions(peek.path, peek.names)
        return FormatMatch(NAME, SURE, "a folder of sessions", lists=True) if listed else None
    dialect = packed_dialect(peek) or dialect_of(peek.head, whole=peek.size <= len(peek.head))
    if dialect is not None:
        title = {
            Dialect.CLAUDE_CODE: "rows of a Claude Code session",
            Dialect.CODEX: "rows of a Codex rollout",
        }
        return FormatMatch(NAME, SURE, title[dialect])
    if is_session(peek.path.name) and peek.data is not None and not peek.data.strip():
        return FormatMatch(NAME, SURE, "an empty session, by its name")
    return _requests(peek)


def _opencode(peek: Peek) -> FormatMatch | None:
    """Recognise a store, an export or an old tree, and a session in one of these."""
    path = peek.path
    if peek.is_folder:
        if not is_tree(path, peek.names):
            return None
        members = tuple(each.relative_to(path).as_posix() for each in tree_sessions(path))
        why = f"an old store of OpenCode with {counted(len(members), 'session')}"
        return FormatMatch(NAME, SURE, why, lists=len(members) != 1, members=members)
    if peek.head.startswith(MAGIC):
        if not is_store(path, peek.head):
            return None
        try:
            members = tuple(each.name for each in store_sessions(path))
        except ReadError as error:
            return FormatMatch(NAME, SURE, f"a store of OpenCode that cannot be read: {error.reason}")
        why = f"a store of OpenCode with {counted(len(members), 'session')}"
        return FormatMatch(NAME, SURE, why, lists=len(members) != 1, members=members)
    if path.name.startswith(SESSION_PREFIX):
        if path.parent.is_file():
            with_tables = is_store(path.parent, Peek(path.parent).head)
            return FormatMatch(NAME, SURE, "a session of an OpenCode store") if with_tables else None
        storage = path.parents[2] if len(path.parents) > 2 else path.parent
        in_tree = path.parent.parent.name == "session" and (storage / "message").is_dir()
        if in_tree and isinstance(peek.json, dict) and "id" in peek.json:
            return FormatMatch(NAME, SURE, "a session of an old OpenCode store")
    if b'"ses_' in peek.head and b'"info"' in peek.head and is_export(_document(peek)):
        return FormatMatch(NAME, SURE, "an export of an OpenCode session")
    return None


def _document(peek: Peek) -> JsonValue:
    return peek.json if peek.data is not None else _whole(_beginning(peek))


def packed_dialect(peek: Peek) -> Dialect | None:
    """Return the dialect of a compressed file; without an unpacker, that of a rollout by its name."""
    packing = packing_of(peek.head)
    if packing is None:
        return None
    if not can_unpack(packing):
        return Dialect.CODEX if is_rollout(peek.path.name) else None
    head = unpacked_head(peek.path, packing, HEAD)
    return dialect_of(head, whole=len(head) < HEAD)


def _requests(peek: Peek) -> FormatMatch | None:
    """Recognise a file of request bodies: one JSON text, or lines of which nine in ten have a request."""
    start = peek.head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith((b"{", b"[")) or not _REQUEST_WORD.search(peek.head):
        return None
    found = next(requests_in(peek.json), None) if peek.json is not None else None
    if found is not None:
        return _request_match(found.api, "one JSON text")
    data = (peek.data if peek.data is not None else _beginning(peek)).removeprefix(BOM)
    votes: Counter[Api] = Counter()
    voters = 0
    for line in data.split(b"\n")[:MOST_LINES] if start.startswith(b"{") else ():
        try:
            value: JsonValue = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        voters += 1
        api = Api.BARE if is_message(value) else next((each.api for each in requests_in(value)), None)
        if api is not None:
            votes[api] += 1
    for api, count in votes.most_common(1):
        if sum(votes.values()) >= ENOUGH * voters:
            return _request_match(api, f"{count} of the first {voters} lines")
    if not voters and len(data) + len(BOM) >= peek.size and found is None and peek.json is None:
        found = next(requests_in(_whole(data)), None)
        return _request_match(found.api, "one JSON text") if found is not None else None
    return None


def _request_match(api: Api, where: str) -> FormatMatch:
    score = BARE if api is Api.BARE else A_BODY
    return FormatMatch(
        NAME, score, f"{where}: {'messages' if api is Api.BARE else f'requests of {api.value}'}"
    )


def _beginning(peek: Peek) -> bytes:
    """Return more of a large file than a peek has: one request may be longer than that."""
    try:
        return read_ends(peek.path, 2 * LARGE).head
    except ReadError:
        return b""


def _whole(data: bytes) -> JsonValue:
    try:
        value: JsonValue = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return value


def dialect_of(head: bytes, *, whole: bool) -> Dialect | None:
    """Return the dialect that nine of ten rows at the beginning of a file have, or None.

    A text or program with some rows among other lines is not a transcript.
    """
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    votes = {Dialect.CLAUDE_CODE: 0, Dialect.CODEX: 0}
    voters = others = 0
    legacy = False
    for line in lines[: MOST_LINES + 1]:
        content = line.strip(b"\0 \t\r")
        if not content.startswith(b"{"):
            others += bool(content)
            continue
        try:
            value: JsonValue = orjson.loads(content)
            legacy = legacy or (not voters and is_legacy_meta(value))
            vote = Dialect.CODEX if legacy and _is_legacy(value) else _vote(value)
        except orjson.JSONDecodeError:
            if line is not lines[-1] or whole or voters:
                continue
            # The first line is longer than the beginning that was read.
            vote = Dialect.CODEX if _CODEX_START.match(content) else None
            vote = vote or (Dialect.CLAUDE_CODE if _CLAUDE_START.match(content) else None)
        voters += 1
        if vote is not None:
            votes[vote] += 1
    best = max(votes, key=lambda each: votes[each])
    return best if voters >= max(1, others) and votes[best] >= ENOUGH * voters else None


def is_legacy_meta(value: JsonValue) -> bool:
    """Whether this is the first row of a rollout as Codex wrote them until September 2025."""
    return (
        isinstance(value, dict)
        and "type" not in value
        and {"id", "timestamp", "instructions"} <= value.keys()
    )


def _is_legacy(value: JsonValue) -> bool:
    return isinstance(value, dict) and (
        is_legacy_meta(value) or "record_type" in value or value.get("type") in LEGACY_ITEMS
    )


def _vote(value: JsonValue) -> Dialect | None:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return None
    if "payload" in value and value["type"] in CODEX_TYPES:
        return Dialect.CODEX
    if value.keys() & _CLAUDE_IDS and "payload" not in value and "session_id" not in value:
        return Dialect.CLAUDE_CODE
    return None
