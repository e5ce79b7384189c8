"""Sub-agents of a Claude Code session: their files beside it, and the size of their last call."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import orjson

from ctxview.files.reading import ReadError, read_ends
from ctxview.formats.transcript.model import Dialect, TranscriptLog
from ctxview.formats.transcript.values import number, record, text

MOST_FILES = 2000
END = 128 * 1024
SUBAGENTS = "subagents"
HELPERS = ("agent-acompact-", "agent-aprompt_suggestion-")


def beside_session(path: Path) -> frozenset[str]:
    """Return the files of the folder that belongs to a session, relative to it. Links are not followed."""
    folder = path.with_suffix("")
    found: set[str] = set()
    for top, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not Path(top, name).is_symlink()]
        room = MOST_FILES - len(found)
        found.update(Path(top, name).relative_to(folder).as_posix() for name in islice(names, room))
        if len(found) >= MOST_FILES:
            break
    return frozenset(found)


def link_children(log: TranscriptLog, path: Path, beside: frozenset[str]) -> None:
    """Note for every sub-agent the file of its transcript, and what its last call was sent."""
    if log.dialect is not Dialect.CLAUDE_CODE:
        return
    by_agent = {
        Path(name).stem.removeprefix("agent-"): name
        for name in beside
        if name.startswith(SUBAGENTS) and name.endswith(".jsonl")
    }
    sides = any(row.side for row in log.rows)
    for child in log.children:
        if child.agent in by_agent and child.sent is None:
            child.file = by_agent[child.agent]
            child.sent, child.model = _last_call(path.with_suffix("") / child.file)
        elif child.agent is None and sides and not by_agent:
            child.inline = True


def _last_call(file: Path) -> tuple[int | None, str | None]:
    """Return size and model of the last call of a transcript, from its last bytes."""
    try:
        ends = read_ends(file, 2 * END)
    except ReadError:
        return None, None
    for line in reversed((ends.tail or ends.head).split(b"\n")):
        if b'"usage"' not in line:
            continue
        try:
            message = record(orjson.loads(line), "message")
        except orjson.JSONDecodeError:
            continue
        usage = record(message, "usage")
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        sent = sum(number(usage, name) or 0 for name in names)
        if sent:
            return sent, text(message, "model")
    return None, None
