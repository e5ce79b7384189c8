"""Facts of many revisions, without a screen: reading them, search through time, the skyline, and why.

The search, the skyline and the answers are measured once everything is read, in processor time.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import TypeVar

from msgspec.structs import replace

from benchmarks.figures import Figure, at_most, run
from benchmarks.snapshots import small_snapshot
from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.analysis.revisions.overview import summarise
from ctxview.analysis.revisions.search import hit_ending, search_revisions
from ctxview.analysis.revisions.why import explain
from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, open_source
from ctxview.formats.revisions import read_known
from ctxview.tui.drawing.overview import draw_overview
from ctxview.tui.drawing.overview_parts import OverviewDrawing
from ctxview.tui.drawing.skyline import SkylineDrawing, draw_skyline

T = TypeVar("T")
SEARCHED, DRAWN = 1_000, 5_000
SHOWN_HITS = 40
"""Hits whose ending is worked out: as many as a screen has rows."""


class _Unobserved:
    cancelled = False

    def report(self, done: int, total: int, what: str) -> None:
        pass


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--revisions", type=int, default=DRAWN, help=f"for the skyline (default: {DRAWN:,})")


def measure(arguments: Namespace) -> Iterator[Figure]:
    lens = Lens(ESTIMATES["bytes/3"])
    with tempfile.TemporaryDirectory() as folder:
        for number in range(SEARCHED):
            Path(folder, f"round-{number:05}.json").write_text(small_snapshot(number), "utf-8")
        source = open_source(Path(folder))
        taken, known = _timed(lambda: read_known(source, lens, _Unobserved()), 1)
        yield at_most(f"reading {SEARCHED:,} small snapshots", taken, 0.01 * SEARCHED, "s")
        state = source.reading(SEARCHED - 1, lens).state

    def search() -> None:
        for hit in search_revisions(known, "round 7:").found[:SHOWN_HITS]:
            hit_ending(known, hit)

    yield at_most(f"a search in {SEARCHED:,} revisions, with its endings", _timed(search, 5)[0], 0.3, "s")
    yield at_most(
        "  for a word of every block", _timed(lambda: search_revisions(known, "note"), 5)[0], 0.3, "s"
    )
    many = _repeated(known, arguments.revisions)
    last = arguments.revisions - 1
    drawing = SkylineDrawing(many, last, {})
    skyline = f"the skyline of {arguments.revisions:,} revisions at 200 columns"
    yield at_most(skyline, _timed(lambda: draw_skyline(drawing, 200, 57), 5)[0], 0.2, "s")
    taken = _timed(
        lambda: draw_overview(OverviewDrawing(summarise(state, many, last), state, many), 200, 57), 5
    )[0]
    yield at_most("  the overview of the last of them", taken, 0.2, "s")
    yield at_most(
        "  why, for a block of all of them", _timed(lambda: explain(many, "core-0"), 3)[0], 0.3, "s"
    )


def _repeated(known: KnownRevisions, count: int) -> KnownRevisions:
    """The same revisions again and again: a folder of snapshots has at most 3,000 files."""
    names = [
        replace(known.names[at % len(known.names)], previous=at - 1 if at else None) for at in range(count)
    ]
    facts = {at: replace(known.facts[at % len(known.facts)], number=at) for at in range(count)}
    return KnownRevisions(tuple(names), facts)


def _timed(work: Callable[[], T], times: int) -> tuple[float, T]:
    """The best processor time, and the result."""
    best = float("inf")
    for _ in range(times):
        begun = process_time()
        result = work()
        best = min(best, process_time() - begun)
    return best, result


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
