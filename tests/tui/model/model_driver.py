"""Drives an `InspectorModel` without an app: jobs run when a test says so, and effects are collected."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from ctxview.formats import Source
from ctxview.tui.model.effects import Cancel, Effect, Notify, Select, Start
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.jobs import Job
from ctxview.tui.model.jobs.load import SourcesFound
from ctxview.tui.model.replay import ReplayOptions
from ctxview.tui.model.view_state import ReadOptions
from tests.tui.model.controls import FakeControl

SomeJob = TypeVar("SomeJob", bound=Job)
SomeEffect = TypeVar("SomeEffect", bound=Effect)


class ModelDriver:
    def __init__(
        self, *sources: Source, tokens: str = "bytes/3", replay: ReplayOptions | None = None
    ) -> None:
        self.first = next(iter(sources), None)
        self.model = InspectorModel(None, ReadOptions(tokens), lambda: sources, replay, watching=False)
        self.model.live.is_off = False
        self.effects: list[Effect] = []
        self.waiting: list[Job] = []
        self.do(self.model.finished(Job(), SourcesFound(sources)))

    def do(self, effects: Iterable[Effect]) -> None:
        """Collect effects; a test runs the jobs that they start."""
        for effect in effects:
            self.effects.append(effect)
            if isinstance(effect, Cancel) or (isinstance(effect, Start) and effect.job.exclusive):
                group = effect.group if isinstance(effect, Cancel) else effect.job.group
                self.waiting = [job for job in self.waiting if job.group != group]
            if isinstance(effect, Start):
                self.waiting.append(effect.job)
            if isinstance(effect, Select):
                self.model.selected = effect.item

    def job(self, kind: type[SomeJob]) -> SomeJob:
        """Take the job of this kind that waits."""
        [found] = [job for job in self.waiting if isinstance(job, kind)]
        self.waiting.remove(found)
        return found

    def run(self, kind: type[SomeJob]) -> SomeJob:
        """Run the job of this kind that waits, and hand in its results."""
        job = self.job(kind)
        self.finish(job)
        return job

    def finish(self, job: Job) -> None:
        control = FakeControl()
        result = job.run(control)
        for each in (*control.partials, *([result] if result is not None else [])):
            self.do(self.model.finished(job, each))

    def settle(self) -> None:
        """Run all jobs."""
        while self.waiting:
            self.finish(self.waiting.pop(0))

    def has(self, kind: type[Job]) -> bool:
        return any(isinstance(job, kind) for job in self.waiting)

    def taken(self, kind: type[SomeEffect]) -> list[SomeEffect]:
        """The collected effects of a kind; each is returned once."""
        found = [effect for effect in self.effects if isinstance(effect, kind)]
        self.effects = [effect for effect in self.effects if not isinstance(effect, kind)]
        return found

    @property
    def notices(self) -> list[str]:
        return [notice.text for notice in self.taken(Notify)]
