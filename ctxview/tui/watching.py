"""Looks at the files of what is open, over and over, in a thread of its own, and posts what happened to them.

What to do about it is decided elsewhere (`following`). New messages of a transcript are so frequent, and so
cheap to see, that they are looked at here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic

from textual.message import Message

from ctxview.files.following import Follower, News, What
from ctxview.files.reading import Unreadable
from ctxview.quick_dataclass import dataclass
from ctxview.state import GrowingTranscript, Transcript
from ctxview.tui.loading import Post
from ctxview.tui.session_view import Growth

PERIOD = 0.1
"""Seconds between two looks at the source in front, so that what comes in a storm is shown together."""
SOON = 0.04
"""The same while something happened lately, but not just now: what comes alone is shown at once."""
LATELY = 10.0
SELDOM = 1.0
"""Seconds between two looks at the others."""


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What to look at. `since` tells of each source when it was read."""

    source: int = 0
    profile: str | None = None
    paths: Sequence[Path] = ()
    transcript: Transcript | None = None
    others: Mapping[int, Sequence[Path]] = field(default_factory=dict)
    folders: Sequence[Path] = ()
    since: Mapping[int, float] = field(default_factory=dict)
    begun: float = 0.0


@dataclass(frozen=True, slots=True)
class Grown:
    """Other messages in a transcript; `only` when there are just more of them."""

    growth: Growth
    only: bool


@dataclass(frozen=True, slots=True)
class Happened:
    """Something happened to the files of a source."""

    source: int
    news: Sequence[News]


@dataclass(frozen=True, slots=True)
class Appeared:
    """Something appeared in an opened folder, or left it."""


class OnDisk(Message):
    """Tells the interface's own thread what was seen on disk."""

    def __init__(self, seen: object) -> None:
        super().__init__()
        self.seen = seen

    def can_replace(self, message: Message) -> bool:
        """Of many growths the last tells all."""
        before = message.seen if isinstance(message, OnDisk) else None
        return (
            isinstance(self.seen, Grown)
            and isinstance(before, Grown)
            and before.only
            and before.growth.source == self.seen.growth.source
        )


class Watcher:
    """Called by one thread at a time; only `target` is set by others."""

    def __init__(self, post: Post) -> None:
        self.target = Target()
        self._post = post
        self._front = Follower()
        self._others = Follower()
        self._folders = Follower()
        self._known = Target()
        self._transcript: Transcript | None = None
        self._turned = False
        self._looked_elsewhere = monotonic()
        self._looking = Lock()

    def look(self, *, everywhere: bool = False) -> bool:
        """Posts what happened since the last look at the source in front, or anywhere.

        Says whether anything surely happened in front.
        """
        self.get_ready()
        with self._looking:
            target = self._known
            news = self._front.look()
            self._look_at_transcript(target, news)
            if news:
                self._post(OnDisk(Happened(target.source, news)))
            if everywhere or monotonic() - self._looked_elsewhere >= SELDOM:
                self._look_elsewhere(target)
            return any(each.sure for each in news)

    def get_ready(self) -> None:
        """Remembers how what is to be looked at is now; whatever is read after that is not older."""
        with self._looking:
            if self.target is not self._known:
                self._turn_to(self.target)

    def _turn_to(self, target: Target) -> None:
        before, self._known = self._known, target
        self._transcript, self._turned = target.transcript, True
        self._front.watch(target.paths, target.since.get(target.source, target.begun))
        if before.others is not target.others:
            since = min((target.since.get(number, target.begun) for number in target.others), default=None)
            self._others.watch((path for paths in target.others.values() for path in paths), since)
        self._folders.watch(target.folders, target.begun)

    def _look_at_transcript(self, target: Target, news: Sequence[News]) -> None:
        known = self._transcript
        if not isinstance(known, GrowingTranscript) or known.file is None or not known.complete:
            return
        told = [each.what for each in news if each.path == known.file]
        turned, self._turned = self._turned, False
        if not told and not turned:
            return
        at = monotonic()
        try:
            now = known.again()
        except (OSError, Unreadable):
            return
        self._transcript = now
        if now is not known:
            only = all(what is What.APPENDED for what in told) and len(now) >= len(known)
            self._post(OnDisk(Grown(Growth(target.source, target.profile, now, at), only)))

    def _look_elsewhere(self, target: Target) -> None:
        self._looked_elsewhere = monotonic()
        news = self._others.look()
        for number, paths in target.others.items() if news else ():
            known = set(paths)
            told = [each for each in news if each.path in known or each.path.parent in known]
            if told:
                self._post(OnDisk(Happened(number, told)))
        if self._folders.look():
            self._post(OnDisk(Appeared()))


class WatcherThread:
    """Makes a watcher look until it is stopped. Nobody waits for it: a disk may hang."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._stopped = Event()

    def start(self) -> None:
        Thread(target=self._run, name="watching", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        happened = 0.0
        pause = PERIOD
        while not self._stopped.wait(pause):
            now = monotonic()
            if self._watcher.look():
                happened, pause = now, PERIOD
            else:
                pause = SOON if now - happened < LATELY else PERIOD
