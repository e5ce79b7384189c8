from __future__ import annotations

from threading import Event, Thread

from ctxview.tui import job_runner as runner
from ctxview.tui.job_runner import UserPriority


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
    assert worker.continued.wait(10)


def test_paused_work_can_be_cancelled() -> None:
    priority = UserPriority()
    with priority.foreground():
        worker = Worker(priority)
        worker.cancelled.set()
        assert worker.continued.wait(10)


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
    assert worker.continued.wait(10)


def test_a_paint_that_never_comes_is_not_waited_for_forever(monkeypatch) -> None:
    monkeypatch.setattr(runner, "LONGEST_PAINT", 0.01)
    priority = UserPriority()
    priority.paint_first()
    priority.give_way(never)


def test_work_continues_a_moment_after_a_key() -> None:
    priority = UserPriority()
    priority.touched()
    worker = Worker(priority)
    assert worker.continued.wait(10)
