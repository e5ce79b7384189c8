"""Waits until an application under test is quiet: a state of the program, not a time.

The `pilot.pause` of the toolkit returns when the process uses little processor time, and on a busy machine it
always does. Here the event loop, the message pumps, the workers and the timers say what is left to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import chain
from time import monotonic
from typing import Any

from textual._context import active_app
from textual.app import App
from textual.message_pump import MessagePump
from textual.widgets._toast import Toast
from textual.worker import Worker

from ctxview.tui.input_order import OrderedInput
from ctxview.tui.job_runner import JobRunner

LIMIT = 180.0
"""Seconds after which a wait fails. It means that the program hangs: no slow machine needs so long."""
LOOK_AGAIN = 0.001


async def settle(app: App[Any], is_busy: Callable[[], str] = lambda: "") -> None:
    """Wait until nothing runs or is left to draw; `is_busy` returns one more reason, or "".

    Threads first: a job that has ended since has posted its result, which is then still to be handled.
    """
    await _wait_while(app, lambda: next(chain(_unfinished(app), _unhandled(app)), "") or is_busy())


async def handle_messages(*_: float) -> None:
    """Wait until all messages are handled and drawn, but not for workers: stands in for `wait_for_idle`."""
    app = active_app.get()
    await _wait_while(app, lambda: next(_unhandled(app), ""))


async def _wait_while(app: App[Any], reason: Callable[[], str]) -> None:
    def is_quiet() -> bool:
        return app._exit or app._exception is not None or not app._running or not reason()

    await wait_until(is_quiet, lambda: f"the program is quiet, but {reason()}")


async def wait_until(holds: Callable[[], object], what: Callable[[], str]) -> None:
    """Wait until `holds` returns something true; fail after `LIMIT` with the text of `what`."""
    end = monotonic() + LIMIT
    while not holds():
        if monotonic() > end:
            raise AssertionError(f"waited {LIMIT:.0f} s until {what()}")
        await asyncio.sleep(LOOK_AGAIN)


def _unhandled(app: App[Any]) -> Iterator[str]:
    """The messages, callbacks and paints that are due, in words."""
    loop: Any = asyncio.get_running_loop()
    if loop._ready:
        yield f"{len(loop._ready)} callbacks of the event loop are due"
    for pump in (app, *app._registry):
        if pump._running and not _waits_for_messages(pump):
            yield f"{pump} handles a message"
    if isinstance(app, OrderedInput) and app.has_unhandled_input:
        yield "a key is not handled"
    if app._resize_event is not None:
        yield "a new size is not applied"
    if app._animator._animations or app._animator._scheduled:
        yield "an animation runs"
    screen = app.screen
    due = (
        app._batch_count
        or screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._recompose_required
        or screen._dirty_widgets
        or screen._callbacks
    )
    if due:
        yield f"{screen} is not drawn"


def _unfinished(app: App[Any]) -> Iterator[str]:
    """The jobs, the workers and the timers that run out once, in words."""
    for pump in app._registry:
        jobs = getattr(pump, "jobs", None)
        for job in jobs.running if isinstance(jobs, JobRunner) else ():
            yield f"the job {job.group!r} runs"
    for worker in app.workers:
        if not _asks_a_person(worker):
            yield f"the worker {worker.name!r} runs"
    for pump in (app, *app._registry):
        for timer in pump._timers:
            is_pending = timer._task is not None and not timer._task.done()
            if is_pending and timer._repeat == 0 and not isinstance(pump, Toast):
                yield f"{timer} of {pump} is not over"


def _waits_for_messages(pump: MessagePump) -> bool:
    queue = pump._message_queue
    is_empty = queue.empty() and pump._pending_message is None and not pump._next_callbacks
    return is_empty and bool(queue.ready_event._waiters)


def _asks_a_person(worker: Worker[Any]) -> bool:
    """Whether the worker waits for the result of a screen, which only a key or click can give."""
    step: Any = worker._task.get_coro() if worker._task is not None else None
    while step is not None:
        if getattr(step, "__name__", "") == "push_screen_wait":
            return True
        step = getattr(step, "cr_await", None)
    return False
