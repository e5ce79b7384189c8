"""How fast `ctxview check` starts, against an empty Python, and how many small files a second it checks."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.bytecode import with_bytecode
from benchmarks.snapshots import small_snapshot

START_GOAL = 12.0
SPEED_GOAL = 300.0
FILES = 1000


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=15)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as folder:
        many = Path(folder) / "many"
        many.mkdir()
        for number in range(FILES):
            (many / f"snapshot-{number:04}.json").write_text(small_snapshot(number))
        one = many / "snapshot-0001.json"
        empty = [sys.executable, "-c", "pass"]
        check = [Path(sys.executable).with_name("ctxview"), "check"]
        env = with_bytecode(Path(folder) / "bytecode")
        _seconds([*check, one], env)  # the first run writes it
        pairs = [(_seconds(empty, env), _seconds([*check, one], env)) for _ in range(repeat)]
        whole = median(_seconds([*check, many], env) for _ in range(3))
    baseline, start = (median(times) for times in zip(*pairs, strict=True))
    ratio, speed = start / baseline, FILES / whole
    print(f"{'python -c pass':<36}{baseline * 1000:8.1f} ms")
    print(f"{'ctxview check, one small snapshot':<36}{start * 1000:8.1f} ms")
    print(f"{f'ratio (goal ≤ {START_GOAL:.0f})':<36}{ratio:8.1f} ×   medians of {repeat}")
    print(f"{f'ctxview check, {FILES} small snapshots':<36}{whole * 1000:8.0f} ms")
    print(f"{f'files a second (goal ≥ {SPEED_GOAL:.0f})':<36}{speed:8.0f}")
    return 0 if ratio <= START_GOAL and speed >= SPEED_GOAL else 1


def _seconds(command: Sequence[str | Path], env: dict[str, str]) -> float:
    """Processor time, which a busy machine changes less than the time on the wall."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
