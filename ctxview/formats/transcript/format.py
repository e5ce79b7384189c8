"""Recognise transcripts by their first lines; names and extensions do not count."""

from __future__ import annotations

import re

import orjson

from ctxview.core.format_spec import FormatMatch
from ctxview.core.origin import JsonValue
from ctxview.formats.peek import Peek
from ctxview.formats.transcript.model import Dialect

NAME = "transcript"
SURE = 90
MOST_LINES = 200
ENOUGH = 0.9
CODEX_TYPES = frozenset(
    (
        *("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"),
        *("inter_agent_communication", "inter_agent_communication_metadata", "security_risk_score"),
    )
)
_CLAUDE_IDS = frozenset(["uuid", "parentUuid", "sessionId", "leafUuid", "messageId", "isSidechain"])
_CODEX_START = re.compile(rb'\s*\{.{0,200}?"type"\s*:\s*"(%s)"' % "|".join(sorted(CODEX_TYPES)).encode())
_CLAUDE_START = re.compile(rb'\s*\{.{0,400}?"(parentUuid|isSidechain|sessionId|leafUuid)"\s*:')


def recognise(peek: Peek) -> FormatMatch | None:
    if peek.is_folder:
        return None
    dialect = dialect_of(peek.head, whole=peek.size <= len(peek.head))
    if dialect is None:
        return None
    title = {Dialect.CLAUDE_CODE: "rows of a Claude Code session", Dialect.CODEX: "rows of a Codex rollout"}
    return FormatMatch(NAME, SURE, title[dialect])


def dialect_of(head: bytes, *, whole: bool) -> Dialect | None:
    """Return the dialect that nine of ten rows at the beginning of a file have, or None."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    votes = {Dialect.CLAUDE_CODE: 0, Dialect.CODEX: 0}
    voters = 0
    for line in lines[: MOST_LINES + 1]:
        content = line.strip(b"\0 \t\r")
        if not content.startswith(b"{"):
            continue
        try:
            vote = _vote(orjson.loads(content))
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
    return best if voters and votes[best] >= ENOUGH * voters else None


def _vote(value: JsonValue) -> Dialect | None:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return None
    if "payload" in value and value["type"] in CODEX_TYPES:
        return Dialect.CODEX
    if value.keys() & _CLAUDE_IDS and "payload" not in value and "session_id" not in value:
        return Dialect.CLAUDE_CODE
    return None
