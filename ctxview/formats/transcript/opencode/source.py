"""The source of one session of OpenCode: read when it is first looked at, never written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from ctxview.core.findings import Finding
from ctxview.files.change_detector import Stamp, stamp_of
from ctxview.files.reading import ReadError
from ctxview.formats.interface import OpenError, Revision
from ctxview.formats.kit.file_rules import report_invalid_texts
from ctxview.formats.kit.general_checks import CheckedFile, general_findings
from ctxview.formats.kit.history_passes import tallied
from ctxview.formats.peek import Peek
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.format import recognise
from ctxview.formats.transcript.opencode.reader import OpenCodeLog
from ctxview.formats.transcript.opencode.store import MAGIC, SessionRecord, read_session
from ctxview.formats.transcript.whole_log import NOW, CallRevisions, WholeLogSource


def open_session(peek: Peek) -> OpenCodeSource:
    """Open one session, or the only one of a store; raises `OpenError`."""
    match = recognise(peek)
    only = match.members if match is not None else ()
    if match is not None and not only and peek.head.startswith(MAGIC):
        raise OpenError(f"{peek.path}: {match.why}")
    return OpenCodeSource(peek.path / only[0] if only else peek.path)


class OpenCodeSource(WholeLogSource):
    """One session of a store, an export or an old tree."""

    def __init__(self, path: Path, session: SessionRecord | None = None) -> None:
        super().__init__()
        self._path = path
        if session is not None:
            self.__dict__["_session"] = session
        self._stamps = self._stamped()

    @property
    def path(self) -> Path:
        return self._path

    @property
    def title(self) -> str:
        return self.held.log.facts.get("title", self._path.name)

    @cached_property
    def _session(self) -> SessionRecord:
        try:
            return read_session(self._path)
        except ReadError as error:
            raise OpenError(f"{self._path}: {error.reason}") from None

    @cached_property
    def held(self) -> OpenCodeLog:
        return OpenCodeLog(str(self._path), self._session)

    @property
    def revisions(self) -> Sequence[Revision]:
        return CallRevisions(self.held.log, self._path, Revision(NOW, "now", self._path))

    def bytes_of(self, file: str) -> bytes:
        """Return a file of an export or tree; that of a store is the session in the shape of an export."""
        for name, data, _ in self._session.documents:
            if name == file:
                return data
        raise ReadError(Path(file), "this file is not part of the session")

    def history(self, facts: TranscriptFacts) -> Sequence[int]:
        return range(len(facts.log.rows))

    @cached_property
    def general_findings(self) -> Sequence[Finding]:
        found = [*report_invalid_texts(str(self._path), self._session.invalid_texts)]
        for name, data, document in self._session.documents:
            found += general_findings(CheckedFile(name, data, documents=(("", document),)))
        return tallied(found)

    @property
    def watched(self) -> Sequence[Path]:
        """The store and its log; in an old tree the folders where new messages appear."""
        if self._path.parent.is_file():
            store = self._path.parent
            return (store, store.with_name(f"{store.name}-wal"))
        storage = self._path.parents[2] if len(self._path.parents) > 2 else self._path.parent
        messages = storage / "message" / self._path.stem
        return (self._path, messages) if messages.is_dir() else (self._path,)

    def _stamped(self) -> tuple[Stamp | None, ...]:
        return tuple(map(stamp_of, self.watched))

    def again(self) -> OpenCodeSource:
        """Read the session again when its files changed; raises `OpenError`."""
        if self._stamped() == self._stamps:
            return self
        made = OpenCodeSource(self._path)
        _ = made.held
        return made
