"""Sub-agents of a Claude Code session: their files beside it, and the size of their last call."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from ctxview.files.change_detector import stamp_of
from ctxview.files.reading import ReadError, read_beneath, read_ends
from ctxview.formats.transcript.model import LONGEST_PROMPT, ChildAgent, Dialect, TranscriptLog
from ctxview.formats.transcript.values import content_text, number, record, text

END = 128 * 1024
SUBAGENTS = "subagents"
TOOL_RESULTS = "tool-results"
MEMORY_FOLDER = "memory"
MEMORY_FILE = f"{MEMORY_FOLDER}/MEMORY.md"
LARGEST_MEMORY = 4 * 1024 * 1024
MOST_OPENED = 64
"""How many sub-agents whose session does not name them are opened, the newest first."""
HELPERS = ("agent-acompact-", "agent-aprompt_suggestion-")


def beside_session(path: Path) -> dict[str, int]:
    """Return the files that belong to a session, relative to its folder, with their sizes; none is opened."""
    folder = path.with_suffix("")
    found: dict[str, int] = {}
    for top in own_folders(path):
        try:
            with os.scandir(top) as entries:
                for each in entries:
                    if not each.is_dir(follow_symlinks=False):
                        name = Path(each.path).relative_to(folder).as_posix()
                        found[name] = each.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return found


def own_folders(path: Path) -> Iterator[Path]:
    """Yield the folders of sub-agents and persisted outputs of a session. Links are not followed.

    A folder with the name of the session may be anything, so only the parts that a session has are listed.
    """
    folder = path.with_suffix("")
    for part in (SUBAGENTS, TOOL_RESULTS):
        if not folder.is_symlink() and not (folder / part).is_symlink():
            yield from (Path(top) for top, _, _ in os.walk(folder / part))


def agents_next_to(path: Path) -> frozenset[str]:
    """Return the names of sub-agents in the folder of a session, where versions 2.0 put them."""
    try:
        with os.scandir(path.parent) as entries:
            return frozenset(each.name for each in entries if is_agent(each.name))
    except OSError:
        return frozenset()


def watched_beside(path: Path) -> tuple[Path, ...]:
    """Return the folders in which a sub-agent may appear, and the transcripts of those that are there.

    Those at the top of the folder come first: the deeper ones are many and belong to workflows.
    """
    folder = path.with_suffix("")
    agents = [folder / name for name in beside_session(path) if is_agent(name)]
    folders = dict.fromkeys((path.parent, folder, folder / SUBAGENTS, *own_folders(path)))
    return (*folders, *sorted(agents, key=lambda each: len(each.parts)))


def memory_lines(path: Path) -> int | None:
    """Return the number of lines of the MEMORY.md that belongs to the project of a session."""
    try:
        return read_beneath(path.parent, MEMORY_FILE, LARGEST_MEMORY).removesuffix(b"\n").count(b"\n") + 1
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


def session_of(agent: Path) -> Path | None:
    """Return the file of the session that a sub-agent's file belongs to, by its folder."""
    parts = agent.parts
    if SUBAGENTS not in parts:
        return None
    folder = Path(*parts[: len(parts) - 1 - parts[::-1].index(SUBAGENTS)])
    return folder.with_name(f"{folder.name}.jsonl")


def missing_session(path: Path) -> str | None:
    """Return the name of the session of a sub-agent's file when it is not beside its folder."""
    session = session_of(path) if is_agent(path.name) else None
    return session.name if session is not None and not session.is_file() else None


def is_agent(name: str) -> bool:
    return (last := name.rpartition("/")[2]).startswith("agent-") and last.endswith(".jsonl")


def link_children(
    log: TranscriptLog, path: Path, beside: Mapping[str, int], next_to: frozenset[str] | None
) -> None:
    """Note for every sub-agent the file of its transcript, and what its last call was sent.

    A sub-agent that has not answered is found by its prompt, unless `next_to` is None: that opens more files.
    """
    if log.dialect is not Dialect.CLAUDE_CODE:
        return
    by_agent = {agent_of(name): name for name in beside if name.startswith(SUBAGENTS) and is_agent(name)}
    sides = any(row.side for row in log.rows)
    if next_to is not None:
        _link_running(log, path, by_agent, next_to)
    for child in log.children:
        if child.agent in by_agent:
            child.file = by_agent[child.agent]
            if child.read_size != (size := beside[child.file]):
                child.read_size = size
                _read_end(child, path.with_suffix("") / child.file)
        elif child.agent is not None and child.file is None and (older := _beside(path, child.agent)):
            child.file = older.name
            _read_end(child, older)
        elif child.agent is None and sides and not by_agent:
            child.inline = True


def agent_of(name: str) -> str:
    """Return the id of a sub-agent by the name of its file."""
    return Path(name).stem.removeprefix("agent-")


def _link_running(
    log: TranscriptLog, path: Path, by_agent: Mapping[str, str], next_to: frozenset[str]
) -> None:
    """Note the ids of sub-agents that have not answered: no row has them, only their own files."""
    waiting = {child.prompt: child for child in log.children if child.agent is None and child.status is None}
    if not waiting:
        return
    known = {child.agent for child in log.children}
    files = [path.with_suffix("") / name for name in by_agent.values()]
    files += [path.parent / name for name in next_to]
    files = [each for each in files if agent_of(each.name) not in known and not each.name.startswith(HELPERS)]
    for file in sorted(files, key=_modified, reverse=True)[:MOST_OPENED]:
        prompt, session = _first_prompt(file)
        is_own = file.parent != path.parent or session in (None, path.stem)
        if is_own and prompt in waiting:
            waiting.pop(prompt).agent = agent_of(file.name)


def _modified(file: Path) -> float:
    stamp = stamp_of(file)
    return stamp.modified if stamp is not None else 0


def _first_prompt(file: Path) -> tuple[str | None, str | None]:
    """Return the prompt of a sub-agent as far as it is compared, and the session that the file names."""
    try:
        line = read_ends(file, 2 * END).head.split(b"\n", 1)[0]
        value = orjson.loads(line)
    except (ReadError, orjson.JSONDecodeError):
        return None, None
    return content_text(record(value, "message").get("content"))[:LONGEST_PROMPT], text(value, "sessionId")


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
