"""The X-ray of the selected revision: made in the background while its pane is on the screen. No toolkit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from ctxview.tui.model.effects import Effects, Show, Start
from ctxview.tui.model.jobs import Job, JobControl

if TYPE_CHECKING:
    from ctxview.formats import Source
    from ctxview.reports.xray import PromptChange, Xray
    from ctxview.tui.model.inspector_state import InspectorState
    from ctxview.tui.model.view_state import ReadingKey


class XrayResult(Struct, frozen=True, eq=False):
    """The X-ray of one reading, or why there is none."""

    key: ReadingKey
    xray: Xray | None = None
    problem: str = ""


class MakeXray(Job, frozen=True, eq=False):
    """Put the prompt of the selected revision together, and count its tokens."""

    group: ClassVar[str] = "the X-ray"
    foreground: ClassVar[bool] = True
    source: Source
    key: ReadingKey

    def run(self, control: JobControl) -> XrayResult | None:
        from ctxview.core.prompt import PromptError
        from ctxview.reports.xray import make_xray

        lens = self.key.lens()
        ability = self.source.abilities.prompt
        if ability is None:
            return XrayResult(self.key, problem=f"No prompt is known for the format {self.source.format}.")
        try:
            prompt = ability.prompt(self.key.revision, lens)
        except PromptError as error:
            return XrayResult(self.key, problem=f"There is no prompt: {error}.")
        made = make_xray(prompt, lens.counter)
        return XrayResult(self.key, made) if not control.stopped else None


class XrayLoader:
    """Makes the X-ray of the selected revision while its pane is on the screen."""

    def __init__(self, state: InspectorState) -> None:
        self._state = state
        self._running: MakeXray | None = None

    def update(self, *, drawn: bool) -> Effects:
        """Start what is due after any change of the view or the panes."""
        state, view = self._state, self._state.view
        if state.source is None or view is None or not drawn or view.key != state.key:
            return []
        known = view.xray.key if view.xray is not None else None
        running = self._running
        if known == view.key or (running is not None and running.key == view.key):
            return []
        self._running = MakeXray(state.source, view.key)
        return [Start(self._running)]

    def take(self, job: MakeXray, result: XrayResult) -> Effects:
        if job is self._running:
            self._running = None
        return [Show()] if self._state.take_xray(result) else []

    def failed(self, job: MakeXray, reason: str) -> Effects:
        return self.take(job, XrayResult(job.key, problem=f"The prompt cannot be put together: {reason}"))


def compare_prompts(source: Source, key: ReadingKey, before: int) -> list[PromptChange]:
    """Return the difference of the selected revision's prompt to another one. Raises `PromptError`."""
    from ctxview.core.prompt import PromptError
    from ctxview.reports.xray import make_xray, prompt_changes

    ability, lens = source.abilities.prompt, key.lens(rough=True)
    if ability is None:
        raise PromptError(f"no prompt is known for the format {source.format}")
    old, new = (make_xray(ability.prompt(number, lens), lens.counter) for number in (before, key.revision))
    return prompt_changes(old, new)
