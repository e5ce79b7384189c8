from __future__ import annotations

import asyncio
from collections.abc import Iterator
from queue import Queue
from threading import Event, Thread
from time import monotonic, sleep
from typing import ClassVar

import pytest
from textual.message import Message

from ctxview.core.pauses import give_way
from ctxview.tui import job_runner as runner
from ctxview.tui.job_runner import EarlyMessages, JobFinished, JobProgress, JobRunner, UserPriority
from ctxview.tui.model.jobs import Job, JobControl
from ctxview.tui.model.jobs.watcher import TranscriptGrown
from ctxview.tui.model.view_state import TranscriptGrowth
from tests.running import LIMIT
from tests.tui.transcripts import FakeTranscript


def never() -> bool:
    return False


class Worker(Thread):
    """Gives way once, then sets `continued`."""

    def __init__(self, priority: UserPriority) -> None:
        super().__init__(daemon=True)
        self._priority = priority
        self.cancelled = Event()
        self.continued = Event()
        self.start()

    def run(self) -> None:
        self._priority.give_way(self.cancelled.is_set)
        self.continued.set()


def test_work_continues_at_once_without_a_waiting_person() -> None:
    UserPriority().give_way(never)


def test_work_pauses_while_a_foreground_job_runs() -> None:
    priority = UserPriority()
    with priority.foreground():
        with priority.foreground():
            worker = Worker(priority)
        assert not worker.continued.wait(0.15)
    assert worker.continued.wait(LIMIT)


def test_paused_work_can_be_cancelled() -> None:
    priority = UserPriority()
    with priority.foreground():
        worker = Worker(priority)
        worker.cancelled.set()
        assert worker.continued.wait(LIMIT)


def test_work_pauses_while_a_dialogue_waits_for_a_result() -> None:
    runner = JobRunner(lambda _: None)

    def work() -> Worker:
        worker = Worker(runner.priority)
        assert not worker.continued.wait(0.15)
        return worker

    assert asyncio.run(runner.result_of(work)).continued.wait(LIMIT)


def test_work_continues_after_a_foreground_job_fails() -> None:
    priority = UserPriority()
    try:
        with priority.foreground():
            raise RuntimeError
    except RuntimeError:
        priority.give_way(never)


def test_work_pauses_until_the_screen_is_painted() -> None:
    priority = UserPriority()
    priority.paint_first()
    worker = Worker(priority)
    assert not worker.continued.wait(0.15)
    priority.painted()
    assert worker.continued.wait(LIMIT)


def test_a_paint_that_never_comes_is_not_waited_for_forever(monkeypatch) -> None:
    monkeypatch.setattr(runner, "LONGEST_PAINT", 0.01)
    priority = UserPriority()
    priority.paint_first()
    priority.give_way(never)


def test_work_continues_a_moment_after_a_key() -> None:
    priority = UserPriority()
    priority.touched()
    worker = Worker(priority)
    assert worker.continued.wait(LIMIT)


# -- jobs ----------------------------------------------------------------------------------------------------


class Gated(Job, frozen=True, eq=False):
    """A job that waits for its gate, reports one partial result and returns `result`."""

    group: ClassVar[str] = "waiting"
    gate: Event
    result: object = "done"

    def run(self, control: JobControl) -> object:
        control.partial("begun")
        assert self.gate.wait(LIMIT)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


class Beside(Gated, frozen=True, eq=False):
    exclusive: ClassVar[bool] = False


class First(Gated, frozen=True, eq=False):
    foreground: ClassVar[bool] = True


class Painted(Gated, frozen=True, eq=False):
    paints: ClassVar[bool] = True


class Patient(Job, frozen=True, eq=False):
    """A job that gives way, and notes when it went on."""

    group: ClassVar[str] = "patient"
    continued: Event

    def run(self, control: JobControl) -> object:
        assert not control.cancelled
        self.continued.set()
        return "went on"


class Computing(Job, frozen=True, eq=False):
    """A job that gives way inside a computation, and notes when it went on."""

    group: ClassVar[str] = "computing"
    continued: Event
    shown: bool = False
    """Whether it reports a result first."""

    def run(self, control: JobControl) -> object:
        if self.shown:
            control.partial("begun")
        give_way()
        self.continued.set()
        return "computed"


class PaintedFirst(Computing, frozen=True, eq=False):
    paints: ClassVar[bool] = True


class Bench:
    """A runner without an app: messages are put into a queue."""

    def __init__(self) -> None:
        self.messages: Queue[Message] = Queue()
        self.runner = JobRunner(self.messages.put)

    def results(self, number: int) -> list[tuple[object, bool]]:
        found = [self.messages.get(timeout=LIMIT) for _ in range(number)]
        return [(each.result, each.final) for each in found if isinstance(each, JobFinished)]

    def end(self) -> None:
        end = monotonic() + LIMIT
        while self.runner.running:
            assert monotonic() < end, f"waited {LIMIT:.0f} s until the jobs ended: {self.runner.running}"
            sleep(0.001)


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.runner.close()


def open_gate() -> Event:
    gate = Event()
    gate.set()
    return gate


def test_a_job_reports_partial_results_and_one_final_one(bench: Bench) -> None:
    bench.runner.start(Gated(open_gate()))
    assert bench.results(2) == [("begun", False), ("done", True)]
    bench.end()


def test_a_job_without_a_result_reports_nothing(bench: Bench) -> None:
    bench.runner.start(Gated(open_gate(), None))
    assert bench.results(1) == [("begun", False)]
    bench.end()
    assert bench.messages.empty()


