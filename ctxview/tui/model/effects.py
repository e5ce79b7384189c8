"""Effects: the orders of the model to the screen, as frozen values. No toolkit."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from ctxview.tui.model.jobs import Job
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId


class Start(Struct, frozen=True):
    """Run a job."""

    job: Job


class Cancel(Struct, frozen=True):
    """Cancel the jobs of a group."""

    group: str


class Show(Struct, frozen=True):
    """Draw the view of the model in all panes; with `from_top` the memory pane from its first row."""

    from_top: bool = False


class ShowMessages(Struct, frozen=True):
    """Draw only new messages: the first `same` rows are unchanged; None when all may have changed."""

    same: int | None


class Refresh(Struct, frozen=True):
    """Refresh the bars; also the list of `sources`, or the `messages` that were counted since."""

    sources: bool = False
    messages: bool = False


class Select(Struct, frozen=True):
    """Bring a pane to the front and go to an item in it, and to a `line` of its text.

    `if_current`: only while no other screen is on top.
    """

    item: ItemId
    pane: Pane
    line: int | None = None
    if_current: bool = False


class Unmark(Struct, frozen=True):
    """Remove the marks of new messages."""


class MarkText(Struct, frozen=True):
    """Mark a text wherever it is drawn; nothing when it is empty."""

    needle: str


class Notify(Struct, frozen=True):
    """Show a notice."""

    text: str
    severity: Literal["information", "warning", "error"] = "information"
    title: str = ""


class WakeAfter(Struct, frozen=True):
    """Call `woke` with the name of the timer after some seconds, instead of an earlier one of this name."""

    timer: str
    seconds: float
    repeat: bool = False


class Sleep(Struct, frozen=True):
    """Stop a timer."""

    timer: str


class Ended(Struct, frozen=True):
    """The replay has shown the last revision."""


Effect: TypeAlias = (
    Start
    | Cancel
    | Show
    | ShowMessages
    | Refresh
    | Select
    | Unmark
    | MarkText
    | Notify
    | WakeAfter
    | Sleep
    | Ended
)
Effects: TypeAlias = list[Effect]
