"""The `Source` of this format: one file, a folder of files as rounds, or an agent's `.agent` folder.

Holds the bytes as they were read; computes each reading on demand and caches it. Every call may come from
another thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ctxview.core import revision_signs as signs
from ctxview.core.findings import Finding, worst_first
from ctxview.core.origin import Origin
from ctxview.core.prompt import PromptError
from ctxview.formats.interface import AS_ON_DISK, Abilities, Lens, Reading, Revision, Source
from ctxview.formats.kit.file_rules import report_invalid_texts, report_partly_read, report_unreadable
from ctxview.formats.kit.file_source import MOST_FILES, FileSource, Memo
from ctxview.formats.peek import Peek
from ctxview.formats.snapshot.answers import answered_across, file_turns, load_beside, stored_in
from ctxview.formats.snapshot.format import log_folder
from ctxview.formats.snapshot.model import Snapshot, SnapshotRole
from ctxview.formats.snapshot.order import FileTurn, order_files
from ctxview.formats.snapshot.parser import SnapshotFile, SnapshotFileKind, parse_cached
from ctxview.formats.snapshot.profile import PROFILES, Profile, load_profile
from ctxview.formats.snapshot.source_files import Loaded, file_revision, load_files

if TYPE_CHECKING:
    from ctxview.core.edits import WritePolicy
    from ctxview.core.prompt import Prompt
    from ctxview.core.state import Event
    from ctxview.formats.snapshot.agent_store import StoreReading
    from ctxview.formats.snapshot.runtime.merge import ReplyOutcome
    from ctxview.formats.snapshot.state.timeline import RoundFacts


MOST_READINGS = 512
MOST_DRAFTS = 4


def open_snapshots(peek: Peek) -> SnapshotSource:
    """Open a file, a folder of rounds or an `.agent` folder; raises `OpenError`."""
    loaded, store = load_files(peek)
    return SnapshotSource(peek.path, loaded, store, load_beside(peek.path, loaded))


class SnapshotSource(FileSource[SnapshotFile]):
    """The ordered files of one path, with the agent's store when there is one."""

    format = "snapshot"
    profiles: Sequence[str] = PROFILES

    def __init__(
        self,
        path: Path,
        loaded: Loaded,
        store_folder: Path | None = None,
        beside: Loaded | None = None,
    ) -> None:
        """`beside` are the files of another folder that the replies of this one may answer."""
        super().__init__(path, loaded)
        self._store_folder = store_folder
        self._given: Mapping[int, Snapshot] = {}
        """What replies answer that is in none of these files, by revision."""
        self._beside = beside
        self._outcomes: Memo[ReplyOutcome | None] = Memo(MOST_READINGS)
        self._readings: Memo[Reading] = Memo(MOST_READINGS)
        self._all_findings: Memo[tuple[Finding, ...]] = Memo()
        self._timelines: Memo[tuple[Event, ...]] = Memo()
        self._findings_by_files: Memo[tuple[Finding, ...]] = Memo(MOST_FILES)
        self._findings_by_content: Memo[tuple[Finding, ...]] = Memo(MOST_DRAFTS)
        """By content: a draft is checked when it is shown, before it is saved, and again as a file."""
        files = loaded.files
        opened = [file.found for file in files]
        order = order_files(file_turns(files))
        self._placed, self._is_history = order.placed, order.is_history
        self._files = [files[placed.index] for placed in self._placed]
        self._opened = [opened[placed.index] for placed in self._placed]
        if beside is not None:
            self._given = self._unanswered(answered_across((self._turns, file_turns(beside.files)))[0])

    @property
    def abilities(self) -> Abilities:
        return replace(super().abilities, file_scope=self, replies=self, prompt=self)

    @cached_property
    def title(self) -> str:
        folder = self._path.resolve()
        return folder.parent.name if folder.name == ".agent" else folder.name

    @cached_property
    def revisions(self) -> Sequence[Revision]:
        if not self._files:
            folder = self._store_folder or self._path
            return (Revision("memory store", "store", folder / "memory.db", sign=signs.LOG),)
        opened = zip(self._files, self._opened, strict=True)
        plain = [
            file_revision(file, found, self.received_for(place), by_round=self._is_history)
            for place, (file, found) in enumerate(opened)
        ]
        uses = Counter(revision.label for revision in plain)
        named = [
            replace(each, label=f"{each.label} ({each.file.name})") if uses[each.label] > 1 else each
            for each in plain
        ]
        return tuple(
            replace(
                each,
                follows=named[of].label if of is not None else None,
                # The file before it may be a reply, which is not a state to continue.
                independent=not self._is_history
                or (place > 0 and of is None and self._opened[place].snapshot is not None),
            )
            for place, (each, of) in enumerate(zip(named, self._before, strict=True))
        )

    def received_for(self, revision: int) -> Snapshot | None:
        """Return the snapshot that a reply answers; None for other files and when it is not known."""
        answers = self._placed[revision].answers
        if answers is not None:
            return stored_in(self._opened[answers].snapshot)
        return self._given.get(revision)

    def answering(self, source: Source, revision: int) -> SnapshotSource:
        if not isinstance(source, SnapshotSource) or not source._files:
            return self
        given = stored_in(source._opened[revision].snapshot)
        return self._answering(dict.fromkeys(range(len(self._files)), given) if given is not None else {})

    def paired_with(self, others: Sequence[Source]) -> Sequence[Source]:
        own = [each for each in (self, *others) if isinstance(each, SnapshotSource)]
        answered = answered_across([each._turns for each in own])
        paired = {id(each): each._answering(given) for each, given in zip(own, answered, strict=True)}
        return [paired.get(id(each), each) for each in (self, *others)]

    def _answering(self, given: Mapping[int, Snapshot]) -> SnapshotSource:
        if not (given := self._unanswered(given)):
            return self
        new = SnapshotSource(self._path, self._loaded, self._store_folder, self._beside)
        new._given = {**new._given, **given}
        return new

    def _unanswered(self, given: Mapping[int, Snapshot]) -> dict[int, Snapshot]:
        """Keep what is given to replies that answer none of the files of this source."""
        return {
            place: snapshot
            for place, snapshot in given.items()
            if self._opened[place].kind is SnapshotFileKind.REPLY and self._placed[place].answers is None
        }

    @property
    def _turns(self) -> Sequence[FileTurn]:
        return file_turns(self._files)

    def policy(self, file: str) -> WritePolicy | None:
        """Return None for derived views, prompts, the store, and unreadable files."""
        from ctxview.formats.snapshot.policy import SnapshotPolicy
        from ctxview.formats.snapshot.state import may_be_written

        known = self._places.get(file)
        return SnapshotPolicy(file) if known is not None and may_be_written(self._opened[known]) else None

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        if self._draft(revision, overlay) is not None:
            return self._read(revision, lens, overlay)
        key = (revision, lens.profile, lens.options.get("mode"), lens.counter.name)
        return self._readings.once(key, lambda: self._read(revision, lens, overlay))

    def findings(self, lens: Lens) -> Sequence[Finding]:
        key = (lens.profile, lens.options.get("mode"))
        return self._all_findings.once(key, lambda: self._find_all(lens))

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> tuple[Finding, ...]:
        profile = load_profile(lens.profile)
        if not self._files:
            return tuple(self._store_findings(profile))
        draft = self._draft(revision, overlay)
        if draft is None:
            return worst_first(self._findings_on_disk(revision, lens, profile))
        return worst_first(self._file_findings(revision, self._file(revision, lens, draft), profile))

    @property
    def targets(self) -> Sequence[str]:
        return ("model",)

    def prompt(self, revision: int, lens: Lens, target: str | None = None) -> Prompt:
        """Return the prompt of a snapshot, or the one that a reply answers. Raises `PromptError`."""
        from ctxview.formats.snapshot.prompt import PromptOptions, file_prompt

        if target not in (None, *self.targets):
            raise PromptError(f"a snapshot is given to the model only, not to {target}")
        if not self._files:
            raise PromptError("a memory store alone has no prompt: no snapshot says what it gave")
        if (problem := self._files[revision].problem) is not None:
            raise PromptError(problem)
        answers = self._placed[revision].answers
        if answers is not None:
            answered = self.prompt(answers, lens, target)
            return replace(answered, notes=("The prompt that this reply answers.", *answered.notes))
        options = PromptOptions(load_profile(lens.profile), lens.counter, self._agent_folder(revision))
        return file_prompt(self._opened[revision], self._given.get(revision), options)

    @property
    def made_of(self) -> Sequence[Path]:
        """The `.agent` folder only, when the path is a workspace around it."""
        return (self._store_folder or self._path,)

    @cached_property
    def watched(self) -> Sequence[Path]:
        """The folders, the files of the store, then the other files, the latest first: agents write those."""
        folders = (self._path, log_folder(self._path, self._store_folder))
        store = self._stored.files if self._store_folder is not None else ()
        files = (file.path for file in reversed(self._files))
        beside = [file.path for file in self._beside.files] if self._beside is not None else ()
        return tuple(dict.fromkeys((*folders, *store, *files, *self._loaded.foreign, *beside)))

    def again(self) -> SnapshotSource:
        """Read changed files only and keep the findings of the others. Raises `OpenError`."""
        found, store = load_files(Peek(self._path), self._loaded)
        same_store = store == self._store_folder and (store is None or self._stored.is_current())
        beside = load_beside(self._path, found, self._beside)
        if same_store and (found, beside) == (self._loaded, self._beside):
            return self
        new = SnapshotSource(self._path, found, store, beside)
        new._findings_by_files = self._findings_by_files
        new._findings_by_content = self._findings_by_content
        if same_store:
            new._stored = self._stored
        return new

    def _agent_folder(self, revision: int) -> Path | None:
        """Return the `.agent` folder, which is of the time of the last revision; None without one."""
        return self._store_folder if revision == len(self._files) - 1 else None

    def _draft(self, revision: int, overlay: Mapping[str, bytes]) -> bytes | None:
        return overlay.get(str(self._files[revision].path)) if self._files else None

    def _read(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Reading:
        from ctxview.formats.snapshot.state import SnapshotStateOptions, build_state, build_store_state
        from ctxview.formats.snapshot.state.timeline import build_timeline

        profile = load_profile(lens.profile)
        if not self._files:
            state = build_store_state(self._stored.store, self.title, str(self._path), lens.counter)
            return Reading(state, self.findings_of(revision, lens, overlay))
        file = self._file(revision, lens, self._draft(revision, overlay))
        timeline = self._timelines.once(
            profile.name, lambda: build_timeline(list(self._round_facts(profile)), profile)
        )
        options = SnapshotStateOptions(
            title=self.title,
            source=str(self._path),
            revision=self.revisions[revision].label,
            profile=profile,
            counter=lens.counter,
            store=self._stored.store if self._store_folder is not None else None,
            limited_by=self.received_for(revision) or self._stored_before(revision),
            timeline=timeline,
            agent_folder=self._agent_folder(revision),
            received=self.received_for(revision),
        )
        state = build_state(file, options)
        if not self._is_history:
            note = f"{len(self._files)} files that are not rounds of one history"
            state = replace(state, extra={**state.extra, "folder": note})
        if self._loaded.left_out is not None:
            from ctxview.formats.kit.state_parts import left_out_gap

            gap = left_out_gap("files", self._loaded.left_out, Origin(str(self._path)))
            state = replace(state, missing=(*state.missing, gap))
        return Reading(state, self.findings_of(revision, lens, overlay))

    def _file(self, revision: int, lens: Lens, data: bytes | None) -> SnapshotFile:
        """Return the revision's file, or the draft `data` of it, in the mode of the lens.

        The snapshot of a reply has the round of what it answers.
        """
        enabled = lens.options.get("mode") != "disabled"
        found = self._opened[revision]
        if data is not None:
            found = parse_cached(str(self._files[revision].path), data, enabled)
        if found.reply is not None and found.reply.enabled is not enabled:
            found = replace(found, reply=replace(found.reply, enabled=enabled))
        received = self.received_for(revision)
        if received is None or found.snapshot is None:
            return found
        return replace(found, snapshot=replace(found.snapshot, answered_round=received.round))

    def _findings_on_disk(self, revision: int, lens: Lens, profile: Profile) -> tuple[Finding, ...]:
        """Return the findings of a revision as it is on disk, cached until a file they depend on changes."""
        answers = self._placed[revision].answers
        beside = (self._place_stored_before(revision), answers)
        serials = tuple(self._files[place].serial for place in beside if place is not None)
        shape = tuple(place is None for place in beside)
        key = (self._files[revision].serial, serials, shape, profile.name, lens.options.get("mode"))

        def check() -> tuple[Finding, ...]:
            return tuple(self._file_findings(revision, self._file(revision, lens, None), profile))

        if self._agent_folder(revision) is not None or revision in self._given:
            return check()
        return self._findings_by_files.once(key, check)

    def _file_findings(self, revision: int, file: SnapshotFile, profile: Profile) -> Iterator[Finding]:
        from ctxview.formats.snapshot import rules

        loaded = self._files[revision]
        if loaded.problem is not None:
            yield from report_unreadable(str(loaded.path), loaded.problem)
            return
        mode = file.reply.enabled if file.reply is not None else None
        answered = file.snapshot.answered_round if file.snapshot is not None else None
        content = (file.file, file.data, profile.name, mode, answered)
        yield from self._findings_by_content.once(content, lambda: tuple(rules.check_file(file, profile)))
        received = self.received_for(revision)
        if received is not None and file.snapshot is not None and file.error is None:
            yield from rules.check_exchange(received, file.snapshot, profile)
        following = stored_in(file.snapshot)
        previous = self._stored_before(revision)
        if following is not None and previous is not None and following.role is SnapshotRole.STORED:
            yield from rules.check_succession(previous, following, profile)
        if self._agent_folder(revision) is not None:
            yield from self._store_findings(profile)

    def _stored_before(self, revision: int) -> Snapshot | None:
        """Return the stored snapshot before a revision."""
        place = self._place_stored_before(revision)
        return stored_in(self._opened[place].snapshot) if place is not None else None

    def _find_all(self, lens: Lens) -> tuple[Finding, ...]:
        profile = load_profile(lens.profile)
        found: list[Finding] = []
        if self._loaded.left_out is not None:
            found += report_partly_read(str(self._path), self._loaded.left_out)
        if not self._files:
            found += self._store_findings(profile)
        for revision in range(len(self._files)):
            found += self._findings_on_disk(revision, lens, profile)
        return worst_first(found)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {str(file.path): place for place, file in enumerate(self._files)}

    @cached_property
    def _stored(self) -> StoreReading:
        from ctxview.formats.snapshot.agent_store import StoreReading

        return StoreReading(self._store_folder or self._path)

    def _store_findings(self, profile: Profile) -> Iterator[Finding]:
        from ctxview.formats.snapshot import rules

        snapshots = (each.snapshot for each in reversed(self._opened))
        latest = next(filter(None, map(stored_in, snapshots)), None)
        for file, reason in self._stored.store.problems:
            yield from report_unreadable(file, reason)
        for file, tables in self._stored.store.invalid_texts.items():
            yield from report_invalid_texts(file, tables)
        yield from rules.check_store(self._stored.store, latest, profile)

    def _place_stored_before(self, revision: int) -> int | None:
        if not self._is_history:
            return None
        for place in range(revision - 1, -1, -1):
            found = stored_in(self._opened[place].snapshot)
            if found is not None and found.role is SnapshotRole.STORED:
                return place
        return None

    def _outcome(self, revision: int, profile: Profile) -> ReplyOutcome | None:
        """Return what the runtime makes of a reply on disk; None when it is not known what it answers."""
        from ctxview.formats.snapshot.runtime.merge import outcome_of

        received, file = self.received_for(revision), self._opened[revision]
        if received is None:
            return None
        accepted = file.snapshot if file.error is None else None
        key = (revision, profile.name)
        return self._outcomes.once(key, lambda: outcome_of(received, accepted, profile))

    def _round_facts(self, profile: Profile) -> Iterator[RoundFacts]:
        from ctxview.formats.snapshot.state.timeline import RoundFacts

        for place, (revision, before) in enumerate(zip(self.revisions, self._before, strict=True)):
            file, outcome = self._opened[place], self._outcome(place, profile)
            snapshot = outcome.kept if outcome is not None and file.snapshot is not None else file.snapshot
            compared = self._opened[before].snapshot if before is not None else None
            origin = file.snapshot.origin() if file.snapshot is not None else Origin(file.file, start=0)
            yield RoundFacts(revision.label, revision.kind, origin, snapshot, compared)

    @cached_property
    def _before(self) -> Sequence[int | None]:
        """The place before each file: what a reply answers, otherwise the last snapshot of the same role."""
        return [each.follows if each.answers is None else each.answers for each in self._placed]
