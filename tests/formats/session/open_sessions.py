"""Sessions opened from a folder as the commands need them, and checks of the folder afterwards."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ctxview.formats.kit.folder import SourceFolder
from ctxview.formats.session import rules
from ctxview.formats.session.history import SessionHistory, open_history
from ctxview.formats.session.model import Session
from ctxview.formats.session.parser import read_session
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.store.content import RawContent
from tests.formats.ordinary_user import as_ordinary_user
from tests.formats.session.builders import Build
from tests.formats.session.sources import CORTEXFS, read_facts

DAY = 86_400


@dataclass(frozen=True)
class OpenSession:
    session: Session
    history: SessionHistory
    profile: Profile
    raw: RawContent

    @property
    def folder(self) -> SourceFolder:
        return self.session.folder


def open_session(root: Path, profile: Profile = CORTEXFS) -> OpenSession:
    session = read_session(SourceFolder(root))
    history = open_history(session)
    return OpenSession(session, history, profile, RawContent(session.folder, history))


def broken_rules(root: Path) -> set[str]:
    """Return the rules that a session breaks, with both histories read."""
    facts = read_facts(root)
    assert facts.survey is not None
    return {finding.rule for finding in (*facts.survey.findings, *rules.check_session(facts))}


def make_fifo(path: Path) -> None:
    os.mkfifo(path, 0o600)


@contextmanager
def locked_session(build: Build, name: str) -> Iterator[Path]:
    """Write a session with one entry that the user may not read, and give up the rights of root meanwhile."""
    root = build.write()
    for path in [build.base, *build.base.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    (root / name).chmod(0)
    try:
        with as_ordinary_user():
            yield root
    finally:
        (root / name).chmod(0o700)


def file_states(root: Path) -> dict[str, tuple[int, int, str]]:
    """Return mode, time and content hash of every entry below a folder."""
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_mtime_ns, _digest(path)) for path in root.rglob("*")
    }


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def tree(root: Path) -> dict[str, bytes]:
    """Return every file below a folder with its bytes."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def in_columnar_store(build: Build) -> Build:
    """Move both histories into the log of a columnar store, behind empty files."""
    rows = []
    for stream in ("messages", "events"):
        payloads = build.text(f"{stream}.jsonl").splitlines()
        rows += [{"stream": stream, "ordinal": at, "payload": each} for at, each in enumerate(payloads)]
        build.set(f"{stream}.jsonl", "")
    empty = {"lines": 0, "bytes": 0, "index_records": 0}
    manifest = {"version": 1, "generation": 1, "next_shard": 0, "messages": empty, "events": empty}
    return build.set(".store/manifest.json", manifest).lines(".store/wal.jsonl", *rows)


def make_old(root: Path, days: float, *names: str) -> None:
    """Set the time of files (of all files without `names`) to so many days ago."""
    import time

    then = time.time() - days * DAY
    for path in [root / name for name in names] or [each for each in root.rglob("*") if each.is_file()]:
        os.utime(path, (then, then))
