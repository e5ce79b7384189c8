from __future__ import annotations

from threading import Event, Thread

from ctxview.tui import precedence
from ctxview.tui.precedence import Precedence


def never() -> bool:
    return False


class Worker(Thread):
    """Gives way once and says when it may go on."""

    def __init__(self, precedence: Precedence) -> None:
        super().__init__(daemon=True)
        self._precedence = precedence
        self.given_up = Event()
        self.went_on = Event()
        self.start()

    def run(self) -> None:
        self._precedence.give_way(self.given_up.is_set)
        self.went_on.set()


def test_work_goes_on_at_once_when_nobody_waits() -> None:
    Precedence().give_way(never)


def test_work_pauses_as_long_as_somebody_waits_for_something_else() -> None:
    first = Precedence()
    with first.errand():
        with first.errand():
            worker = Worker(first)
        assert not worker.went_on.wait(0.15)
    assert worker.went_on.wait(10)


def test_paused_work_can_be_cancelled() -> None:
    first = Precedence()
    with first.errand():
        worker = Worker(first)
        worker.given_up.set()
        assert worker.went_on.wait(10)


def test_an_errand_that_goes_wrong_lets_the_work_go_on() -> None:
    first = Precedence()
    try:
        with first.errand():
            raise RuntimeError
    except RuntimeError:
        first.give_way(never)


def test_nothing_goes_on_between_a_reading_and_its_picture() -> None:
    first = Precedence()
    first.paint_first()
    worker = Worker(first)
    assert not worker.went_on.wait(0.15)
    first.painted()
    assert worker.went_on.wait(10)


def test_a_picture_that_never_comes_is_not_waited_for_for_ever(monkeypatch) -> None:
    monkeypatch.setattr(precedence, "LONGEST", 0.01)
    first = Precedence()
    first.paint_first()
    first.give_way(never)


def test_keys_come_before_the_work_until_it_is_quiet() -> None:
    first = Precedence()
    first.touched()
    worker = Worker(first)
    assert worker.went_on.wait(10)
