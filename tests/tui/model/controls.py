"""The control of a job that a test runs itself: never cancelled, and it collects what the job reports."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class FakeControl:
    stopped: bool = False
    partials: list[object] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)

    @property
    def cancelled(self) -> bool:
        return self.stopped

    def report(self, done: int, total: int, what: str) -> None:
        self.reports.append(what)

    def partial(self, result: object) -> None:
        self.partials.append(result)
