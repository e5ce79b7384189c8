"""The `Source` of a session: small files read at once, histories opened, the rest found out by `work`.

Every call may come from another thread. Nothing is written into what is inspected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import Lock

from ctxview.analysis.tokens import TokenCounter
from ctxview.edits import WritePolicy
from ctxview.files import observations
from ctxview.files.reading import Unreadable, read_beneath
from ctxview.findings import Finding, worst_first
from ctxview.formats.answers import Answers
from ctxview.formats.interface import AS_ON_DISK, CannotOpen, Lens, Progress, Reading, Revision
from ctxview.formats.session.checks import check_look
from ctxview.formats.session.columnar import WAL
from ctxview.formats.session.finding_tally import tallied
from ctxview.formats.session.folder import FolderLook, SessionFolder
from ctxview.formats.session.history import History, open_history
from ctxview.formats.session.history_tokens import HistoryTokens, count_history
from ctxview.formats.session.knowledge import Knowledge
from ctxview.formats.session.model import Session
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.formats.session.observing import key_of
from ctxview.formats.session.profiles import PROFILES, load_profile
from ctxview.formats.session.read import read_again, read_session
from ctxview.formats.session.state import FORMAT, build_state
from ctxview.formats.session.state_timeline import build_revisions, build_timeline, moments_of
from ctxview.formats.session.survey import Survey
from ctxview.formats.session.view import AsOf, View
from ctxview.formats.session.write import policy_for
from ctxview.quick_dataclass import dataclass

MOST_READINGS = 32


class SessionSource:
    """One session folder."""

    format = FORMAT
    profiles: Sequence[str] = PROFILES

    def __init__(self, path: Path, look: tuple[Session, History] | None = None) -> None:
        self._path = path
        self._session: Session = read_session(SessionFolder(path)) if look is None else look[0]
        self._folder = self._session.folder
        self._history: History = open_history(self._session) if look is None else look[1]
        self._known: dict[str, Knowledge] = {}
        self._readings: Answers[Reading] = Answers(MOST_READINGS)
        self._moments: _Past | None = None
        self._tokens: dict[str, HistoryTokens] = {}
        self._counted: dict[str, HistoryTokens] = {}
        """What was counted when the history was shorter."""
        self._lock = Lock()

    @property
    def path(self) -> Path:
        return self._path

    @cached_property
    def title(self) -> str:
        return self._session.title

    @property
    def session(self) -> Session:
        return self._session

    @property
    def history(self) -> History:
        return self._history

    @property
    def revisions(self) -> Sequence[Revision]:
        """The last runs and compactions, and now. While the histories are not read there is only now."""
        return self._past().revisions

    def bytes_of(self, file: str) -> bytes:
        """Any file of the session; raises `Unreadable`, also for a history too large to be held whole."""
        name = self._folder.name_of(file)
        if name is None:
            raise Unreadable(Path(file), "this file is no part of the session")
        part = self._session.parts.get(name)
        if part is not None and part.data is not None:
            return part.data
        return read_beneath(self._path, name)

    def policy(self, file: str) -> WritePolicy | None:
        name = self._folder.name_of(file)
        return policy_for(name) if name is not None else None

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        known = self._knowledge(lens.profile)
        if overlay:
            folder = SessionFolder(self._path, overlay, FolderLook(before=self._folder.seen.parts))
            return self._read(revision, lens, known, read_session(folder))
        counted = lens.counter.name in self._tokens
        key = (revision, lens.profile, lens.counter.name, lens.budget, known.version, counted)
        return self._readings.once(key, lambda: self._read(revision, lens, known, self._session))

    def findings(self, lens: Lens) -> Sequence[Finding]:
        known = self._knowledge(lens.profile)
        known.finish()
        return self._findings(known, self._session)

    def has_work(self, lens: Lens) -> bool:
        known = self._knowledge(lens.profile)
        return not known.small and not known.complete

    def work(self, lens: Lens, progress: Progress) -> None:
        """Read the histories, verify blobs, compare with the last look, remember this one, count tokens."""
        known = self._knowledge(lens.profile)
        done = known.advance(lambda: progress.cancelled, progress.report)
        # Not being able to remember must not keep anybody from looking.
        with suppress(OSError):
            known.remember()
        if done:
            self._count_tokens(lens.counter, progress)

    @cached_property
    def watched(self) -> Sequence[Path]:
        """The histories, the state, everything small, and the folders in which something may appear."""
        hot = (self._path / name for name in (MESSAGES, EVENTS, "state", "updated_at", WAL))
        return tuple(dict.fromkeys((*hot, self._path, *self._folder.seen.stamps)))

    @property
    def held_back(self) -> Sequence[Path]:
        names = (*self._history.held_back, *self._folder.seen.held_back)
        return tuple(self._path / name for name in names)

    def again(self) -> SessionSource:
        """Raises `CannotOpen`. Histories that only grew are read and counted from where they ended."""
        if not self._path.is_dir():
            raise CannotOpen(f"{self._path}: there is no such folder any more")
        session = read_again(self._session)
        history, grown = self._history.again(session)
        if session is self._session and history is self._history:
            return self
        made = SessionSource(self._path, (session, history))
        with self._lock:
            known, tokens = dict(self._known), {**self._counted, **self._tokens}
        made._known = {name: each.again(session, history, grown=grown) for name, each in known.items()}
        if grown:
            made._counted = tokens
        return made

    def remember(self, lens: Lens) -> None:
        self._knowledge(lens.profile).remember()

    def forget(self) -> None:
        observations.forget(key_of(self._session))

    def _knowledge(self, profile: str | None) -> Knowledge:
        name = profile or PROFILES[0]
        with self._lock:
            known = self._known.get(name)
        if known is None:
            made = Knowledge(self._session, self._history, load_profile(name))
            with self._lock:
                known = self._known.setdefault(name, made)
        if known.small:
            known.finish()
        return known

    def _count_tokens(self, counter: TokenCounter, progress: Progress) -> None:
        if counter.name not in self._tokens:

            def report(done: int, total: int) -> None:
                progress.report(done, total, "counting tokens")

            counted = count_history(
                self._history.messages,
                counter,
                lambda: progress.cancelled,
                report,
                self._counted.get(counter.name),
            )
            if counted is not None:
                self._tokens[counter.name] = counted

    def _past(self) -> _Past:
        """The moments of the session, known as soon as one profile's survey is: they are the same for all."""
        self._knowledge(None)
        with self._lock:
            surveys = [known.survey for known in self._known.values() if known.survey is not None]
            survey = surveys[0] if surveys else None
            if self._moments is None or self._moments.survey is not survey:
                self._moments = _Past(survey, moments_of(survey), build_revisions(self._session, survey))
            return self._moments

    def _read(self, revision: int, lens: Lens, known: Knowledge, session: Session) -> Reading:
        look, past = known.look(session), self._past()
        as_of = past.moments[revision] if 0 <= revision < len(past.moments) else None
        label = past.revisions[revision if as_of is not None else -1].label
        counted = self._tokens.get(lens.counter.name)
        view = View(look, lens.counter, as_of, lens.budget, counted.roles if counted is not None else None)
        state = build_state(view, label, build_timeline(look))
        return Reading(state, self._findings(known, session))

    def _findings(self, known: Knowledge, session: Session) -> tuple[Finding, ...]:
        found: Iterator[Finding] = iter((*check_look(known.look(session)), *known.findings(session)))
        return worst_first(tallied(found))


@dataclass(frozen=True)
class _Past:
    """What one survey tells of the moments a person may go back to."""

    survey: Survey | None
    moments: Sequence[AsOf]
    revisions: Sequence[Revision]
