"""What is found out about a session by work: the survey, the blobs, the texts, what changed since last time.

It can be stopped anywhere and goes on from there. Nothing is written but, when asked for, what was seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from threading import Lock
from time import monotonic, time
from typing import Protocol

from ctxview.files.lines import never
from ctxview.files.observations import Observation, recall, remember
from ctxview.files.stamps import SETTLES_AFTER
from ctxview.findings import Effect, Finding
from ctxview.formats.session.blobs import BlobFacts, all_blobs, blob_bytes, examine
from ctxview.formats.session.history import Cancelled, History
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import Session
from ctxview.formats.session.observing import Comparison, key_of, observe
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.survey import Survey
from ctxview.formats.session.surveyor import Surveyor
from ctxview.formats.session.texts import TextPass
from ctxview.formats.session.wanted import wanted_events

SMALL = 1024 * 1024
"""So many bytes of history and blobs are looked at right away; more is left to `work`."""
SELDOM = 10.0
"""Seconds between two times that what was seen is kept for the next run of the program."""


class Told(Protocol):
    """Is told how far some named work has come."""

    def __call__(self, done: int, total: int, what: str, /) -> None: ...


class Knowledge:
    """What is known of one session under one profile."""

    def __init__(self, session: Session, history: History, profile: Profile) -> None:
        self._session = session
        self._history = history
        self._profile = profile
        self._blobs: dict[str, BlobFacts] = {}
        self._surveyor: Surveyor | None = None
        self._texts = TextPass(history)
        self._before: Observation | None = None
        """What the look before saw; at the very first look it is asked what was remembered."""
        self._broken: tuple[Finding, ...] = ()
        """What earlier looks found when they were compared: it happened, whatever is there now."""
        self._remembered = -inf
        self._comparison: Comparison | None = None
        self._compared = False
        self._working = Lock()

    def again(self, session: Session, history: History, *, grown: bool) -> Knowledge:
        """What is known at a later look: everything still true, and what this look saw, to compare with."""
        made = Knowledge(session, history, self._profile)
        made._before = self._comparison.kept if self._comparison is not None else self._before
        made._broken, made._remembered = tuple(self._succession(self._session)), self._remembered
        made._blobs = self._same_blobs(session)
        if grown:
            made._surveyor = self._surveyor.on(history) if self._surveyor is not None else None
            made._texts = self._texts.on(history)
        return made

    @property
    def small(self) -> bool:
        """Whether what is left to find out takes no time worth speaking of."""
        surveyed = self._surveyor.left if self._surveyor is not None else self._history.size
        blobs = sum(blob.entry.size for blob in all_blobs(self._session) if blob.name not in self._blobs)
        return max(surveyed, self._texts.left) + blobs <= SMALL

    @property
    def survey(self) -> Survey | None:
        return self._surveyor.result if self._surveyor is not None else None

    @property
    def version(self) -> tuple[bool, int, bool, bool]:
        """Changes whenever more is known."""
        return self.survey is not None, len(self._blobs), self._texts.complete, self._compared

    @property
    def complete(self) -> bool:
        """Whether nothing is left to find out."""
        return self.survey is not None and self._compared and self._texts.complete

    def look(self, session: Session) -> Look:
        """A look at the session, or a draft of it, with what is known so far."""
        return Look(session, self._history, self._profile, self.survey, dict(self._blobs))

    def findings(self, session: Session) -> list[Finding]:
        """What the long work found: in the texts of the histories, and since the last look."""
        return [*self._texts.findings, *self._succession(session)]

    def finish(self) -> None:
        """Find out everything, now."""
        self.advance(never, lambda _done, _total, _what: None)

    def advance(self, cancelled: Cancelled, told: Told) -> bool:
        """Go on until all is known, or until somebody cancels; whether all is known."""
        with self._working:
            return (
                self._count_lines(cancelled, told)
                and self._examine(cancelled, told)
                and self._survey(cancelled, told)
                and self._compare(cancelled, told)
                and self._texts.advance(cancelled, lambda done, size: told(done, size, "looking for secrets"))
            )

    def remember(self) -> None:
        """Keep what was seen for the next look, unless that would hide a loss; raises `OSError`.

        A loss is told at every look until somebody says that it was meant.
        """
        if self._comparison is None or monotonic() - self._remembered < SELDOM:
            return
        if not any(finding.effect is Effect.DELETED for finding in self._succession(self._session)):
            remember(key_of(self._session), self._comparison.kept)
            self._remembered = monotonic()

    def _succession(self, session: Session) -> Iterator[Finding]:
        """What became of the session from look to look that must not."""
        from ctxview.formats.session import rules

        yield from self._broken
        if self._comparison is not None:
            yield from rules.check_succession(self.look(session), self._comparison)

    def _same_blobs(self, session: Session) -> dict[str, BlobFacts]:
        before = {blob.name: blob for blob in all_blobs(self._session)}
        now = time()
        return {
            blob.name: self._blobs[blob.name]
            for blob in all_blobs(session)
            if blob.name in self._blobs
            and before.get(blob.name) == blob
            and now - blob.entry.modified > SETTLES_AFTER
        }

    def _count_lines(self, cancelled: Cancelled, told: Told) -> bool:
        """Before all else: it is quick, and somebody may be looking for a line."""
        for stream in (self._history.messages, self._history.events):
            stream.index(cancelled, lambda done, size: told(done, size, "counting lines"))
        return not cancelled()

    def _examine(self, cancelled: Cancelled, told: Told) -> bool:
        blobs, total, done = all_blobs(self._session), blob_bytes(self._session), 0
        for blob in blobs:
            if cancelled():
                return False
            if blob.name not in self._blobs:
                self._blobs[blob.name] = examine(self._session.folder, blob, self._profile)
            done += blob.entry.size
            told(done, total, "verifying hashes")
        return True

    def _survey(self, cancelled: Cancelled, told: Told) -> bool:
        wanted = wanted_events(self._session, self._blobs)
        if self._surveyor is None:
            from ctxview.formats.session.rules import check_line

            profile = self._profile
            self._surveyor = Surveyor(self._history, profile, lambda line: check_line(line, profile), wanted)
        self._surveyor.want(wanted, cancelled)
        return self._surveyor.advance(
            cancelled, lambda done, total: told(done, total, "reading the histories")
        )

    def _compare(self, cancelled: Cancelled, told: Told) -> bool:
        if self._compared:
            return True
        told(0, 1, "comparing with the last look")
        before = self._before or recall(key_of(self._session))
        self._comparison = observe(self.look(self._session), cancelled, before)
        self._compared = not cancelled()
        return self._compared
