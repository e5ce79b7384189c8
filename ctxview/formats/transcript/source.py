"""The source of a transcript: every call is a revision. It is read-only history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from time import time

from ctxview.core.edits import WritePolicy
from ctxview.core.findings import Finding, worst_first
from ctxview.core.origin import Origin
from ctxview.core.prompt import Prompt
from ctxview.files.change_detector import stamp_of
from ctxview.files.line_file import LineFile, never_cancelled
from ctxview.files.reading import ReadError, read_beneath, read_bytes
from ctxview.formats.interface import (
    AS_ON_DISK,
    Abilities,
    Hurry,
    Lens,
    OpenError,
    Progress,
    Reading,
    Revision,
    Source,
)
from ctxview.formats.kit.file_source import Memo
from ctxview.formats.kit.history import Cancelled, FileHistoryStream
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.kit.history_passes import TextPass, tallied
from ctxview.formats.peek import HEAD, Peek
from ctxview.formats.transcript.children import (
    agents_next_to,
    beside_session,
    link_children,
    memory_files,
    memory_lines,
    watched_beside,
)
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.format import NAME, dialect_at, dialect_of
from ctxview.formats.transcript.loading import SMALL, LogPass, RowReader, read_end, reader_for
from ctxview.formats.transcript.model import Dialect, LineProblem
from ctxview.formats.transcript.opencode.source import open_session
from ctxview.formats.transcript.profile import PROFILES, load_profile
from ctxview.formats.transcript.prompt import build_prompt
from ctxview.formats.transcript.requests.source import open_requests
from ctxview.formats.transcript.session_files import file_of_thread
from ctxview.formats.transcript.state import build_state
from ctxview.formats.transcript.texts import (
    PartTexts,
    absent_lines,
    decoded_text,
    history_rows,
    searched_bytes,
)
from ctxview.formats.transcript.unpacking import INSTALL, Unpacked, can_unpack, packing_of, unpack
from ctxview.formats.transcript.whole_log import NOW, CallRevisions

MOST_PAST = 600
"""Calls that are read for the views over time: each is read from the first row on."""


def open_transcript(peek: Peek) -> Source:
    """Open one transcript, or a folder of sessions; raises `OpenError`."""
    match dialect_at(peek):
        case None:
            from ctxview.formats.transcript.list_source import open_list

            return open_list(peek)
        case Dialect.BODY:
            return open_requests(peek)
        case Dialect.OPENCODE:
            return open_session(peek)
    return TranscriptSource(peek.path)


class TranscriptSource:
    """One transcript. Its rows are read at the first look."""

    format = NAME
    profiles: Sequence[str] = PROFILES
    targets: Sequence[str] = ()

    def __init__(self, path: Path, before: TranscriptSource | None = None) -> None:
        self._path = path
        self._name = path.name.split(".jsonl")[0]
        self._lock = Lock()
        self._readings: Memo[Reading] = Memo(8)
        self._moments: Memo[TranscriptFacts] = Memo(2)
        self._end: RowReader | None = None
        self._outlined = False
        """Whether the texts are not to be checked."""
        self._unpacked: Unpacked | None = None
        self._stamp = stamp_of(path)
        self._grew = False
        try:
            if before is None:
                self._open()
            else:
                self._take_over(before)
        except ReadError as error:
            raise OpenError(f"{path}: {error.reason}") from None

    def _open(self, problem: str | None = None) -> None:
        """Begin to read the file; `problem` says what happened to the one that was read before."""
        path = self._path
        self._lines = LineFile(path.parent, path.name)
        head = self._lines.read(0, HEAD)
        packing = packing_of(head)
        if packing is not None:
            self._unpacked = unpack(path, packing)
            self._lines = LineFile(self._unpacked.path, self._unpacked.name)
            head = self._lines.read(0, HEAD)
        self._stream = FileHistoryStream(self._lines, path.name, str(path))
        self._dialect = dialect_of(head, whole=self._lines.size <= HEAD) or Dialect.CLAUDE_CODE
        reader = reader_for(self._dialect, str(path))
        place = Origin(str(path), None, 0, 0, 1, 1)
        reader.log.left_out = self._unpacked.left_out if self._unpacked is not None else None
        if packing is not None and not can_unpack(packing):
            text = f"this file is compressed, and no unpacker is installed: {INSTALL}"
            reader.log.problems.append(LineProblem("TRF011", place, text))
        if problem is not None:
            reader.log.problems.append(LineProblem("TRF012", place, problem))
        self._pass = LogPass(self._stream, reader)
        self._checks = TextPass((self._stream,), self._checked_text, searched_bytes)

    def _take_over(self, before: TranscriptSource) -> None:
        stream, grown = before._stream.again()
        if before._unpacked is not None or not grown:
            shorter = stream.size < before._stream.size
            what = "became shorter" if shorter else "has another beginning"
            self._open(f"the file {what}: history was rewritten" if before._unpacked is None else None)
            return
        self._dialect, self._stream, self._lines = before._dialect, stream, stream.lines
        self._grew = True
        self._pass = before._pass.on(stream)
        self._checks = before._checks.on((stream,))

    @property
    def path(self) -> Path:
        return self._path

    @property
    def title(self) -> str:
        """The project and the title, as soon as rows were read that say them."""
        return (self._end or self._pass.reader).log.title(self._name)

    @property
    def abilities(self) -> Abilities:
        return Abilities(work=self, prompt=self, most_past=MOST_PAST, only_grew=self._grew)

    @property
    def revisions(self) -> Sequence[Revision]:
        """Every call, and now; only now until all rows are read and checked."""
        return self._revisions if self._whole() else (self._now,)

    @property
    def _now(self) -> Revision:
        return Revision(NOW, "now", self._path)

    @cached_property
    def _revisions(self) -> Sequence[Revision]:
        return CallRevisions(self._pass.log, self._path, self._now)

    def bytes_of(self, file: str) -> bytes:
        """Return the transcript, or a file of its own folder. Raises `ReadError`."""
        if file == str(self._path):
            unpacked = self._unpacked
            return read_bytes(unpacked.path / unpacked.name if unpacked is not None else self._path)
        folder = self._path.with_suffix("")
        try:
            name = Path(file).relative_to(folder)
        except ValueError:
            raise ReadError(Path(file), "this file is not part of the session") from None
        return read_beneath(folder, name.as_posix())

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - a transcript is the agent's own record
        return None

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:  # noqa: ARG002
        whole = self._whole()
        key = (revision, lens.profile, lens.hurry, whole, self._checks.complete)
        return self._readings.once(key, lambda: self._reading(revision, lens))

    def _reading(self, revision: int, lens: Lens) -> Reading:
        facts = self._facts(revision, lens)
        revisions = self.revisions
        label = revisions[min(revision, len(revisions) - 1)].label
        linked = lens.hurry is not Hurry.LINKS
        rows = history_rows(self._stream, self._dialect, absent_lines(facts.log, facts.context))
        title = facts.log.facts.get("title", self._name)
        state = build_state(facts, title, label, rows, linked=linked)
        if lens.hurry is not Hurry.NONE:
            return Reading(state, (), judged=False, linked=linked)
        return Reading(state, self._check(facts))

    def findings(self, lens: Lens) -> Sequence[Finding]:
        self._outlined = False
        self._pass.advance(never_cancelled)
        self._checks.advance(never_cancelled)
        return self._check(self._facts(len(self.revisions) - 1, lens))

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Sequence[Finding]:  # noqa: ARG002
        return self.reading(revision, lens).findings

    def prompt(self, revision: int, lens: Lens, target: str | None = None) -> Prompt:  # noqa: ARG002
        return build_prompt(self._facts(revision, lens))

    def outline(self, lens: Lens) -> TranscriptFacts:
        """Return the facts of the present moment, without checking texts; of a large file only of its end."""
        self._outlined = True
        return self._facts(len(self.revisions) - 1, lens)

    def read_rows(self, cancelled: Cancelled) -> bool:
        """Read all rows and do not check their texts; return whether that is done."""
        self._outlined = True
        return self._pass.advance(cancelled)

    def has_work(self, lens: Lens) -> bool:  # noqa: ARG002 - the rows are the same for every lens
        return not (self._pass.complete and self._checks.complete)

    def work(self, lens: Lens, progress: Progress) -> None:  # noqa: ARG002
        for each, what in ((self._pass, "reading the rows"), (self._checks, "checking the texts")):
            each.advance(
                lambda: progress.cancelled,
                lambda done, total, what=what: progress.report(done, total, what),  # type: ignore[misc]
            )

    @property
    def watched(self) -> Sequence[Path]:
        """The file, and where sub-agents of a running session appear and grow."""
        own = watched_beside(self._path) if self._dialect is Dialect.CLAUDE_CODE else ()
        return (self._path, *own)

    @cached_property
    def _beside(self) -> Mapping[str, int]:
        return beside_session(self._path)

    @cached_property
    def _next_to(self) -> frozenset[str]:
        return agents_next_to(self._path)

    def again(self) -> TranscriptSource:
        """Read the new rows; raises `OpenError`. Rows that are known are not read again."""
        if not self._path.is_file():
            raise OpenError(f"{self._path}: there is no such file any more")
        if self._unpacked is not None:
            return self if stamp_of(self._path) == self._stamp else TranscriptSource(self._path, self)
        stream, _ = self._stream.again()
        if stream is self._stream and not self._has_other_agents():
            return self
        return TranscriptSource(self._path, self)

    def _has_other_agents(self) -> bool:
        if self._dialect is not Dialect.CLAUDE_CODE:
            return False
        return self._beside != beside_session(self._path) or self._next_to != agents_next_to(self._path)

    def _whole(self) -> bool:
        """Whether all rows are read and checked; what is left of a small or grown file is done now.

        The revisions must not become more before the long work ends.
        """
        if self._pass.left <= SMALL and (self._outlined or self._checks.left <= SMALL):
            self._pass.advance(never_cancelled)
            if not self._outlined:
                self._checks.advance(never_cancelled)
        return self._pass.complete and (self._outlined or self._checks.complete)

    def _facts(self, revision: int, lens: Lens) -> TranscriptFacts:
        key = (revision, lens.profile, self._whole())
        return self._moments.once(key, lambda: self._facts_of(revision, lens))

    def _facts_of(self, revision: int, lens: Lens) -> TranscriptFacts:
        if self._whole():
            reader: RowReader = self._pass.reader
            self._end = None
        else:
            with self._lock:
                if self._end is None:
                    self._end = read_end(self._lines, self._stream, self._dialect, str(self._path))
            reader = self._end
        profile = load_profile(lens.profile)
        calls = reader.log.calls if reader is self._pass.reader else []
        call = calls[revision] if 0 <= revision < len(calls) else None
        beside = self._beside
        link_children(reader.log, self._path, beside, None if self._outlined else self._next_to)
        base = reader.log.facts.get("history base")
        if base is not None and (file := file_of_thread(self._path, base)) is not None:
            reader.log.facts["history file"] = str(file)
        stamp = stamp_of(self._path)
        minutes = (time() - stamp.modified / 1e9) / 60 if stamp is not None else 0
        stale = minutes > profile.limits.stale_minutes
        memory = memory_lines(self._path), memory_files(self._path)
        return TranscriptFacts(reader, call, profile, self._texts(reader), beside, stale, *memory)

    def _texts(self, reader: RowReader) -> PartTexts:
        with self._lock:
            known = self.__dict__.get("_kept_texts")
            if known is None or known.log is not reader.log:
                known = PartTexts(self._lines, reader.log)
                self.__dict__["_kept_texts"] = known
            found: PartTexts = known
            return found

    def _check(self, facts: TranscriptFacts) -> tuple[Finding, ...]:
        from ctxview.formats.transcript.rules import check_transcript

        return worst_first(tallied((*check_transcript(facts), *self._checks.findings)))

    def _checked_text(self, line: HistoryLine) -> str | None:
        return decoded_text(line, self._dialect)
