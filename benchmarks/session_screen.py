"""Measure a gigabyte of history on the screen: first paint, last record, a rare string, memory.

If lnav is installed, it is measured too. Each program runs in its own terminal and is timed until it has
painted the text.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bytecode import with_bytecode
from benchmarks.figures import Figure, against, at_most, run
from benchmarks.session_data import LAST, NEEDLE, SIZES, write_session
from tests.pty_session import PtySession

PAINT_GOAL = 1.15
LAST_GOAL = 0.15
SEARCH_GOAL = 0.15
MEMORY_GOAL = 150.0
FLAT_GOAL = 1.15
HISTORY_END = "0G"
"""Keys for the last row of the history pane."""
PAUSE = 0.2
AT_WORK = 10.0
LONGEST = 120.0
"""Seconds after which a text is not awaited any longer."""
SHOWN, _, TYPED = NEEDLE.partition("-")
"""A search also paints the typed text, so another part of the record is awaited."""


@dataclass(frozen=True)
class Timing:
    """Seconds until each text was painted, and the anonymous memory at the end in MB."""

    first: float
    last: float
    found: float
    memory: float


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--size", choices=SIZES, default="1GB")


def measure(arguments: Namespace) -> Iterator[Figure]:
    size = arguments.size
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        small = write_session(folder / "small", 1_000_000).folder
        large = write_session(folder / "large", SIZES[size]).folder
        env = {**with_bytecode(folder / "bytecode"), "XDG_STATE_HOME": name, "XDG_CACHE_HOME": name}
        _inspector(small, env)  # the first run writes the bytecode
        # In turns, so that other work of the machine affects both.
        pairs = [(_inspector(small, env), _inspector(large, env)) for _ in range(arguments.repeat)]
        little, much = (_best(runs) for runs in zip(*pairs, strict=True))
        lnav = _lnav(large) if shutil.which("lnav") else None
    yield against(f"first paint with {size}", much.first, "with 1 MB", little.first, PAINT_GOAL)
    if lnav is not None:
        yield against(f"the last record of {size}", much.last, "lnav's first screen", lnav.first, LAST_GOAL)
        yield against("a rare string near its end", much.found, "lnav", lnav.found, SEARCH_GOAL)
    yield at_most(f"anonymous memory with {size} open", much.memory, MEMORY_GOAL, "MB")
    yield against("  against 1 MB open", much.memory, "1 MB", little.memory, FLAT_GOAL, "MB")


def _inspector(session: Path, env: dict[str, str]) -> Timing:
    with PtySession([sys.executable, "-m", "ctxview", session], env=env) as screen:
        first = screen.wait_for("summary.md")
        last = _until(screen, HISTORY_END, LAST)
        found = _until(screen, f"g/{TYPED}\r", SHOWN)
        return Timing(first, last, found, memory_at_work(screen))


def _lnav(session: Path) -> Timing:
    with PtySession(["lnav", "-N", session / "messages.jsonl"]) as screen:
        first = screen.wait_for(LAST)
        found = _until(screen, f"g/{TYPED}\r", SHOWN, again="n")
        return Timing(first, 0, found, _anonymous(screen.process.pid))


def _until(screen: PtySession, keys: str, text: str, again: str | None = None) -> float:
    """Seconds from the keys until `text` was painted; `again` is pressed repeatedly meanwhile."""
    screen.output = b""
    started = pressed = time.perf_counter()
    screen.press(keys)
    while text.encode() not in screen.output:
        now = time.perf_counter()
        if now - started > LONGEST:
            screen.wait_for(text, 0)  # says what was painted instead
        if again is not None and now - pressed > PAUSE:
            pressed = now
            screen.press(again)
        screen.wait_for_more(PAUSE)
    return time.perf_counter() - started


def _best(runs: Sequence[Timing]) -> Timing:
    return Timing(
        min(run.first for run in runs),
        min(run.last for run in runs),
        min(run.found for run in runs),
        max(run.memory for run in runs),
    )


def memory_at_work(screen: PtySession) -> float:
    """The largest memory for a while, in which token tables are loaded and the history is surveyed."""
    most, end = 0.0, time.perf_counter() + AT_WORK
    while time.perf_counter() < end:
        screen.wait_for_more(PAUSE)
        most = max(most, _anonymous(screen.process.pid))
    return most


def _anonymous(pid: int) -> float:
    """Anonymous memory of the program and the processes it started, in MB."""
    kilobytes = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:
            continue  # the process has ended
        if str(pid) in (fields["Pid"].strip(), fields["PPid"].strip()):
            kilobytes += int(fields.get("RssAnon", "0").split()[0])
    return kilobytes / 1024


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
