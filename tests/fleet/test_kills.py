"""Killed workers, a killed driver and two runs at once: the rows are those of an undisturbed run."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from ctxview.fleet.engines import EngineError, PoolEngine
from tests.fleet.kills import hooked, marks, no_worker_left, wait_until, workers
from tests.fleet.sources import (
    Inline,
    InlineEngine,
    answer,
    counts,
    fleet_tree,
    read,
    session,
    settled,
    summary,
)
from tests.running import Program

FLEET = (sys.executable, "-m", "ctxview", "fleet", "read")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources, with two that end a worker once when the test says so."""
    root = fleet_tree(tmp_path_factory.mktemp("tree"))
    for name in ("victim-1", "victim-2"):
        session(root / "agents" / name)
    return settled(root)


@pytest.fixture(scope="module")
def undisturbed(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    out = tmp_path_factory.mktemp("out")
    read(tree, out)
    return counts(out)


def run(tree: Path, out: Path, env: dict[str, str], *options: str) -> Program:
    return Program([*FLEET, tree, "--into", out, "--workers", "2", *options], env)


def test_killed_workers_change_no_row(tree: Path, undisturbed: dict[str, int], tmp_path: Path) -> None:
    env, out = hooked(tmp_path), tmp_path / "out"

    with no_worker_left(tmp_path), run(tree, out, env, "--batch", "6") as program:
        done = program.finish()

    assert (done.code, summary(done)) == (0, "23 sources read, 0 unchanged")
    assert marks(tmp_path, "victim") == ["victim-1", "victim-2"]
    assert counts(out) == undisturbed


def test_workers_killed_before_their_commit_leave_rows_that_do_not_count(
    tree: Path, undisturbed: dict[str, int], tmp_path: Path
) -> None:
    env, out = hooked(tmp_path, "worker"), tmp_path / "out"

    with no_worker_left(tmp_path), run(tree, out, env, "--batch", "9") as program:
        done = program.finish()

    assert done.code == 0
    assert marks(tmp_path, "commit") == ["commit-1", "commit-2", "commit-3"]
    assert counts(out) == undisturbed
    raw = answer(out, "SELECT count(*) FROM raw_findings")[0][0]
    assert int(str(raw)) > undisturbed["findings"], (
        "the rest of the killed batches is there, and is not counted"
    )


def test_after_a_killed_driver_the_next_run_goes_on_with_any_batch_size(
    tree: Path, undisturbed: dict[str, int], tmp_path: Path
) -> None:
    env, out = hooked(tmp_path, "driver"), tmp_path / "out"

    with no_worker_left(tmp_path), run(tree, out, env, "--batch", "3") as program:
        assert program.finish().code == -signal.SIGKILL
    before = counts(out)
    engine = InlineEngine()
    done = read(tree, out, engine, batch=8)

    assert 0 < done.sources < undisturbed["sources"]
    assert done.unchanged + done.sources >= undisturbed["sources"] > before["sources"]
    assert counts(out) == undisturbed


def test_a_source_that_kills_each_worker_is_a_row_with_an_error(tmp_path: Path) -> None:
    env, out, tree = hooked(tmp_path), tmp_path / "out", tmp_path / "tree"
    for name in ("a", "b", "poison", "c"):
        session(tree / name)
    settled(tree)

    with no_worker_left(tmp_path), run(tree, out, env, "--batch", "4") as program:
        done = program.finish()

    assert (done.code, summary(done)) == (1, "4 sources read, 1 could not be read, 0 unchanged")
    rows = answer(out, "SELECT source, error FROM sources ORDER BY source")
    assert [(Path(str(source)).name, error) for source, error in rows] == [
        ("a", None),
        ("b", None),
        ("c", None),
        ("poison", "the process that read it ended 3 times"),
    ]
    assert len(workers(tmp_path)) >= 3, "each try takes another worker"
    assert read(tree, out, InlineEngine(Executor())).unchanged == 4, "it is not tried again"


def test_two_runs_at_once_count_each_source_once(
    tree: Path, undisturbed: dict[str, int], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    env = {**os.environ}

    with run(tree, out, env, "--batch", "4") as one, run(tree, out, env, "--batch", "7") as other:
        assert (one.finish().code, other.finish().code) == (0, 0)

    assert counts(out) == undisturbed


def test_ctrl_c_ends_at_once_and_the_next_run_goes_on(tmp_path: Path) -> None:
    env, out, tree = hooked(tmp_path), tmp_path / "out", tmp_path / "tree"
    for number in range(3):
        session(tree / f"s{number}")
    os.mkfifo(tree / "never-written.json")
    settled(tree)

    with no_worker_left(tmp_path), run(tree, out, env, "--batch", "1") as program:
        wait_until("workers are at work", lambda: bool(workers(tmp_path)))
        program.process.send_signal(signal.SIGINT)
        done = program.finish()

    assert done.code == 130
    assert done.err.endswith("ctxview: stopped; the same command goes on from here\n")
    read(tree, out)
    rows = answer(out, "SELECT source, error FROM sources ORDER BY error NULLS FIRST")
    assert [error for _, error in rows] == [None, None, None, f"{rows[-1][0]}: this is a pipe, not a file"]


class EndingPool(PoolEngine):
    """Processes that end before they take any work."""

    def start(self) -> Executor:
        return ProcessPoolExecutor(1, get_context("spawn"), os._exit, (1,))


def test_workers_that_cannot_begin_end_the_run_and_blame_no_source(tmp_path: Path) -> None:
    session(tmp_path / "tree" / "s")

    with pytest.raises(EngineError, match="the workers end before they begin"):
        read(tmp_path / "tree", tmp_path / "out", EndingPool(1))

    assert not (tmp_path / "out").exists()


class LostCluster(Inline):
    def submit(self, work, batch):
        future: Future = Future()
        future.set_exception(ConnectionError("the scheduler is gone"))
        return future


def test_a_cluster_that_goes_away_ends_the_run_with_its_reason(tmp_path: Path) -> None:
    session(tmp_path / "tree" / "s")

    with pytest.raises(EngineError, match="a worker failed: ConnectionError: the scheduler is gone"):
        read(tmp_path / "tree", tmp_path / "out", InlineEngine(LostCluster()))


class KilledWorker(Exception):
    """What Dask calls a job whose workers died; the name counts."""


class DyingWorkers(Inline):
    """Like a cluster that gives a job up, when the job has an item of this name."""

    def submit(self, work, batch):
        if not any("s1" in item.place for item in batch.items):
            return super().submit(work, batch)
        self.given.append(batch)
        future: Future = Future()
        future.set_exception(KilledWorker())
        return future


def test_a_job_that_a_cluster_gives_up_is_divided_until_one_item_is_left(tmp_path: Path) -> None:
    for number in range(4):
        session(tmp_path / "tree" / f"s{number}")
    engine = InlineEngine(DyingWorkers())

    done = read(tmp_path / "tree", tmp_path / "out", engine, batch=4)

    assert (done.sources, done.errors) == (4, 1)
    sizes = [len(batch.items) for batch in engine.executor.given]
    assert sizes == [1, 2, 1, 2, 1, 1, 1, 1, 1]
