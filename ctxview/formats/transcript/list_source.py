"""The source of a folder of sessions: a list, the newest first. Files are read in the background."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Final

from msgspec import Struct

from ctxview.analysis.wording import counted
from ctxview.core.edits import WritePolicy
from ctxview.core.figures import Figure, Reason, ReasonKind
from ctxview.core.findings import Finding, Severity
from ctxview.core.origin import Origin
from ctxview.core.state import Block, ContextState, Counts, Tier
from ctxview.files.reading import ReadError, read_bytes
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
from ctxview.formats.kit.file_rules import report_partly_read
from ctxview.formats.kit.state_parts import left_out_gap
from ctxview.formats.peek import Peek
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.format import NAME
from ctxview.formats.transcript.model import SUBAGENT_OF, PartKind
from ctxview.formats.transcript.opencode.source import OpenCodeSource
from ctxview.formats.transcript.opencode.store import SESSION_PREFIX, read_session, read_sessions
from ctxview.formats.transcript.profile import PROFILES
from ctxview.formats.transcript.session_files import (
    MOST_FILES,
    SessionFile,
    id_of,
    session_files,
    short_name,
)
from ctxview.formats.transcript.source import TranscriptSource

READ_AT_ONCE: Final = 40
"""The newest sessions that are read before the list is shown for the second time."""
TIER = "sessions"


class ListedSession(Struct, frozen=True):
    """A file of the list, with its name there, and what it says once it was read."""

    name: str
    file: SessionFile
    lead: int | None = None
    """The place of the session that started this sub-agent, when it is in the list."""
    headline: Headline | None = None
    problem: str | None = None


class SessionListSource:
    """A folder of sessions. Opening it looks at names and sizes only."""

    format = NAME
    profiles: Sequence[str] = PROFILES

    def __init__(self, path: Path, before: SessionListSource | None = None) -> None:
        self._path = path
        room = [MOST_FILES]
        found = session_files(path, room)
        self._files = tuple(each for each in found if not each.helper)
        self._helpers = len(found) - len(self._files)
        self._left_out = (
            f"only the first {MOST_FILES:,} files and folders were looked at" if room[0] < 0 else ""
        )
        self._known: dict[SessionFile, Headline | str] = {}
        self._looked_at: Sequence[SessionFile] = ()
        self._lock = Lock()
        if before is not None:
            files = set(self._files)
            with before._lock:
                self._known = {file: known for file, known in before._known.items() if file in files}

    @property
    def path(self) -> Path:
        return self._path

    @property
    def title(self) -> str:
        return f"sessions in {self._path.absolute().name}"

    @property
    def abilities(self) -> Abilities:
        return Abilities(work=self, listing=self)

    @property
    def revisions(self) -> Sequence[Revision]:
        return (Revision("now", "now", self._path),)

    def path_of(self, name: str) -> Path | None:
        at = self._places.get(name)
        return self._files[at].path if at is not None else None

    def look_at(self, name: str) -> None:
        at = self._places.get(name)
        self._looked_at = self._files[max(0, at - READ_AT_ONCE) : at + READ_AT_ONCE] if at is not None else ()

    def bytes_of(self, file: str) -> bytes:
        """Return one of the listed files. Raises `ReadError`."""
        if not any(str(each.path) == file for each in self._files):
            raise ReadError(Path(file), "this file is not in the list")
        if self._path.is_file():
            return read_session(Path(file)).documents[0][1]
        return read_bytes(Path(file))

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - sessions are the agent's own records
        return None

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:  # noqa: ARG002
        if lens.hurry is Hurry.NONE:
            for _ in self._read(self._files[:READ_AT_ONCE], lens):
                pass
        return Reading(self._state(), self.findings(lens))

    def findings(self, lens: Lens) -> tuple[Finding, ...]:  # noqa: ARG002 - each session has its own
        return tuple(report_partly_read(str(self._path), self._left_out)) if self._left_out else ()

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Sequence[Finding]:  # noqa: ARG002
        return self.findings(lens)

    def has_work(self, lens: Lens) -> bool:  # noqa: ARG002 - the files are the same for every lens
        return len(self._known) < len(self._files)

    def work(self, lens: Lens, progress: Progress) -> None:
        for done in self._read(self._files, lens):
            if progress.cancelled:
                return
            progress.report(done, len(self._files), "reading the sessions")

    @property
    def watched(self) -> Sequence[Path]:
        """The folder, and the newest sessions: those are the ones that grow."""
        if self._path.is_file():
            return (self._path, self._path.with_name(f"{self._path.name}-wal"))
        folders = dict.fromkeys(each.path.parent for each in self._files[:READ_AT_ONCE])
        return (self._path, *folders, *(each.path for each in self._files[:READ_AT_ONCE]))

    def again(self) -> SessionListSource:
        """List the folder again; what was read of unchanged files is kept. Raises `OpenError`."""
        if not self._path.exists():
            raise OpenError(f"{self._path}: there is no such folder any more")
        made = SessionListSource(self._path, self)
        return self if made._files == self._files else made

    def _read(self, files: Sequence[SessionFile], lens: Lens) -> Iterator[int]:
        """Read the sessions that are not known yet; yield the number of those that are done."""
        with self._lock:
            new = [file for file in files if file not in self._known]
        stored = read_sessions([file.path for file in new]) if new and self._path.is_file() else None
        waiting = dict.fromkeys(reversed(new))
        while waiting:
            file = self._next_of(waiting, in_order=stored is not None)
            try:
                if stored is not None:
                    source: TranscriptSource | OpenCodeSource = OpenCodeSource(file.path, next(stored))
                elif file.path.name.startswith(SESSION_PREFIX):
                    source = OpenCodeSource(file.path)
                else:
                    source = TranscriptSource(file.path)
                found: Headline | str = headline_of(source.outline(lens))
            except (OpenError, ReadError) as error:
                found = str(error).removeprefix(f"{file.path}: ")
            except StopIteration:
                found = "the store could not be read any more"
            with self._lock:
                self._known[file] = found
            yield len(files) - len(waiting)

    def _next_of(self, waiting: dict[SessionFile, None], *, in_order: bool) -> SessionFile:
        """Take the next session from those that wait, the last first, but one that is looked at before."""
        seen = () if in_order else self._looked_at
        file = next((each for each in seen if each in waiting), None)
        if file is None:
            return waiting.popitem()[0]
        del waiting[file]
        return file

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """The place of each session in the list, by the name that it has there."""
        names = [short_name(each) for each in self._files]
        count = Counter(names)
        return {
            name if count[name] == 1 else str(file.path.relative_to(self._path)): at
            for at, (file, name) in enumerate(zip(self._files, names, strict=True))
        }

    @cached_property
    def _by_path(self) -> Mapping[Path, int]:
        """The places of all files."""
        return {each.path: at for at, each in enumerate(self._files)}

    @cached_property
    def _by_id(self) -> Mapping[str, int]:
        """The places of sessions by the ids in the names of their files."""
        ids = ((id_of(each), at) for at, each in enumerate(self._files) if not each.child)
        return {name: at for name, at in ids if name is not None}

    def _listed(self) -> Iterator[ListedSession]:
        for file, name in zip(self._files, self._places, strict=True):
            known = self._known.get(file)
            lead = self._by_path.get(file.parent) if file.parent is not None else None
            if isinstance(known, Headline):
                lead = self._by_id.get(known.parent) if lead is None and known.parent is not None else lead
                yield ListedSession(name, file, lead, headline=known)
            else:
                yield ListedSession(name, file, lead, problem=known)

    def _in_order(self) -> Iterator[ListedSession]:
        """Yield the sessions, the newest first, each followed by its sub-agents."""
        listed = list(self._listed())
        below: dict[int, list[int]] = defaultdict(list)
        for at in reversed(range(len(listed))):
            if (lead := listed[at].lead) is not None:
                below[lead].append(at)
        done: set[int] = set()
        for first in sorted(range(len(listed)), key=lambda at: listed[at].lead is not None):
            waiting = [first]
            while waiting:
                at = waiting.pop()
                if at not in done:
                    done.add(at)
                    yield listed[at]
                    waiting += below.get(at, ())

    def _state(self) -> ContextState:
        blocks = tuple(_block(each, at) for at, each in enumerate(self._in_order()))
        children = sum(each.child for each in self._files)
        counts = Counts(len(blocks), 0, 0, 0, tokens_exact=False, estimator="as each session reports")
        extra = {"sessions": f"{len(blocks) - children:,}", "sub-agents": f"{children:,}"}
        if self._helpers:
            extra["not listed"] = counted(self._helpers, "helper agent")
        extra["open"] = "Enter opens a session"
        if len(self._known) < len(self._files):
            extra["read"] = f"{len(self._known):,} of {len(self._files):,} so far, the newest first"
        gap = left_out_gap("sessions of the folder", self._left_out, Origin(str(self._path)))
        return ContextState(
            format=NAME,
            title=self.title,
            source=str(self._path),
            revision="now",
            tiers=(Tier(TIER, blocks),),
            counts=counts,
            missing=(gap,) if self._left_out else (),
            extra=extra,
        )


def open_list(peek: Peek) -> SessionListSource:
    return SessionListSource(peek.path)


def _block(each: ListedSession, rank: int) -> Block:
    """Return the block of a session, or of a sub-agent below the session that started it."""
    file, known = each.file, each.headline
    named = file.parent is not None or (file.child and known is not None and known.parent is not None)
    when = datetime.fromtimestamp(file.modified, UTC).astimezone()
    about = f"{when:%Y-%m-%d %H:%M}" + (f" · {file.size:,} bytes" if file.size else "")
    child = file.child or (known is not None and known.parent is not None)
    kind, reason = "sub-agent" if child else "session", None
    if each.problem is not None:
        reason = Reason(ReasonKind.INVALID, each.problem)
    elif named and each.lead is None:
        reason = Reason(ReasonKind.NOTE, "the session that started this sub-agent is not there")
    figures: list[Figure] = []
    lead = "└ " if each.lead is not None else ""
    text = f"{lead}{file.path.parent.name} · {about}"
    tags: tuple[str, ...] = (file.path.parent.name,)
    if known is not None:
        project = Path(known.project).name or file.path.parent.name
        rest = " · only the end was read: open it for calls and findings" if known.partial else ""
        title = known.title or "without a prompt"
        about = " · ".join(filter(None, (known.model, about)))
        text = f"{lead or f'{project}: '}{title}\n{about}{rest}\n{known.project}"
        tags = tuple(filter(None, (project, known.model)))
        if known.used is not None and known.window:
            share = round(100 * known.used / known.window)
            figures.append(Figure("window", share, "%", scale=(0, 100), better="low"))
        if not known.partial:
            figures += [Figure("calls", known.calls), Figure("compactions", known.compactions, better="low")]
            for severity in (Severity.ERROR, Severity.WARNING):
                figures.append(Figure(f"{severity.value}s", known.findings[severity], better="low"))
    return Block(
        id=each.name,
        tier=TIER,
        type=kind,
        text=text,
        figures=tuple(figures),
        tags=tags,
        tokens=known.used if known is not None else None,
        reason=reason,
        origin=Origin(str(file.path), None, 0, file.size, 1, 1),
        rank=rank,
    )


LONGEST_TITLE = 80


class Headline(Struct, frozen=True):
    """A session in a few figures. Of a large file only the end was read: it is `partial`."""

    title: str
    project: str
    model: str | None
    used: int | None
    window: int
    calls: int
    compactions: int
    findings: Mapping[Severity, int]
    parent: str | None = None
    """The id of the session that started this one, when the file says that it is a sub-agent's."""
    partial: bool = False


def _first_prompt(facts: TranscriptFacts) -> str:
    prompts = (part for part in facts.context.parts if part.kind is PartKind.PROMPT)
    return next((" ".join(facts.texts.text(part, LONGEST_TITLE).split()) for part in prompts), "")


def headline_of(facts: TranscriptFacts) -> Headline:
    from ctxview.formats.transcript.rules import check_transcript

    log = facts.log
    last = next(reversed(log.calls), None)
    counts = Counter(each.severity for each in check_transcript(facts))
    return Headline(
        title=log.facts.get("title") or _first_prompt(facts) or ("" if log.rows else "empty"),
        project=log.facts.get("cwd", ""),
        model=last.model if last is not None else next(reversed(log.models), None),
        used=facts.sizes.total if log.rows else None,
        window=facts.window.size,
        calls=len(log.calls),
        compactions=len(log.compactions),
        findings={each: counts[each] for each in Severity},
        parent=log.facts.get(SUBAGENT_OF),
        partial=log.partial,
    )
