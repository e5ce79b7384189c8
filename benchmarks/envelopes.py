"""Measure a bundle of 10,000 records: on the screen, judged, and keys pressed while it is judged.

Every wait has a limit; when it is reached, the end of what was painted is reported.
"""

from __future__ import annotations

import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from subprocess import DEVNULL
from subprocess import run as run_program

from benchmarks.bytecode import with_bytecode
from benchmarks.envelope_data import write_bundle
from benchmarks.figures import Figure, against, at_most, run
from benchmarks.key_gaps import idle
from tests.pty_session import PtySession

SCREEN_GOAL = 2.0
JUDGED_GOAL = 5.0
LINEAR_GOAL = 1.2
KEY_GOAL = 0.100
LIMIT = 60.0
"""Seconds for one wait; a program that needs longer is stuck."""
PAUSE = 0.05


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--keys", type=int, default=40)
    parser.add_argument("--repeat", type=int, default=3)


def measure(arguments: Namespace) -> Iterator[Figure]:
    number = arguments.records
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        # Each in its own folder: a file beside another is searched for records that it refers to.
        for part in ("large", "half"):
            (folder / part).mkdir()
        large = write_bundle(folder / "large" / "bundle.json", number)
        half = write_bundle(folder / "half" / "bundle.json", number // 2)
        env = {**with_bytecode(folder / "bytecode"), "XDG_STATE_HOME": name, "XDG_CACHE_HOME": name}
        _inspect(half, env, 2)  # the first run writes the bytecode
        walks = [_inspect(large, env, arguments.keys) for _ in range(arguments.repeat)]
        judged = min(_check(large, env) for _ in range(arguments.repeat))
        smaller = min(_check(half, env) for _ in range(arguments.repeat))
    keys = [wait for _, waits, _ in walks for wait in waits]
    yield at_most(
        f"{number:,} records of an envelope on the screen",
        min(each for each, _, _ in walks),
        SCREEN_GOAL,
        "s",
    )
    yield at_most("  judged by `ctxview check`, in processor time", judged, JUDGED_GOAL, "s")
    yield against("  and for each record", judged, "half as many, twice", 2 * smaller, LINEAR_GOAL, "s")
    yield at_most("  a key while they are judged: median", median(keys), KEY_GOAL, "ms")
    yield at_most("    worst", max(keys), KEY_GOAL, "ms")
    yield at_most("  the references of an item", min(each for _, _, each in walks), KEY_GOAL, "ms")


def _inspect(bundle: Path, env: dict[str, str], keys: int) -> tuple[float, list[float], float]:
    """The seconds until the overview was painted, each key in Memory, and the references."""
    command = [sys.executable, "-m", "ctxview", bundle]
    with PtySession(command, env=env, columns=200, rows=60) as screen:
        first = _wait(screen, "Finding 1 of the review")
        waits = [_press(screen, "2", "item-00001")]
        for number in range(1, keys + 1):
            idle(screen, PAUSE)
            waits.append(_press(screen, "j", f"item-{2 * number + 1:05}"))
        return first, waits, _press(screen, "r", " links ")


def _press(screen: PtySession, key: str, text: str) -> float:
    screen.output = b""
    pressed = time.perf_counter()
    screen.press(key)
    _wait(screen, text)
    return time.perf_counter() - pressed


def _wait(screen: PtySession, text: str) -> float:
    """Wait until `text` was painted; return the seconds since the start."""
    end = time.perf_counter() + LIMIT
    while text.encode() not in screen.output:
        left = end - time.perf_counter()
        if left <= 0:
            raise AssertionError(
                f"{text!r} was not painted in {LIMIT:g} s; the end: {screen.output[-2000:]!r}"
            )
        screen.wait_for_more(left)
    return time.perf_counter() - screen.started


def _check(bundle: Path, env: dict[str, str]) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "ctxview", "check", str(bundle), "--fail-on", "never"]
    run_program(command, env=env, stdout=DEVNULL, timeout=LIMIT, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
