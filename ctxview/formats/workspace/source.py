"""The source of a workspace: one revision, read at the first look; its histories are read as long work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from ctxview.analysis.tokens import ESTIMATES, exact_counter
from ctxview.core.edits import WritePolicy
from ctxview.core.findings import Finding, worst_first
from ctxview.core.prompt import Prompt
from ctxview.files.change_detector import stamp_of
from ctxview.files.line_file import never_cancelled
from ctxview.formats.interface import (
    AS_ON_DISK,
    Abilities,
    Hurry,
    Lens,
    OpenError,
    Progress,
    Reading,
    Revision,
)
from ctxview.formats.kit.file_source import Memo
from ctxview.formats.kit.folder import EntryKind, FolderReading, SourceFolder
from ctxview.formats.kit.folder_source import FolderSource
from ctxview.formats.kit.history_passes import tallied
from ctxview.formats.peek import Peek
from ctxview.formats.workspace.assembly import ENCODING, MODES, TokenMemo
from ctxview.formats.workspace.duplicates import DuplicateMap
from ctxview.formats.workspace.editing import MODEL, PERSON, policy_of
from ctxview.formats.workspace.facts import AskedSettings, WorkspaceFacts, wanted_values
from ctxview.formats.workspace.format import REPOSITORY_FILES, REPOSITORY_FOLDERS, home_of
from ctxview.formats.workspace.history_checks import HistoryMessage
from ctxview.formats.workspace.model import BOOTSTRAP, ContextDocument, Workspace
from ctxview.formats.workspace.parser import CONFIG, DATABASE, read_workspace
from ctxview.formats.workspace.profile import PROFILES, load_profile
from ctxview.formats.workspace.prompt import build_prompt
from ctxview.formats.workspace.repository import Repository
from ctxview.formats.workspace.state import FORMAT, WorkspaceStateInputs, build_state
from ctxview.formats.workspace.state.timeline import build_revisions, earlier_bytes
from ctxview.formats.workspace.survey import SMALL, HistoryStreams, SurveyPass, open_streams
from ctxview.formats.workspace.transcript import workspace_transcript


def open_workspace(peek: Peek) -> WorkspaceSource:
    """Open a workspace, or the one that a file belongs to; raises `OpenError`."""
    if peek.is_folder:
        return WorkspaceSource(peek.path, folder=SourceFolder.at(peek))
    home = home_of(peek.path)
    if home is None:
        raise OpenError(f"{peek.path}: this is not a file of a workspace")
    return WorkspaceSource(home[0])


class WorkspaceSource(FolderSource):
    """A workspace or the instructions of a repository."""

    format = FORMAT
    profiles: Sequence[str] = PROFILES
    targets: Sequence[str] = ()

    def __init__(
        self, path: Path, before: WorkspaceSource | None = None, *, folder: SourceFolder | None = None
    ) -> None:
        """`folder` has the files that were read to recognise the workspace, `before` those of a source."""
        super().__init__(path)
        self._duplicates: DuplicateMap = before._duplicates if before is not None else DuplicateMap()
        self._counts: dict[str, TokenMemo] = before._counts if before is not None else {}
        self._readings: Memo[Reading] = Memo(16)
        self._lock = Lock()
        earlier = before._read if before is not None else None
        folder = earlier[0].folder.again() if earlier is not None else folder or SourceFolder(path)
        self._unread = folder
        self._read: tuple[Workspace, HistoryStreams] | None = None
        self._survey: SurveyPass | None = None
        if before is not None and earlier is not None:
            workspace = read_workspace(folder, earlier[0])
            streams, changed = earlier[1].again(workspace)
            self._read = workspace, streams
            wanted = wanted_values(workspace)
            known = before._survey
            if known is not None and not changed and known.survey.complete and wanted <= known.survey.wanted:
                self._survey = known

    @property
    def workspace(self) -> Workspace:
        return self._open()[0]

    @property
    def folder(self) -> SourceFolder:
        return self.workspace.folder

    @property
    def revisions(self) -> Sequence[Revision]:
        return build_revisions(self.workspace, self._path)

    @property
    def abilities(self) -> Abilities:
        return Abilities(work=self, editors=self, partial_writes=self, file_scope=self, prompt=self)

    @property
    def made_of(self) -> Sequence[Path]:
        """The files to record: not the rest of a repository, and not the keys in the config of a home."""
        workspace = self.workspace
        names = {file.name.partition("/")[0] if workspace.is_home else file.name for file in workspace.files}
        if not workspace.is_home:
            folders = tuple(f"{each}/" for each in REPOSITORY_FOLDERS)
            names = {name for name in names if not name.startswith(folders)}
            names |= REPOSITORY_FILES.keys() | REPOSITORY_FOLDERS.keys()
        elif workspace.base or self.folder.entry(CONFIG).kind is not EntryKind.ABSENT:
            own = {*BOOTSTRAP, "HEARTBEAT.md", "CONTEXT.md", "memory", "skills", "events.jsonl"}
            names |= {
                "sessions",
                DATABASE,
                f"{DATABASE}-wal",
                *((workspace.base.rstrip("/"),) if workspace.base else own),
            }
        else:
            return (self._path,)
        return tuple(self._path / name for name in sorted(names))

    @property
    def editors(self) -> Sequence[str]:
        return (MODEL, PERSON) if self.workspace.is_home else (PERSON,)

    def policy(self, file: str) -> WritePolicy | None:
        return self.policy_of(file, self.editors[0])

    def policy_of(self, file: str, editor: str) -> WritePolicy | None:
        name = self.folder.name_of(file)
        return policy_of(name, editor) if name is not None else None

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        past = earlier_bytes(self.workspace, revision)
        if overlay and not past:
            return self._reading(revision, lens, overlay)
        done = self._survey is not None and self._survey.survey.complete
        asked = asked_settings(lens)
        key = (revision, lens.profile, lens.counter.name, asked, lens.editor, lens.hurry, done)
        return self._readings.once(key, lambda: self._reading(revision, lens, past))

    def _reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Reading:
        facts = self._facts(lens, overlay)
        linked = lens.hurry is not Hurry.LINKS
        editor = lens.editor or self.editors[0]
        transcript = workspace_transcript(facts.workspace, self._open()[1])
        state = build_state(
            WorkspaceStateInputs(
                facts, lens.counter, editor, transcript, self.title, self.revisions, revision, linked
            )
        )
        if lens.hurry is not Hurry.NONE:
            return Reading(state, (), judged=False, linked=linked)
        return Reading(state, self._check(facts))

    def findings(self, lens: Lens) -> Sequence[Finding]:
        self._pass().advance(never_cancelled)
        return self._check(self._facts(lens, AS_ON_DISK, figures=False))

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Sequence[Finding]:
        overlay = earlier_bytes(self.workspace, revision) or overlay
        return self._check(self._facts(lens, overlay))

    def prompt(self, revision: int, lens: Lens, target: str | None = None) -> Prompt:  # noqa: ARG002
        return build_prompt(self._facts(lens, earlier_bytes(self.workspace, revision)).assembly)

    def has_work(self, lens: Lens) -> bool:  # noqa: ARG002 - the histories are the same for every lens
        return not self._is_small and not self._pass().survey.complete

    def work(self, lens: Lens, progress: Progress) -> None:  # noqa: ARG002
        self._pass().advance(
            lambda: progress.cancelled,
            lambda done, total: progress.report(done, total, "reading the histories"),
        )

    @property
    def watched(self) -> Sequence[Path]:
        if self._read is None:
            return (self._path,)
        workspace, streams = self._read
        histories = [self._path / stream.name for stream in reversed(streams.streams)]
        database = [self._path / f"{DATABASE}-wal", self._path / DATABASE] if workspace.database else []
        return tuple(dict.fromkeys((*histories[:50], *database, *super().watched)))

    def again(self) -> WorkspaceSource:
        """Read the workspace again; raises `OpenError`. Unchanged files and results are kept."""
        if not self._path.is_dir():
            raise OpenError(f"{self._path}: there is no such folder any more")
        if self._read is None:
            return WorkspaceSource(self._path)
        workspace, streams = self._read
        if workspace.folder.seen.still_true() and not streams.again(workspace)[1]:
            return self
        return WorkspaceSource(self._path, self)

    def raw_messages(self, document: ContextDocument | None) -> list[HistoryMessage]:
        """Return the messages that a compaction of `document` is about; raises `ReadError`."""
        from ctxview.formats.workspace.compaction import raw_messages

        return raw_messages(*self._open(), document)

    def check_answer(self, new: Mapping[str, bytes], profile: str | None) -> Sequence[Finding]:
        """Return the findings of documents as they would be, after looking up all of their values."""
        # The answer follows the template, also in the first era, whose own documents had none.
        options = {"era": "B"} if self.workspace.era == "A" else {}
        facts = self._facts(Lens(ESTIMATES["bytes/4"], profile, options), new, figures=False, thorough=True)
        return self._check(facts)

    def _open(self) -> tuple[Workspace, HistoryStreams]:
        with self._lock:
            if self._read is None:
                workspace = read_workspace(self._unread)
                self._read = workspace, open_streams(workspace)
            return self._read

    @property
    def _is_small(self) -> bool:
        workspace, streams = self._open()
        stamp = stamp_of(self._path / DATABASE) if workspace.database is not None else None
        return streams.size + (stamp.size if stamp is not None else 0) <= SMALL

    def _pass(self) -> SurveyPass:
        workspace, streams = self._open()
        with self._lock:
            if self._survey is None:
                self._survey = SurveyPass(workspace, streams, wanted_values(workspace))
            return self._survey

    def _facts(
        self, lens: Lens, overlay: Mapping[str, bytes], *, figures: bool = True, thorough: bool = False
    ) -> WorkspaceFacts:
        """Return the facts; without `figures` only findings are wanted, and their counts are exact."""
        workspace = self.workspace
        if overlay:
            seen = FolderReading(before=workspace.folder.seen.parts)
            workspace = read_workspace(SourceFolder(self._path, overlay, seen), workspace)
        survey = self._survey
        if thorough or (self._is_small and lens.hurry is Hurry.NONE):
            survey = self._pass()
            wanted = wanted_values(workspace)
            if not wanted <= survey.survey.wanted:
                # A draft has values that were not looked for yet.
                survey = SurveyPass(workspace, self._open()[1], wanted)
            survey.advance(never_cancelled)
        done = survey.survey if survey is not None and survey.survey.complete else None
        count = self._counter(workspace, lens, figures=figures)
        return WorkspaceFacts(
            workspace,
            load_profile(lens.profile),
            asked_settings(lens),
            count,
            self._duplicates if not overlay else DuplicateMap(),
            Repository(self._path, may_be_nested=not workspace.is_home),
            done,
            datetime.now(UTC),
        )

    def _counter(self, workspace: Workspace, lens: Lens, *, figures: bool) -> TokenMemo:
        """Return the counter: the program's own for a home, which decides what fits, or an estimate."""
        counter = lens.counter
        if lens.hurry is not Hurry.NONE:
            counter = ESTIMATES["(bytes+3)/4"] if workspace.is_home and not counter.exact else counter
        elif workspace.is_home:
            counter = exact_counter(ENCODING)
        elif not figures:
            counter = exact_counter()
        return self._counts.setdefault(counter.name, TokenMemo(counter))

    def _check(self, facts: WorkspaceFacts) -> tuple[Finding, ...]:
        from ctxview.formats.workspace.rules import check_workspace

        return worst_first(tallied(check_workspace(facts)))


def asked_settings(lens: Lens) -> AskedSettings:
    """Return the options of a lens that this format knows; words of other formats are ignored."""
    window, mode, era = (lens.options.get(name) for name in ("window", "mode", "era"))
    return AskedSettings(
        era if era in ("A", "B", "C", "D") else None,
        window if isinstance(window, int) and window > 0 else None,
        mode if mode in MODES else None,
    )