def test_an_error_is_the_result_of_its_job_and_the_next_job_runs(bench: Bench) -> None:
    error = ValueError("no luck")
    bench.runner.start(Gated(open_gate(), error))
    assert bench.results(2)[-1] == (error, True)
    bench.runner.start(Gated(open_gate()))
    assert bench.results(2)[-1] == ("done", True)


def test_an_exclusive_job_cancels_the_earlier_one_of_its_group(bench: Bench) -> None:
    gate = Event()
    bench.runner.start(Gated(gate, "earlier"))
    assert bench.results(1) == [("begun", False)]
    bench.runner.start(Gated(open_gate(), "later"))
    gate.set()
    assert bench.results(2) == [("begun", False), ("later", True)]
    bench.end()
    assert bench.messages.empty()


def test_a_job_that_is_not_exclusive_runs_beside_the_others(bench: Bench) -> None:
    gate = Event()
    bench.runner.start(Beside(gate, "one"))
    bench.runner.start(Beside(gate, "two"))
    gate.set()
    assert {result for result, final in bench.results(4) if final} == {"one", "two"}


def test_a_group_is_cancelled_and_others_are_not(bench: Bench) -> None:
    gate = Event()
    bench.runner.start(Gated(gate))
    assert bench.results(1) == [("begun", False)]
    bench.runner.cancel("another group")
    bench.runner.cancel("waiting")
    gate.set()
    bench.end()
    assert bench.messages.empty()


def test_background_work_waits_for_a_foreground_job(bench: Bench) -> None:
    gate, continued = Event(), Event()
    bench.runner.start(First(gate))
    assert bench.results(1) == [("begun", False)]
    bench.runner.start(Patient(continued))
    assert not continued.wait(0.1)
    gate.set()
    assert continued.wait(LIMIT)


def test_background_work_waits_until_a_reading_is_painted(bench: Bench) -> None:
    continued = Event()
    bench.runner.start(Painted(open_gate()))
    bench.runner.start(Patient(continued))
    assert not continued.wait(0.1)
    bench.runner.priority.painted()
    assert continued.wait(LIMIT)


def test_a_computation_pauses_while_a_person_waits_for_a_paint(bench: Bench) -> None:
    continued = Event()
    bench.runner.priority.paint_first()
    bench.runner.start(Computing(continued))
    assert not continued.wait(0.1)
    bench.runner.priority.painted()
    assert continued.wait(LIMIT)


def test_a_computation_does_not_wait_for_the_paint_of_its_own_result(bench: Bench) -> None:
    continued = Event()
    bench.runner.start(PaintedFirst(continued))
    assert bench.results(1) == [("computed", True)]


def test_a_computation_pauses_once_its_first_result_can_be_painted(bench: Bench) -> None:
    continued = Event()
    bench.runner.start(PaintedFirst(continued, shown=True))
    assert bench.results(1) == [("begun", False)]
    assert not continued.wait(0.1)
    bench.runner.priority.painted()
    assert continued.wait(LIMIT)


def test_a_computation_does_not_wait_for_a_foreground_job_that_may_need_its_lock(bench: Bench) -> None:
    gate, continued = Event(), Event()
    bench.runner.start(First(gate))
    assert bench.results(1) == [("begun", False)]
    bench.runner.start(Computing(continued))
    assert continued.wait(LIMIT)
    gate.set()


def test_closing_cancels_jobs_that_run_and_that_wait_for_a_thread(bench: Bench) -> None:
    gate = Event()
    for number in range(runner.MOST_THREADS + 3):
        bench.runner.start(Beside(gate, number))
    assert bench.results(runner.MOST_THREADS) == [("begun", False)] * runner.MOST_THREADS
    bench.runner.close()
    gate.set()
    bench.end()
    assert bench.messages.empty()


def test_a_result_is_dropped_only_when_a_later_one_of_its_job_includes_it() -> None:
    job = Job()
    growth = TranscriptGrowth(0, None, FakeTranscript(3), at=1.0)
    appended = JobFinished(job, TranscriptGrown(growth, only=True))
    rewritten = JobFinished(job, TranscriptGrown(growth, only=False))
    assert appended.can_replace(appended)
    assert appended.can_replace(rewritten)
    assert rewritten.can_replace(rewritten)
    assert not rewritten.can_replace(appended)
    assert not appended.can_replace(JobFinished(Job(), appended.result))
    assert not JobFinished(job, "text").can_replace(JobFinished(job, "text"))


async def test_results_before_the_first_picture_are_used_at_once_and_later_messages_are_passed_on() -> None:
    passed: list[Message] = []
    used: list[JobFinished] = []
    early = EarlyMessages(passed.append)
    job = Gated(Event())
    before, result, after = JobProgress(job, "begun"), JobFinished(job, "first"), JobFinished(job, "second")
    early.hold()
    for message in (before, result, after):
        await asyncio.to_thread(early.put, message)

    await early.take(LIMIT, lambda: not used, used.append)
    early.put(last := JobFinished(job, "third"))

    assert used == [result]
    assert passed == [after, last]


async def test_a_result_that_does_not_come_in_time_is_passed_on() -> None:
    passed: list[Message] = []
    early = EarlyMessages(passed.append)
    early.hold()

    await early.take(0, lambda: True, pytest.fail)
    early.put(late := JobFinished(Gated(Event()), "late"))

    assert passed == [late]
