"""Jobs: one frozen value for each kind of work that runs in a thread. No toolkit.

The model returns jobs in `Start` effects; `ctxview.tui.job_runner` executes them and reports their results.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from msgspec import Struct


class JobControl(Protocol):
    """The runner as seen by a job; also a `Progress` for the long work of a source."""

    @property
    def stopped(self) -> bool:
        """Whether the job was cancelled."""

    @property
    def cancelled(self) -> bool:
        """The same, after waiting while a person waits for something else; a foreground job never waits."""

    def report(self, done: int, total: int, what: str) -> None:
        """Report the progress; most reports are dropped."""

    def partial(self, result: object) -> None:
        """Report a result before the job is finished."""


class Job(Struct, frozen=True, eq=False):
    """Work to run in a thread; compared by identity."""

    group: ClassVar[str] = ""
    """Jobs are cancelled by group; it is also the subject of the notice when one fails."""
    exclusive: ClassVar[bool] = True
    """Whether a start cancels the earlier jobs of its group."""
    foreground: ClassVar[bool] = False
    """Whether background work pauses while it runs."""
    paints: ClassVar[bool] = False
    """Whether background work pauses until its first result is painted."""
    endless: ClassVar[bool] = False
    """Whether it runs until it is cancelled; the program does not wait for it."""

    def run(self, control: JobControl) -> object:
        """Do the work and return the result; None when there is nothing to report."""
        raise NotImplementedError
