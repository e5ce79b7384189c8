"""Measure the start of `ctxview check` against an empty Python, and the small files it checks per second."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.bytecode import with_bytecode
from benchmarks.figures import Figure, against, at_least, run
from benchmarks.snapshots import small_snapshot

START_GOAL = 12.0
SPEED_GOAL = 300.0
FILES = 1000


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--repeat", type=int, default=15)


def measure(arguments: Namespace) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        many = Path(folder) / "many"
        many.mkdir()
        for number in range(FILES):
            (many / f"snapshot-{number:04}.json").write_text(small_snapshot(number))
        one = many / "snapshot-0001.json"
        empty = [sys.executable, "-c", "pass"]
        check: list[str | Path] = [Path(sys.executable).with_name("ctxview"), "check"]
        env = with_bytecode(Path(folder) / "bytecode")
        _seconds([*check, one], env)  # the first run writes the bytecode
        pairs = [(_seconds(empty, env), _seconds([*check, one], env)) for _ in range(arguments.repeat)]
        whole = median(_seconds([*check, many], env) for _ in range(3))
    baseline, start = (median(times) for times in zip(*pairs, strict=True))
    yield against("`ctxview check` of one small snapshot", start, "`python -c pass`", baseline, START_GOAL)
    yield at_least(f"`ctxview check` of {FILES:,} small snapshots", FILES / whole, SPEED_GOAL, "files/s")


def _seconds(command: Sequence[str | Path], env: dict[str, str]) -> float:
    """Processor time, which depends less on other programs than elapsed time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
