"""The long work on one session under one profile: survey, blob hashes, comparison, text checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import inf
from threading import Lock
from time import monotonic, time
from typing import Protocol

from ctxview.core.findings import Effect, Finding
from ctxview.files.change_detector import SETTLES_AFTER
from ctxview.files.line_file import never_cancelled
from ctxview.files.strict_json.values import as_texts
from ctxview.formats.kit.history import Cancelled
from ctxview.formats.kit.history_passes import TextPass
from ctxview.formats.session.history import SessionHistory
from ctxview.formats.session.model import Session
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.store.blobs import BlobFacts, all_blobs, blob_bytes, examine
from ctxview.formats.session.survey.facts import SessionFacts, Survey
from ctxview.formats.session.survey.last_look import (
    LookComparison,
    Observation,
    compare_looks,
    identity_of,
    observation_key,
    recall,
    recall_moved,
    remember,
)
from ctxview.formats.session.survey.surveyor import Surveyor
from ctxview.formats.session.transcript import checked_text

LARGEST_IMMEDIATE = 1024 * 1024
"""Up to so many bytes of history and blobs are read at once; more is left to `work`."""
REMEMBER_EVERY = 10.0
"""The least seconds between two stored looks."""


class WorkReport(Protocol):
    """Receives the progress of a named step."""

    def __call__(self, done: int, total: int, what: str, /) -> None: ...


def _no_report(_done: int, _total: int, _what: str, /) -> None:
    """Ignore the progress of work that is done at once."""


class SessionAnalysis:
    """The results so far for one session under one profile."""

    def __init__(self, session: Session, history: SessionHistory, profile: Profile) -> None:
        self._session = session
        self._history = history
        self._profile = profile
        self._blobs: dict[str, BlobFacts] = {}
        self._surveyor: Surveyor | None = None
        self._texts = TextPass(history.streams, checked_text)
        self._before: Observation | None = None
        """The observation of the previous look; None at the first, which recalls the stored one."""
        self._earlier_findings: tuple[Finding, ...] = ()
        """Findings of earlier comparisons, which stay true even if the files are restored."""
        self._remembered = -inf
        self._comparison: LookComparison | None = None
        self._compared = False
        self._working = Lock()

    def again(self, session: Session, history: SessionHistory, *, grown: bool) -> SessionAnalysis:
        """Return the analysis for a later look, with this look to compare and all results that still hold."""
        made = SessionAnalysis(session, history, self._profile)
        made._before = self._comparison.to_remember if self._comparison is not None else self._before
        made._earlier_findings, made._remembered = tuple(self._succession(self._session)), self._remembered
        before, now = {blob.name: blob for blob in all_blobs(self._session)}, time()
        made._blobs = {
            blob.name: self._blobs[blob.name]
            for blob in all_blobs(session)
            if blob.name in self._blobs
            and before.get(blob.name) == blob
            and now - blob.entry.modified > SETTLES_AFTER
        }
        if grown:
            made._surveyor = self._surveyor.on(history) if self._surveyor is not None else None
            made._texts = self._texts.on(history.streams)
        return made

    @cached_property
    def _key(self) -> str:
        return observation_key(self._session)

    @property
    def small(self) -> bool:
        """Whether the rest of the work is short enough to do at once."""
        surveyed = self._surveyor.left if self._surveyor is not None else self._history.size
        blobs = sum(blob.entry.size for blob in all_blobs(self._session) if blob.name not in self._blobs)
        return max(surveyed, self._texts.left) + blobs <= LARGEST_IMMEDIATE

    @property
    def expendable(self) -> bool:
        """Whether a new analysis finds the same at once: the session is small, or no work was done."""
        size = self._history.size + blob_bytes(self._session)
        begun = self._surveyor is not None or bool(self._blobs)
        return not self._earlier_findings and (size <= LARGEST_IMMEDIATE or not begun)

    @property
    def survey(self) -> Survey | None:
        return self._surveyor.result if self._surveyor is not None else None

    @property
    def version(self) -> tuple[bool, int, bool, bool]:
        """A value that changes whenever more is known."""
        return self.survey is not None, len(self._blobs), self._texts.complete, self._compared

    @property
    def complete(self) -> bool:
        return self.survey is not None and self._compared and self._texts.complete

    def facts(self, session: Session) -> SessionFacts:
        """Return the facts of the session, or of a draft of it, as far as they are known."""
        return SessionFacts(session, self._history, self._profile, self.survey, dict(self._blobs))

    def findings(self, session: Session) -> list[Finding]:
        """Return the findings in the texts of the histories, and those since the last look."""
        return [*self._texts.findings, *self._succession(session)]

    def finish(self) -> None:
        """Do all work now."""
        self.advance(never_cancelled, _no_report)

    def finish_survey(self) -> None:
        """Read the histories now, which is what past revisions need, and leave the rest."""
        with self._working:
            self._advance_survey(never_cancelled, _no_report)

    def _advance_survey(self, cancelled: Cancelled, report: WorkReport) -> bool:
        return (
            self._count_lines(cancelled, report)
            and self._examine(cancelled, report)
            and self._survey(cancelled, report)
        )

    def advance(self, cancelled: Cancelled, report: WorkReport) -> bool:
        """Continue until all is known or `cancelled` returns True; return whether all is known."""
        with self._working:
            return (
                self._advance_survey(cancelled, report)
                and self._compare(cancelled, report)
                and self._texts.advance(
                    cancelled, lambda done, size: report(done, size, "looking for secrets")
                )
            )

    def remember(self) -> None:
        """Store this look for the next one, unless that would hide a loss; raises `OSError`.

        A loss is reported at every look until the user forgets the session.
        """
        if self._comparison is None or monotonic() - self._remembered < REMEMBER_EVERY:
            return
        if not any(finding.effect is Effect.DELETED for finding in self._succession(self._session)):
            identity = identity_of(self.facts(self._session))
            remember(self._key, self._comparison.to_remember, identity)
            self._remembered = monotonic()

    def _succession(self, session: Session) -> Iterator[Finding]:
        """Yield the changes between looks that must not happen."""
        from ctxview.formats.session import rules

        yield from self._earlier_findings
        if self._comparison is not None:
            yield from rules.check_succession(self.facts(session), self._comparison)

    def _count_lines(self, cancelled: Cancelled, report: WorkReport) -> bool:
        """Count lines first: it is quick, and the user may search for a line."""
        for stream in (self._history.messages, self._history.events):
            stream.index(cancelled, lambda done, size: report(done, size, "counting lines"))
        return not cancelled()

    def _examine(self, cancelled: Cancelled, report: WorkReport) -> bool:
        blobs, total, done = all_blobs(self._session), blob_bytes(self._session), 0
        for blob in blobs:
            if cancelled():
                return False
            if blob.name not in self._blobs:
                self._blobs[blob.name] = examine(self._session.folder, blob, self._profile)
            done += blob.entry.size
            report(done, total, "verifying hashes")
        return True

    def _survey(self, cancelled: Cancelled, report: WorkReport) -> bool:
        wanted = wanted_events(self._session, self._blobs)
        if self._surveyor is None:
            from ctxview.formats.session.rules import LINE_RULES

            self._surveyor = Surveyor(self._history, self._profile, LINE_RULES, wanted)
        self._surveyor.add_wanted(wanted, cancelled)
        return self._surveyor.advance(
            cancelled, lambda done, total: report(done, total, "reading the histories")
        )

    def _compare(self, cancelled: Cancelled, report: WorkReport) -> bool:
        if self._compared:
            return True
        report(0, 1, "comparing with the last look")
        facts = self.facts(self._session)
        before = self._before or recall(self._key) or recall_moved(identity_of(facts))
        self._comparison = compare_looks(facts, cancelled, before)
        self._compared = not cancelled()
        return self._compared


def wanted_events(session: Session, blobs: Mapping[str, BlobFacts]) -> frozenset[str]:
    """Return the event ids in both indexes and in referring chunks, whose lines the survey notes."""
    names = {name for record in session.swap.index.records if (name := record.text("event")) is not None}
    for record in session.dedup.index.records:
        refs = as_texts(record.members.get("refs"))
        names.update(ref.removeprefix("tool:") for ref in refs if ref.startswith("tool:"))
    for facts in blobs.values():
        if facts.reference is not None:
            names.update(filter(None, (facts.reference.start, facts.reference.end)))
    return frozenset(names)
