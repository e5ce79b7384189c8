"""Measure the start of `check` and `prompt` against an empty Python, and the files checked per second."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.bytecode import with_bytecode
from benchmarks.figures import LONGEST_RUN, Figure, against, at_least, run
from benchmarks.snapshots import small_snapshot

START_GOAL = 7.0
PROMPT_GOAL = 9.0
SPEED_GOAL = 300.0
FILES = 1000
LINES = 50_000
BLANK_GOAL, BROKEN_GOAL = 1.5, 3.0
PACK_TEXT = (
    "# Context Pack\n\n## recent_messages\n\nsource: messages.jsonl\nrange: tail:40\n"
    "tokens: 1\n\n```text\n{body}```\n\n"
)


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
        program = Path(sys.executable).with_name("ctxview")
        check: list[str | Path] = [program, "check"]
        prompt: list[str | Path] = [program, "prompt", one]
        env = with_bytecode(Path(folder) / "bytecode")
        for command in ([*check, one], prompt):
            _seconds(command, env)  # the first run writes the bytecode
        rounds = [
            (_seconds(empty, env), _seconds([*check, one], env), _seconds(prompt, env))
            for _ in range(arguments.repeat)
        ]
        whole = median(_seconds([*check, many], env) for _ in range(3))
        histories = {kind: _history(Path(folder) / kind, line) for kind, line in HISTORY_LINES.items()}
        times = {
            kind: min(_seconds([*check, root], env) for _ in range(3)) for kind, root in histories.items()
        }
    baseline, start, printed = (median(each) for each in zip(*rounds, strict=True))
    yield against("`ctxview check` of one small snapshot", start, "`python -c pass`", baseline, START_GOAL)
    yield against(
        "`ctxview prompt` of one small snapshot", printed, "`python -c pass`", baseline, PROMPT_GOAL
    )
    for kind, goal in (("blank", BLANK_GOAL), ("broken", BROKEN_GOAL)):
        what = f"`ctxview check` of {LINES:,} {kind} lines in a session with a pack"
        yield against(what, times[kind], "good lines", times["good"], goal, "s")
    yield at_least(f"`ctxview check` of {FILES:,} small snapshots", FILES / whole, SPEED_GOAL, "files/s")


HISTORY_LINES = {
    "good": '{"role":"user","content":"hello there, how are you?"}',
    "blank": "",
    "broken": '{"role": "user", "content":',
}


def _history(root: Path, line: str) -> Path:
    """A session whose pack holds its last messages, followed by many lines of one kind."""
    (root / "context").mkdir(parents=True)
    (root / "messages.jsonl").write_text(f"{HISTORY_LINES['good']}\n" * 40 + f"{line}\n" * LINES)
    (root / "events.jsonl").touch()
    items = [{"kind": "recent_messages", "source": "messages.jsonl", "tokens": 1, "range": "tail:40"}]
    (root / "context/pack.json").write_text(json.dumps({"session": root.name, "items": items}))
    (root / "context/pack.md").write_text(PACK_TEXT.format(body=f"{HISTORY_LINES['good']}\n" * 40))
    return root


def _seconds(command: Sequence[str | Path], env: dict[str, str]) -> float:
    """Processor time, which depends less on other programs than elapsed time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    nowhere = subprocess.DEVNULL
    subprocess.run(command, check=False, stdout=nowhere, stderr=nowhere, env=env, timeout=LONGEST_RUN)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
