"""The long work of a source, in a thread: tells how far it is, stops when nobody waits."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from textual.message import Message

from ctxview.tui.loading import Cancelled, Manner, Post
from ctxview.tui.precedence import Precedence
from ctxview.tui.session_view import Look

if TYPE_CHECKING:
    from ctxview.formats import LongWork

OFTEN = 0.15
"""Seconds between two words about how far the work is."""


class Progressed(Message):
    """How far the work is, in words; more rows of a transcript may be known by now."""

    def __init__(self, told: str) -> None:
        super().__init__()
        self.told = told

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Progressed)


class Worked(Message):
    """All the work for this look is done: a reading tells more now."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.look = look


class Teller:
    """The `Progress` a source reports to: most reports are dropped, and every one may be the last.

    Being asked is also where the work pauses while a person waits for something else.
    """

    def __init__(self, post: Post, cancelled: Cancelled, precedence: Precedence) -> None:
        self._post = post
        self._cancelled = cancelled
        self._precedence = precedence
        self._told = monotonic()

    @property
    def cancelled(self) -> bool:
        self._precedence.give_way(self._cancelled)
        return self._cancelled()

    def report(self, done: int, total: int, what: str) -> None:
        now = monotonic()
        if now - self._told >= OFTEN and not self._cancelled():
            self._told = now
            self._post(Progressed(in_words(done, total, what)))


class Silence:
    """A `Progress` that says nothing, but pauses in the same way."""

    def __init__(self, cancelled: Cancelled, precedence: Precedence) -> None:
        self._cancelled = cancelled
        self._precedence = precedence

    @property
    def cancelled(self) -> bool:
        self._precedence.give_way(self._cancelled)
        return self._cancelled()

    def report(self, done: int, total: int, what: str) -> None:
        """Nobody listens."""


def work(
    source: LongWork, look: Look, manner: Manner, precedence: Precedence, post: Post, cancelled: Cancelled
) -> None:
    """Does all of it, unless cancelled: then the next call goes on from there."""
    from ctxview.analysis.tokens import ESTIMATES
    from ctxview.formats import Lens

    source.work(Lens(ESTIMATES["bytes/4"], look.profile, manner.mode), Teller(post, cancelled, precedence))
    if not cancelled():
        post(Worked(look))


def in_words(done: int, total: int, what: str) -> str:
    """Never 100 % before it is done."""
    return f"{what} {min(99, done * 100 // total)} %" if total > 0 else f"{what}…"
