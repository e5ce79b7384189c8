"""All benchmarks, one after the other; `--write` puts the table into benchmarks/README.md.

Takes about ten minutes and 2.5 GB of room for temporary files. Nothing else should run meanwhile.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from datetime import date
from importlib import import_module
from pathlib import Path

from benchmarks.figures import Figure, machine, table

ALL = (
    "first_paint",
    "session_screen",
    "history",
    "key_gaps",
    "live",
    "check_speed",
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
    for name in arguments.names or ALL:
        print(f"{name} …", file=sys.stderr, flush=True)
        figures += _measured(name)
    told = "\n".join(table(figures))
    print(told)
    print(machine())
    if arguments.write:
        _write(f"{told}\n\n{date.today():%d %B %Y}: {machine()}.")
    return 0 if all(each.met for each in figures) else 1


def _measured(name: str) -> list[Figure]:
    module = import_module(f"benchmarks.{name}")
    parser = ArgumentParser()
    module.options(parser)
    return list(module.measure(parser.parse_args([])))


def _write(told: str) -> None:
    before, _, rest = README.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(f"{before}{BEGIN}\n\n{told}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
