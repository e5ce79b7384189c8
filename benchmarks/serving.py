"""Measure the inspector in a browser: the time from a key to the first frame that answers it."""

from __future__ import annotations

import asyncio
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from statistics import median, quantiles

from benchmarks.figures import Figure, at_most, run
from ctxview.samples import samples_folder
from tests.serve.serving import Viewer, serving, viewing

GOAL = 0.030
SLOWEST = 10.0
"""Seconds after which a key counts as unanswered."""
STILL = 0.2
"""Seconds without a frame after which a screen is taken to be complete."""


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--keys", type=int, default=80)


def measure(arguments: Namespace) -> Iterator[Figure]:
    times = asyncio.run(_answers(arguments.keys))
    yield at_most("key to frame in a browser, median", median(times), GOAL, "ms")
    yield at_most("key to frame in a browser, 90th percentile", quantiles(times, n=10)[-1], 3 * GOAL, "ms")


async def _answers(keys: int) -> list[float]:
    with serving(samples_folder() / "snapshot" / "lighthouse") as server:
        async with viewing(server) as viewer:
            await viewer.read_until("rev 29 of 29")
            await viewer.press("2")
            await _quiet(viewer)
            times = []
            for number in range(keys):
                started = time.perf_counter()
                await viewer.press("jk"[number % 2])
                try:
                    await viewer.socket.receive(SLOWEST)
                except TimeoutError:
                    return [SLOWEST, SLOWEST]  # a key without an answer misses both goals
                times.append(time.perf_counter() - started)
                await _quiet(viewer)
            return times


async def _quiet(viewer: Viewer) -> None:
    """Read what still comes, until nothing has come for a moment, or too long."""
    begun = time.perf_counter()
    while time.perf_counter() - begun < 10 * STILL:
        try:
            await viewer.socket.receive(STILL)
        except TimeoutError:
            return


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
