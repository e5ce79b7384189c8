"""Measure workspaces: opening a large home against a small one, the duplicate map, and memory.

Processor time is measured where the goal is about work, so that other programs do not count.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.bytecode import with_bytecode
from benchmarks.figures import LONGEST_RUN, Figure, against, at_most, run
from tests.pty_session import PtySession

FILES = 500
MARKDOWN = 2_000_000
HISTORY = 200_000_000
OPEN_GOAL = 1.15
MAP_GOAL = 2.0
CHANGE_GOAL = 0.1
MEMORY_GOAL = 150.0
_CHECK = """
import resource, sys
from pathlib import Path
from statistics import median
from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import open_source
from ctxview.formats.interface import Lens
open_source(Path(sys.argv[1])).findings(Lens(ESTIMATES["bytes/4"]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
"""
LIMIT = 60.0


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--history", type=int, default=HISTORY, help="bytes of the raw history")


def measure(arguments: Namespace) -> Iterator[Figure]:
    from ctxview.formats.workspace.duplicates import ComparedFile, DuplicateMap
    from ctxview.formats.workspace.markdown import MarkdownDocument

    with tempfile.TemporaryDirectory() as name:
        small, large = Path(name) / "small", Path(name) / "large"
        _write_home(small, 12, 100_000)
        _write_home(large, FILES, arguments.history)
        env = {**with_bytecode(Path(name) / "bytecode"), "XDG_STATE_HOME": name, "XDG_CACHE_HOME": name}
        _painted(small, env)  # the first run writes the bytecode
        rounds = [(_painted(small, env), _painted(large, env)) for _ in range(arguments.repeat)]
        memory = float(
            subprocess.check_output([sys.executable, "-c", _CHECK, large], env=env, timeout=LONGEST_RUN)
        )
    few, many = (median(each) for each in zip(*rounds, strict=True))
    what = f"a home of {FILES} files with 200 MB of history on the screen"
    yield against(what, many, "a small home", few, OPEN_GOAL)
    texts = list(_texts(FILES, MARKDOWN // FILES))
    files = [ComparedFile(f"{at}.md", MarkdownDocument("", text), at) for at, text in enumerate(texts)]
    pairs, begin = DuplicateMap(), time.process_time()
    pairs.update(files, 68)
    yield at_most(
        f"the duplicate map of {FILES} files, 2 MB of Markdown", time.process_time() - begin, MAP_GOAL, "s"
    )
    files[7] = ComparedFile("7.md", MarkdownDocument("", texts[8]), 7)
    begin = time.process_time()
    pairs.update(files, 68)
    yield at_most("  and after one file changed", time.process_time() - begin, CHANGE_GOAL, "ms")
    yield at_most("  memory of `check`, with the history", memory, MEMORY_GOAL, "MB")


def _painted(home: Path, env: dict[str, str]) -> float:
    """The seconds until the first files are on the screen."""
    begin = time.perf_counter()
    with PtySession([sys.executable, "-m", "ctxview", home], env=env, columns=120, rows=36) as screen:
        screen.wait_for("AGENTS.md", LIMIT)
        return time.perf_counter() - begin


def _write_home(home: Path, files: int, history: int) -> None:
    workspace = home / "workspace"
    (workspace / "memory" / "sessions").mkdir(parents=True)
    (home / "sessions").mkdir()
    texts = iter(_texts(files + 5, 4000))
    for name in ("AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md"):
        (workspace / name).write_bytes(next(texts))
    (workspace / "memory" / "MEMORY.md").write_bytes(next(texts))
    for at in range(files):
        status = "completed" if at else "active"
        head = f"---\nsession_key: cli:{at}\nupdated: 2026-02-17T10:00:00Z\nstatus: {status}\n---\n\n"
        (workspace / "memory" / "sessions" / f"SESSION_{at:08x}.md").write_bytes(head.encode() + next(texts))
    line = json.dumps({"role": "user", "content": "The clock of the tower is late. " * 30}) + "\n"
    with (home / "sessions" / "cli_0_2026-02-17.jsonl").open("w") as file:
        file.write('{"_type": "metadata"}\n')
        for _ in range(history // len(line)):
            file.write(line)


def _texts(count: int, size: int) -> Iterator[bytes]:
    """Yield Markdown with words as frequent as in a language; one statement of a hundred is said twice."""
    chance = random.Random(1)
    letters = ("bcdfglmnprst", "aeiou")
    words = [
        "".join(chance.choice(letters[at % 2]) for at in range(chance.randint(4, 9))) for _ in range(6000)
    ]
    weights = [1 / (rank + 5) for rank in range(len(words))]
    known = [" ".join(chance.choices(words, weights, k=12)) for _ in range(50)]
    for number in range(count):
        lines = [f"# Notes {number}", ""]
        while sum(map(len, lines)) < size:
            fresh = " ".join(chance.choices(words, weights, k=chance.randint(8, 16)))
            lines.append(f"- {chance.choice(known) if chance.random() < 0.01 else fresh}.")
        yield ("\n".join(lines) + "\n").encode()


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
