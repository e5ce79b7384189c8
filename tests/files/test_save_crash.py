"""Kill a save at each of its system calls, and let each call fail: the file is always old or new."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ctxview.files.save import save
from tests.files.save_server import BEGINS, ENDS, NEW, OLD
from tests.running import LIMIT, default_signals, line_of

CALL = re.compile(r"(\w+)\(")
# These concern memory or names, never a file; `read` waits for the start.
HARMLESS = {
    *("read", "mmap", "munmap", "mremap", "madvise", "mprotect", "brk", "prctl", "futex", "getrandom"),
    *("uname", "getcwd", "sched_yield", "rt_sigprocmask", "rt_sigaction", "rt_sigreturn"),
}
CHANGING = {
    "openat",
    "write",
    "fsync",
    "fchmod",
    "mkdir",
    "renameat2",
    "renameat",
    "rename",
    "unlink",
    "unlinkat",
}
NO_EXCHANGE = "renameat2:error=ENOSYS"


@dataclass(frozen=True)
class Call:
    """The `number`th call of its name since the save began."""

    name: str
    number: int


@dataclass(frozen=True)
class Run:
    """The files that one interrupted save left."""

    call: Call
    status: int
    outcome: str
    injected: bool
    content: bytes
    kept: tuple[bytes, ...]
    beside: tuple[str, ...]


class Workshop:
    """A folder in which a save can be interrupted repeatedly."""

    def __init__(self, server: subprocess.Popen[str], root: Path, state: Path) -> None:
        self._server, self._root, self._state = server, root, state

    def calls(self, *injections: str) -> list[Call]:
        """Return the system calls of a save, in order."""
        self._strace("reference", *injections)
        found: list[Call] = []
        counts: Counter[str] = Counter()
        for line in (self._root / "reference.log").read_text().splitlines():
            if ENDS in line:
                break
            if match := CALL.match(line):
                counts[match[1]] += 1
                if BEGINS not in line:
                    found.append(Call(match[1], counts[match[1]]))
        assert {"renameat2", "fsync", "write"} <= {call.name for call in found}
        return [call for call in found if call.name not in HARMLESS]

    def broken(self, calls: list[Call], damage: str, *injections: str) -> Iterator[Run]:
        """Yield a run for each of `calls`, interrupted there by `damage`."""
        for call in calls:
            name = _name(call)
            status = self._strace(name, f"{call.name}:{damage}:when={call.number}", *injections)
            folder, outcome = self._root / name, self._root / f"{name}.outcome"
            log = (self._root / f"{name}.log").read_text()
            places = (folder, self._state / name)
            yield Run(
                call,
                status,
                outcome.read_text() if outcome.exists() else "",
                "killed by SIGKILL" in log if "SIGKILL" in damage else "INJECTED" in log,
                (folder / "file").read_bytes(),
                tuple(path.read_bytes() for place in places for path in place.rglob("*") if path.is_file()),
                tuple(entry.name for entry in folder.iterdir() if entry.name != "file"),
            )

    def recover(self, run: Run) -> None:
        """Check that the next save works and removes the leftovers."""
        folder = self._root / _name(run.call)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", str(self._state / folder.name))
            save(folder / "file", b"next", run.content)
        assert (folder / "file").read_bytes() == b"next"
        assert [entry.name for entry in folder.iterdir()] == ["file"]

    def _strace(self, name: str, *injections: str) -> int:
        """Run one save under strace; return the exit status of its process."""
        folder = self._root / name
        folder.mkdir()
        (folder / "file").write_bytes(OLD)
        rules = [part for rule in injections for part in ("-e", f"inject={rule}")]
        child = self._ask(f"{folder / 'file'}\t{self._state / name}\n")
        command = ["strace", "-o", f"{folder}.log", *rules, "-p", str(child)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=default_signals) as strace:
            attached = line_of(strace, strace.stderr)
            assert b"attached" in attached, attached
            status = self._ask("!")
            strace.communicate(timeout=LIMIT)
        # The `read` is seen only if strace has stopped the child before the byte for it arrives.
        before = Path(f"{folder}.log").read_text().partition(BEGINS)[0].splitlines()[:-1]
        early = {match[1] for line in before if (match := CALL.match(line))} - HARMLESS
        assert not early, f"strace saw the start of the child: {early}"
        return status

    def _ask(self, words: str) -> int:
        assert self._server.stdin is not None
        self._server.stdin.write(words)
        self._server.stdin.flush()
        return int(line_of(self._server, self._server.stdout))


def _name(call: Call) -> str:
    return f"{call.name}-{call.number}"


def _why_no_strace() -> str | None:
    if shutil.which("strace") is None:
        return "strace is not installed"
    probe = subprocess.run(
        ["strace", "-e", "trace=none", "true"], capture_output=True, check=False, timeout=LIMIT
    )
    return None if probe.returncode == 0 else f"strace may not trace here: {probe.stderr.decode()[:100]}"


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[str]]:
    if why := _why_no_strace():
        pytest.skip(why)
    command = [sys.executable, "-m", "tests.files.save_server"]
    with subprocess.Popen(
        command,
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals,
    ) as process:
        yield process


@pytest.fixture
def workshop(server: subprocess.Popen[str], tmp_path: Path) -> Workshop:
    for name in ("files", "state"):
        (tmp_path / name).mkdir()
    return Workshop(server, tmp_path / "files", tmp_path / "state")


def assert_nothing_is_lost(run: Run) -> None:
    assert run.injected, f"the damage missed {run.call}"
    assert run.content in (OLD, NEW), f"torn by {run.call}"
    assert OLD in (run.content, *run.kept), f"the old text is nowhere after {run.call}"


def assert_the_outcome_was_reported_correctly(run: Run) -> None:
    assert run.status == 0
    if run.outcome.startswith("saved"):
        assert run.content == NEW, run
    elif "half-way" not in run.outcome:
        assert run.outcome.startswith("refused"), run
        assert run.content == OLD, run


def test_a_kill_at_any_system_call_leaves_the_old_or_the_new_file(workshop: Workshop) -> None:
    for run in workshop.broken(workshop.calls(), "signal=SIGKILL"):
        assert run.status == -9
        assert_nothing_is_lost(run)
        workshop.recover(run)


def test_an_input_output_error_at_any_system_call_is_reported_correctly(workshop: Workshop) -> None:
    for run in workshop.broken(workshop.calls(), "error=EIO"):
        assert_nothing_is_lost(run)
        assert_the_outcome_was_reported_correctly(run)


def test_a_full_disk_leaves_the_old_file_and_no_leftover(workshop: Workshop) -> None:
    calls = [
        call for call in workshop.calls() if call.name in {"openat", "write", "fsync", "mkdir", "renameat"}
    ]
    for run in workshop.broken(calls, "error=ENOSPC"):
        assert_nothing_is_lost(run)
        assert_the_outcome_was_reported_correctly(run)
        assert not run.beside, run


def test_a_kill_without_exchange_leaves_the_old_or_the_new_file(workshop: Workshop) -> None:
    calls = [call for call in workshop.calls(NO_EXCHANGE) if call.name in CHANGING - {"renameat2"}]
    for run in workshop.broken(calls, "signal=SIGKILL", NO_EXCHANGE):
        assert_nothing_is_lost(run)
        workshop.recover(run)


def test_a_kill_with_the_undo_copies_on_another_file_system_leaves_the_old_or_the_new_file(
    server: subprocess.Popen[str], tmp_path: Path
) -> None:
    if not Path("/dev/shm").is_dir() or Path("/dev/shm").stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system to write to")
    with TemporaryDirectory(dir="/dev/shm") as state:
        workshop = Workshop(server, tmp_path, Path(state))
        calls = workshop.calls()
        exchange = next(index for index, call in enumerate(calls) if call.name == "renameat2")
        later = [call for call in calls[exchange:] if call.name in CHANGING]
        for run in workshop.broken(later, "signal=SIGKILL"):
            assert_nothing_is_lost(run)
            workshop.recover(run)
