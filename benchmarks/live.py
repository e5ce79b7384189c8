"""A session somebody writes into: how long keys wait in a storm, when a line is seen, whether any is lost.

A second process appends so many lines a second. First somebody walks through the messages while that goes on;
then, in a calm, single lines are awaited at the end that is followed; at last the lines are counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from itertools import cycle, islice
from pathlib import Path
from statistics import median, quantiles

from benchmarks.bytecode import with_bytecode
from benchmarks.key_gaps import PAUSES, idle, until
from benchmarks.session_data import write_session
from tests.pty_session import PtySession

MEDIAN_GOAL = 0.016
WORST_GOAL = 0.100
SEEN_GOAL = 0.150
STORM = """
import sys, time
path, rate, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
line = b'{"role":"tool","content":"a line of the storm"}\\n'
end = time.monotonic() + seconds
with open(path, "ab", buffering=0) as file:
    while time.monotonic() < end:
        file.write(line * (rate // 100))
        time.sleep(0.01)
"""


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=10_000, help="lines a second")
    parser.add_argument("--keys", type=int, default=60)
    parser.add_argument("--lines", type=int, default=60, help="lines that are awaited one by one")
    arguments = parser.parse_args()
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
            lost = not _shows(screen, f"{written:,} user")
    slowest = quantiles(seen, n=100)[98]
    print(f"keys at {arguments.rate:,} lines a second: median {_ms(median(waits))}, worst {_ms(max(waits))}")
    print(f"  goal: median ≤ {_ms(MEDIAN_GOAL)}, worst ≤ {_ms(WORST_GOAL)}")
    print(f"a new line on the screen: median {_ms(median(seen))}, 99th percentile {_ms(slowest)}")
    print(f"  goal: ≤ {_ms(SEEN_GOAL)}")
    print(f"lines written: {written:,}; all of them counted on the screen: {'no' if lost else 'yes'}")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    met = median(waits) <= MEDIAN_GOAL and max(waits) <= WORST_GOAL and slowest <= SEEN_GOAL and not lost
    return 0 if met else 1


def _walk(screen: PtySession, messages: Path, rate: int, keys: int) -> list[float]:
    """Down the first messages while the storm goes on."""
    seconds = sum(islice(cycle(PAUSES), keys)) + keys * 0.2
    storm = subprocess.Popen([sys.executable, "-c", STORM, str(messages), str(rate), str(seconds)])
    try:
        waits = []
        for number, pause in enumerate(islice(cycle(PAUSES), keys), start=2):
            idle(screen, pause)
            waits.append(until(screen, "j", f"message {number:,}"))
        return waits
    finally:
        storm.terminate()
        storm.wait()


def _await_lines(screen: PtySession, messages: Path, lines: int) -> list[float]:
    """At the end of the history, which is followed: from the write to the picture."""
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
        while mark.encode() not in screen.output:
            screen.wait_for_more()
        waits.append(time.perf_counter() - written)
        idle(screen, 0.1 + 0.037 * (number % 7))
    return waits


def _shows(screen: PtySession, text: str) -> bool:
    """Whether a text stands on the whole screen, painted anew."""
    idle(screen, 3.0)
    screen.output = b""
    screen.press("zz")
    idle(screen, 3.0)
    return text.encode() in screen.output


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms"


if __name__ == "__main__":
    sys.exit(main())
