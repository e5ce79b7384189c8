"""Figures compared with goals, and their table."""

from __future__ import annotations

import os
import platform
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

Unit = Literal["ms", "s", "MB", "MB/s", "files/s", "×", "lines", "texts"]
Measure = Callable[[Namespace], Iterable["Figure"]]
LONGEST_RUN = 900.0
"""Seconds after which a program that a benchmark runs is stuck."""


@dataclass(frozen=True)
class Figure:
    """One row of the table. `peer` and `ratio` are empty when the goal is an absolute bound."""

    what: str
    goal: str
    ours: str
    met: bool
    peer: str = ""
    ratio: float | None = None


def against(what: str, ours: float, peer: str, theirs: float, goal: float, unit: Unit = "ms") -> Figure:
    """Our figure as a multiple of that of a peer; times are in seconds."""
    ratio = ours / theirs
    baseline = f"{peer}: {with_unit(theirs, unit)}"
    return Figure(what, f"≤ {goal:g} ×", with_unit(ours, unit), ratio <= goal, baseline, ratio)


def at_most(what: str, ours: float, goal: float, unit: Unit) -> Figure:
    return Figure(what, f"≤ {with_unit(goal, unit)}", with_unit(ours, unit), ours <= goal)


def at_least(what: str, ours: float, goal: float, unit: Unit) -> Figure:
    return Figure(what, f"≥ {with_unit(goal, unit)}", with_unit(ours, unit), ours >= goal)


def with_unit(value: float, unit: Unit) -> str:
    match unit:
        case "ms":
            return f"{1000 * value:,.1f} ms" if value < 0.01 else f"{1000 * value:,.0f} ms"
        case "s":
            return f"{value:,.2f} s"
        case "×":
            return f"{value:.2f} ×"
        case _:
            return f"{value:,.0f} {unit}"


def table(figures: Iterable[Figure]) -> Iterator[str]:
    """The lines of a Markdown table that also reads well in a terminal."""
    rows: list[tuple[str, ...]] = [("what", "goal", "peer", "ours", "ratio", "")]
    for each in figures:
        ratio = "" if each.ratio is None else f"{each.ratio:.2f} ×"
        rows.append((each.what, each.goal, each.peer, each.ours, ratio, "met" if each.met else "missed"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    for row in rows:
        yield "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"


def machine() -> str:
    """The machine of the measurement; figures at a load above the number of cores are unreliable."""
    load = os.getloadavg()[0]
    return f"Python {platform.python_version()}, {os.cpu_count()} cores, load average {load:.1f} at the end"


def measured(name: str) -> list[Figure]:
    """Run one benchmark with its default options."""
    module = import_module(f"benchmarks.{name}")
    parser = ArgumentParser()
    module.options(parser)
    return list(module.measure(parser.parse_args([])))


def run(measure: Measure, about: str | None, options: Callable[[ArgumentParser], object]) -> int:
    """Run one benchmark as a program: print its table; exit code 1 when a goal was missed."""
    parser = ArgumentParser(description=about)
    options(parser)
    figures = list(measure(parser.parse_args()))
    print("\n".join(table(figures)))
    print(machine())
    return 0 if all(each.met for each in figures) else 1
