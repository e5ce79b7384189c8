"""The player of an inspector: lets revisions go by and says what happened in each.

What to say is found in threads; how long to say it is `player`'s to know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from textual.message import Message
from textual.timer import Timer

from ctxview.analysis.captions import NOTHING, Caption
from ctxview.tui.loading import Cancelled, Manner
from ctxview.tui.player import Player, Show
from ctxview.tui.session_view import Look
from ctxview.tui.things import Kind
from ctxview.tui.threads import cancelled, in_thread

if TYPE_CHECKING:
    from ctxview.formats import Source
    from ctxview.tui.screens.inspector import Inspector

TICK = 0.1
FIRST = (Caption("This is where it begins."),)
ALONE = (Caption("This stands by itself: nothing here went before it."),)
NOTHING_NEW = Caption(NOTHING)
GROUP = "captions"
GO_ON = frozenset(("play", "faster", "slower", "next_event", "previous_event", "theme"))
"""The commands that do not make it pause."""


class Told(Message):
    """What happened in some revisions; `go_to` when one of them was looked for and found."""

    def __init__(
        self, source: Source, told: dict[tuple[str | None, int], Sequence[Caption]], go_to: int | None = None
    ) -> None:
        super().__init__()
        self.source = source
        self.told = told
        self.go_to = go_to


class Playing:
    """Called on the interface's own thread. `ended` is told when the last revision has been shown."""

    def __init__(
        self, screen: Inspector, manner: Manner, show: Show | None, ended: Callable[[], None] | None = None
    ) -> None:
        self._screen = screen
        self._manner = manner
        self._show = show
        self._ended = ended
        self._begun = show is None
        self._timer: Timer | None = None
        self._source: Source | None = None
        self._told: dict[tuple[str | None, int], Sequence[Caption]] = {}
        self.player = Player(show.speed if show else 1.0, loop=bool(show and show.loop))
        self.on = show is not None
        self.looking = False
        """Whether the next event is being looked for."""

    @property
    def stage(self) -> bool:
        return self._show is not None and self._show.stage

    @property
    def told(self) -> Sequence[Caption] | None:
        """What is said of the revision looked at; None while that is being found out."""
        look = self._screen.view.look
        found = self._told.get((look.profile, look.revision)) if self._knows_source else None
        return (
            (Caption(self._show.opening),) if found is FIRST and self._show and self._show.opening else found
        )

    @property
    def waiting(self) -> bool:
        """Whether the show has not begun yet: a history may have to be read first."""
        return not self._begun

    # -- what a person does ----------------------------------------------------------------------------------

    def toggle(self) -> None:
        if self.player.playing:
            self.pause()
            return
        self.on = True
        view = self._screen.view
        if view.look.revision == view.last_revision and not self.player.loop:
            self._go_to(0)
        self.player.play()
        self._start_ticking()
        self.arrived()

    def pause(self) -> None:
        self.player.pause()
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
            self.player.faster()
        else:
            self.player.slower()
        self._screen.refresh_bars()

    def jump(self, *, back: bool) -> None:
        """To the next revision in which something happens that matters."""
        view, source = self._screen.view, self._screen.view.source
        if source is None:
            self._screen.say("Nothing is shown yet.")
            return
        self.on, self.looking = True, True
        look, last = view.look, view.last_revision
        way = range(look.revision - 1, 0, -1) if back else range(look.revision + 1, last + 1)
        self._run(lambda: self._find(source, look, way, back=back))
        self._screen.refresh_bars()

    def asked_for(self, command: str) -> None:
        """Any other command makes it pause: somebody wants to look."""
        if self.player.playing and command not in GO_ON:
            self.pause()

    # -- what happens ----------------------------------------------------------------------------------------

    def found(self) -> None:
        """There is a source: a show does not begin with the picture of its end."""
        if not self._begun:
            self._screen.view.count_revisions()
            self._screen.view.go_to_revision(0)

    def arrived(self) -> None:
        """Something is shown: begin the show when all is there, and find out what to say."""
        view = self._screen.view
        if not self._begun and self._is_ready:
            self._begun = True
            self.player.play()
            self._start_ticking()
            if self._go_to(0):
                return
        if not self.on or view.source is None:
            return
        self.player.arrived()
        if self.told is None and not self.looking:
            source, look = view.source, view.look
            self._run(lambda: self._find_out(source, look))
        self._screen.refresh_bars()

    def tick(self, seconds: float = TICK) -> None:
        """Time went by. It counts only while what is played can be seen and read."""
        view, shown = self._screen.view, self._screen.shown
        if self.told is None or shown is None or shown.look != view.look or self.looking:
            return
        if not self.player.is_over(seconds, self.told):
            return
        following = self.player.after(view.look.revision, view.last_revision)
        if following is not None:
            self._go_to(following)
            return
        self.pause()
        if self._ended is not None:
            self._ended()

    def heard(self, message: Told) -> None:
        if message.source is not self._screen.view.source:
            return
        self._source, self._told = (
            message.source,
            {**(self._told if self._knows_source else {}), **message.told},
        )
        if self.looking:
            self.looking = False
            if message.go_to is None:
                self._screen.say("Nothing that matters happens any more in this direction.")
            elif not self._go_to(message.go_to):
                self.arrived()
        self._point_at_it()
        self._screen.refresh_bars()

    # -- helpers ---------------------------------------------------------------------------------------------

    @property
    def _knows_source(self) -> bool:
        return self._source is self._screen.view.source

    @property
    def _is_ready(self) -> bool:
        return self._screen.view.source is not None and self._screen.errands.is_done(self._screen.view.look)

    def _go_to(self, revision: int) -> bool:
        if not self._screen.view.go_to_revision(revision):
            return False
        self._screen.look_again()
        return True

    def _point_at_it(self) -> None:
        """While it plays, the block that the first caption is about is selected."""
        from ctxview.tui.widgets.change_lines import thing_of

        shown, told = self._screen.shown, self.told
        change = told[0].change if told else None
        if shown is None or change is None or not (self.player.playing and self._screen.is_current):
            return
        thing = thing_of(change)
        if thing.kind is Kind.BLOCK and thing in shown.blocks:
            self._screen.go_to(thing, remember=False)

    def _start_ticking(self) -> None:
        if self._show is not None and not self._show.ticking:
            return
        if self._timer is None:
            self._timer = self._screen.set_interval(TICK, self.tick)
        else:
            self._timer.resume()

    def _run(self, job: Callable[[], None]) -> None:
        in_thread(self._screen, job, "finding out what happened", GROUP)

    def _find_out(self, source: Source, look: Look) -> None:
        told = what_happened(source, look.revision, look, self._manner)
        self._screen.post_message(Told(source, {(look.profile, look.revision): told}))

    def _find(self, source: Source, look: Look, way: Iterable[int], *, back: bool) -> None:
        told = dict(self._told) if self._source is source else {}
        found = find_event(source, look, way, self._manner, told, cancelled())
        if found is None and back and look.revision > 0:
            found = 0
        self._screen.post_message(Told(source, told, found))


