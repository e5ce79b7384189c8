"""Keeps the inspector up to date while files change: decides what is reread when, and says so. No toolkit.

`jobs/watcher.py` detects changes, `jobs/reread.py` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic, time

from ctxview.core.transcript import GrowingTranscript
from ctxview.files.change_detector import MOST_WATCHED, SETTLES_AFTER, FileChange
from ctxview.tui.model.background_work import BackgroundWork
from ctxview.tui.model.change_marks import RecentChanges
from ctxview.tui.model.effects import Effects, Notify, Refresh, Show, ShowMessages, Start, WakeAfter
from ctxview.tui.model.inspector_state import InspectorState
from ctxview.tui.model.jobs.load import FindNewSources, Opener, PathOpener
from ctxview.tui.model.jobs.reread import Reread, SourceLost, SourceReread
from ctxview.tui.model.jobs.watcher import (
    FilesChanged,
    PollFiles,
    TranscriptGrown,
    Watcher,
    WatchFiles,
    WatchTarget,
)

FADES_AFTER = 2.0
"""Seconds for which a change on disk is marked."""
REST = 4
"""The rest after a reread, as a multiple of its duration: keys come first."""
LEAST_REST = 0.05
LAG = 1.0
"""Seconds for which a change may be known and not shown before the header says so."""
FEWEST_WATCHED = 2
"""Files of each source that are watched at least, even if thousands of sources are open."""
FADE, QUIET, NEXT, LATE = "fade", "quiet", "reread", "late"
"""The timers: marks fade, changes are no longer recent, a reread is due, a change is not shown for long."""


class LiveUpdates:
    """Without `automatic` nothing is watched, and no timer runs, until a person asks for it."""

    def __init__(
        self, state: InspectorState, work: BackgroundWork, opener: Opener | None, *, automatic: bool
    ) -> None:
        self._state = state
        self._work = work
        self._opener = opener if isinstance(opener, PathOpener) else None
        self._automatic = automatic
        self.is_off = not automatic
        self._watcher = Watcher()
        self._begun = time()
        self._since: dict[int, float] = {}
        self._pending: dict[int, list[FileChange]] = {}
        self._unshown: dict[int, float] = {}
        """When the oldest change of each source was seen that no reread includes yet."""
        self._running: Reread | None = None
        self._running_for: float | None = None
        """When the oldest change was seen that the running reread includes."""
        self._not_before = 0.0
        self._fading = False
        self._reread_changes: list[FileChange] = []
        self._others: tuple[list[int], dict[int, Sequence[Path]]] = ([], {})
        self._lost: dict[int, str] = {}
        self._recent = RecentChanges()
        self._reviewed: tuple[Path | None, Sequence[Path]] = (None, ())
        self.rereads = 0
        """How often the source in front was reread after a change, also if it is the same as before."""

    def start(self) -> Effects:
        return [Start(WatchFiles(self._watcher))] if self._automatic else []

    def enable(self) -> Effects:
        """Watch from now on, because a person asked for it."""
        self.is_off, self._automatic = False, True
        self.update_target()
        return [*self.start(), *self.poll(), Refresh()]

    def poll(self) -> Effects:
        """Look for changes in all sources now, without waiting for the next time."""
        source, front = self._state.source, self._state.key.source
        if source is not None and self._state.is_held_back(front):
            self._pending.setdefault(front, [])
        self._not_before = 0.0
        return [Start(PollFiles(self._watcher)), *self.start_next()]

    @property
    def folders(self) -> Sequence[Path]:
        """The folders in which new sources may appear."""
        return self._opener.folders if self._opener is not None else ()

    def watch_reviewed(self, source: Path, paths: Sequence[Path]) -> None:
        """Watch also the files that a review of the source covers, which its format need not read."""
        self._reviewed = source, paths
        self.update_target()

    def update_target(self) -> None:
        """Watch the source that is now in front, and the others that are open."""
        state = self._state
        source, front = state.source, state.key.source
        reviewed = self._reviewed[1] if source is not None and source.path == self._reviewed[0] else ()
        if front not in self._since and source is not None:
            # The files may have changed between the opening and the first stamps.
            self._pending.setdefault(front, [])
        self._watcher.target = WatchTarget(
            front,
            state.key.profile,
            (*source.watched, *reviewed) if source is not None else (),
            state.transcript,
            self._other_files(),
            self.folders,
            dict(self._since),
            self._begun,
        )

    def status(self, *, following: bool) -> tuple[str, str]:
        """A text for the header about the selected source, and its style; empty when it cannot change."""
        source, front = self._state.source, self._state.key.source
        if source is None or not source.watched:
            return "", ""
        if self.is_off:
            return "not followed", "dim"
        if front in self._lost:
            return "gone", "bad"
        if self._state.is_held_back(front):
            return "being written, the last good state is shown", "warn"
        if self._is_behind:
            return "catching up", "warn"
        return self._recent.text or ("following" if following else "live"), "ok"

    # -- changes -------------------------------------------------------------------------------------------

    def files_changed(self, change: FilesChanged) -> Effects:
        self._pending.setdefault(change.source, []).extend(change.changes)
        late: Effects = []
        if change.source not in self._unshown:
            self._unshown[change.source] = monotonic()
            late = [WakeAfter(LATE, LAG)] if self._automatic else []
        return [*late, *self.start_next(), Refresh()]

    def folder_changed(self) -> Effects:
        if self._opener is None:
            return []
        return [Start(FindNewSources(self._opener, {source.path for source in self._state.sources}))]

    def transcript_grown(self, grown: TranscriptGrown) -> Effects:
        """Show new messages at once, before the source is reread."""
        before = self._state.transcript
        if self._state.take_growth(grown.growth) is None or before is None:
            return []
        more = len(grown.growth.transcript) - len(before)
        if grown.only and more > 0 and isinstance(before, GrowingTranscript):
            self._recent.add_lines(before.file, more)
        return [ShowMessages(len(before) if grown.only else None), *self.fade_later()]

    def start_next(self) -> Effects:
        """Start the next reread that is due, one at a time, the source in front first."""
        if self._running is not None or not self._pending or self._state.is_reading:
            return []
        if self._automatic and (rest := self._not_before - monotonic()) > 0:
            return [WakeAfter(NEXT, rest)]
        front = self._state.key.source
        number = front if front in self._pending else next(iter(self._pending))
        if number == front and self._work.is_running(self._state.key) and self._can_wait(number):
            return []
        return self._reread(number)

    def replace_source(self, job: Reread, result: SourceReread) -> Effects:
        """Replace a source by what was reread; the caller shows its reading."""
        state, number = self._state, job.number
        changes = self._end_reread()
        self._since[number] = result.since
        self._lost.pop(number, None)
        self.rereads += number == state.key.source
        if result.source is job.source:
            return [Show()] if number == state.key.source else []
        self._work.source_replaced(number, job.key if job.worked else None)
        state.replace_source(number, result.source)
        state.drafts.update_from_disk(number, job.drafts, result.on_disk)
        if number == state.key.source:
            self._recent.add(changes)
        if result.source.format == job.source.format:
            return []
        return [Notify(f"{result.source.title} is recognised as {result.source.format} now.")]

    def rest(self, job: Reread, begun: float) -> Effects:
        """Rest after a reread that began at the time `begun`, in proportion to its cost."""
        held_back = self._state.is_held_back(job.number)
        if self._automatic and held_back:
            self._pending.setdefault(job.number, [])
        rest = max(LEAST_REST, REST * (monotonic() - begun), SETTLES_AFTER + LEAST_REST if held_back else 0.0)
        self._not_before = monotonic() + rest
        self.update_target()
        return [Refresh(), *self.fade_later(), *self.start_next()]

    def lose_source(self, job: Reread, lost: SourceLost) -> Effects:
        """Keep the last state of a source that cannot be read; the next change starts another reread."""
        self._end_reread()
        notice: Effects = []
        if self._lost.get(job.number) != lost.reason:
            self._lost[job.number] = lost.reason
            if job.number == self._state.key.source:
                notice = [Notify(f"{lost.reason}. The last state is still shown.", "warning")]
        return [*notice, Refresh(), *self.start_next()]

    def failed(self) -> None:
        """Forget a reread that raised an error; the next change starts another one."""
        self._running = self._running_for = None

    def fade_later(self) -> Effects:
        if not self._automatic:
            return []
        fading, self._fading = self._fading, True
        return [*([] if fading else [WakeAfter(FADE, FADES_AFTER)]), WakeAfter(QUIET, FADES_AFTER)]

    def faded(self) -> None:
        self._fading = False

    def clear_recent(self) -> None:
        """Forget recent changes, after a while without new ones."""
        self._recent.clear()

    # -- helpers -------------------------------------------------------------------------------------------

    @property
    def _is_behind(self) -> bool:
        """Whether a change of the selected source has waited too long to be shown."""
        front, running = self._state.key.source, self._running
        first = self._running_for if running is not None and running.number == front else None
        first = self._unshown.get(front) if first is None else first
        return first is not None and monotonic() - first >= LAG

    def _reread(self, number: int) -> Effects:
        state = self._state
        key = state.key if number == state.key.source and state.view is not None else None
        self._running = Reread(
            self._watcher,
            number,
            state.sources[number],
            key,
            key is not None and key.revision == state.last_revision,
            key is not None and state.drafts.begun_at(key),
            key is not None and self._work.is_done(key),
            state.drafts.draft_bytes(number),
        )
        self._running_for = self._unshown.pop(number, None)
        self._reread_changes = self._pending.pop(number)
        return [Start(self._running)]

    def _end_reread(self) -> Sequence[FileChange]:
        self._running = self._running_for = None
        changes, self._reread_changes = self._reread_changes, []
        return changes

    def _can_wait(self, number: int) -> bool:
        """Whether only messages are new; they are shown already, so that long work need not stop for them."""
        transcript = self._state.transcript
        file = transcript.file if isinstance(transcript, GrowingTranscript) else None
        return bool(self._pending[number]) and all(each.path == file for each in self._pending[number])

    def _other_files(self) -> Mapping[int, Sequence[Path]]:
        """The files of the other sources; the same mapping while the same sources are open."""
        sources, front = self._state.sources, self._state.key.source
        key = [front, *(id(source) for source in sources)]
        if key != self._others[0]:
            most = max(FEWEST_WATCHED, MOST_WATCHED // max(1, len(sources)))
            others = ((number, each) for number, each in enumerate(sources) if number != front)
            self._others = (key, {number: each.watched[:most] for number, each in others})
        return self._others[1]
