"""Measure reading a gigabyte of history: its lines against wc, a rare string against less, and memory.

The screen is measured in `session_screen`.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.figures import LONGEST_RUN, Figure, against, at_most, run
from benchmarks.session_data import NEEDLE, SIZES, write_session
from ctxview.files.line_file import open_lines
from tests import pty_session

INDEX_GOAL = 1.5
SEARCH_GOAL = 0.05
MEMORY_GOAL = 150.0
FLAT_GOAL = 8.0

MEMORY_PROBE = """
import random, sys
from pathlib import Path
from ctxview.files.line_file import open_lines

def anonymous():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024

lines = open_lines(Path(sys.argv[1]), "messages.jsonl")
seen = [anonymous()]
lines.index()
seen.append(anonymous())
lines.find(b"not in there", 0)
seen.append(anonymous())
for number in random.Random(1).choices(range(len(lines)), k=2000):
    lines.line(number)
lines.tail(200)
seen.append(anonymous())
print(max(seen))
"""


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--size", choices=SIZES, default="1GB")


def measure(arguments: Namespace) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        small = write_session(Path(folder) / "small", SIZES[arguments.size] // 10).folder
        large = write_session(Path(folder) / "large", SIZES[arguments.size]).folder
        yield _index(large, arguments)
        yield from _search(large, arguments)
        yield from _memory(small, large, arguments)


def _index(session: Path, arguments: Namespace) -> Figure:
    messages = session / "messages.jsonl"
    pairs = [
        (_seconds(["wc", "-l", messages]), _own_seconds(lambda: open_lines(session, messages.name).index()))
        for _ in range(arguments.repeat)
    ]
    baseline, ours = (min(times) for times in zip(*pairs, strict=True))
    return against(f"finding the lines of {arguments.size}", ours, "`wc -l`", baseline, INDEX_GOAL)


def _search(session: Path, arguments: Namespace) -> Iterator[Figure]:
    messages = session / "messages.jsonl"
    lines = open_lines(session, messages.name)
    less = _seconds_in_less(messages)
    for note, ignore_case in (("", False), (", in either case", True)):
        ours = min(
            _own_seconds(partial(lines.find, NEEDLE.encode(), 0, ignore_case=ignore_case))
            for _ in range(arguments.repeat)
        )
        yield against(f"a rare string in {arguments.size}{note}", ours, "less", less, SEARCH_GOAL)


def _memory(small: Path, large: Path, arguments: Namespace) -> Iterator[Figure]:
    probe = [sys.executable, "-c", MEMORY_PROBE]
    few, many = (
        float(subprocess.check_output([*probe, session], timeout=LONGEST_RUN)) for session in (small, large)
    )
    yield at_most(f"own memory of the reader of {arguments.size}", many, MEMORY_GOAL, "MB")
    yield at_most("  more than for a tenth of it", many - few, FLAT_GOAL, "MB")


def _own_seconds(work: Callable[[], object]) -> float:
    """Processor time, which depends less on other programs than elapsed time; they can only lengthen it."""
    before = time.process_time()
    work()
    return time.process_time() - before


def _seconds(command: Sequence[str | Path]) -> float:
    before = _seconds_of_children()
    env = {**os.environ, "LC_ALL": "C"}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env, timeout=LONGEST_RUN)
    return _seconds_of_children() - before


def _seconds_in_less(messages: Path) -> float:
    """Processor time until less has found and painted the needle."""
    pty_session.PATIENCE = 600.0
    before = _seconds_of_children()
    with pty_session.PtySession(["less", "-S", f"+/{NEEDLE}", messages]) as session:
        # less paints typed text letter by letter, so the whole needle can only come from the file.
        session.wait_for(NEEDLE)
    return _seconds_of_children() - before


def _seconds_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
