"""Run batches on an executor: processes on this machine, or a Dask cluster. Workers may die at any time.

Only `submit` and `wait` of `concurrent.futures` are used. A worker that dies may take innocent batches with
it: all batches under way are then run again one at a time, and only a batch that was alone is to blame. It is
divided until the one item is left that no worker survives.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from logging import ERROR, getLogger
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait as wait_for
from threading import Thread
from typing import Protocol, TypeAlias
from urllib.parse import urlsplit

from msgspec.structs import replace

from ctxview.fleet.jobs import Batch, BatchResult, OtherVersion, give_up, run_batch
from ctxview.fleet.storage import StorageError

MOST_TRIES = 3
"""How often an item may end its worker before it is given up."""
AHEAD = 2
"""Batches under way for each worker, so that none has to wait for the next."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")

NextBatch: TypeAlias = Callable[[bool], Batch | None]
"""Returns the next batch, a small one only when a worker is idle; None when there is none."""


class EngineError(Exception):
    """An executor that cannot be used; the message is for the user."""


class Engine(Protocol):
    """Makes executors of one kind."""

    @property
    def workers(self) -> int: ...

    def start(self) -> Executor:
        """Return a new executor; raises `EngineError`."""

    def stop(self, executor: Executor, *, at_once: bool) -> None:
        """End the executor; `at_once` without waiting for the batches under way."""


def run_batches(engine: Engine, batches: NextBatch) -> Iterator[tuple[Batch, BatchResult]]:
    """Yield each batch with its result, in any order. Raises `EngineError`, and the errors of `run_batch`."""
    executor = engine.start()
    under_way: dict[Future[BatchResult], Batch] = {}
    suspects: deque[tuple[Batch, int]] = deque()
    at_once = True
    try:
        while True:
            tries, broken = 0, False
            try:
                while not suspects and len(under_way) < AHEAD * engine.workers:
                    if (batch := batches(len(under_way) < engine.workers)) is None:
                        break
                    suspects.append((batch, 0))  # until the executor has it
                    under_way[executor.submit(run_batch, batch)] = batch
                    suspects.clear()
                if suspects and not under_way:
                    batch, tries = suspects[0]
                    under_way[executor.submit(run_batch, batch)] = batch
                    suspects.popleft()
            except BrokenExecutor:
                broken = True
            if not under_way and not suspects:
                at_once = False
                return
            alone = len(under_way) == 1
            for future in wait(under_way, return_when=FIRST_COMPLETED).done if under_way else ():
                batch = under_way.pop(future)
                try:
                    yield batch, future.result()
                except Exception as error:
                    if isinstance(error, StorageError | OtherVersion):
                        raise
                    if not _is_death(error):
                        raise EngineError(f"a worker failed: {type(error).__name__}: {error}") from error
                    broken = True
                    proven = alone and len(batch.items) == 1
                    if proven and tries + 1 == MOST_TRIES:
                        if isinstance(executor, ProcessPoolExecutor):
                            _require_workers(engine)
                        yield batch, give_up(batch, f"the process that read it ended {MOST_TRIES} times")
                    else:
                        again = _halves(batch) if alone else [batch]
                        suspects.extendleft((part, tries + 1 if proven else 0) for part in reversed(again))
            if broken and isinstance(executor, ProcessPoolExecutor):
                suspects.extend((batch, 0) for batch in under_way.values())
                under_way.clear()
                engine.stop(executor, at_once=True)
                executor = engine.start()
    finally:
        engine.stop(executor, at_once=at_once)


def _require_workers(engine: Engine) -> None:
    """Raise `EngineError` when workers end without any work, so that no source is to blame."""
    executor = engine.start()
    try:
        executor.submit(os.getpid).result()
    except BrokenExecutor:
        raise EngineError("the workers end before they begin; is there enough memory?") from None
    finally:
        engine.stop(executor, at_once=True)


def _is_death(error: Exception) -> bool:
    """Whether a worker died; Dask has its own error, which is not imported for that."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


def _halves(batch: Batch) -> list[Batch]:
    """Divide a batch; one with a single item stays as it is."""
    middle = len(batch.items) // 2
    parts = (batch.items[:middle], batch.items[middle:])
    return [replace(batch, items=part) for part in parts if part]


class PoolEngine:
    """Processes on this machine, which end with this one."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def start(self) -> Executor:
        # Not a fork: the libraries of this process have threads.
        return ProcessPoolExecutor(self.workers, get_context("spawn"), _end_with_parent)

    def stop(self, executor: Executor, *, at_once: bool) -> None:
        if at_once:
            for process in active_children():
                process.kill()
        executor.shutdown(wait=True, cancel_futures=True)


class DaskEngine:
    """The workers of a running Dask cluster. They read and write the same paths as this machine."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme != "tls" and parts.hostname not in LOOPBACK:
            raise EngineError(
                f"{address}: everybody who reaches a scheduler can run code there, so on another machine"
                " it has to be tls://"
            )
        try:
            from distributed import Client
        except ImportError:
            raise EngineError("--scheduler needs an extra: pip install 'ctxview[fleet-dask]'") from None
        # Lost workers are replaced, which needs no warning for the user.
        getLogger("distributed.client").setLevel(ERROR)
        try:
            self._client = Client(address, timeout=10, set_as_default=False)
        except (OSError, ValueError) as error:
            raise EngineError(f"{address}: there is no scheduler: {error}") from None

    @property
    def workers(self) -> int:
        found: dict[str, int] = self._client.nthreads()
        return max(1, sum(found.values()))

    def start(self) -> Executor:
        executor: Executor = self._client.get_executor(pure=False)
        return executor

    def stop(self, executor: Executor, *, at_once: bool) -> None:
        executor.shutdown(wait=not at_once)
        self._client.close()


def _end_with_parent() -> None:
    """Prepare a worker: it ends with its parent, which alone hears Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is None:
        return

    def watch(sentinel: int) -> None:
        wait_for([sentinel])
        os._exit(1)

    Thread(target=watch, args=(parent.sentinel,), name="watching the parent", daemon=True).start()
