"""Measure `ctxview fleet`: workers against one process, a run without changes, and each report.

`--simulate` prints how long more workers would take, from the measured times of the batches.
"""

from __future__ import annotations

import heapq
import os
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from statistics import mean, median

from benchmarks.figures import Figure, against, at_least, at_most, run
from benchmarks.fleet_data import ROWS, write_tables
from benchmarks.session_data import write_session
from ctxview.fleet.engines import Engine, PoolEngine, run_batches
from ctxview.fleet.jobs import Batch, BatchResult, Item
from ctxview.fleet.queries import Fleet
from ctxview.fleet.reader import FleetRequest, read_fleet
from ctxview.fleet.reports import REPORTS
from ctxview.fleet.storage import storage_at

SIZE = 16_000
"""The least size of a session; large tool outputs bring the mean to about 128 KB."""
BATCH = 20
TWO_GOAL = 1.7
ONE_GOAL = 1.12
"""0.9 times the speed is 1.1 times the time."""
RESUME_GOAL = 3.0
REPORT_GOAL = 0.3
TINY = '{"role": "user", "content": "Please look."}\n'
SIMULATED = (1, 2, 4, 8, 16, 32, 64)
NOTHING = 2_000
"""Batches that do nothing, to measure what a batch costs the driver."""


class InProcess(Executor):
    """Does each batch at once, and keeps the times."""

    workers = 1

    def __init__(self) -> None:
        self.times: list[float] = []

    def submit(self, work: Callable[[Batch], BatchResult], batch: Batch) -> Future[BatchResult]:
        future: Future[BatchResult] = Future()
        start = time.perf_counter()
        future.set_result(work(batch))
        self.times.append(time.perf_counter() - start)
        return future

    def start(self) -> Executor:
        return self

    def stop(self, executor: Executor, *, at_once: bool) -> None:
        pass


class DoesNothing(Executor):
    """Hands each batch to a process that returns it at once."""

    workers = 1

    def __init__(self) -> None:
        self._engine = PoolEngine(1)
        self._pool = self._engine.start()

    def submit(self, _: object, batch: Batch) -> Future[BatchResult]:
        return self._pool.submit(_nothing, batch)

    def start(self) -> Executor:
        return self

    def stop(self, executor: Executor, *, at_once: bool) -> None:
        if executor is self:
            self._engine.stop(self._pool, at_once=at_once)


def _nothing(batch: Batch) -> BatchResult:
    return BatchResult(len(batch.items), 0, 0, 0)


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--tiny", type=int, default=10_000, help="sources of the run without changes")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--simulate", action="store_true", help="print the times of up to 64 workers")


def measure(arguments: Namespace) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        yield from _workers(Path(folder), arguments)
        yield _resume(Path(folder), arguments.tiny)
    with tempfile.TemporaryDirectory() as folder:
        write_tables(Path(folder))
        fleet = Fleet(storage_at(folder))
        for name, report in REPORTS.items():
            fleet.ask(report.query)
            times = [_processor_time(lambda query=report.query: fleet.ask(query)) for _ in range(5)]
            yield at_most(f"the report {name} on {ROWS:,} rows", median(times), REPORT_GOAL, "ms")


def _workers(folder: Path, arguments: Namespace) -> Iterator[Figure]:
    root = folder / "agent" / "coder" / "session"
    for seed in range(arguments.sessions):
        write_session(root / f"s{seed:04}", SIZE, seed)
    runs = 0

    def read(engine: Engine) -> tuple[float, float]:
        nonlocal runs
        runs += 1
        start = _all_processor_time()
        return _read(root, folder / f"out-{runs}", engine), _all_processor_time() - start

    inside, one, two = [], [], []
    batches: list[float] = []
    for _ in range(arguments.repeat):
        engine = InProcess()
        inside.append(read(engine))
        batches = engine.times
        one.append(read(PoolEngine(1)))
        two.append(read(PoolEngine(2)))
    ours, theirs = (min(processor for _, processor in times) for times in (one, inside))
    what = f"`fleet read` of {arguments.sessions} sessions, one worker, in processor time"
    yield against(what, ours, "in one process", theirs, ONE_GOAL, "s")
    faster = max(alone / shared for (alone, _), (shared, _) in zip(one, two, strict=True))
    yield at_least("  two workers against one", faster, TWO_GOAL, "×")
    if arguments.simulate:
        print(*simulated(batches, arguments.sessions, _driver_time()), sep="\n", file=sys.stderr)


def _driver_time() -> float:
    """The seconds that a batch costs the driver, with a pool that does nothing."""
    items = tuple(Item(f"/srv/agents/team/session-{number}") for number in range(BATCH))
    batches = iter([Batch(items, "/srv/fleet", "2026-11-18")] * NOTHING)
    return _seconds(lambda: [*run_batches(DoesNothing(), lambda _: next(batches, None))]) / NOTHING


def simulated(batches: Sequence[float], sessions: int, driver: float, sources: int = 10_000) -> Iterator[str]:
    """Yield a table for `sources` sources like the measured ones.

    Each free worker takes the next batch, the driver hands them out one by one, and nothing else is shared.
    """
    count = round(sources / sessions * len(batches))
    times = [batches[number % len(batches)] for number in range(count)]
    yield f"{count} batches, mean {mean(times):.2f} s, longest {max(times):.2f} s, {1e3 * driver:.2f} ms each"
    yield "| workers | time | speed |"
    yield "| --- | --- | --- |"
    alone = 0.0
    for workers in SIMULATED:
        free = [0.0] * workers
        handed = end = 0.0
        for seconds in times:
            handed = max(handed + driver, heapq.heappop(free))
            end = max(end, handed + seconds)
            heapq.heappush(free, handed + seconds)
        alone = alone or end
        yield f"| {workers} | {end:,.1f} s | {alone / end:.1f} × |"


def _resume(folder: Path, sources: int) -> Figure:
    root, out = folder / "tiny", folder / "tiny-out"
    for number in range(sources):
        session = root / f"team-{number % 100}" / f"s{number:05}"
        session.mkdir(parents=True)
        (session / "messages.jsonl").write_text(TINY)
        (session / "events.jsonl").touch()
    _read(root, out, PoolEngine(2), batch=200)
    times = [_read(root, out, PoolEngine(2)) for _ in range(3)]
    return at_most(f"`fleet read` of {sources:,} unchanged sources", median(times), RESUME_GOAL, "s")


def _read(root: Path, out: Path, engine: Engine, batch: int = BATCH) -> float:
    request = FleetRequest((str(root),), str(out), batch)
    return _seconds(lambda: read_fleet(request, engine, lambda _: None))


def _all_processor_time() -> float:
    """The processor time of this process and of all its ended workers."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _processor_time(work: Callable[[], object]) -> float:
    """The time of all threads together: at least the elapsed time on a machine that does nothing else."""
    start = time.process_time()
    work()
    return time.process_time() - start


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
