"""Measure large transcripts and JSON lines: reading everything, the first screen, memory.

Everything is known when all rows are read, the present context is built and judged. Checking all texts for
secrets and deceiving characters is one more figure: it runs in the background after that.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from benchmarks.bytecode import with_bytecode
from benchmarks.figures import Figure, against, at_most, run
from benchmarks.session_screen import memory_at_work
from benchmarks.transcript_data import write_claude, write_codex, write_plain_lines
from ctxview.analysis.tokens import ESTIMATES
from ctxview.cli import NEW_OBJECTS
from ctxview.files.line_file import never_cancelled
from ctxview.formats import Lens
from ctxview.formats.transcript.source import TranscriptSource
from tests.pty_session import PtySession

PARSE_GOAL = 1.5
PAINT_GOAL = 1.15
MEMORY_GOAL = 200.0
LIST_GOAL = 2.0
MANY = 10_000
CLAUDE, CODEX, LINES = 60, 212, 62
"""Megabytes."""


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes")


def measure(arguments: Namespace) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        env = {**with_bytecode(folder / "bytecode"), "XDG_STATE_HOME": name, "XDG_CACHE_HOME": name}
        writers = (
            ("Claude Code session", CLAUDE, write_claude, "tokens left"),
            ("Codex rollout", CODEX, write_codex, "tokens left"),
            ("JSON lines", LINES, write_plain_lines, "Blocks"),
        )
        for what, megabytes, write, shown in writers:
            size = int(megabytes * arguments.scale)
            small = write(folder / "small.jsonl", 1_000_000)
            large = write(folder / "large.jsonl", size * 1_000_000)
            if write is not write_plain_lines:
                yield from _reading(f"{what} of {size} MB", large, arguments.repeat)
            _first_screen(small, shown, env)  # the first run writes the bytecode
            pairs = [
                (_first_screen(small, shown, env), _first_screen(large, shown, env))
                for _ in range(arguments.repeat)
            ]
            little = min(first for (first, _), _ in pairs)
            much, memory = min(first for _, (first, _) in pairs), max(used for _, (_, used) in pairs)
            yield against(f"first screen of a {what} of {size} MB", much, "of 1 MB", little, PAINT_GOAL)
            yield at_most("  anonymous memory with it open", memory, MEMORY_GOAL, "MB")
        few, many = (_sessions(folder / name, count) for name, count in (("few", 10), ("many", MANY)))
        _first_screen(few, "sessions in", env)
        pairs = [
            (_first_screen(few, "sessions in", env), _first_screen(many, "sessions in", env))
            for _ in range(arguments.repeat)
        ]
        little = min(first for (first, _), _ in pairs)
        much, memory = min(first for _, (first, _) in pairs), max(used for _, (_, used) in pairs)
        yield against(f"first screen of {MANY:,} sessions", much, "of 10 sessions", little, LIST_GOAL)
        yield at_most("  anonymous memory with them open", memory, MEMORY_GOAL, "MB")


def _sessions(folder: Path, count: int) -> Path:
    """Write a folder of sessions; they are links to one file, which is not read more than once for that."""
    one = write_claude(folder.with_suffix(".jsonl"), 30_000)
    for number in range(count):
        project = folder / f"-work-p{number % 50}"
        project.mkdir(parents=True, exist_ok=True)
        (project / f"{number:08x}-1111-4222-8333-9a0b1c2d3e4f.jsonl").hardlink_to(one)
    return folder


def _reading(what: str, path: Path, repeat: int) -> Iterator[Figure]:
    gc.set_threshold(NEW_OBJECTS, 10, 50)  # as the program does
    parse = min(_seconds(lambda: _parse_lines(path)) for _ in range(repeat))
    known, checked = [], []
    for _ in range(repeat):
        source = TranscriptSource(path)
        known.append(_seconds(lambda source=source: _everything(source)))
        checked.append(known[-1] + _seconds(lambda source=source: source.findings(_LENS)))
    yield against(f"everything known of a {what}", min(known), "orjson, line by line", parse, PARSE_GOAL, "s")
    yield against("  and all texts checked", min(checked), "orjson, line by line", parse, PARSE_GOAL, "s")


_LENS = Lens(ESTIMATES["bytes/4"])


def _everything(source: TranscriptSource) -> None:
    source.read_rows(never_cancelled)
    source.reading(len(source.revisions) - 1, _LENS)


def _parse_lines(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _first_screen(path: Path, shown: str, env: dict[str, str]) -> tuple[float, float]:
    """Seconds until the first screen was painted, and the memory while the rest is read, in MB."""
    with PtySession([sys.executable, "-m", "ctxview", path], env=env) as screen:
        first = screen.wait_for(shown)
        return first, memory_at_work(screen)


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
