"""The replay of a source: which revision is shown how long, and the captions of what happened in it.

No toolkit and no system clock: the caller reports the time that passed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ctxview.analysis.captions import Caption
from ctxview.tui.model.effects import Effects, Ended, Notify, Refresh, Select, Sleep, Start, WakeAfter
from ctxview.tui.model.inspector_state import InspectorState
from ctxview.tui.model.jobs.captions import FIRST, CaptionsByRevision, CaptionsReady, FindEvent, ReadCaptions
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemKind, item_of_change

if TYPE_CHECKING:
    from ctxview.formats import Source

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SHORTEST = 1.6
"""Seconds for which every revision is shown at least, at speed 1."""
PER_CHARACTER = 0.045
"""Seconds it takes to read a character."""
LONGEST = 9.0


class ReplayOptions(Struct, frozen=True):
    """How a source is replayed from the moment it opens.

    `stage` is for an audience: larger captions, and `opening` as the first one. Without `ticking` no timer
    runs, and the caller reports the time.
    """

    speed: float = 1.0
    loop: bool = False
    stage: bool = False
    opening: str = ""
    ticking: bool = True


class ReplayClock:
    """Counts how long the present revision has been shown."""

    def __init__(self, speed: float = 1.0, *, loop: bool = False) -> None:
        self.playing = False
        self.speed = speed
        self.loop = loop
        self._elapsed = 0.0

    def play(self) -> None:
        self.playing = True
        self._elapsed = 0.0

    def pause(self) -> None:
        self.playing = False

    def faster(self) -> None:
        self.speed = next((speed for speed in SPEEDS if speed > self.speed), self.speed)

    def slower(self) -> None:
        self.speed = next((speed for speed in reversed(SPEEDS) if speed < self.speed), self.speed)

    def restart(self) -> None:
        """Start the time of the revision that is now shown."""
        self._elapsed = 0.0

    def is_over(self, seconds: float, captions: Sequence[Caption]) -> bool:
        """Add `seconds`; whether the revision has been shown long enough to read its `captions`."""
        if not self.playing:
            return False
        self._elapsed += seconds * self.speed
        return self._elapsed >= reading_time(captions)

    def after(self, revision: int, last: int) -> int | None:
        """The revision after `revision`; None at the end."""
        return revision + 1 if revision < last else 0 if self.loop else None


def reading_time(captions: Sequence[Caption]) -> float:
    """Seconds it takes to read the first captions."""
    letters = sum(len(each.text) + len(each.why) for each in captions[:1])
    letters += sum(len(each.text) for each in captions[1:3]) // 2
    return min(LONGEST, SHORTEST + PER_CHARACTER * letters)


def spelled_speed(speed: float) -> str:
    return f"{speed:g}×"


TICK = 0.1
TICK_TIMER = "tick"
KEEPS_PLAYING = frozenset(("play", "faster", "slower", "next_event", "previous_event", "theme"))
"""The actions that do not pause a replay."""


class Replay:
    """Goes from revision to revision. `go_to` selects and reads a revision, if it is another one."""

    def __init__(
        self, state: InspectorState, options: ReplayOptions | None, go_to: Callable[[int], Effects]
    ) -> None:
        self._state = state
        self._options = options
        self._go_to = go_to
        self._begun = options is None
        self._source: Source | None = None
        self._captions: CaptionsByRevision = {}
        self._job: FindEvent | ReadCaptions | None = None
        self.clock = ReplayClock(options.speed if options else 1.0, loop=bool(options and options.loop))
        self.on = options is not None

    @property
    def stage(self) -> bool:
        return self._options is not None and self._options.stage

    @property
    def first_view(self) -> Pane:
        """The view that is left last: captions are about the blocks of the memory."""
        return Pane.MEMORY if self.stage else Pane.OVERVIEW

    @property
    def searching(self) -> bool:
        """Whether a search for the next event is running."""
        return isinstance(self._job, FindEvent)

    @property
    def captions(self) -> Sequence[Caption] | None:
        """The captions of the selected revision; None until they are made."""
        found = self._known.get((self._state.key.profile, self._state.key.revision))
        opening = self._options.opening if self._options is not None else ""
        return (Caption(opening),) if found is FIRST and opening else found

    @property
    def waiting(self) -> bool:
        """Whether the replay has not begun yet: a history may have to be read first."""
        return not self._begun

    # -- actions ---------------------------------------------------------------------------------------------

    def toggle(self) -> Effects:
        if self.clock.playing:
            return self.pause()
        self.on = True
        state = self._state
        is_over = state.key.revision == state.last_revision and not self.clock.loop
        again = self._go_to(0) if is_over else []
        self.clock.play()
        return [*again, *self._start_ticking(), *self.reading_shown()]

    def pause(self) -> Effects:
        self.clock.pause()
        return [Sleep(TICK_TIMER), Refresh()]

    def close(self) -> Effects:
        self.on = False
        return self.pause()

    def change_speed(self, *, faster: bool) -> Effects:
        self.on = True
        if faster:
            self.clock.faster()
        else:
            self.clock.slower()
        return [Refresh()]

    def jump(self, *, back: bool) -> Effects:
        """Go to the next or previous revision with an important event."""
        source, key, last = self._state.source, self._state.key, self._state.last_revision
        if source is None:
            return [Notify("Nothing is shown yet.")]
        self.on = True
        revisions = range(key.revision - 1, 0, -1) if back else range(key.revision + 1, last + 1)
        self._job = FindEvent(source, key, revisions, self._known, back)
        return [Start(self._job), Refresh()]

    def action_started(self, action: str | None) -> Effects:
        """Pause at any other action or key, since a person wants to look at something."""
        return self.pause() if self.clock.playing and action not in KEEPS_PLAYING else []

    # -- events ----------------------------------------------------------------------------------------------

    def sources_found(self) -> None:
        """Select the first revision, so that a replay does not begin with its end."""
        if not self._begun:
            self._state.count_revisions()
            self._state.select_revision(0)

    def reading_shown(self, *, worked: bool = False) -> Effects:
        """Make the captions of the revision that is shown; begin the replay when all long work is done."""
        source, key = self._state.source, self._state.key
        begun: Effects = []
        if not self._begun and source is not None and worked:
            self._begun = True
            self.clock.play()
            begun = self._start_ticking()
            if first := self._go_to(0):
                return [*begun, *first]
        if not self.on or source is None:
            return begun
        self.clock.restart()
        if self.captions is None and not self.searching:
            self._job = ReadCaptions(source, key)
            begun.append(Start(self._job))
        return [*begun, Refresh()]

    def tick(self, seconds: float = TICK) -> Effects:
        """Add time; it counts only while the revision and its captions are shown."""
        state, captions = self._state, self.captions
        is_shown = state.view is not None and state.view.key == state.key
        if captions is None or not is_shown or self.searching or not self.clock.is_over(seconds, captions):
            return []
        following = self.clock.after(state.key.revision, state.last_revision)
        return [*self.pause(), Ended()] if following is None else self._go_to(following)

    def take(self, job: FindEvent | ReadCaptions, result: CaptionsReady) -> Effects:
        """Take captions, and go to the event that was searched for."""
        if job.source is not self._state.source:
            return self.failed(job)
        self._captions, self._source = {**self._known, **result.captions}, job.source
        searched = job is self._job and self.searching
        self.failed(job)
        if searched and result.go_to is None:
            return [Notify("There are no more important events in this direction."), Refresh()]
        if searched and result.go_to is not None:
            return [*(self._go_to(result.go_to) or self.reading_shown()), *self._select_block(), Refresh()]
        return [*self._select_block(), Refresh()]

    def failed(self, job: object) -> Effects:
        """Forget a job that raised an error, or whose source was left."""
        if job is self._job:
            self._job = None
        return []

    @property
    def _known(self) -> CaptionsByRevision:
        return self._captions if self._source is self._state.source else {}

    def _select_block(self) -> Effects:
        """While playing, select the block that the first caption is about."""
        view, captions = self._state.view, self.captions
        change = captions[0].change if captions else None
        if view is None or change is None or not self.clock.playing:
            return []
        item = item_of_change(change)
        is_listed = item.kind is ItemKind.BLOCK and item in view.blocks
        return [Select(item, Pane.MEMORY, if_current=True)] if is_listed else []

    def _start_ticking(self) -> Effects:
        ticks = self._options is None or self._options.ticking
        return [WakeAfter(TICK_TIMER, TICK, repeat=True)] if ticks else []
