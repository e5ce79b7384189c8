"""Measure the first paint of a small snapshot against a Textual app that paints one word."""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.bytecode import with_bytecode
from benchmarks.figures import Figure, against, run
from benchmarks.snapshots import small_snapshot
from tests.pty_session import PtySession

GOAL = 1.4

MINIMAL_APP = """
from textual.app import App
from textual.widgets import Static

class Minimal(App):
    BINDINGS = [("q", "quit")]
    def compose(self):
        yield Static("painted-marker")

Minimal().run()
"""


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--repeat", type=int, default=9)


def measure(arguments: Namespace) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        snapshot = Path(folder) / "snapshot.json"
        snapshot.write_text(small_snapshot(1))
        minimal = [sys.executable, "-c", MINIMAL_APP]
        inspector = [sys.executable, "-m", "ctxview", str(snapshot)]
        env = with_bytecode(Path(folder) / "bytecode")
        _first_paint(inspector, "longterm", env)  # the first run writes the bytecode
        pairs = [
            (_first_paint(minimal, "painted-marker", env), _first_paint(inspector, "longterm", env))
            for _ in range(arguments.repeat)
        ]
    baseline, ours = (median(times) for times in zip(*pairs, strict=True))
    yield against("first paint of a small snapshot", ours, "a minimal Textual app", baseline, GOAL)


def _first_paint(command: list[str], marker: str, env: dict[str, str]) -> float:
    with PtySession(command, env=env) as session:
        seconds = session.wait_for(marker)
        session.press("q")
        return seconds


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
