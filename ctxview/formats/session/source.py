"""The sources of this format: one session folder, and a folder of sessions with its index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import Lock

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.tokens import TokenCounter
from ctxview.core.edits import WritePolicy
from ctxview.core.findings import Finding, worst_first
from ctxview.core.origin import Origin
from ctxview.core.state import Block, ContextState, Gap, Ref, RefStatus, Tier
from ctxview.files.reading import ReadError, read_beneath
from ctxview.formats.interface import AS_ON_DISK, Lens, OpenError, Progress, Reading, Revision
from ctxview.formats.kit.file_rules import report_partly_read
from ctxview.formats.kit.file_source import Memo
from ctxview.formats.kit.folder import FolderReading, SourceFolder
from ctxview.formats.kit.history_passes import HistoryTokens, count_history, tallied
from ctxview.formats.kit.state_parts import count_blocks
from ctxview.formats.session.grammar import EVENTS, MESSAGES, session_time
from ctxview.formats.session.history import WAL, SessionHistory, open_history
from ctxview.formats.session.model import Session
from ctxview.formats.session.parser import read_again, read_session
from ctxview.formats.session.policy import policy_for
from ctxview.formats.session.profile import PROFILES, load_profile
from ctxview.formats.session.root import SINGLE_NAMES, KnownSession, SessionRoot, channel_session, read_root
from ctxview.formats.session.rules import check_all
from ctxview.formats.session.state import FORMAT, build_state
from ctxview.formats.session.state.inputs import HistoryPoint, SessionStateInputs
from ctxview.formats.session.state.timeline import build_revisions, build_timeline, history_points
from ctxview.formats.session.survey import last_look
from ctxview.formats.session.survey.analysis import SessionAnalysis
from ctxview.formats.session.survey.facts import Survey
from ctxview.formats.session.transcript import MESSAGE_RECIPE

MOST_READINGS = 32


class RootSource:
    """A folder of sessions, or its `index`."""

    format = FORMAT
    profiles: Sequence[str] = PROFILES

    def __init__(self, path: Path, root: Path) -> None:
        self._path = path
        self._root: SessionRoot = read_root(root)

    @property
    def path(self) -> Path:
        return self._path

    @property
    def title(self) -> str:
        folder = self._root.folder.root.absolute()
        return (
            f"sessions of {folder.parent.name}" if folder.name == "session" else f"sessions in {folder.name}"
        )

    @property
    def revisions(self) -> Sequence[Revision]:
        return (Revision("now", "index", self._root.folder.root / "index" / "list"),)

    def bytes_of(self, file: str) -> bytes:
        name = self._root.folder.name_of(file)
        if name is None:
            raise ReadError(Path(file), "this file is not part of the folder")
        return read_beneath(self._root.folder.root, name)

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - only the runtime writes an index
        return None

    @property
    def watched(self) -> Sequence[Path]:
        root, index = self._root.folder.root, self._root.folder.root / "index"
        pointers = (Path(part.file) for part in (*self._root.pointers, *self._root.channels))
        states = (root / each.name / word for each in self._root.sessions for word in ("state", "updated_at"))
        folders = (root, index, *(index / name for name in (*SINGLE_NAMES, "channel")))
        return (index / "list", index / "current", *folders, *states, *pointers)

    def again(self) -> RootSource:
        root = self._root.folder.root
        if not root.is_dir():
            raise OpenError(f"{root}: there is no such folder any more")
        made = RootSource(self._path, root)
        return self if made._root == self._root else made

    def reading(
        self,
        revision: int,  # noqa: ARG002 - there is only one revision
        lens: Lens,
        overlay: Mapping[str, bytes] = AS_ON_DISK,  # noqa: ARG002 - nothing here can be drafted
    ) -> Reading:
        return Reading(self._state(lens), tuple(self.findings(lens)))

    def findings(self, lens: Lens) -> Sequence[Finding]:
        from ctxview.formats.session import rules

        found = [*rules.check_root(self._root, load_profile(lens.profile))]
        if self._root.left_out:
            folder = str(self._root.folder.root)
            found += report_partly_read(folder, f"{self._root.left_out:,} more sessions were not read")
        return worst_first(tallied(found))

    def _state(self, lens: Lens) -> ContextState:
        tiers = (Tier("sessions", tuple(self._block(each) for each in self._root.sessions)),)
        refs = tuple(self._refs())
        return ContextState(
            format=FORMAT,
            title=self.title,
            source=str(self._path),
            revision="now",
            tiers=tiers,
            refs=refs,
            missing=tuple(_gaps(refs)),
            counts=count_blocks(tiers, lens.counter),
            extra={"kind": "session index", "current": self._root.current.value or "none"},
        )

    def _block(self, session: KnownSession) -> Block:
        listed = session.name in {each.name for each in self._root.listed}
        current = session.name == self._root.current.value
        time = session_time(session.updated_at)
        updated = f"{time:%Y-%m-%d %H:%M} UTC" if time is not None else session.updated_at
        words = (session.cwd, f"updated {updated}" if updated is not None else None)
        tags = (("current", current), ("not in index/list", self._root.list.exists and not listed))
        return Block(
            id=session.name,
            tier="sessions",
            type="session" if session.complete else "no messages",
            text="\n".join(filter(None, words)),
            tags=tuple(tag for tag, holds in tags if holds),
            state=session.state,
            origin=Origin(self._root.folder.file(session.name)),
        )

    def _refs(self) -> Iterator[Ref]:
        for each in self._root.listed:
            yield self._ref("list", f"line {each.origin.line}", each.name, each.origin)
        for part in (self._root.current, *self._root.pointers):
            if part.value is not None:
                kind, _, key = part.name.removeprefix("index/").rpartition("/")
                yield self._ref(kind or key, key, part.value, self._root.origin(part))
        for part in self._root.channels:
            name, target = part.name.rpartition("/")[2], channel_session(part)
            ref = self._ref("channel", name, target or "?", self._root.origin(part))
            status = ref.status if target is not None else RefStatus.UNKNOWN
            yield replace(ref, status=status, bytes=len(part.data or b""), text=part.text[:4000])

    def _ref(self, kind: str, name: str, target: str, origin: Origin) -> Ref:
        known = self._root.session(target) is not None
        status = RefStatus.RESOLVED if known else RefStatus.DANGLING
        return Ref(name, kind, target, status, None, None, (f"index/{kind}",), origin)


def _gaps(refs: Sequence[Ref]) -> Iterator[Gap]:
    for ref in refs:
        if ref.status is RefStatus.DANGLING:
            why = f"there is no session {ref.target}"
            yield Gap(ref.target, "a session", "error", "dangling", ref.used_by, why, ref.origin)


class SessionSource:
    format = FORMAT
    profiles: Sequence[str] = PROFILES

    def __init__(self, path: Path, facts: tuple[Session, SessionHistory] | None = None) -> None:
        self._path = path
        self._session: Session = read_session(SourceFolder(path)) if facts is None else facts[0]
        self._folder = self._session.folder
        self._history: SessionHistory = open_history(self._session) if facts is None else facts[1]
        self._analyses: dict[str, SessionAnalysis] = {}
        self._readings: Memo[Reading] = Memo(MOST_READINGS)
        self._past_points: _Past | None = None
        self._tokens: dict[str, HistoryTokens] = {}
        self._counted: dict[str, HistoryTokens] = {}
        """Tokens that were counted when the history was shorter."""
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
    def history(self) -> SessionHistory:
        return self._history

    @property
    def revisions(self) -> Sequence[Revision]:
        """The last runs and compactions, and now; only now until the histories are read."""
        return self._past().revisions

    def bytes_of(self, file: str) -> bytes:
        """Return the bytes of any file of the session; raises `ReadError`, also for a too large history."""
        name = self._folder.name_of(file)
        if name is None:
            raise ReadError(Path(file), "this file is not part of the session")
        part = self._session.parts.get(name)
        if part is not None and part.data is not None:
            return part.data
        return read_beneath(self._path, name)

    def policy(self, file: str) -> WritePolicy | None:
        name = self._folder.name_of(file)
        return policy_for(name) if name is not None else None

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        analysis = self._analysis(lens.profile)
        if overlay:
            folder = SourceFolder(self._path, overlay, FolderReading(before=self._folder.seen.parts))
            return self._read(revision, lens, analysis, read_session(folder))
        counted = lens.counter.name in self._tokens
        key = (revision, lens.profile, lens.counter.name, lens.budget, analysis.version, counted)
        return self._readings.once(key, lambda: self._read(revision, lens, analysis, self._session))

    def findings(self, lens: Lens) -> Sequence[Finding]:
        analysis = self._analysis(lens.profile)
        analysis.finish()
        return self._findings(analysis, self._session)

    def has_work(self, lens: Lens) -> bool:
        analysis = self._analysis(lens.profile)
        return not analysis.small and not analysis.complete

    def work(self, lens: Lens, progress: Progress) -> None:
        """Read the histories, verify blobs, compare with the last look, store this one, count tokens."""
        analysis = self._analysis(lens.profile)
        done = analysis.advance(lambda: progress.cancelled, progress.report)
        # A state folder that cannot be written must not prevent reading.
        with suppress(OSError):
            analysis.remember()
        if done:
            self._count_tokens(lens.counter, progress)

    @cached_property
    def watched(self) -> Sequence[Path]:
        """The histories, the state, all small files, and the folders in which files may appear."""
        hot = (self._path / name for name in (MESSAGES, EVENTS, "state", "updated_at", WAL))
        return tuple(dict.fromkeys((*hot, self._path, *self._folder.seen.stamps)))

    @property
    def held_back(self) -> Sequence[Path]:
        names = (*self._history.held_back, *self._folder.seen.held_back)
        return tuple(self._path / name for name in names)

    def again(self) -> SessionSource:
        """Open the session again; raises `OpenError`. Grown histories are read from their old end."""
        if not self._path.is_dir():
            raise OpenError(f"{self._path}: there is no such folder any more")
        session = read_again(self._session)
        history, grown = self._history.again(session)
        if session is self._session and history is self._history:
            return self
        made = SessionSource(self._path, (session, history))
        with self._lock:
            analyses, tokens = dict(self._analyses), {**self._counted, **self._tokens}
        made._analyses = {name: each.again(session, history, grown=grown) for name, each in analyses.items()}
        if grown:
            made._counted = tokens
        return made

    def remember(self, lens: Lens) -> None:
        self._analysis(lens.profile).remember()

    def forget(self) -> None:
        last_look.forget(last_look.observation_key(self._session))

    def _analysis(self, profile: str | None) -> SessionAnalysis:
        name = profile or PROFILES[0]
        with self._lock:
            analysis = self._analyses.get(name)
        if analysis is None:
            made = SessionAnalysis(self._session, self._history, load_profile(name))
            with self._lock:
                analysis = self._analyses.setdefault(name, made)
        if analysis.small:
            analysis.finish()
        return analysis

    def _count_tokens(self, counter: TokenCounter, progress: Progress) -> None:
        if counter.name not in self._tokens:

            def report(done: int, total: int) -> None:
                progress.report(done, total, "counting tokens")

            counted = count_history(
                self._history.messages,
                counter,
                MESSAGE_RECIPE,
                lambda: progress.cancelled,
                report,
                self._counted.get(counter.name),
            )
            if counted is not None:
                self._tokens[counter.name] = counted

    def _past(self) -> _Past:
        """Return the past revisions, from the survey of any profile: they are the same for all."""
        self._analysis(None)
        with self._lock:
            surveys = [each.survey for each in self._analyses.values() if each.survey is not None]
            survey = surveys[0] if surveys else None
            if self._past_points is None or self._past_points.survey is not survey:
                revisions = build_revisions(self._session, survey)
                self._past_points = _Past(survey, history_points(survey), revisions)
            return self._past_points

    def _read(self, revision: int, lens: Lens, analysis: SessionAnalysis, session: Session) -> Reading:
        facts, past = analysis.facts(session), self._past()
        as_of = past.points[revision] if 0 <= revision < len(past.points) else None
        label = past.revisions[revision if as_of is not None else -1].label
        counted = self._tokens.get(lens.counter.name)
        inputs = SessionStateInputs(
            facts, lens.counter, as_of, lens.budget, counted.roles if counted is not None else None
        )
        state = build_state(inputs, label, build_timeline(facts))
        return Reading(state, self._findings(analysis, session))

    def _findings(self, analysis: SessionAnalysis, session: Session) -> tuple[Finding, ...]:
        found: Iterator[Finding] = iter((*check_all(analysis.facts(session)), *analysis.findings(session)))
        return worst_first(tallied(found))


class _Past(Struct, frozen=True):
    """The past revisions that one survey found."""

    survey: Survey | None
    points: Sequence[HistoryPoint]
    revisions: Sequence[Revision]
