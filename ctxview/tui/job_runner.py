"""Runs jobs in threads, and pauses background work while a person waits for something else.

All threads share the lock of the interpreter, so that a thread that counts delays one that searches or draws.
Background work therefore asks between its slices whether to pause.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Condition, Event, Thread
from time import monotonic
from typing import ParamSpec, TypeAlias, TypeVar

from textual.message import Message

from ctxview.core.pauses import giving_way
from ctxview.tui.model.jobs import Job

QUIET = 0.1
"""Seconds after a key or click in which the next one is likely."""

LONGEST_PAINT = 2.0
"""Seconds to wait for a paint at most."""

CHECK_EVERY = 0.05
"""Seconds between two checks whether paused work was cancelled."""


class UserPriority:
    """Pauses background work while a person waits; used by all threads."""

    def __init__(self) -> None:
        self._waiting = 0
        self._until = 0.0
        self._changed = Condition()

    @contextmanager
    def foreground(self) -> Iterator[None]:
        """Pause background work while the body runs, because a person waits for it."""
        with self._changed:
            self._waiting += 1
        try:
            yield
        finally:
            with self._changed:
                self._waiting -= 1
                self._changed.notify_all()

    def touched(self) -> None:
        """Pause background work for a moment, after a key or a click."""
        self._until = max(self._until, monotonic() + QUIET)

    def paint_first(self) -> None:
        """Pause background work until `painted`, for a limited time."""
        self._until = monotonic() + LONGEST_PAINT

    def painted(self) -> None:
        with self._changed:
            self._until = 0.0
            self._changed.notify_all()

    def give_way(self, cancelled: Callable[[], bool]) -> None:
        """Return when no person waits for something else, or when cancelled."""
        self._pause(lambda: not cancelled() and (self._waiting > 0 or monotonic() < self._until))

    def give_way_to_keys(self, cancelled: Callable[[], bool]) -> None:
        """Return a moment after the last key, and when all is painted, or when cancelled.

        For a computation that may hold a lock: the work that a person waits for may need it.
        """
        self._pause(lambda: not cancelled() and monotonic() < self._until)

    def _pause(self, is_due: Callable[[], bool]) -> None:
        if is_due():
            with self._changed:
                while is_due():
                    self._changed.wait(CHECK_EVERY)


Post: TypeAlias = Callable[[Message], object]
P = ParamSpec("P")
T = TypeVar("T")

REPORT_EVERY = 0.15
"""Seconds between two reports of progress."""
MOST_THREADS = 8
"""Jobs that run at the same time; more wait for their turn."""


class JobFinished(Message):
    """A job has a result, or failed with an exception; without `final` more results follow."""

    def __init__(self, job: Job, result: object, *, final: bool = True) -> None:
        super().__init__()
        self.job = job
        self.result = result
        self.final = final

    def can_replace(self, message: Message) -> bool:
        """Whether the later `message` makes this one superfluous; the toolkit then drops this one."""
        is_superseded_by = getattr(self.result, "is_superseded_by", None)
        return (
            is_superseded_by is not None
            and isinstance(message, JobFinished)
            and message.job is self.job
            and bool(is_superseded_by(message.result))
        )


class JobProgress(Message):
    """A text about the progress of a job."""

    def __init__(self, job: Job, text: str) -> None:
        super().__init__()
        self.job = job
        self.text = text

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, JobProgress) and message.job is self.job


class RunningJob:
    """The `JobControl` of one job that runs or waits for its turn."""

    def __init__(self, job: Job, post: Post, priority: UserPriority) -> None:
        self.job = job
        self._post = post
        self._priority = priority
        self._stop = Event()
        self._reported = monotonic()
        self._has_result = False

    def stop(self) -> None:
        self._stop.set()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    @property
    def cancelled(self) -> bool:
        if not self.job.foreground:
            self._priority.give_way(self._stop.is_set)
        return self.stopped

    def _give_way(self) -> None:
        """Pause inside a computation, unless it is what has to be painted first."""
        if not self.job.paints or self._has_result:
            self._priority.give_way_to_keys(self._stop.is_set)

    def report(self, done: int, total: int, what: str) -> None:
        now = monotonic()
        if now - self._reported >= REPORT_EVERY and not self.stopped:
            self._reported = now
            self._post(JobProgress(self.job, progress_text(done, total, what)))

    def partial(self, result: object) -> None:
        self._has_result = True
        if not self.stopped:
            self._post(JobFinished(self.job, result, final=False))

    def run(self) -> None:
        """Run the job and post its result, unless it was cancelled or has none."""
        if self.stopped:
            return
        try:
            with self._priority.foreground() if self.job.foreground else giving_way(self._give_way):
                result = self.job.run(self)
        except Exception as error:  # noqa: BLE001 - any error of a job is shown, and the others go on
            result = error
        if result is not None and not self.stopped:
            self._post(JobFinished(self.job, result))


def progress_text(done: int, total: int, what: str) -> str:
    """The progress as a text; never 100 %, since the work is not done yet."""
    return f"{what} {min(99, done * 100 // total)} %" if total > 0 else f"{what}…"


class EarlyMessages:
    """Passes the messages of jobs on. From `hold` on they wait, until `take` takes them one by one."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._waiting: asyncio.Queue[Message] | None = None

    def put(self, message: Message) -> None:
        """Take a message of a job, in its thread."""
        if self._waiting is None:
            self._post(message)
        else:
            self._loop.call_soon_threadsafe(self._put, message)

    def hold(self) -> None:
        self._loop, self._waiting = asyncio.get_running_loop(), asyncio.Queue()

    async def take(
        self, seconds: float, awaits: Callable[[], object], use: Callable[[JobFinished], None]
    ) -> None:
        """Give `use` the results while `awaits` says so, at most for some seconds; pass the others on."""
        waiting = self._waiting or asyncio.Queue()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while awaits():
                    message = await waiting.get()
                    if isinstance(message, JobFinished):
                        use(message)
        self._waiting = None
        while not waiting.empty():
            self._post(waiting.get_nowait())

    def _put(self, message: Message) -> None:
        if self._waiting is None:
            self._post(message)
        else:
            self._waiting.put_nowait(message)


class JobRunner:
    """Starts and cancels jobs; called on the interface's thread. Results come as messages to `post`."""

    def __init__(self, post: Post, priority: UserPriority | None = None) -> None:
        self.priority = priority or UserPriority()
        self._post = post
        self._pool: ThreadPoolExecutor | None = None
        self._running: list[RunningJob] = []

    @property
    def running(self) -> list[Job]:
        """The jobs that have to end by themselves and have not."""
        return [each.job for each in list(self._running) if not each.job.endless]

    def start(self, job: Job) -> None:
        if job.exclusive:
            self.cancel(job.group)
        if job.paints:
            self.priority.paint_first()
        running = RunningJob(job, self._post, self.priority)
        self._running.append(running)
        if job.endless:
            Thread(target=self._run, args=(running,), name=job.group, daemon=True).start()
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(MOST_THREADS, "job")
        self._pool.submit(self._run, running)

    async def result_of(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run in a thread what a dialogue waits for, while background work pauses."""
        with self.priority.foreground():
            return await asyncio.to_thread(work, *args, **kwargs)

    def cancel(self, group: str | None = None) -> None:
        """Cancel the jobs of a group, by default all; their results are dropped."""
        for running in list(self._running):
            if group is None or running.job.group == group:
                running.stop()

    def close(self) -> None:
        """Cancel all jobs for good."""
        self.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=False)

    def _run(self, running: RunningJob) -> None:
        try:
            running.run()
        finally:
            self._running.remove(running)
