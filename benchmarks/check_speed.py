"""How fast `ctxview check` starts, against an empty Python, and how many small files a second it checks."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from statistics import median
from time import perf_counter

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
        empty, check = [sys.executable, "-c", "pass"], [sys.executable, "-m", "ctxview", "check"]
        _seconds([*check, str(one)])  # the first run writes .pyc files
        pairs = [(_seconds(empty), _seconds([*check, str(one)])) for _ in range(repeat)]
        whole = median(_seconds([*check, str(many)]) for _ in range(3))
    baseline, start = (median(times) for times in zip(*pairs, strict=True))
    ratio, speed = start / baseline, FILES / whole
    print(f"{'python -c pass':<36}{baseline * 1000:8.1f} ms")
    print(f"{'ctxview check, one small snapshot':<36}{start * 1000:8.1f} ms")
    print(f"{f'ratio (goal ≤ {START_GOAL:.0f})':<36}{ratio:8.1f} ×   medians of {repeat}")
    print(f"{f'ctxview check, {FILES} small snapshots':<36}{whole * 1000:8.0f} ms")
    print(f"{f'files a second (goal ≥ {SPEED_GOAL:.0f})':<36}{speed:8.0f}")
    return 0 if ratio <= START_GOAL and speed >= SPEED_GOAL else 1


def _seconds(command: list[str]) -> float:
    began = perf_counter()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
