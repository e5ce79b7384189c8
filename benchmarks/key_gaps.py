"""Measure the time from a key to its picture: while a large history is indexed, and from `[` to a revision.

Keys come alone and in bursts, as people press them; between bursts the background work continues. For
comparison the same keys go to a history so small that there is no background work.
"""

from __future__ import annotations

import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from benchmarks.bytecode import with_bytecode
from benchmarks.figures import Figure, at_most, run
from benchmarks.session_data import SIZES, write_session
from ctxview.samples import samples_folder
from tests.pty_session import PtySession

MEDIAN_GOAL = 0.016
WORST_GOAL = 0.100
PAUSES = (0.0, 0.03, 0.25, 0.0, 0.0, 0.4)
"""Seconds between the picture for one key and the next key."""


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--keys", type=int, default=120)
    parser.add_argument("--size", choices=SIZES, default="1GB")
    parser.add_argument("--session", type=Path, help="measure this session instead of a new one")


def measure(arguments: Namespace) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        small = write_session(folder / "small", 500_000).folder
        large = arguments.session or write_session(folder / "large", SIZES[arguments.size]).folder
        env = {**with_bytecode(folder / "bytecode"), "XDG_STATE_HOME": name, "XDG_CACHE_HOME": name}
        _walk(small, env, 5)  # the first run writes the bytecode
        stepped = _step_back(env)
        quiet, busy = _walk(small, env, arguments.keys), _walk(large, env, arguments.keys)
    yield at_most("`[` in a folder of snapshots: median", median(stepped), MEDIAN_GOAL, "ms")
    yield at_most("a key with nothing else to do: median", median(quiet), MEDIAN_GOAL, "ms")
    yield at_most(
        f"a key while {arguments.size} is counted and surveyed: median", median(busy), MEDIAN_GOAL, "ms"
    )
    yield at_most("  worst", max(busy), WORST_GOAL, "ms")


def _walk(session: Path, env: dict[str, str], keys: int) -> list[float]:
    """Go down the first messages, key after key; a message is on the screen when the detail names it."""
    with PtySession([sys.executable, "-m", "ctxview", session], env=env, columns=200, rows=60) as screen:
        screen.wait_for("summary.md")
        screen.press("0")
        screen.wait_for("message 1")
        waits = []
        for number, pause in enumerate(islice(cycle(PAUSES), keys), start=2):
            idle(screen, pause)
            waits.append(until(screen, "j", f"message {number:,}"))
        return waits


def _step_back(env: dict[str, str]) -> list[float]:
    """Go through the revisions of a sample, newest first, as soon as all of them are read."""
    sample = samples_folder() / "snapshot" / "lighthouse"
    with PtySession([sys.executable, "-m", "ctxview", sample], env=env, columns=120, rows=36) as screen:
        screen.wait_for("of all 29 revisions:")
        waits = []
        for number in range(28, 0, -1):
            idle(screen, 0.25)
            waits.append(until(screen, "[", f"rev {number} of 29"))
        return waits


def until(screen: PtySession, key: str, text: str) -> float:
    screen.output = b""
    pressed = time.perf_counter()
    screen.press(key)
    screen.wait_for(text)
    return time.perf_counter() - pressed


def idle(screen: PtySession, seconds: float) -> None:
    """Read what is painted meanwhile, so that the program never waits for its terminal."""
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        screen.wait_for_more(left)


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
