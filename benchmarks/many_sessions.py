"""Measure many sessions of about 128 KB: opening and checking them, in one process and on all processors."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from benchmarks.bytecode import with_bytecode
from benchmarks.figures import Figure, against, at_least, at_most, run
from benchmarks.session_data import write_session
from ctxview.analysis.tokens import ESTIMATES
from ctxview.cli import NEW_OBJECTS
from ctxview.formats import Lens, open_source

SIZE = 5_000
"""The least size; large tool outputs bring the mean to about 128 KB."""
LONGEST = 120
"""Seconds after which a check is ended."""
OPEN_GOAL = 0.003
"""Seconds for a session."""
SPEED_GOAL = 25.0
PARSE_GOAL = 40.0
SHARE_GOAL = 1.4
"""The time on all processors, as a multiple of an equal share of the time on one."""


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)


def measure(arguments: Namespace) -> Iterator[Figure]:
    gc.set_threshold(NEW_OBJECTS, 10, 50)  # as the program does
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "agent" / "coder" / "session"
        sessions = [root / f"s{number:04}" for number in range(arguments.sessions)]
        written = sum(write_session(each, SIZE, seed).size for seed, each in enumerate(sessions)) / 1e6
        mean = f"{1000 * written / len(sessions):.0f} KB"
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        lens = Lens(ESTIMATES["bytes/4"])

        def each_session(work: Callable[[Path], object]) -> float:
            """The processor time for all sessions, without that of a first one."""
            work(sessions[0])
            times = []
            for _ in range(arguments.repeat):
                start = time.process_time()
                for session in sessions:
                    work(session)
                times.append(time.process_time() - start)
            return min(times)

        parse = each_session(_parse_lines)
        opening = each_session(lambda session: open_source(session).revisions)
        check = each_session(lambda session: open_source(session).findings(lens))
        one, all_of_them = _commands(root, Path(folder), arguments.repeat)
    yield at_most(f"opening a session of {mean} and its revisions", opening / len(sessions), OPEN_GOAL, "ms")
    yield at_least(f"checking {len(sessions)} sessions of {mean}", written / check, SPEED_GOAL, "MB/s")
    yield against("  against parsing", check, "orjson, line by line", parse, PARSE_GOAL, "s")
    processors = len(os.sched_getaffinity(0))
    goal = round(SHARE_GOAL / processors, 2) if processors > 1 else 1.1
    what = f"`ctxview check` of {len(sessions)} sessions, {processors} processors"
    yield against(what, all_of_them, "one processor", one, goal, "s")


def _parse_lines(session: Path) -> None:
    for name in ("messages.jsonl", "events.jsonl"):
        for line in (session / name).read_bytes().splitlines():
            orjson.loads(line)


def _commands(root: Path, folder: Path, repeat: int) -> tuple[float, float]:
    """The shortest time of the command on one processor and on all of them, measured in turn."""
    command = [Path(sys.executable).with_name("ctxview"), "check", "--fail-on", "never", root]
    env = with_bytecode(folder / "bytecode")
    usable = os.sched_getaffinity(0)

    def seconds(processors: set[int]) -> float:
        os.sched_setaffinity(0, processors)
        start = time.perf_counter()
        try:
            subprocess.run(
                command,
                env=env,
                check=True,
                timeout=LONGEST,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        finally:
            os.sched_setaffinity(0, usable)
        return time.perf_counter() - start

    seconds(usable)  # the first run writes the bytecode
    pairs = [(seconds({min(usable)}), seconds(usable)) for _ in range(repeat)]
    one, all_of_them = (min(times) for times in zip(*pairs, strict=True))
    return one, all_of_them


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
