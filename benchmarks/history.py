"""A gigabyte of history: finding its lines, its end and a rare string in it, against wc, tail, grep and less.

What the inspector does with it on a screen is not measured here.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.session_data import NEEDLE, SIZES, write_session
from ctxview.files.lines import open_lines
from tests import pty_session

INDEX_GOAL = 1.5
SEARCH_GOAL = 0.05
MEMORY_GOAL = 150.0
FLAT_GOAL = 8.0

MEMORY_PROBE = """
import random, sys
from pathlib import Path
from ctxview.files.lines import open_lines

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


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--size", choices=SIZES, default="1GB")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small = write_session(Path(folder) / "small", SIZES[arguments.size] // 10).folder
        large = write_session(Path(folder) / "large", SIZES[arguments.size]).folder
        print(f"messages of {arguments.size}, best of {arguments.repeat}")
        results = [
            _index(large, arguments.repeat),
            _end(large, arguments.repeat),
            _search(large, arguments.repeat),
            _memory(small, large),
        ]
    return 0 if all(results) else 1


def _index(session: Path, repeat: int) -> bool:
    messages = session / "messages.jsonl"
    pairs = [
        (_seconds(["wc", "-l", messages]), _own_seconds(lambda: open_lines(session, messages.name).index()))
        for _ in range(repeat)
    ]
    baseline, ours = (min(times) for times in zip(*pairs, strict=True))
    _show("wc -l", baseline)
    _show("line index", ours)
    return _judge(ours / baseline, INDEX_GOAL)


def _end(session: Path, repeat: int) -> bool:
    messages = session / "messages.jsonl"

    def last_lines() -> None:
        lines = open_lines(session, messages.name)
        for start, end in lines.tail(50):
            lines.read(start, end)

    baseline = min(_seconds(["tail", "-n", "50", messages]) for _ in range(repeat))
    ours = min(_own_seconds(last_lines) for _ in range(repeat))
    _show("tail -n 50 (start of a program)", baseline)
    _show("last 50 lines, no index", ours)
    return True


def _search(session: Path, repeat: int) -> bool:
    messages = session / "messages.jsonl"
    lines = open_lines(session, messages.name)

    def find(ignore_case: bool) -> Callable[[], object]:
        return lambda: lines.find(NEEDLE.encode(), 0, ignore_case=ignore_case)

    exact = min(_own_seconds(find(False)) for _ in range(repeat))
    either_case = min(_own_seconds(find(True)) for _ in range(repeat))
    grep = min(_seconds(["grep", "-cF", NEEDLE, messages]) for _ in range(repeat))
    less = _seconds_in_less(messages)
    _show("grep -F", grep)
    _show("less", less)
    _show("rare string", exact)
    sound = _judge(exact / less, SEARCH_GOAL)
    _show("rare string in either case", either_case)
    return _judge(either_case / less, SEARCH_GOAL) and sound


def _memory(small: Path, large: Path) -> bool:
    probe = [sys.executable, "-c", MEMORY_PROBE]
    few, many = (float(subprocess.check_output([*probe, session])) for session in (small, large))
    print(f"{'own memory with a tenth of it':<36}{few:8.1f} MB")
    print(f"{f'with all (goal ≤ {MEMORY_GOAL:.0f})':<36}{many:8.1f} MB")
    print(f"{f'difference (goal ≤ {FLAT_GOAL:.0f})':<36}{many - few:8.1f} MB")
    return many <= MEMORY_GOAL and many - few <= FLAT_GOAL


def _judge(ratio: float, goal: float) -> bool:
    print(f"{f'  ratio (goal ≤ {goal})':<36}{ratio:8.3f} ×")
    return ratio <= goal


def _show(what: str, seconds: float) -> None:
    print(f"{what:<36}{seconds * 1000:8.1f} ms", flush=True)


def _own_seconds(work: Callable[[], object]) -> float:
    """Processor time, which a busy machine changes less than the time on the wall, and can only lengthen."""
    before = time.process_time()
    work()
    return time.process_time() - before


def _seconds(command: Sequence[str | Path]) -> float:
    before = _seconds_of_children()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
    return _seconds_of_children() - before


def _seconds_in_less(messages: Path) -> float:
    """Until less has found and painted the needle."""
    pty_session.PATIENCE = 600.0
    before = _seconds_of_children()
    with pty_session.PtySession(["less", "-S", f"+/{NEEDLE}", messages]) as session:
        # It paints what is typed letter by letter, so the needle as a whole is the one in the text.
        session.wait_for(NEEDLE)
    return _seconds_of_children() - before


def _seconds_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
