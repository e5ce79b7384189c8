"""Keeps what is shown true while files change: asks for another look, swaps it in, says what happened.

For one inspector, on the interface's own thread. Looking for changes is `watching`, reading is `refreshing`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic, time
from typing import TYPE_CHECKING

from textual.timer import Timer

from ctxview.files.following import MOST, News
from ctxview.files.stamps import SETTLES_AFTER
from ctxview.state import GrowingTranscript
from ctxview.tui.loading import Found, Manner, Opener
from ctxview.tui.news import Burst
from ctxview.tui.opening import Opening
from ctxview.tui.refreshing import Job, Lost, Refreshed, look_again
from ctxview.tui.session_view import Problem, Shown
from ctxview.tui.threads import cancelled, in_thread
from ctxview.tui.watching import Appeared, Grown, Happened, Target, Watcher, WatcherThread

if TYPE_CHECKING:
    from ctxview.formats import Source
    from ctxview.tui.screens.inspector import Inspector

FADES_AFTER = 2.0
"""Seconds for which a change on disk is marked."""
REST = 4
"""So many times as long as a look took, nothing is looked at again: the keys come first."""
LEAST_REST = 0.05
BUSY = ("reading…", "counting…")
FEW = 4
"""At least so many files of every source are looked at, even if thousands are open."""
LOOKING_AGAIN = "looking again"


class Following:
    def __init__(self, screen: Inspector, manner: Manner, opener: Opener, *, watching_alone: bool) -> None:
        self._screen = screen
        self._manner = manner
        self._opening = opener if isinstance(opener, Opening) else None
        self._alone = watching_alone
        self.is_off = not watching_alone
        self._begun = time()
        self._since: dict[int, float] = {}
        self._news: dict[int, list[News]] = {}
        self._under_way: int | None = None
        self._not_before = 0.0
        self._waiting: Timer | None = None
        self._fading: Timer | None = None
        self._silence: Timer | None = None
        self._told: list[News] = []
        self._others: tuple[list[int], dict[int, Sequence[Path]]] = ([], {})
        self._lost: dict[int, str] = {}
        self.burst = Burst()
        self._watcher = Watcher(screen.post_message)
        self._thread = WatcherThread(self._watcher)

    def start(self) -> None:
        if self._alone:
            self._thread.start()

    def stop(self) -> None:
        self._thread.stop()

    def begin(self) -> None:
        """Somebody wants to follow after all."""
        self.is_off, self._alone = False, True
        self._thread.start()
        self.turn()
        self.look()
        self._screen.refresh_bars()

    def look(self) -> None:
        """Looks everywhere now, without waiting for the next time."""
        held = self._screen.view.source
        if held is not None and _held_back(held):
            self._news.setdefault(self._screen.view.look.source, [])
        self._not_before = 0.0
        self._run("looking for changes", self._look_everywhere)
        self.go_on()

    @property
    def folders(self) -> Sequence[Path]:
        """Those in which something may appear."""
        return self._opening.folders if self._opening is not None else ()

    def turn(self) -> None:
        """Something else is shown, or open: that is what is to be looked at."""
        view = self._screen.view
        source, front = view.source, view.look.source
        if front not in self._since and source is not None:
            # Something may have happened between its opening and the first look at its files.
            self._news.setdefault(front, [])
        self._watcher.target = Target(
            front,
            view.look.profile,
            source.watched if source is not None else (),
            view.transcript,
            self._watched_elsewhere(),
            self.folders,
            dict(self._since),
            self._begun,
        )

    # -- what is told --------------------------------------------------------------------------------------

    def state(self) -> tuple[str, str]:
        """A word for the header about the source looked at, and its style; empty when it cannot change."""
        view = self._screen.view
        source = view.source
        if source is None or not source.watched or self._screen.playing.stage:
            return "", ""
        if self.is_off:
            return "○ not followed", "dim"
        if view.look.source in self._lost:
            return "○ gone", "bad"
        if _held_back(source):
            return "◐ being written, the last good state is shown", "warn"
        return "● " + (self.burst.told or ("following" if self._screen.history.following else "live")), "ok"

    # -- what happened -------------------------------------------------------------------------------------

    def take(self, seen: object) -> None:
        match seen:
            case Grown():
                self._grown(seen)
            case Happened():
                self._news.setdefault(seen.source, []).extend(seen.news)
                self.go_on()
            case Appeared():
                self._appeared()
            case Refreshed():
                self._refreshed(seen)
            case Lost():
                self._is_lost(seen)

    def _grown(self, seen: Grown) -> None:
        """More messages: shown at once, before anything else is known of them."""
        before = self._screen.view.transcript
        shown = self._screen.view.grown(seen.growth)
        if shown is None or before is None:
            return
        more = len(seen.growth.transcript) - len(before)
        if seen.only and more > 0 and isinstance(before, GrowingTranscript):
            self.burst.lines(before.file, more)
        self._show_messages(shown, len(before) if seen.only else None)
        self._fade_later()

    def _show_messages(self, shown: Shown, same: int | None) -> None:
        """Nothing but the messages is known to have changed, so nothing else is drawn."""
        screen = self._screen
        screen.keep_shown(shown)
        with screen.app.batch_update():
            for pane in screen.panes.values():
                if pane is not screen.history:
                    pane.shown = shown
            screen.history.take_more(shown, same)
            screen.refresh_bars()

    def _appeared(self) -> None:
        """Opened folders hold something else now."""
        if self._opening is not None:
            known = {source.path for source in self._screen.view.sources}
            self._run("looking for what appeared", partial(self._find_newcomers, known))

    def go_on(self) -> None:
        """The next look that is due, one at a time, the source in front first."""
        if self._under_way is not None or not self._news or self._is_reading:
            return
        if self._alone and (rest := self._not_before - monotonic()) > 0:
            self._wake_up_in(rest)
            return
        view = self._screen.view
        front = view.look.source
        number = front if front in self._news else next(iter(self._news))
        if number == front and self._screen.errands.busy_with(view.look) and self._can_wait(number):
            return
        self._look_again(number)

    def _refreshed(self, seen: Refreshed) -> None:
        """Another look at a source: swapped in with its reading, so that both are always of the same look."""
        started, job, number = monotonic(), seen.job, seen.job.number
        view, screen = self._screen.view, self._screen
        news = self._done(number, seen.since)
        self._lost.pop(number, None)
        if seen.source is not job.source:
            screen.errands.looked_again(number, job.look if job.worked else None)
            view.looked_again(number, seen.source)
            screen.drafts.looked_again(number, seen.on_disk)
            if seen.source.format != job.source.format:
                screen.say(f"{seen.source.title} is recognised as {seen.source.format} now.")
            if number == view.look.source:
                screen.errands.stop()
                self.burst.happened(news)
                self._show(seen)
            else:
                screen.errands.go_on()
                screen.list_sources()
        if self._alone and _held_back(seen.source):
            self._news.setdefault(number, [])
        self._rest(monotonic() - seen.at + monotonic() - started, _held_back(seen.source))
        screen.refresh_bars()
        self._fade_later()
        self.turn()
        self.go_on()

    def _show(self, seen: Refreshed) -> None:
        """The reading that came with a look, unless something else is looked at by now."""
        view, screen = self._screen.view, self._screen
        screen.workers.cancel_group(screen, "reading")
        screen.header.status = ""
        shown = None
        if seen.job.look is not None and seen.index is not None:
            look = replace(seen.job.look, revision=seen.revision, seen=view.look.seen)
            shown = view.take(look, seen.index, draft=screen.drafts.dirty(view.look), at=seen.at)
        if shown is None:
            screen.read()
        else:
            screen.shown = shown
            screen.errands.go_on()
            screen.playing.arrived()

    def _is_lost(self, seen: Lost) -> None:
        """The last state stays; whatever happens next is another reason to look."""
        self._done(seen.number, None)
        if self._lost.get(seen.number) != seen.reason:
            self._lost[seen.number] = seen.reason
            if seen.number == self._screen.view.look.source:
                self._screen.say(f"{seen.reason}. The last state is still shown.", severity="warning")
        self._screen.refresh_bars()
        self.go_on()

    def failed(self) -> None:
        """A look went wrong; the next news is another reason to try."""
        self._under_way = None

    def fade(self) -> None:
        """The marks of what changed on disk have been seen."""
        self._fading = None
        self._screen.history.unmark()
        shown = self._screen.view.faded()
        if shown is not None:
            self._screen.shown = shown

    def fall_silent(self) -> None:
        """Nothing happened for a while."""
        self.burst.end()
        self._screen.refresh_bars()

    # -- helpers -------------------------------------------------------------------------------------------

    @property
    def _is_reading(self) -> bool:
        """Whether a reading is awaited that a person asked for: it goes first."""
        screen, view = self._screen, self._screen.view
        if not view.sources:
            return False
        return screen.shown is None or screen.shown.look != view.look or screen.header.status in BUSY

    def _look_again(self, number: int) -> None:
        view, screen = self._screen.view, self._screen
        look = view.look if number == view.look.source and screen.shown is not None else None
        job = Job(
            number,
            view.sources[number],
            look,
            look is not None and look.revision == view.last_revision,
            look is not None and screen.errands.is_done(look),
            screen.drafts.drafted(number),
        )
        self._under_way = number
        self._told = self._news.pop(number)
        self._run(LOOKING_AGAIN, partial(self._read_again, job))

    def _read_again(self, job: Job) -> None:
        self._watcher.get_ready()
        screen = self._screen
        look_again(job, self._manner, screen.precedence, screen.post_message, cancelled())

    def _done(self, number: int, since: float | None) -> Sequence[News]:
        self._under_way = None
        if since is not None:
            self._since[number] = since
        told, self._told = self._told, []
        return told

    def _can_wait(self, number: int) -> bool:
        """Whether there are only more messages, which are shown already: long work need not stop for them."""
        transcript = self._screen.view.transcript
        file = transcript.file if isinstance(transcript, GrowingTranscript) else None
        return bool(self._news[number]) and all(each.path == file for each in self._news[number])

    def _rest(self, cost: float, held_back: bool) -> None:
        rest = max(LEAST_REST, REST * cost, SETTLES_AFTER + LEAST_REST if held_back else 0.0)
        self._not_before = monotonic() + rest

    def _wake_up_in(self, seconds: float) -> None:
        if self._waiting is not None:
            self._waiting.stop()
        self._waiting = self._screen.set_timer(seconds, self.go_on)

    def _fade_later(self) -> None:
        if not self._alone:
            return
        if self._fading is None:
            self._fading = self._screen.set_timer(FADES_AFTER, self.fade)
        if self._silence is not None:
            self._silence.stop()
        self._silence = self._screen.set_timer(FADES_AFTER, self.fall_silent)

    def _watched_elsewhere(self) -> Mapping[int, Sequence[Path]]:
        """The same mapping as long as the same sources are open."""
        sources, front = self._screen.view.sources, self._screen.view.look.source
        key = [front, *(id(source) for source in sources)]
        if key != self._others[0]:
            most = max(FEW, MOST // max(1, len(sources)))
            others = ((number, each) for number, each in enumerate(sources) if number != front)
            self._others = (key, {number: each.watched[:most] for number, each in others})
        return self._others[1]

    def _find_newcomers(self, known: set[Path]) -> None:
        found = list(self._opening.newcomers(known)) if self._opening is not None else []
        sources = [each for each in found if not isinstance(each, Problem)]
        if sources:
            self._screen.post_message(Found(sources, [], last=True))

    def _look_everywhere(self) -> None:
        self._watcher.look(everywhere=True)

    def _run(self, name: str, job: Callable[[], None]) -> None:
        in_thread(self._screen, job, name, alone=False)


def _held_back(source: Source) -> bool:
    from ctxview.formats.interface import HoldsBack

    return isinstance(source, HoldsBack) and bool(source.held_back)
