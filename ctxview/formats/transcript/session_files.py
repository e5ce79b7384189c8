"""Find sessions below a folder by names and sizes, without opening a file; those of a store by its table."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from ctxview.core.format_spec import FoundAtHome
from ctxview.files.reading import ReadError
from ctxview.formats.transcript.children import HELPERS, session_of
from ctxview.formats.transcript.opencode.store import store_sessions, tree_sessions

MOST_FILES: Final = 50_000
DEEPEST: Final = 6
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl")
_ROLLOUT = re.compile(r"rollout-.{1,200}\.jsonl(?:\.zst)?")
_AGENT = re.compile(r"agent-.{1,200}\.jsonl")
_ID = re.compile(r"([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_YEAR = re.compile(r"20\d\d")
CLAUDE: Final = "Claude Code"
CODEX: Final = "Codex"
NEWEST: Final = 4
HOMES: Final = ((CLAUDE, ".claude/projects"), (CODEX, ".codex/sessions"))
"""Where Claude Code and Codex keep their sessions, below the home of a person."""
STORE: Final = ".local/share/opencode/opencode.db"
"""Where OpenCode keeps all of its sessions."""


class SessionFile(Struct, frozen=True):
    """One file of a session or of a sub-agent. `modified` is in seconds since the epoch."""

    path: Path
    size: int
    modified: float
    child: bool = False
    """Whether it is a sub-agent's."""
    parent: Path | None = None
    """The session of a sub-agent, by the folder it lies in."""

    @property
    def helper(self) -> bool:
        """Whether it belongs to a helper of the program, such as the call that wrote a summary."""
        return self.path.name.startswith(HELPERS)


def session_files(root: Path, room: list[int] | None = None) -> list[SessionFile]:
    """Return the sessions below a folder or in a store, the newest first, each followed by its sub-agents.

    `room` has the number of files and folders that may still be looked at; it becomes negative at the end.
    """
    room = room if room is not None else [MOST_FILES]
    found = list(_stored(root) if is_store_path(root) else _below(root, 0, room))
    newest = {each.path: each.modified for each in found if not each.child}

    def order(each: SessionFile) -> tuple[float, str, bool, str]:
        lead = each.parent or each.path
        return -newest.get(lead, each.modified), str(lead), each.child, str(each.path)

    return sorted(found, key=order)


def sessions_at_home(home: Path) -> Iterator[FoundAtHome]:
    """Yield the folders of sessions of a person, each with its newest sessions."""
    for program, place in HOMES:
        root = home / place
        files = [each for each in session_files(root) if not each.child] if root.is_dir() else []
        if not files:
            continue
        sessions = "session" if len(files) == 1 else "sessions"
        about = f"{len(files):,} {sessions}, {_size(sum(each.size for each in files))}"
        yield FoundAtHome(root, f"all of {program}", about, files[0].modified)
        for each in files[:NEWEST]:
            project = f"{each.path.parent.name.removeprefix('-')} " if program == CLAUDE else ""
            name = f"{project}{short_name(each)}"
            yield FoundAtHome(each.path, name, f"{program}, {_size(each.size)}", each.modified)
    store = home / STORE
    if store.is_file():
        status = store.stat()
        yield FoundAtHome(store, "all of OpenCode", _size(status.st_size), status.st_mtime)


def short_name(file: SessionFile) -> str:
    """Return the first part of the id of a session, or the time of a rollout with it."""
    stem = file.path.name.split(".jsonl")[0]
    return stem if file.child else _ID.sub(r"\1", stem).removeprefix("rollout-")


def id_of(file: SessionFile) -> str | None:
    """Return the id of a session that is in the name of its file."""
    found = _ID.search(file.path.name)
    return found[0] if found is not None else None


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{-(-size // 1000)} kB"


def is_store_path(root: Path) -> bool:
    """Whether a path that lists sessions is a store of OpenCode: a database or an old tree."""
    return root.is_file() or (root / "message").is_dir()


def _stored(root: Path) -> Iterator[SessionFile]:
    try:
        if root.is_file():
            for each in store_sessions(root):
                parent = root / each.parent if each.parent else None
                yield SessionFile(root / each.name, 0, each.updated / 1000, parent is not None, parent)
            return
        for path in tree_sessions(root):
            status = path.stat()
            yield SessionFile(path, status.st_size, status.st_mtime)
    except (ReadError, OSError):
        return


def holds_sessions(root: Path, names: tuple[str, ...]) -> bool:
    """Whether a folder lists sessions.

    It has several, one with sub-agents beside it, or project folders or years with some.
    """
    files = Counter(child for name in names if (child := _is_child(name)) is not None)
    if files[False] and files.total() > 1:
        return True
    likely = [name for name in names if name.startswith("-") or _YEAR.fullmatch(name)]
    return any(next(_below(root / name, 1, [MOST_FILES]), None) is not None for name in likely[:20])


def file_of_thread(path: Path, thread: str) -> Path | None:
    """Return the rollout of another thread, by its name, in the same tree of sessions."""
    root = next((each for each in path.parents if each.name == "sessions"), path.parent)
    return next((each.path for each in session_files(root) if thread in each.path.name), None)


def _below(folder: Path, depth: int, room: list[int]) -> Iterator[SessionFile]:
    """Yield the session files below a folder. Links are not followed; `room` bounds the number of entries."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda each: each.name)
    except OSError:
        return
    for entry in entries:
        room[0] -= 1
        if room[0] < 0:
            return
        try:
            if entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST:
                    yield from _below(Path(entry.path), depth + 1, room)
            elif entry.is_file(follow_symlinks=False) and (child := _is_child(entry.name)) is not None:
                status = entry.stat(follow_symlinks=False)
                path = Path(entry.path)
                parent = session_of(path) if child else None
                yield SessionFile(path, status.st_size, status.st_mtime, child, parent)
        except OSError:
            continue


def is_rollout(name: str) -> bool:
    return _ROLLOUT.fullmatch(name) is not None


def is_session(name: str) -> bool:
    """Whether a name is that of a file of a session or of a sub-agent."""
    return _is_child(name) is not None


def _is_child(name: str) -> bool | None:
    """Whether a name is that of a sub-agent's file; None when it is not that of a session at all."""
    if _AGENT.fullmatch(name):
        return True
    return False if _SESSION.fullmatch(name) or _ROLLOUT.fullmatch(name) else None
