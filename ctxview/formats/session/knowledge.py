"""What is found out about a session by work: the survey, the blobs, the texts, what changed since last time.

It can be stopped anywhere and goes on from there. Nothing is written but, when asked for, what was seen.
"""

from __future__ import annotations

from threading import Lock
from typing import Protocol

from ctxview.files.lines import never
from ctxview.files.observations import recall, remember
from ctxview.findings import Effect, Finding
from ctxview.formats.session.blobs import BlobFacts, all_blobs, blob_bytes, examine
from ctxview.formats.session.history import Cancelled, History
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import Session
from ctxview.formats.session.observing import Comparison, key_of, observe
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.survey import Survey, Surveyor
from ctxview.formats.session.texts import TextPass
from ctxview.formats.session.wanted import wanted_events

SMALL = 1024 * 1024
"""So many bytes of history and blobs are looked at right away; more is left to `work`."""


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
        self._comparison: Comparison | None = None
        self._compared = False
        self._working = Lock()

    @property
    def small(self) -> bool:
        return self._history.size + blob_bytes(self._session) <= SMALL

    @property
    def survey(self) -> Survey | None:
        return self._surveyor.result if self._surveyor is not None else None

    @property
    def version(self) -> tuple[bool, int, bool, bool]:
        """Changes whenever more is known."""
        return self.survey is not None, len(self._blobs), self._texts.complete, self._compared

    def look(self, session: Session) -> Look:
        """A look at the session, or a draft of it, with what is known so far."""
        return Look(session, self._history, self._profile, self.survey, dict(self._blobs))

    def findings(self, session: Session) -> list[Finding]:
        """What the long work found: in the texts of the histories, and since the last look."""
        from ctxview.formats.session import rules

        found = list(self._texts.findings)
        if self._comparison is not None:
            found += rules.check_succession(self.look(session), self._comparison)
        return found

    def finish(self) -> None:
        """Find out everything, now."""
        self.advance(never, lambda _done, _total, _what: None)

    def advance(self, cancelled: Cancelled, told: Told) -> bool:
        """Go on until all is known, or until somebody cancels; whether all is known."""
        with self._working:
            return (
                self._examine(cancelled, told)
                and self._survey(cancelled, told)
                and self._compare(cancelled, told)
                and self._texts.advance(cancelled, lambda done, size: told(done, size, "looking for secrets"))
            )

    def remember(self) -> None:
        """Keep what was seen for the next look, unless that would hide a loss; raises `OSError`.

        A loss is told at every look until somebody says that it was meant.
        """
        from ctxview.formats.session import rules

        if self._comparison is None:
            return
        found = rules.check_succession(self.look(self._session), self._comparison)
        if not any(finding.effect is Effect.DELETED for finding in found):
            remember(key_of(self._session), self._comparison.kept)

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
        if self._surveyor is None:
            from ctxview.formats.session.rules import check_line

            profile = self._profile
            wanted = wanted_events(self._session, self._blobs)
            self._surveyor = Surveyor(self._history, profile, lambda line: check_line(line, profile), wanted)
        return self._surveyor.advance(
            cancelled, lambda done, total: told(done, total, "reading the histories")
        )

    def _compare(self, cancelled: Cancelled, told: Told) -> bool:
        if self._compared:
            return True
        told(0, 1, "comparing with the last look")
        self._comparison = observe(self.look(self._session), cancelled, recall(key_of(self._session)))
        self._compared = not cancelled()
        return self._compared
