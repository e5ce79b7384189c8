"""No command writes to a history: strace watches the system calls."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.busy_session import DRY, WRITING, busy_session
from tests.formats.session.open_sessions import make_old
from tests.running import LIMIT

HISTORIES = ("messages.jsonl", "events.jsonl")
CALLS = (
    "open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,truncate,ftruncate,link,linkat,"
    "write,pwrite64,writev,pwritev,fallocate,copy_file_range,sendfile,chmod,fchmod,fchmodat,utimensat,"
    "setxattr,fsetxattr,symlinkat,mmap"
)
WRITABLE = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE")


def test_no_command_opens_a_history_for_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    strace = shutil.which("strace")
    if (
        strace is None
        or subprocess.run([strace, "-o", os.devnull, "true"], check=False, timeout=LIMIT).returncode
    ):
        pytest.skip("strace is missing or not permitted")
    root = busy_session(tmp_path).write()
    make_old(root, 60)
    before = {name: ((root / name).read_bytes(), (root / name).stat().st_mtime_ns) for name in HISTORIES}
    commands = [
        ["show", str(root)],
        ["show", str(root), "--json"],
        ["check", str(root)],
        *([command, str(root), *options] for command, options in DRY.items()),
        *([command, str(root), *WRITING[command]] for command in ("swap", "dedup", "pack", "gc")),
        ["gc", str(root), "--undo"],
        ["swap", str(root), "--event", "call-1", "--write"],
        ["swap", str(root), "--rebuild", "--write"],
    ]
    script = f"from ctxview.cli import main\nprint([main(each) for each in {commands!r}])"
    trace = tmp_path / "trace"

    done = subprocess.run(
        [
            strace,
            "-f",
            "-y",
            "-s",
            "400",
            "-o",
            str(trace),
            "-e",
            f"trace={CALLS}",
            sys.executable,
            "-c",
            script,
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
    )

    codes = json.loads(done.stdout.splitlines()[-1])
    assert not set(codes) - {0, 1}, done.stderr
    calls = trace.read_text(errors="replace").splitlines()
    assert sum("open" in call and _names_history(call) for call in calls) >= len(commands)
    assert any("renameat2" in call and "index.jsonl" in call for call in calls)
    assert [call for call in calls if _names_history(call) and _changes(call)] == []
    after = {name: ((root / name).read_bytes(), (root / name).stat().st_mtime_ns) for name in HISTORIES}
    assert after == before


@pytest.mark.parametrize(
    ("call", "changes"),
    [
        ('12 openat(AT_FDCWD</>, "/s/messages.jsonl", O_RDONLY|O_CLOEXEC) = 3</s/messages.jsonl>', False),
        ('12 openat2(3</s>, "events.jsonl", {flags=O_RDONLY|O_NOATIME, resolve=0xc}, 24) = 4', False),
        ('12 openat(AT_FDCWD</>, "/s/messages.jsonl", O_WRONLY|O_APPEND) = 3', True),
        ('12 openat(3</s>, "messages.jsonl", O_RDWR|O_CREAT, 0600) = 3', True),
        ('12 renameat2(3</s>, ".tmp", 3</s>, "events.jsonl", RENAME_EXCHANGE) = 0', True),
        ('12 unlinkat(3</s>, "messages.jsonl", 0) = 0', True),
        ("12 ftruncate(3</s/messages.jsonl>, 0) = 0", True),
        ("12 fchmod(3</s/messages.jsonl>, 0600) = 0", True),
        ('12 write(3</s/events.jsonl>, "x", 1) = 1', True),
        ('12 write(1</dev/pts/0>, "messages.jsonl is fine", 22) = 22', False),
        ("12 mmap(NULL, 9, PROT_READ|PROT_WRITE, MAP_SHARED, 3</s/events.jsonl>, 0) = 0x7f", True),
    ],
)
def test_calls_that_write_to_a_history_are_recognised(call: str, changes: bool) -> None:
    assert _names_history(call)
    assert _changes(call) is changes


def _names_history(call: str) -> bool:
    return any(name in call for name in HISTORIES)


def _changes(call: str) -> bool:
    """Whether a call that names a history could change or rename it."""
    name = re.sub(r"^\d+ +", "", call).partition("(")[0]
    if name in ("open", "openat", "openat2"):
        return WRITABLE.search(call) is not None
    if name == "mmap":
        return "PROT_WRITE" in call and "MAP_SHARED" in call
    if name in ("write", "pwrite64", "writev", "pwritev"):
        # The name may be in the written text; only the target counts.
        target = re.search(r"\(\d+<([^>]*)>", call)
        return target is not None and target[1].endswith(HISTORIES)
    return True
