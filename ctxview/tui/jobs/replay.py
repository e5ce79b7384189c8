"""The replay of an inspector: goes from revision to revision and shows captions of what happened in each.

Captions are made in threads; `ReplayClock` decides how long each revision is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.message import Message
from textual.timer import Timer

from ctxview.analysis.captions import NOTHING, Caption
from ctxview.analysis.diff.model import Change, ChangeGroup, ChangeKind
from ctxview.tui.jobs.runner import Cancelled, cancel_check, start_thread
from ctxview.tui.model.reading_index import ItemKind
from ctxview.tui.model.replay import ReplayClock, ReplayOptions
from ctxview.tui.model.view_state import ReadingKey

if TYPE_CHECKING:
    from ctxview.formats import Source
    from ctxview.tui.screens.inspector import InspectorScreen


TICK = 0.1
FIRST = (Caption("This is the first revision."),)
ALONE = (Caption("This revision does not follow another one."),)
KEEPS_PLAYING = frozenset(("play", "faster", "slower", "next_event", "previous_event", "theme"))
"""The actions that do not pause a replay."""


class CaptionsReady(Message):
    """The captions of some revisions; `go_to` is the revision of an event that was searched for and found."""

    def __init__(
        self,
        source: Source,
        captions: dict[tuple[str | None, int], Sequence[Caption]],
        go_to: int | None = None,
    ) -> None:
        super().__init__()
        self.source = source
        self.captions = captions
        self.go_to = go_to


class ReplayController:
    """Called on the interface's thread. `ended` is called when the last revision has been shown."""

    def __init__(
        self,
        screen: InspectorScreen,
        show: ReplayOptions | None,
        ended: Callable[[], None] | None = None,
    ) -> None:
        self._screen = screen
        self._show = show
        self._ended = ended
        self._begun = show is None
        self._timer: Timer | None = None
        self._source: Source | None = None
        self._captions: dict[tuple[str | None, int], Sequence[Caption]] = {}
        self.clock = ReplayClock(show.speed if show else 1.0, loop=bool(show and show.loop))
        self.on = show is not None
        self.searching = False
        """Whether a search for the next event is running."""

    @property
    def stage(self) -> bool:
        return self._show is not None and self._show.stage

    @property
    def captions(self) -> Sequence[Caption] | None:
        """The captions of the selected revision; None until they are made."""
        key = self._screen.model.key
        found = self._captions.get((key.profile, key.revision)) if self._knows_source else None
        return (
            (Caption(self._show.opening),) if found is FIRST and self._show and self._show.opening else found
        )

    @property
    def waiting(self) -> bool:
        """Whether the replay has not begun yet: a history may have to be read first."""
        return not self._begun

    # -- actions ---------------------------------------------------------------------------------------------

    def toggle(self) -> None:
        if self.clock.playing:
            self.pause()
            return
        self.on = True
        model = self._screen.model
        if model.key.revision == model.last_revision and not self.clock.loop:
            self._go_to(0)
        self.clock.play()
        self._start_ticking()
        self.reading_shown()

    def pause(self) -> None:
        self.clock.pause()
        if self._timer is not None:
            self._timer.pause()
        self._screen.refresh_bars()

    def close(self) -> None:
        self.pause()
        self.on = False
        self._screen.refresh_bars()

    def change_speed(self, *, faster: bool) -> None:
        self.on = True
        if faster:
            self.clock.faster()
        else:
            self.clock.slower()
        self._screen.refresh_bars()

    def jump(self, *, back: bool) -> None:
        """Go to the next or previous revision with an important event."""
        model, source = self._screen.model, self._screen.model.source
        if source is None:
            self._screen.say("Nothing is shown yet.")
            return
        self.on, self.searching = True, True
        key, last = model.key, model.last_revision
        revisions = range(key.revision - 1, 0, -1) if back else range(key.revision + 1, last + 1)
        self._run(lambda: self._find(source, key, revisions, back=back))
        self._screen.refresh_bars()

    def action_started(self, action: str) -> None:
        """Pause at any other action, since a person wants to look at something."""
        if self.clock.playing and action not in KEEPS_PLAYING:
            self.pause()

    # -- events ----------------------------------------------------------------------------------------------

    def sources_found(self) -> None:
        """Select the first revision, so that a replay does not begin with its end."""
        if not self._begun:
            self._screen.model.count_revisions()
            self._screen.model.go_to_revision(0)

    def reading_shown(self) -> None:
        """Begin the replay when everything is read, and make the captions of the revision that is shown."""
        model = self._screen.model
        if not self._begun and self._is_ready:
            self._begun = True
            self.clock.play()
            self._start_ticking()
            if self._go_to(0):
                return
        if not self.on or model.source is None:
            return
        self.clock.restart()
        if self.captions is None and not self.searching:
            source, key = model.source, model.key
            self._run(lambda: self._make_captions(source, key))
        self._screen.refresh_bars()

    def tick(self, seconds: float = TICK) -> None:
        """Add time; it counts only while the revision and its captions are shown."""
        model, view = self._screen.model, self._screen.view
        if self.captions is None or view is None or view.key != model.key or self.searching:
            return
        if not self.clock.is_over(seconds, self.captions):
            return
        next_revision = self.clock.after(model.key.revision, model.last_revision)
        if next_revision is not None:
            self._go_to(next_revision)
            return
        self.pause()
        if self._ended is not None:
            self._ended()

    def take(self, message: CaptionsReady) -> None:
        if message.source is not self._screen.model.source:
            return
        self._source, self._captions = (
            message.source,
            {**(self._captions if self._knows_source else {}), **message.captions},
        )
        if self.searching:
            self.searching = False
            if message.go_to is None:
                self._screen.say("There are no more important events in this direction.")
            elif not self._go_to(message.go_to):
                self.reading_shown()
        self._select_block()
        self._screen.refresh_bars()

    # -- helpers ---------------------------------------------------------------------------------------------

    @property
    def _knows_source(self) -> bool:
        return self._source is self._screen.model.source

    @property
    def _is_ready(self) -> bool:
        return self._screen.model.source is not None and self._screen.background_work.is_done(
            self._screen.model.key
        )

    def _go_to(self, revision: int) -> bool:
        if not self._screen.model.go_to_revision(revision):
            return False
        self._screen.read_current()
        return True

    def _select_block(self) -> None:
        """While playing, select the block that the first caption is about."""
        from ctxview.tui.model.reading_index import item_of_change

        view, captions = self._screen.view, self.captions
        change = captions[0].change if captions else None
        if view is None or change is None or not (self.clock.playing and self._screen.is_current):
            return
        item = item_of_change(change)
        if item.kind is ItemKind.BLOCK and item in view.blocks:
            self._screen.go_to(item, remember=False)

    def _start_ticking(self) -> None:
        if self._show is not None and not self._show.ticking:
            return
        if self._timer is None:
            self._timer = self._screen.set_interval(TICK, self.tick)
        else:
            self._timer.resume()

    def _run(self, job: Callable[[], None]) -> None:
        start_thread(self._screen, job, "finding events", "captions")

    def _make_captions(self, source: Source, key: ReadingKey) -> None:
        captions = captions_of(source, key.revision, key)
        self._screen.post_message(CaptionsReady(source, {(key.profile, key.revision): captions}))

    def _find(self, source: Source, key: ReadingKey, revisions: Iterable[int], *, back: bool) -> None:
        captions = dict(self._captions) if self._source is source else {}
        found = find_event(source, key, revisions, captions, cancel_check())
        if found is None and back and key.revision > 0:
            found = 0
        self._screen.post_message(CaptionsReady(source, captions, found))


