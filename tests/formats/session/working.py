"""What the commands on a session need, opened from a folder, and what the rules say of it afterwards."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ctxview.formats.session import rules
from ctxview.formats.session.folder import SessionFolder
from ctxview.formats.session.history import History, open_history
from ctxview.formats.session.model import Session
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.raw_content import RawContent
from ctxview.formats.session.read import read_session
from tests.formats.session.builders import Build
from tests.formats.session.looking import CORTEXFS, look_at

DAY = 86_400


@dataclass(frozen=True)
class Work:
    session: Session
    history: History
    profile: Profile
    raw: RawContent

    @property
    def folder(self) -> SessionFolder:
        return self.session.folder


def work_on(root: Path, profile: Profile = CORTEXFS) -> Work:
    session = read_session(SessionFolder(root))
    history = open_history(session)
    return Work(session, history, profile, RawContent(session.folder, history))


def broken_rules(root: Path) -> set[str]:
    """The rules that speak up about a session, both histories read to their ends."""
    look = look_at(root)
    assert look.survey is not None
    return {finding.rule for finding in (*look.survey.findings, *rules.check_session(look))}


def tree(root: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def in_columnar_store(build: Build) -> Build:
    """The same session with both histories in the log of a columnar store, behind empty files."""
    rows = []
    for stream in ("messages", "events"):
        payloads = build.text(f"{stream}.jsonl").splitlines()
        rows += [{"stream": stream, "ordinal": at, "payload": each} for at, each in enumerate(payloads)]
        build.set(f"{stream}.jsonl", "")
    empty = {"lines": 0, "bytes": 0, "index_records": 0}
    manifest = {"version": 1, "generation": 1, "next_shard": 0, "messages": empty, "events": empty}
    return build.set(".store/manifest.json", manifest).lines(".store/wal.jsonl", *rows)


def make_old(root: Path, days: float, *names: str) -> None:
    """Let files (all of them, without names) look as if last written so many days ago."""
    import time

    then = time.time() - days * DAY
    for path in [root / name for name in names] or [each for each in root.rglob("*") if each.is_file()]:
        os.utime(path, (then, then))
