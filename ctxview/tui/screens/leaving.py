"""Screens that are left once, however often in haste somebody asks for it."""

from __future__ import annotations

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, Screen

Result = TypeVar("Result")


class LeftOnce(Screen[Result]):
    """The toolkit takes away whatever is on top, so a second Esc would close the screen below as well."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        return super().dismiss(result) if self.is_current else AwaitComplete()


class Dialog(ModalScreen[Result], LeftOnce[Result]):
    """A screen on top that wants an answer."""