def captions_of(source: Source, revision: int, key: ReadingKey) -> Sequence[Caption]:
    """The captions of a revision, compared with the revision it follows; never empty."""
    from ctxview.analysis.captions import captions
    from ctxview.analysis.diff import diff
    from ctxview.formats.revisions import previous_revision

    earlier = previous_revision(source.revisions, revision)
    if earlier is None:
        return FIRST if revision == 0 else ALONE
    lens = key.lens(rough=True)
    old, new = (source.reading(number, lens).state for number in (earlier, revision))
    events = [event for event in new.timeline if event.revision == revision]
    found = diff(old, new)
    # A revision in between, such as the reply, has already said which blocks it removes.
    between = [
        source.reading(number, lens).state
        for number in range(earlier + 1, revision)
        if previous_revision(source.revisions, number) == earlier
    ]
    said = {each.name for state in between for each in diff(old, state).changes if _is_removal(each)}
    changes = tuple(each for each in found.changes if not (_is_removal(each) and each.name in said))
    return captions(replace(found, changes=changes), new, events) or (Caption(NOTHING),)


def _is_removal(change: Change) -> bool:
    return change.group is ChangeGroup.BLOCKS and change.kind is ChangeKind.REMOVED


def find_event(
    source: Source,
    key: ReadingKey,
    revisions: Iterable[int],
    captions: dict[tuple[str | None, int], Sequence[Caption]],
    is_cancelled: Cancelled,
) -> int | None:
    """The first of `revisions` with an important event; captions made on the way are added to `captions`."""
    for revision in revisions:
        if is_cancelled():
            return None
        place = key.profile, revision
        if place not in captions:
            captions[place] = captions_of(source, revision, key)
        if any(each.matters for each in captions[place]):
            return revision
    return None
