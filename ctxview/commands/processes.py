"""Run one function for many jobs in several processes; the results come in the order of the jobs.

Each process is a fork, so jobs need no pickling and nothing is imported twice; only results are sent. A
process that ends unexpectedly costs its own job and is replaced. All of them end with the caller, however it
ends.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from select import select
from typing import Any, Final, Generic, TypeVar

from ctxview.files.system_calls import fork, processors, write_all

J = TypeVar("J")
R = TypeVar("R")

_AHEAD: Final = 2
"""The jobs that a process has at a time, so that it need not wait for the next one."""
_NUMBER: Final = 8
"""The bytes of a number in a pipe."""


class WorkerError(Exception):
    """A job without a result: an error in the function, or the end of its process."""


def available_processes() -> int:
    """Return how many processes can work at the same time; 1 where a process cannot be forked safely."""
    return processors() if threading.active_count() == 1 else 1


def in_order(work: Callable[[J], R], jobs: Sequence[J], processes: int) -> Iterator[R | WorkerError]:
    """Yield the result of `work` for each job, in order, or the reason why there is none."""
    if processes < 2:
        yield from map(work, jobs)
        return
    waiting = deque(range(len(jobs)))
    results: dict[int, R | WorkerError] = {}
    workers: list[_Worker[J, R]] = []
    missing = min(processes, len(jobs))
    try:
        for number in range(len(jobs)):
            while number not in results:
                for _ in range(missing):
                    with suppress(OSError):  # too many processes: fewer have to do, or none
                        workers.append(_Worker(work, jobs, workers))
                missing = 0
                if not workers:
                    waiting.remove(number)
                    results[number] = work(jobs[number])
                    continue
                for worker in workers:
                    while waiting and len(worker.given) < _AHEAD:
                        worker.give(waiting.popleft())
                readable, _, _ = select([worker.results for worker in workers], [], [])
                for worker in [worker for worker in workers if worker.results in readable]:
                    done = worker.given.popleft()
                    try:
                        results[done] = worker.take()
                    except EOFError:
                        waiting.extendleft(reversed(worker.given))
                        workers.remove(worker)
                        results[done] = WorkerError(f"the process that read it {worker.end()}")
                        missing = 1
            yield results.pop(number)
    finally:
        for worker in workers:
            worker.end()


class _Worker(Generic[J, R]):
    """One process, the numbers of the jobs it was given, and the pipes to and from it."""

    def __init__(self, work: Callable[[J], R], jobs: Sequence[J], others: Sequence[_Worker[J, R]]) -> None:
        self.given: deque[int] = deque()
        # Text that is not written yet would be written by both.
        sys.stdout.flush()
        sys.stderr.flush()
        numbers, self._numbers = os.pipe()
        self.results, results = os.pipe()
        try:
            self._process = fork()
        except OSError:
            for descriptor in (numbers, results, *self.ends):
                os.close(descriptor)
            raise
        if self._process == 0:
            # The pipes of the others must close when the parent ends, or they would wait for ever.
            for descriptor in (self._numbers, self.results, *(end for each in others for end in each.ends)):
                os.close(descriptor)
            _serve(work, jobs, numbers, results)
        os.close(numbers)
        os.close(results)

    @property
    def ends(self) -> tuple[int, int]:
        return self._numbers, self.results

    def give(self, job: int) -> None:
        self.given.append(job)
        with suppress(BrokenPipeError):  # the process has ended, which reading its results shows
            os.write(self._numbers, job.to_bytes(_NUMBER, "big"))

    def take(self) -> R | WorkerError:
        """Return the result of the first job; raises `EOFError`."""
        size = int.from_bytes(_read(self.results, _NUMBER), "big")
        result: R | WorkerError = pickle.loads(_read(self.results, size))
        return result

    def end(self) -> str:
        """End the process, wait for it, and say how it ended."""
        for descriptor in self.ends:
            os.close(descriptor)
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def _serve(work: Callable[[Any], object], jobs: Sequence[Any], numbers: int, results: int) -> None:
    """Do the jobs whose numbers arrive until there are no more; never returns."""
    # The parent is interrupted too, and ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = 1
    try:
        while True:
            job = jobs[int.from_bytes(_read(numbers, _NUMBER), "big")]
            try:
                result = work(job)
            except Exception as error:  # noqa: BLE001 - any error costs this job and no other
                result = WorkerError(f"{type(error).__name__}: {error}")
            answer = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
            write_all(results, len(answer).to_bytes(_NUMBER, "big") + answer)
    except (EOFError, BrokenPipeError):
        code = 0
    finally:
        os._exit(code)


def _read(descriptor: int, count: int) -> bytes:
    """Return exactly `count` bytes; raises `EOFError`."""
    pieces = []
    while count:
        piece = os.read(descriptor, min(count, 1 << 20))
        if not piece:
            raise EOFError
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)
