"""Keeps one inspector up to date while files change: rereads sources, replaces them, and shows what happened.

Called on the interface's thread. `watcher` detects changes, `reread` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic, time
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.timer import Timer

from ctxview.core.transcript import GrowingTranscript
from ctxview.files.change_detector import MOST_WATCHED, SETTLES_AFTER, FileChange
from ctxview.tui.jobs.load import Opener, PathOpener, SourcesFound
from ctxview.tui.jobs.reread import RereadJob, SourceLost, SourceReread, reread
from ctxview.tui.jobs.runner import cancel_check, start_thread
from ctxview.tui.jobs.watcher import (
    FilesChanged,
    FolderChanged,
    TranscriptGrown,
    Watcher,
    WatcherThread,
    WatchTarget,
)
from ctxview.tui.model.change_marks import RecentChanges
from ctxview.tui.model.view_state import OpenProblem, ViewState

if TYPE_CHECKING:
    from ctxview.formats import Source
    from ctxview.tui.screens.inspector import InspectorScreen


FADES_AFTER = 2.0
"""Seconds for which a change on disk is marked."""
REST = 4
"""The rest after a reread, as a multiple of its duration: keys come first."""
LEAST_REST = 0.05
LAG = 1.0
"""Seconds for which a change may be known and not shown before the header says so."""
BUSY = ("reading…", "counting…")
FEWEST_WATCHED = 2
"""Files of each source that are watched at least, even if thousands of sources are open."""
REREAD = "reading again"


class LiveUpdates:
    def __init__(self, screen: InspectorScreen, opener: Opener, *, automatic: bool) -> None:
        self._screen = screen
        self._opener = opener if isinstance(opener, PathOpener) else None
        self._automatic = automatic
        self.is_off = not automatic
        self._begun = time()
        self._since: dict[int, float] = {}
        self._pending: dict[int, list[FileChange]] = {}
        self._unshown: dict[int, float] = {}
        """When the oldest change of each source was seen that no reread includes yet."""
        self._running: int | None = None
        self._running_for: float | None = None
        """When the oldest change was seen that the running reread includes."""
        self._not_before = 0.0
        self._waiting: Timer | None = None
        self._fading: Timer | None = None
        self._quiet: Timer | None = None
        self._reread_changes: list[FileChange] = []
        self._others: tuple[list[int], dict[int, Sequence[Path]]] = ([], {})
        self._lost: dict[int, str] = {}
        self.recent = RecentChanges()
        self._watcher = Watcher(screen.post_message)
        self._thread = WatcherThread(self._watcher)

    def start(self) -> None:
        if self._automatic:
            self._thread.start()

    def stop(self) -> None:
        self._thread.stop()

    def enable(self) -> None:
        """Watch from now on, because a person asked for it."""
        self.is_off, self._automatic = False, True
        self._thread.start()
        self.update_target()
        self.poll()
        self._screen.refresh_bars()

    def poll(self) -> None:
        """Look for changes in all sources now, without waiting for the next time."""
        source = self._screen.model.source
        if source is not None and _held_back(source):
            self._pending.setdefault(self._screen.model.key.source, [])
        self._not_before = 0.0
        self._run("looking for changes", self._poll_everywhere)
        self.start_next()

    @property
    def folders(self) -> Sequence[Path]:
        """The folders in which new sources may appear."""
        return self._opener.folders if self._opener is not None else ()

    def update_target(self) -> None:
        """Watch the source that is now in front, and the others that are open."""
        model = self._screen.model
        source, front = model.source, model.key.source
        if front not in self._since and source is not None:
            # The files may have changed between the opening and the first stamps.
            self._pending.setdefault(front, [])
        self._watcher.target = WatchTarget(
            front,
            model.key.profile,
            source.watched if source is not None else (),
            model.transcript,
            self._other_files(),
            self.folders,
            dict(self._since),
            self._begun,
        )

    # -- the header ----------------------------------------------------------------------------------------

    def state(self) -> tuple[str, str]:
        """A text for the header about the selected source, and its style; empty when it cannot change."""
        model = self._screen.model
        source = model.source
        if source is None or not source.watched or self._screen.replay.stage:
            return "", ""
        if self.is_off:
            return "○ not followed", "dim"
        if model.key.source in self._lost:
            return "○ gone", "bad"
        if _held_back(source):
            return "◐ being written, the last good state is shown", "warn"
        if self._is_behind:
            return "◐ catching up", "warn"
        return "● " + (self.recent.text or ("following" if self._screen.history.following else "live")), "ok"

    # -- changes -------------------------------------------------------------------------------------------

    def take(self, change: object) -> None:
        match change:
            case TranscriptGrown():
                self._take_growth(change)
            case FilesChanged():
                self._pending.setdefault(change.source, []).extend(change.changes)
                if change.source not in self._unshown:
                    self._unshown[change.source] = monotonic()
                    if self._automatic:
                        self._screen.set_timer(LAG, self._screen.refresh_bars)
                self.start_next()
                self._screen.refresh_bars()
            case FolderChanged():
                if self._opener is not None:
                    known = {source.path for source in self._screen.model.sources}
                    self._run("looking for new sources", partial(self._find_new_sources, known))
            case SourceReread():
                self._take_source(change)
            case SourceLost():
                self._take_loss(change)

    def _take_growth(self, grown: TranscriptGrown) -> None:
        """Show new messages at once, before the source is reread."""
        before = self._screen.model.transcript
        view = self._screen.model.take_growth(grown.growth)
        if view is None or before is None:
            return
        more = len(grown.growth.transcript) - len(before)
        if grown.only and more > 0 and isinstance(before, GrowingTranscript):
            self.recent.add_lines(before.file, more)
        self._show_messages(view, len(before) if grown.only else None)
        self._fade_later()

    def _show_messages(self, view: ViewState, same: int | None) -> None:
        """Draw only the history, since nothing else changed; its first `same` rows are unchanged."""
        screen = self._screen
        screen.adopt_view(view)
        with screen.app.batch_update():
            for pane in screen.panes.values():
                if pane is not screen.history:
                    pane.view = view
            screen.history.take_more(view, same)
            screen.refresh_bars()

    def start_next(self) -> None:
        """Start the next reread that is due, one at a time, the source in front first."""
        if self._running is not None or not self._pending or self.is_reading:
            return
        if self._automatic and (rest := self._not_before - monotonic()) > 0:
            if self._waiting is not None:
                self._waiting.stop()
            self._waiting = self._screen.set_timer(rest, self.start_next)
            return
        model = self._screen.model
        front = model.key.source
        number = front if front in self._pending else next(iter(self._pending))
        if number == front and self._screen.background_work.is_running(model.key) and self._can_wait(number):
            return
        self._reread(number)

    def _take_source(self, result: SourceReread) -> None:
        """Replace a source together with its reading, so that both are always of the same state."""
        started, job, number = monotonic(), result.job, result.job.number
        model, screen = self._screen.model, self._screen
        changes = self._end_reread(number, result.since)
        self._lost.pop(number, None)
        if result.source is not job.source:
            screen.background_work.source_replaced(number, job.key if job.worked else None)
            model.replace_source(number, result.source)
            model.drafts.update_from_disk(number, result.on_disk)
            if result.source.format != job.source.format:
                screen.say(f"{result.source.title} is recognised as {result.source.format} now.")
            if number == model.key.source:
                screen.background_work.stop()
                self.recent.add(changes)
                self._show(result)
            else:
                screen.background_work.start_next()
                screen.list_sources()
        held_back = _held_back(result.source)
        if self._automatic and held_back:
            self._pending.setdefault(number, [])
        cost = monotonic() - result.at + monotonic() - started
        rest = max(LEAST_REST, REST * cost, SETTLES_AFTER + LEAST_REST if held_back else 0.0)
        self._not_before = monotonic() + rest
        screen.refresh_bars()
        self._fade_later()
        self.update_target()
        self.start_next()

    def _show(self, result: SourceReread) -> None:
        """Show the reading of a reread source, unless another revision is selected by now."""
        model, screen = self._screen.model, self._screen
        screen.workers.cancel_group(screen, "reading")
        screen.header.status = ""
        view = None
        if result.job.key is not None and result.index is not None:
            key = replace(result.job.key, revision=result.revision, seen=model.key.seen)
            view = model.take(key, result.index, draft=model.drafts.dirty(model.key), at=result.at)
        if view is None:
            screen.read()
        else:
            screen.view = view
            screen.background_work.start_next()
            screen.replay.reading_shown()

    def _take_loss(self, lost: SourceLost) -> None:
        """Keep the last state of a source that cannot be read; the next change starts another reread."""
        self._end_reread(lost.number, None)
        if self._lost.get(lost.number) != lost.reason:
            self._lost[lost.number] = lost.reason
            if lost.number == self._screen.model.key.source:
                self._screen.say(f"{lost.reason}. The last state is still shown.", severity="warning")
        self._screen.refresh_bars()
        self.start_next()

    def failed(self) -> None:
        """Forget a reread that raised an error; the next change starts another one."""
        self._running = self._running_for = None

    def fade(self) -> None:
        """Remove the marks of changes on disk."""
        self._fading = None
        self._screen.history.unmark()
        view = self._screen.model.clear_fading_marks()
        if view is not None:
            self._screen.view = view

    def clear_recent(self) -> None:
        """Forget recent changes, after a while without new ones."""
        self.recent.clear()
        self._screen.refresh_bars()

    # -- helpers -------------------------------------------------------------------------------------------

    @property
    def _is_behind(self) -> bool:
        """Whether a change of the selected source has waited too long to be shown."""
        front = self._screen.model.key.source
        first = self._running_for if self._running == front else None
        first = self._unshown.get(front) if first is None else first
        return first is not None and monotonic() - first >= LAG

    @property
    def is_reading(self) -> bool:
        """Whether a reading that a person asked for is running; it goes first."""
        screen, model = self._screen, self._screen.model
        if not model.sources:
            return False
        return screen.view is None or screen.view.key != model.key or screen.header.status in BUSY

    def _reread(self, number: int) -> None:
        model, screen = self._screen.model, self._screen
        key = model.key if number == model.key.source and screen.view is not None else None
        job = RereadJob(
            number,
            model.sources[number],
            key,
            key is not None and key.revision == model.last_revision,
            key is not None and model.drafts.begun_at(key),
            key is not None and screen.background_work.is_done(key),
            model.drafts.draft_bytes(number),
        )
        self._running, self._running_for = number, self._unshown.pop(number, None)
        self._reread_changes = self._pending.pop(number)
        self._run(REREAD, partial(self._run_reread, job))

    def _run_reread(self, job: RereadJob) -> None:
        self._watcher.take_stamps()
        screen = self._screen
        reread(job, screen.priority, screen.post_message, cancel_check())

    def _end_reread(self, number: int, since: float | None) -> Sequence[FileChange]:
        self._running = self._running_for = None
        if since is not None:
            self._since[number] = since
        changes, self._reread_changes = self._reread_changes, []
        return changes

    def _can_wait(self, number: int) -> bool:
        """Whether only messages are new; they are shown already, so that long work need not stop for them."""
        transcript = self._screen.model.transcript
        file = transcript.file if isinstance(transcript, GrowingTranscript) else None
        return bool(self._pending[number]) and all(each.path == file for each in self._pending[number])

    def _fade_later(self) -> None:
        if not self._automatic:
            return
        if self._fading is None:
            self._fading = self._screen.set_timer(FADES_AFTER, self.fade)
        if self._quiet is not None:
            self._quiet.stop()
        self._quiet = self._screen.set_timer(FADES_AFTER, self.clear_recent)

    def _other_files(self) -> Mapping[int, Sequence[Path]]:
        """The files of the other sources; the same mapping while the same sources are open."""
        sources, front = self._screen.model.sources, self._screen.model.key.source
        key = [front, *(id(source) for source in sources)]
        if key != self._others[0]:
            most = max(FEWEST_WATCHED, MOST_WATCHED // max(1, len(sources)))
            others = ((number, each) for number, each in enumerate(sources) if number != front)
            self._others = (key, {number: each.watched[:most] for number, each in others})
        return self._others[1]

    def _find_new_sources(self, known: set[Path]) -> None:
        found = list(self._opener.new_sources(known)) if self._opener is not None else []
        sources = [each for each in found if not isinstance(each, OpenProblem)]
        if sources:
            self._screen.post_message(SourcesFound(sources, [], last=True))

    def _poll_everywhere(self) -> None:
        self._watcher.poll(everywhere=True)

    def _run(self, name: str, job: Callable[[], None]) -> None:
        start_thread(self._screen, job, name, exclusive=False)


def _held_back(source: Source) -> bool:
    partial_writes = source.abilities.partial_writes
    return partial_writes is not None and bool(partial_writes.held_back)
