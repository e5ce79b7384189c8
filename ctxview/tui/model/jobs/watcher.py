"""The watcher: polls the files of open sources in a thread and reports their changes.

`LiveUpdates` decides what to do about them. New messages of a transcript are frequent and cheap to read, so
they are read here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import ClassVar, TypeAlias

from msgspec import Struct, field

from ctxview.core.transcript import GrowingTranscript, Transcript
from ctxview.files.change_detector import ChangeDetector, FileChange, FileChangeKind
from ctxview.files.reading import ReadError
from ctxview.tui.model.jobs import Job, JobControl
from ctxview.tui.model.view_state import TranscriptGrowth

PERIOD = 0.1
"""Seconds between two polls of the source in front, so that a burst of changes is shown together."""
PERIOD_AFTER_CHANGE = 0.04
"""The period while the last change is recent, but not of the last poll: a single change is shown at once."""
RECENT = 10.0
"""Seconds for which a change is recent."""
PERIOD_OF_OTHERS = 1.0
"""Seconds between two polls of the other sources."""


class WatchTarget(Struct, frozen=True, eq=False):
    """The files to watch. `since` is the time at which each source was read."""

    source: int = 0
    profile: str | None = None
    paths: Sequence[Path] = ()
    transcript: Transcript | None = None
    others: Mapping[int, Sequence[Path]] = field(default_factory=dict)
    folders: Sequence[Path] = ()
    since: Mapping[int, float] = field(default_factory=dict)
    begun: float = 0.0


class TranscriptGrown(Struct, frozen=True):
    """A transcript with other messages; `only` when the only change is new messages at its end."""

    growth: TranscriptGrowth
    only: bool

    def is_superseded_by(self, later: object) -> bool:
        """Whether `later` shows this as well: new messages say nothing about a change of the earlier ones."""
        if not isinstance(later, TranscriptGrown) or later.growth.source != self.growth.source:
            return False
        return self.only or not later.only


class FilesChanged(Struct, frozen=True):
    """The files of a source changed."""

    source: int
    changes: Sequence[FileChange]


class FolderChanged(Struct, frozen=True):
    """A file or folder appeared in an opened folder, or disappeared from it."""


Report: TypeAlias = Callable[[object], None]


class Watcher:
    """Detects changes. Called by one thread at a time; only `target` is set by others."""

    def __init__(self) -> None:
        self.target = WatchTarget()
        self._front = ChangeDetector()
        self._others = ChangeDetector()
        self._folders = ChangeDetector()
        self._known = WatchTarget()
        self._transcript: Transcript | None = None
        self._is_new_target = False
        self._others_polled = monotonic()
        self._lock = Lock()

    def poll(self, report: Report, *, everywhere: bool = False) -> bool:
        """Report the changes since the last poll of the source in front, and of all others if `everywhere`.

        Returns whether the source in front surely changed.
        """
        self.take_stamps()
        with self._lock:
            target = self._known
            changes = self._front.poll()
            self._poll_transcript(target, changes, report)
            if changes:
                report(FilesChanged(target.source, changes))
            if everywhere or monotonic() - self._others_polled >= PERIOD_OF_OTHERS:
                self._poll_others(target, report)
            return any(each.sure for each in changes)

    def take_stamps(self) -> None:
        """Take stamps before reading, so that what is read is at least as new."""
        with self._lock:
            if self.target is not self._known:
                self._watch(self.target)

    def _watch(self, target: WatchTarget) -> None:
        before, self._known = self._known, target
        self._transcript, self._is_new_target = target.transcript, True
        self._front.watch(target.paths, target.since.get(target.source, target.begun))
        if before.others is not target.others:
            since = min((target.since.get(number, target.begun) for number in target.others), default=None)
            self._others.watch((path for paths in target.others.values() for path in paths), since)
        self._folders.watch(target.folders, target.begun)

    def _poll_transcript(self, target: WatchTarget, changes: Sequence[FileChange], report: Report) -> None:
        known = self._transcript
        if not isinstance(known, GrowingTranscript) or known.file is None or not known.complete:
            return
        kinds = [each.kind for each in changes if each.path == known.file]
        is_new, self._is_new_target = self._is_new_target, False
        if not kinds and not is_new:
            return
        at = monotonic()
        try:
            now = known.again()
        except (OSError, ReadError):
            return
        self._transcript = now
        if now is not known:
            only = all(kind is FileChangeKind.APPENDED for kind in kinds) and len(now) >= len(known)
            report(TranscriptGrown(TranscriptGrowth(target.source, target.profile, now, at), only))

    def _poll_others(self, target: WatchTarget, report: Report) -> None:
        self._others_polled = monotonic()
        changes = self._others.poll()
        for number, paths in target.others.items() if changes else ():
            known = set(paths)
            own = [each for each in changes if each.path in known or each.path.parent in known]
            if own:
                report(FilesChanged(number, own))
        if self._folders.poll():
            report(FolderChanged())


class WatchFiles(Job, frozen=True, eq=False):
    """Poll until cancelled. Nothing waits for the thread, because a disk may hang."""

    group: ClassVar[str] = "watching"
    endless: ClassVar[bool] = True
    watcher: Watcher

    def run(self, control: JobControl) -> None:
        changed_at = 0.0
        pause = PERIOD
        while not control.stopped:
            sleep(pause)
            now = monotonic()
            if self.watcher.poll(control.partial):
                changed_at, pause = now, PERIOD
            else:
                pause = PERIOD_AFTER_CHANGE if now - changed_at < RECENT else PERIOD


class PollFiles(Job, frozen=True, eq=False):
    """Look for changes in all sources now, without waiting for the next time."""

    group: ClassVar[str] = "looking for changes"
    exclusive: ClassVar[bool] = False
    watcher: Watcher

    def run(self, control: JobControl) -> None:
        self.watcher.poll(control.partial, everywhere=True)
