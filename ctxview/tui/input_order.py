"""An app that takes one key at a time, so that keys that arrive together have their effects in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from time import monotonic
from typing import Any

from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.screen import Screen

DIALOGUE = "dialogue"
"""The worker group of jobs that ask a person for something."""
LONGEST_WAIT = 30.0
"""Seconds after which a key is taken although an earlier one is not handled: a disk may hang."""
AT_ONCE = "ctrl+q"
"""The key that quits and never waits."""
LOOK_AGAIN = 0.005


def start_dialogue(screen: Screen[Any], job: Coroutine[Any, Any, None], name: str) -> None:
    """Start a job that opens screens and waits for their results, and cancel an earlier one.

    The next key waits until the job has opened a screen or has ended, so that it reaches that screen.
    """
    screen.run_worker(job, name=name, group=DIALOGUE, exclusive=True, exit_on_error=False)


async def wait_until(holds: Callable[[], bool]) -> None:
    """Wait in a dialogue until `holds` does, but not for ever."""
    end = monotonic() + LONGEST_WAIT
    while not holds() and monotonic() < end:
        await asyncio.sleep(LOOK_AGAIN)


class OrderedInput(App[None]):
    """Takes the next key, paste or click when everything that the last key caused is handled.

    The toolkit posts a key to the focused widget, from where it goes from parent to parent until the app runs
    its action. Of keys that arrive together, all would go to the widget that has the focus at first, and a
    key with priority would overtake the characters before it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._typed: deque[events.Event] = deque()
        self._next: events.Event | None = None
        self._target: MessagePump = self
        self._feeder: asyncio.Task[None] | None = None

    @property
    def has_unhandled_input(self) -> bool:
        return self._feeder is not None

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent | events.Paste) and not event.is_forwarded:
            waits = not isinstance(event, events.Key) or event.key != AT_ONCE
            if self._feeder is not None and event is not self._next and waits:
                self._typed.append(event)
                return
            if isinstance(event, events.Key | events.Paste):
                self._target = self.focused or self.screen
                self._feeder = self._feeder or asyncio.create_task(self._feed())
        await super().on_event(event)

    async def _feed(self) -> None:
        """Take what was typed, one after the other."""
        try:
            await self._until_handled()
            while self._typed:
                self._next = self._typed.popleft()
                self.post_message(self._next)
                await self._until_handled()
        finally:
            self._feeder = self._next = None

    async def _until_handled(self) -> None:
        """Wait until nothing that the last key caused is left, also when it opened or closed a screen."""
        end = monotonic() + LONGEST_WAIT
        await _handle_messages(self)
        is_handled = False
        while not is_handled and monotonic() < end and not self._exit:
            screen, pumps = self.screen, list(self._pumps())
            for pump in pumps:
                await _handle_messages(pump)
            is_handled = self.screen is screen and not any(pump.message_queue_size for pump in pumps)
            if is_handled and any(each.group == DIALOGUE and each.node is screen for each in self.workers):
                is_handled = False
                await asyncio.sleep(LOOK_AGAIN)

    def _pumps(self) -> Iterator[MessagePump]:
        """The pumps on the way of a key: up from the widget that got it, and from the focused one."""
        for start in (self._target, self.focused or self.screen):
            pump: MessagePump | None = start
            while pump is not None:
                yield pump
                pump = pump._parent


async def _handle_messages(pump: MessagePump) -> None:
    """Wait until `pump` has handled the messages that it has now, or is closed."""
    handled = asyncio.get_running_loop().create_future()

    def note() -> None:
        if not handled.done():
            handled.set_result(None)

    if pump.call_later(note):
        ends = [handled] if pump._task is None else [handled, pump._task]
        await asyncio.wait(ends, timeout=LONGEST_WAIT, return_when=asyncio.FIRST_COMPLETED)
