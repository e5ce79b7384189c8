"""What the benchmarks have in common: figures held against goals, told as one table."""

from __future__ import annotations

import os
import platform
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

Unit = Literal["ms", "s", "MB", "files/s", "×", "lines"]
Measure = Callable[[Namespace], Iterable["Figure"]]


@dataclass(frozen=True)
class Figure:
    """One row. `peer` and `ratio` stay empty where the goal is a bound of its own."""

    what: str
    goal: str
    ours: str
    met: bool
    peer: str = ""
    ratio: float | None = None


def against(what: str, ours: float, peer: str, theirs: float, goal: float, unit: Unit = "ms") -> Figure:
    """Ours as a multiple of what somebody else needs; seconds for the units of time."""
    ratio = ours / theirs
    told = f"{peer}: {spelled(theirs, unit)}"
    return Figure(what, f"≤ {goal:g} ×", spelled(ours, unit), ratio <= goal, told, ratio)


def at_most(what: str, ours: float, goal: float, unit: Unit) -> Figure:
    return Figure(what, f"≤ {spelled(goal, unit)}", spelled(ours, unit), ours <= goal)


def at_least(what: str, ours: float, goal: float, unit: Unit) -> Figure:
    return Figure(what, f"≥ {spelled(goal, unit)}", spelled(ours, unit), ours >= goal)


def spelled(value: float, unit: Unit) -> str:
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
    """Markdown that also reads well in a terminal."""
    rows: list[tuple[str, ...]] = [("what", "goal", "peer", "ours", "ratio", "")]
    for each in figures:
        ratio = "" if each.ratio is None else f"{each.ratio:.2f} ×"
        rows.append((each.what, each.goal, each.peer, each.ours, ratio, "met" if each.met else "missed"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    for row in rows:
        yield "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"


def machine() -> str:
    """What the figures were measured on; a load above the number of cores makes them worth little."""
    load = os.getloadavg()[0]
    return f"Python {platform.python_version()}, {os.cpu_count()} cores, load average {load:.1f} at the end"


def measured(name: str) -> list[Figure]:
    """What one of the benchmarks finds when nothing else is asked of it."""
    module = import_module(f"benchmarks.{name}")
    parser = ArgumentParser()
    module.options(parser)
    return list(module.measure(parser.parse_args([])))


def run(measure: Measure, about: str | None, options: Callable[[ArgumentParser], object]) -> int:
    """One benchmark as a program: its table, and exit code 1 when a goal was missed."""
    parser = ArgumentParser(description=about)
    options(parser)
    figures = list(measure(parser.parse_args()))
    print("\n".join(table(figures)))
    print(machine())
    return 0 if all(each.met for each in figures) else 1