def what_happened(source: Source, revision: int, look: Look, manner: Manner) -> Sequence[Caption]:
    """What is to be said of a revision, held against the one it goes on from; never empty."""
    from ctxview.analysis.captions import captions
    from ctxview.analysis.diff import diff
    from ctxview.analysis.tokens import ESTIMATES
    from ctxview.formats import Lens
    from ctxview.formats.revisions import before

    earlier = before(source.revisions, revision)
    if earlier is None:
        return FIRST if revision == 0 else ALONE
    lens = Lens(ESTIMATES["bytes/4"], look.profile, manner.mode, look.budget)
    old, new = (source.reading(number, lens).state for number in (earlier, revision))
    events = [event for event in new.timeline if event.revision == revision]
    return captions(diff(old, new), new, events) or (NOTHING_NEW,)


def find_event(
    source: Source,
    look: Look,
    way: Iterable[int],
    manner: Manner,
    told: dict[tuple[str | None, int], Sequence[Caption]],
    is_cancelled: Cancelled,
) -> int | None:
    """The first revision on the way in which something matters; what was found out is added to `told`."""
    for revision in way:
        if is_cancelled():
            return None
        key = look.profile, revision
        if key not in told:
            told[key] = what_happened(source, revision, look, manner)
        if any(each.matters for each in told[key]):
            return revision
    return None
