"""Sub-agents of a Claude Code session: their files beside it, and the size of their last call."""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from ctxview.files.reading import ReadError, read_beneath, read_ends
from ctxview.formats.transcript.model import ChildAgent, Dialect, TranscriptLog
from ctxview.formats.transcript.values import number, record, text

END = 128 * 1024
SUBAGENTS = "subagents"
TOOL_RESULTS = "tool-results"
MEMORY_FOLDER = "memory"
MEMORY_FILE = f"{MEMORY_FOLDER}/MEMORY.md"
LARGEST_MEMORY = 4 * 1024 * 1024
HELPERS = ("agent-acompact-", "agent-aprompt_suggestion-")


def beside_session(path: Path) -> frozenset[str]:
    """Return the files that belong to a session, relative to its folder. Links are not followed.

    A folder of the same name may be anything, so only the parts that a session has are listed.
    """
    folder = path.with_suffix("")
    return frozenset(
        Path(top, name).relative_to(folder).as_posix()
        for part in (SUBAGENTS, TOOL_RESULTS)
        if not folder.is_symlink() and not (folder / part).is_symlink()
        for top, _, names in os.walk(folder / part)
        for name in names
    )


def memory_lines(path: Path) -> int | None:
    """Return the number of lines of the MEMORY.md that belongs to the project of a session."""
    try:
        return read_beneath(path.parent, MEMORY_FILE, LARGEST_MEMORY).count(b"\n") + 1
    except ReadError:
        return None


def memory_files(path: Path) -> tuple[str, ...]:
    """Return the names of the memory files of the project of a session; none is opened."""
    try:
        with os.scandir(path.parent / MEMORY_FOLDER) as entries:
            names = [each.name for each in entries if each.is_file(follow_symlinks=False)]
    except OSError:
        return ()
    return tuple(sorted(name for name in names if name.endswith(".md")))


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
            _read_end(child, path.with_suffix("") / child.file)
        elif child.agent is not None and child.file is None and (older := _beside(path, child.agent)):
            child.file = older.name
            _read_end(child, older)
        elif child.agent is None and sides and not by_agent:
            child.inline = True


def _beside(path: Path, agent: str) -> Path | None:
    """Return the transcript of a sub-agent next to the session, where versions 2.0 put it."""
    name = f"agent-{agent}.jsonl"
    file = path.parent / name
    return file if "/" not in name and not file.is_symlink() and file.is_file() else None


def _read_end(child: ChildAgent, file: Path) -> None:
    """Note from its last bytes the last call of a sub-agent, and whether it was compacted."""
    try:
        ends = read_ends(file, 2 * END)
    except ReadError:
        return
    child.compacted = b'"compact_boundary"' in ends.head or b'"compact_boundary"' in ends.tail
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
            child.sent, child.model = sent, text(message, "model")
            return
