"""Measure a session while it grows: how long keys wait, when a new line is shown, whether a line is lost.

A second process appends many lines a second while keys go through the messages. After that, single lines are
appended and awaited at the followed end. At last the lines are counted.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median, quantiles

from benchmarks.bytecode import with_bytecode
from benchmarks.figures import LONGEST_RUN, Figure, at_least, at_most, run
from benchmarks.key_gaps import PAUSES, idle, until
from benchmarks.session_data import write_session
from tests.pty_session import PtySession

MEDIAN_GOAL = 0.016
WORST_GOAL = 0.100
SEEN_GOAL = 0.150
COLOURS = re.compile(rb"\x1b\[[0-9;]*m")
WRITER = """
import sys, time
path, rate, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
line = b'{"role":"tool","content":"a line of the writer"}\\n'
end = time.monotonic() + seconds
with open(path, "ab", buffering=0) as file:
    while time.monotonic() < end:
        file.write(line * (rate // 100))
        time.sleep(0.01)
"""


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--rate", type=int, default=10_000, help="lines a second")
    parser.add_argument("--keys", type=int, default=120)
    parser.add_argument("--lines", type=int, default=200, help="lines to await one by one")


def measure(arguments: Namespace) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        session = write_session(Path(name) / "session", 1_000_000).folder
        env = {**with_bytecode(Path(name) / "bytecode"), "XDG_STATE_HOME": name, "XDG_CACHE_HOME": name}
        messages = session / "messages.jsonl"
        with PtySession([sys.executable, "-m", "ctxview", session], env=env, columns=200, rows=60) as screen:
            screen.wait_for("summary.md")
            screen.press("0")
            screen.wait_for("message 1")
            waits = _walk(screen, messages, arguments.rate, arguments.keys)
            idle(screen, 3.0)
            seen = _await_lines(screen, messages, arguments.lines)
            written = messages.read_bytes().count(b"\n")
            counted = written if _shows(screen, f"{written:,} user") else 0
    rate = f"at {arguments.rate:,} lines a second"
    yield at_most(f"a key {rate}: median", median(waits), MEDIAN_GOAL, "ms")
    yield at_most("  worst", max(waits), WORST_GOAL, "ms")
    yield at_least("  lines that arrived", counted, written, "lines")
    slowest = quantiles(seen, n=100, method="inclusive")[98]
    yield at_most("a new line on the screen: 99th percentile", slowest, SEEN_GOAL, "ms")


def _walk(screen: PtySession, messages: Path, rate: int, keys: int) -> list[float]:
    """Go down the first messages while another process appends lines."""
    seconds = sum(islice(cycle(PAUSES), keys)) + keys * 0.2
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(messages), str(rate), str(seconds)])
    try:
        waits = []
        for number, pause in enumerate(islice(cycle(PAUSES), keys), start=2):
            idle(screen, pause)
            waits.append(until(screen, "j", f"message {number:,}"))
        return waits
    finally:
        writer.terminate()
        writer.wait(LONGEST_RUN)


def _await_lines(screen: PtySession, messages: Path, lines: int) -> list[float]:
    """Seconds from the write of a line to its picture at the followed end of the history."""
    screen.press("F")
    idle(screen, 1.0)
    waits = []
    for number in range(lines):
        mark = f"awaited-{number:04}"
        line = json.dumps({"role": "user", "content": mark}).encode() + b"\n"
        screen.output = b""
        with messages.open("ab", buffering=0) as file:
            file.write(line)
        written = time.perf_counter()
        screen.wait_for(mark)
        waits.append(time.perf_counter() - written)
        idle(screen, 0.1 + 0.037 * (number % 7))
    return waits


def _shows(screen: PtySession, text: str) -> bool:
    """Whether the repainted screen has `text`, in any colours."""
    idle(screen, 3.0)
    screen.press("1")
    idle(screen, 1.0)
    screen.output = b""
    screen.press("0G")
    idle(screen, 2.0)
    return text in COLOURS.sub(b"", screen.output).decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
