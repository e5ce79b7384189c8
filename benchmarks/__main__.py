"""Run all benchmarks, one after the other; `--write` puts the table into benchmarks/README.md.

It takes about eight minutes and 2.5 GB of temporary files. Nothing else should run meanwhile.
"""

from __future__ import annotations

import multiprocessing
import sys
from argparse import ArgumentParser
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from multiprocessing import get_context
from pathlib import Path

from benchmarks.figures import Figure, machine, measured, table

ALL = (
    "first_paint",
    "session_screen",
    "history",
    "key_gaps",
    "live",
    "typing_ahead",
    "serving",
    "check_speed",
    "many_sessions",
    "envelopes",
    "workspaces",
    "transcripts",
    "revisions",
    "token_counts",
    "saving",
    "memory_server",
    "long_watch",
    "fleet",
)
LONGEST = 900
"""Seconds after which a benchmark is ended."""
README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


def main() -> int:
    parser = ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join(ALL)}")
    arguments = parser.parse_args()
    figures: list[Figure] = []
    failed = False
    for name in arguments.names or ALL:
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            figures += _figures_of(name)
        except (AssertionError, TimeoutError) as error:
            # The message of a wait that reached its limit ends in what was on the screen.
            failed = True
            print(f"{name} failed: {error or f'it took more than {LONGEST} s'}", file=sys.stderr)
    text = "\n".join(table(figures))
    print(text)
    print(machine())
    if arguments.write:
        _write(f"{text}\n\n{date.today():%d %B %Y}: {machine()}.")
    return 0 if not failed and all(each.met for each in figures) else 1


def _figures_of(name: str) -> list[Figure]:
    """Measure in a new process: memory left by one benchmark would slow down the next."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        future = pool.submit(measured, name)
        try:
            return future.result(LONGEST)
        except TimeoutError:
            for process in multiprocessing.active_children():
                process.kill()
            raise


def _write(text: str) -> None:
    before, _, rest = README.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
