"""Run all benchmarks, one after the other; `--write` puts the table into benchmarks/README.md.

It takes about eight minutes and 2.5 GB of temporary files. Nothing else should run meanwhile.
"""

from __future__ import annotations

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
    "check_speed",
    "envelopes",
    "token_counts",
    "saving",
    "long_watch",
)
README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


def main() -> int:
    parser = ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join(ALL)}")
    arguments = parser.parse_args()
    figures: list[Figure] = []
    # Each in its own process: memory left by one would slow down the next.
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as one_by_one:
        for name in arguments.names or ALL:
            print(f"{name} …", file=sys.stderr, flush=True)
            figures += one_by_one.submit(measured, name).result()
    text = "\n".join(table(figures))
    print(text)
    print(machine())
    if arguments.write:
        _write(f"{text}\n\n{date.today():%d %B %Y}: {machine()}.")
    return 0 if all(each.met for each in figures) else 1


def _write(text: str) -> None:
    before, _, rest = README.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
