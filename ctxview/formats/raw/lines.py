"""The `Source` of a large file of JSON lines of no known format: its lines are read when they are shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from ctxview.analysis.json_rules import check_json_texts, needs_closer_look
from ctxview.core.edits import WritePolicy
from ctxview.core.figures import Reason, ReasonKind
from ctxview.core.findings import Finding, worst_first
from ctxview.core.state import Block, ContextState, Counts, Gap, Tier
from ctxview.core.transcript import Row
from ctxview.files.line_file import LineFile, never_cancelled
from ctxview.files.reading import ReadError, read_bytes
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.formats.interface import (
    AS_ON_DISK,
    Abilities,
    Lens,
    OpenError,
    Progress,
    Reading,
    Revision,
    Source,
)
from ctxview.formats.kit.file_rules import report_unrecognised
from ctxview.formats.kit.history import FileHistoryStream
from ctxview.formats.kit.history_line import HistoryLine, PassClock
from ctxview.formats.kit.history_passes import FindingTally, SlicedPass, TextPass
from ctxview.formats.kit.transcript import HistoryTranscript
from ctxview.formats.registry import format_problems, open_source

LARGE = 4 * 1024 * 1024
"""A file of JSON lines up to this size is read whole."""
MOST_BLOCKS = 1000
LONGEST_BLOCK = 2000
LONGEST_ROW = 256 * 1024
CHUNK = 1024 * 1024
_LONGEST_WORD = 64
_ESCAPED_LETTER = re.compile(rb"\\u00[4-7][1-5]")


class RawLinesSource:
    """One file of JSON lines. Nothing in it names a redaction: `may_redact` was asked before."""

    format = "raw"
    profiles: Sequence[str] = ()

    def __init__(self, path: Path, stream: FileHistoryStream, before: RawLinesSource | None = None) -> None:
        self._path = path
        self._stream = stream
        if before is None:
            self._lines_pass = LinesPass(stream)
            self._texts = TextPass((stream,), _text_of)
        else:
            self._lines_pass = before._lines_pass.on(stream)
            self._texts = before._texts.on((stream,))

    @property
    def path(self) -> Path:
        return self._path

    @property
    def title(self) -> str:
        return self._path.name

    @property
    def abilities(self) -> Abilities:
        return Abilities(work=self)

    @cached_property
    def revisions(self) -> Sequence[Revision]:
        return (Revision(self._path.name, "file", self._path),)

    def bytes_of(self, file: str) -> bytes:  # noqa: ARG002 - there is only one
        return read_bytes(self._path)

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - the owners of the fields are unknown
        return None

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:  # noqa: ARG002
        return Reading(self._state(), self._found())

    def findings(self, lens: Lens) -> Sequence[Finding]:  # noqa: ARG002 - no lens changes what is found
        for each in (self._lines_pass, self._texts):
            each.advance(never_cancelled)
        return self._found()

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Sequence[Finding]:  # noqa: ARG002
        return self.findings(lens)

    def has_work(self, lens: Lens) -> bool:  # noqa: ARG002 - the lines are the same for every lens
        return not (self._lines_pass.complete and self._texts.complete)

    def work(self, lens: Lens, progress: Progress) -> None:  # noqa: ARG002
        for each, what in ((self._lines_pass, "reading the lines"), (self._texts, "checking the texts")):

            def report(done: int, total: int, what: str = what) -> None:
                progress.report(done, total, what)

            each.advance(lambda: progress.cancelled, report)

    @property
    def watched(self) -> Sequence[Path]:
        return (self._path,)

    def again(self) -> Source:
        """Read the new lines; a file that was rewritten, or that names a redaction now, is opened anew."""
        try:
            stream, grown = self._stream.again()
        except ReadError as error:
            raise OpenError(f"{self._path}: {error.reason}") from None
        if stream is self._stream:
            return self
        if not grown or may_redact(stream.lines, max(0, self._stream.size - _LONGEST_WORD)):
            return open_source(self._path)
        return RawLinesSource(self._path, stream, self)

    def _state(self) -> ContextState:
        blocks = tuple(_blocks(self._stream))
        return ContextState(
            format="raw",
            title=self._path.name,
            source=str(self._path),
            revision=self._path.name,
            tiers=(Tier("lines", blocks),),
            missing=self._lines_pass.gaps,
            counts=Counts(len(blocks), 0, 0, self._stream.size // 4, tokens_exact=False, estimator="bytes/4"),
            transcript=HistoryTranscript(self._stream, _row_of, _text_of),
            extra={
                "kind": "JSON lines",
                "shown": f"the first {len(blocks):,} lines as blocks; all lines are in the History",
            },
        )

    def _found(self) -> tuple[Finding, ...]:
        head = report_unrecognised(str(self._path), "JSON lines", format_problems())
        return worst_first((*head, *self._lines_pass.findings, *self._texts.findings))


class LinesPass(SlicedPass):
    """Checks every line as strict JSON."""

    def __init__(self, stream: FileHistoryStream) -> None:
        self._stream = stream
        self.size = stream.size
        self._tally = FindingTally()
        self._gaps: list[Gap] = []
        self._next = self._done = 0
        super().__init__()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings; empty before the end of the pass."""
        return self._tally.findings() if self.complete else ()

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """The first lines that are not JSON."""
        return tuple(self._gaps[:MOST_BLOCKS])

    def on(self, stream: FileHistoryStream) -> LinesPass:
        """Return a pass over the grown file that continues from here."""
        made = LinesPass(stream)
        with self._working:
            made._tally, made._gaps = self._tally.copy(), list(self._gaps)
            made._next, made._done = self._next, self._done
        return made

    def _pass(self) -> Iterator[int]:
        pace = PassClock()
        if self._next:
            # Only numbered lines can be reached by their number.
            self._stream.index()
        for line in self._stream.scan(self._next):
            if not line.ending and line.is_broken and self._stream.held_back:
                break
            self._take(line)
            self._next += 1
            self._done += line.size + line.ending
            if pace.due(line.size):
                yield self._done

    def _take(self, line: HistoryLine) -> None:
        if line.is_blank or line.cut:
            return
        if not (line.is_broken or needs_closer_look(line.content) or line.has_duplicates()):
            return
        documents: list[JsonDocument] = []
        errors: list[JsonError] = []
        try:
            documents.append(parse(line.content))
        except JsonError as error:
            errors.append(error)
            name = f"line {(line.number or 0) + 1}"
            self._gaps.append(
                Gap(
                    name, "a line", "error", "unreadable", (name,), f"not JSON: {error.reason}", line.origin()
                )
            )
        for finding in check_json_texts(line.file, b"", documents, errors):
            self._tally.add(_in_file(finding, line))


