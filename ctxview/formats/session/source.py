"""The sources of this format: one session folder, and a folder of sessions with its index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from msgspec.structs import replace

from ctxview.analysis.tokens import TokenCounter
from ctxview.analysis.wording import beginning
from ctxview.core.edits import WritePolicy
from ctxview.core.findings import Finding, worst_first
from ctxview.core.origin import Origin
from ctxview.core.prompt import Prompt, PromptError
from ctxview.core.state import Block, ContextState, Gap, Ref, RefStatus, Tier
from ctxview.formats.interface import AS_ON_DISK, Abilities, Lens, OpenError, Progress, Reading, Revision
from ctxview.formats.kit.folder import FolderReading, SourceFolder
from ctxview.formats.kit.folder_source import FolderSource
from ctxview.formats.kit.history_passes import HistoryTokens, count_history, tallied
from ctxview.formats.kit.state_parts import count_blocks
from ctxview.formats.peek import Peek
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.format import is_session
from ctxview.formats.session.grammar import session_time
from ctxview.formats.session.held import RECENT, HeldSession
from ctxview.formats.session.history import WAL, SessionHistory
from ctxview.formats.session.model import Session, title_of
from ctxview.formats.session.parser import agent_of, read_session
from ctxview.formats.session.policy import policy_for
from ctxview.formats.session.profile import PROFILES, load_profile
from ctxview.formats.session.root import (
    SINGLE_NAMES,
    KnownSession,
    SessionRoot,
    channel_session,
    read_root,
    root_of,
)
from ctxview.formats.session.rules import check_all
from ctxview.formats.session.state import FORMAT, build_state
from ctxview.formats.session.state.inputs import SessionStateInputs
from ctxview.formats.session.state.timeline import build_timeline
from ctxview.formats.session.survey import last_look
from ctxview.formats.session.survey.analysis import SessionAnalysis
from ctxview.formats.session.transcript import MESSAGE_RECIPE


class RootSource(FolderSource):
    """A folder of sessions, or its `index`."""

    format = FORMAT
    profiles: Sequence[str] = PROFILES

    def __init__(self, path: Path, root: Path) -> None:
        super().__init__(path)
        self._root: SessionRoot = read_root(root)

    @property
    def folder(self) -> SourceFolder:
        return self._root.folder

    @property
    def title(self) -> str:
        folder = self._root.folder.root.absolute()
        return (
            f"sessions of {folder.parent.name}" if folder.name == "session" else f"sessions in {folder.name}"
        )

    @property
    def revisions(self) -> Sequence[Revision]:
        return (Revision("now", "index", self._root.folder.root / "index" / "list"),)

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

        found = rules.check_root(self._root, load_profile(lens.profile))
        return worst_first(tallied(list(found)))

    def findings_of(
        self,
        revision: int,  # noqa: ARG002 - there is only one revision
        lens: Lens,
        overlay: Mapping[str, bytes],  # noqa: ARG002 - nothing here can be drafted
    ) -> Sequence[Finding]:
        return self.findings(lens)

    def _state(self, lens: Lens) -> ContextState:
        tiers = (Tier("sessions", tuple(self._block(each) for each in self._root.sessions)),)
        refs = tuple(self._refs())
        current = self._root.current
        unnamed = "unreadable" if current.exists and not current.readable else "none"
        return ContextState(
            format=FORMAT,
            title=self.title,
            source=str(self._path),
            revision="now",
            tiers=tiers,
            refs=refs,
            missing=tuple(_gaps(refs)),
            counts=count_blocks(tiers, lens.counter),
            extra={"kind": "session index", "current": current.value or unnamed},
        )

    def _block(self, session: KnownSession) -> Block:
        listed = session.name in self._root.listed_names
        current = session.name == self._root.current.value
        time = session_time(session.updated_at)
        updated = f"{time:%Y-%m-%d %H:%M} UTC" if time is not None else session.updated_at
        words = (session.cwd, f"updated {updated}" if updated is not None else None)
        tags = (("current", current), ("not in index/list", self._root.list.readable and not listed))
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
            yield replace(ref, status=status, bytes=len(part.data or b""), text=beginning(part.text, 4000))

    def _ref(self, kind: str, name: str, target: str, origin: Origin) -> Ref:
        known = self._root.session(target) is not None
        status = RefStatus.RESOLVED if known else RefStatus.DANGLING
        return Ref(name, kind, target, status, None, None, (f"index/{kind}",), origin)


def _gaps(refs: Sequence[Ref]) -> Iterator[Gap]:
    for ref in refs:
        if ref.status is RefStatus.DANGLING:
            why = f"there is no session {ref.target}"
            yield Gap(ref.target, "a session", "error", "dangling", ref.used_by, why, ref.origin)


class SessionSource(FolderSource):
    """One session. Its files are read at the first look, and again after many other sessions were read."""

    format = FORMAT
    profiles: Sequence[str] = PROFILES

    def __init__(self, path: Path, opened: HeldSession | None = None) -> None:
        super().__init__(path)
        self._opened = opened
        self._tokens: dict[str, HistoryTokens] = {}
        self._counted: dict[str, HistoryTokens] = {}
        """Tokens that were counted when the history was shorter."""
        self._lock = Lock()

    @property
    def folder(self) -> SourceFolder:
        return self.session.folder

    @property
    def title(self) -> str:
        return title_of(agent_of(self._path), self._path.absolute().name)

    @property
    def abilities(self) -> Abilities:
        return Abilities(work=self, partial_writes=self, last_look=self, prompt=self)

    @property
    def session(self) -> Session:
        return self._open().session

    @property
    def history(self) -> SessionHistory:
        return self._open().history

    @property
    def revisions(self) -> Sequence[Revision]:
        """The last runs and compactions, and now; only now until the histories are read."""
        return self._open().past().revisions

    def policy(self, file: str) -> WritePolicy | None:
        name = SourceFolder(self._path).name_of(file)
        return policy_for(name) if name is not None else None

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        opened = self._open()
        analysis = opened.analysis(lens.profile)
        if overlay:
            return self._read(revision, lens, opened, analysis, self._drafted(opened, overlay))
        counted = lens.counter.name in self._tokens
        key = (revision, lens.profile, lens.counter.name, _tried_budget(lens), analysis.version, counted)
        return opened.readings.once(key, lambda: self._read(revision, lens, opened, analysis, opened.session))

    def findings(self, lens: Lens) -> Sequence[Finding]:
        opened = self._open()
        analysis = opened.analysis(lens.profile)
        analysis.finish()
        return self._findings(analysis, opened.session)

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Sequence[Finding]:  # noqa: ARG002 - all revisions have the same
        opened = self._open()
        session = self._drafted(opened, overlay) if overlay else opened.session
        return self._findings(opened.analysis(lens.profile), session)

    @property
    def targets(self) -> Sequence[str]:
        return ("model",)

    def prompt(self, revision: int, lens: Lens, target: str | None = None) -> Prompt:
        """Return the prompt of the next call after a revision. Raises `PromptError`."""
        from ctxview.formats.session.prompt import SessionPromptInputs, session_prompt

        if target not in (None, *self.targets):
            raise PromptError(f"a session is given to the model only, not to {target}")
        opened = self._open()
        points = opened.past().points
        is_past = 0 <= revision < len(points)
        last = points[revision].line if is_past else None
        profile = load_profile(lens.profile)
        messages = opened.history.messages
        return session_prompt(
            SessionPromptInputs(opened.session, messages, profile, lens.counter, last, is_past)
        )

    def has_work(self, lens: Lens) -> bool:
        analysis = self._open().analysis(lens.profile)
        return not analysis.small and not analysis.complete

    def work(self, lens: Lens, progress: Progress) -> None:
        """Read the histories, verify blobs, compare with the last look, store this one, count tokens."""
        opened = self._open()
        analysis = opened.analysis(lens.profile)
        done = analysis.advance(lambda: progress.cancelled, progress.report)
        # A state folder that cannot be written must not prevent reading.
        with suppress(OSError):
            analysis.remember()
        if done:
            self._count_tokens(opened.history, lens.counter, progress)

    @property
    def watched(self) -> Sequence[Path]:
        """The histories, the state, and after reading all small files and the folders of new files."""
        hot = (self._path / name for name in (MESSAGES, EVENTS, "state", "updated_at", WAL))
        opened = self._opened
        # Copied at once, because another thread may be reading more files.
        known = tuple(opened.session.folder.seen.stamps) if opened is not None else ()
        return tuple(dict.fromkeys((*hot, self._path, *map(Path, known))))

    @property
    def held_back(self) -> Sequence[Path]:
        opened = self._opened
        if opened is None:
            return ()
        names = (*opened.history.held_back, *opened.session.folder.seen.held_back)
        return tuple(self._path / name for name in names)

    def again(self) -> SessionSource:
        """Open the session again; raises `OpenError`. Grown histories are read from their old end."""
        if not self._path.is_dir():
            raise OpenError(f"{self._path}: there is no such folder any more")
        opened = self._opened
        if opened is None:
            return SessionSource(self._path)
        now, grown = opened.again()
        if now is opened:
            return self
        made = SessionSource(self._path, now)
        RECENT.use(made)
        if grown:
            made._counted = {**self._counted, **self._tokens}
        return made

    def release(self) -> bool:
        """Forget what was read, unless long work would be lost."""
        opened = self._opened
        if opened is not None and not opened.expendable:
            return False
        self._opened = None
        return True

    def remember(self, lens: Lens) -> None:
        self._open().analysis(lens.profile).remember()

    def forget(self) -> None:
        last_look.forget(last_look.observation_key(self.session))

    def _open(self) -> HeldSession:
        with self._lock:
            opened = self._opened = self._opened or HeldSession.at(self._path)
        RECENT.use(self)
        return opened

    def _drafted(self, opened: HeldSession, overlay: Mapping[str, bytes]) -> Session:
        before = opened.session.folder.seen.parts
        return read_session(SourceFolder(self._path, overlay, FolderReading(before=before)))

    def _count_tokens(self, history: SessionHistory, counter: TokenCounter, progress: Progress) -> None:
        if counter.name not in self._tokens:

            def report(done: int, total: int) -> None:
                progress.report(done, total, "counting tokens")

            counted = count_history(
                history.messages,
                counter,
                MESSAGE_RECIPE,
                lambda: progress.cancelled,
                report,
                self._counted.get(counter.name),
            )
            if counted is not None:
                self._tokens[counter.name] = counted

    def _read(
        self,
        revision: int,
        lens: Lens,
        opened: HeldSession,
        analysis: SessionAnalysis,
        session: Session,
    ) -> Reading:
        facts, past = analysis.facts(session), opened.past()
        as_of = past.points[revision] if 0 <= revision < len(past.points) else None
        label = past.revisions[revision if as_of is not None else -1].label
        counted = self._tokens.get(lens.counter.name)
        inputs = SessionStateInputs(
            facts, lens.counter, as_of, _tried_budget(lens), counted.roles if counted is not None else None
        )
        state = build_state(inputs, label, build_timeline(facts))
        return Reading(state, self._findings(analysis, session))

    def _findings(self, analysis: SessionAnalysis, session: Session) -> tuple[Finding, ...]:
        found: Iterator[Finding] = iter((*check_all(analysis.facts(session)), *analysis.findings(session)))
        return worst_first(tallied(found))


def open_session(peek: Peek) -> SessionSource | RootSource:
    """Open a session, one of its files, or a folder of sessions; raises `OpenError`."""
    path, folder = peek.path, peek if peek.is_folder else peek.parent
    if is_session(folder):
        return SessionSource(folder.path)
    if (root := root_of(folder.path)) is not None:
        return RootSource(path, root)
    if not peek.is_folder and path.name not in (MESSAGES, EVENTS):
        raise OpenError(f"{path}: this is neither a session nor a file of a session")
    return SessionSource(folder.path)


def _tried_budget(lens: Lens) -> int | None:
    tried = lens.options.get("budget")
    return tried if isinstance(tried, int) else None
