"""Recognise sessions by their content: a session folder, a file in it, a folder of sessions."""

from __future__ import annotations

from ctxview.core.format_spec import FormatMatch
from ctxview.formats.peek import Peek
from ctxview.formats.session import EVENTS, MESSAGES

NAME = "session"
SURE = 95
LIKELY = 75
PERHAPS = 45
"""Too low for discovery to stop at the folder: it lists the sessions inside and the index."""
COMPANIONS = frozenset((EVENTS, "context", "state", "meta.json", "latest.md", ".store", "cwd"))
CONTEXT_PARTS = frozenset(
    ("facts.jsonl", "decisions.jsonl", "pack.json", "summary.md", "budget", "refs.jsonl")
)


def recognise(peek: Peek) -> FormatMatch | None:
    if peek.is_folder:
        found = _recognise_folder(peek)
        return FormatMatch(NAME, *found) if found is not None else None
    if peek.path.name in (MESSAGES, EVENTS) and is_session(peek.parent):
        return FormatMatch(NAME, LIKELY, f"the {peek.path.stem} of a session")
    return None


def is_session(peek: Peek) -> bool:
    """Return whether a folder is a session, even with parts missing."""
    return _recognise_session(peek) is not None


def _recognise_folder(peek: Peek) -> tuple[int, str] | None:
    found = _recognise_session(peek)
    if found is not None:
        return found
    if peek.path.name == "index" and {"list", "current"} & set(peek.names):
        return SURE - 5, "the index of a folder of sessions"
    if "index" in peek.names and {"list", "current"} & set(peek.below("index").names):
        return PERHAPS, "a folder of sessions with an index"
    return None


def _recognise_session(peek: Peek) -> tuple[int, str] | None:
    names = set(peek.names)
    if MESSAGES in names:
        companions = names & COMPANIONS
        return (
            (SURE, "a folder with messages.jsonl")
            if companions
            else (LIKELY, "a folder with messages.jsonl alone")
        )
    if EVENTS in names and names & {"context", "state", "meta.json"}:
        return LIKELY, "a session without its messages"
    inside = set(peek.below("context").names) & CONTEXT_PARTS if "context" in names else set()
    if len(inside) >= 2 and names & {"state", "cwd", "meta.json", "created_at"}:
        return LIKELY - 5, "a session without its histories"
    if len(inside) >= 3:
        return LIKELY - 10, "a session's context without its histories"
    return None