def _in_file(finding: Finding, line: HistoryLine) -> Finding:
    """Return a finding about a line by itself as one about the file."""
    origin, at = finding.origin, line.start
    start = None if origin.start is None else origin.start + at
    end = None if origin.end is None else origin.end + at
    pointer = None if origin.pointer is None else f"/{line.number}{origin.pointer}"
    number = (line.number or 0) + 1
    return replace(finding, origin=replace(origin, start=start, end=end, pointer=pointer, line=number))


def may_redact(lines: LineFile, start: int = 0) -> bool:
    """Whether a file may name a redaction, also in letters that are escaped."""
    for at in range(start, lines.size, CHUNK):
        data = lines.read(at, at + CHUNK + _LONGEST_WORD)
        if b"redact" in data.lower() or _ESCAPED_LETTER.search(data):
            return True
    return False


def _blocks(stream: FileHistoryStream) -> Iterator[Block]:
    room = MOST_BLOCKS * LONGEST_BLOCK
    for line in stream.scan():
        if line.is_blank:
            continue
        number = (line.number or 0) + 1
        text = line.content[:LONGEST_BLOCK].decode("utf-8", "replace")
        room -= LONGEST_BLOCK
        kind, problem = ("object", None) if line.value is not None else _judged(line)
        reason = Reason(ReasonKind.INVALID, problem) if problem is not None else None
        yield Block(
            id=f"line {number}", tier="lines", type=kind, text=text, reason=reason, origin=line.origin()
        )
        if room <= 0:
            return


def _judged(line: HistoryLine) -> tuple[str, str | None]:
    """Return the type of a line that is not an object, and why it is not JSON."""
    if line.cut:
        return "long", line.problem
    try:
        value = parse(line.content).value
    except JsonError as error:
        return "broken", f"not JSON: {error.reason}"
    return ("array" if isinstance(value, list) else "value"), None


def _row_of(line: HistoryLine, index: int) -> Row:
    kind, problem = "blank" if line.is_blank else "object", None
    if not line.is_blank and line.value is None:
        kind, problem = _judged(line)
    at = line.number if line.number is not None else index
    return Row(at, None, kind, _text_of(line)[:LONGEST_ROW], None, line.origin(), line.size, problem)


def _text_of(line: HistoryLine) -> str:
    return line.content.decode("utf-8", "replace")
