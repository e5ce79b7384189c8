"""What is held in memory of one session: its files, its histories, and the results of the work on them.

A source opens it when it is looked at. Only the sessions that were used last are held.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Final

from msgspec import Struct

from ctxview.files.recently_used import RecentlyUsed, Releasable
from ctxview.formats.interface import Reading, Revision
from ctxview.formats.kit.file_source import Memo
from ctxview.formats.kit.folder import SourceFolder
from ctxview.formats.session.history import SessionHistory, open_history
from ctxview.formats.session.model import Session
from ctxview.formats.session.parser import read_again, read_session
from ctxview.formats.session.profile import PROFILES, load_profile
from ctxview.formats.session.state.inputs import HistoryPoint
from ctxview.formats.session.state.timeline import build_revisions, history_points
from ctxview.formats.session.survey.analysis import SessionAnalysis
from ctxview.formats.session.survey.facts import Survey

MOST_READINGS: Final = 32
MOST_HELD: Final = 12
"""The sessions that are held in memory; one with long work done stays until it is closed."""

RECENT: Final = RecentlyUsed[Releasable](MOST_HELD)


class PastRevisionPoints(Struct, frozen=True):
    """The past revisions that one survey found."""

    survey: Survey | None
    points: Sequence[HistoryPoint]
    revisions: Sequence[Revision]


class HeldSession:
    """One session as it was read, and its analyses by profile."""

    def __init__(self, session: Session, history: SessionHistory) -> None:
        self.session = session
        self.history = history
        self.readings: Memo[Reading] = Memo(MOST_READINGS)
        self._analyses: dict[str, SessionAnalysis] = {}
        self._past: PastRevisionPoints | None = None
        self._lock = Lock()

    @classmethod
    def at(cls, path: Path) -> HeldSession:
        session = read_session(SourceFolder(path))
        return cls(session, open_history(session))

    def again(self) -> tuple[HeldSession, bool]:
        """Read the session again, histories from their old end; also return whether these only grew."""
        session = read_again(self.session)
        history, grown = self.history.again(session)
        if session is self.session and history is self.history:
            return self, grown
        made = HeldSession(session, history)
        with self._lock:
            analyses = dict(self._analyses)
        made._analyses = {name: each.again(session, history, grown=grown) for name, each in analyses.items()}
        return made, grown

    @property
    def expendable(self) -> bool:
        """Whether reading the session again gives the same at once."""
        with self._lock:
            return all(analysis.expendable for analysis in self._analyses.values())

    def analysis(self, profile: str | None) -> SessionAnalysis:
        """Return the analysis under a profile; a small session is analysed at once."""
        analysis = self._analysis(profile)
        if analysis.small:
            analysis.finish()
        return analysis

    def _analysis(self, profile: str | None) -> SessionAnalysis:
        name = profile or PROFILES[0]
        with self._lock:
            analysis = self._analyses.get(name)
        if analysis is None:
            made = SessionAnalysis(self.session, self.history, load_profile(name))
            with self._lock:
                analysis = self._analyses.setdefault(name, made)
        return analysis

    def past(self) -> PastRevisionPoints:
        """Return the past revisions, from the survey of any profile: they are the same for all."""
        analysis = self._analysis(None)
        if analysis.small:
            analysis.finish_survey()
        with self._lock:
            surveys = [each.survey for each in self._analyses.values() if each.survey is not None]
            survey = surveys[0] if surveys else None
            if self._past is None or self._past.survey is not survey:
                revisions = build_revisions(self.session, survey)
                self._past = PastRevisionPoints(survey, history_points(survey), revisions)
            return self._past
