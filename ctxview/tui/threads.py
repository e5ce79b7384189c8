"""How work is given to a thread: the screen goes on meanwhile, and its one handler tells what went wrong."""

from __future__ import annotations

from collections.abc import Callable

from textual.screen import Screen
from textual.worker import Worker, get_current_worker


def in_thread(
    screen: Screen[None], job: Callable[[], None], name: str, group: str = "", *, alone: bool = True
) -> Worker[None]:
    """Starts a job; if it is to be `alone`, whatever its group did before is cancelled."""
    return screen.run_worker(
        job, name=name, group=group or name, exclusive=alone, thread=True, exit_on_error=False
    )


def cancelled() -> Callable[[], bool]:
    """How the worker that runs this is asked whether anybody still waits for it."""
    worker = get_current_worker()
    return lambda: worker.is_cancelled
