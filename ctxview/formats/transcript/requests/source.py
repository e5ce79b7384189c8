"""The source of a file of request bodies: every request is a revision. Nothing in it can be edited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.findings import Finding, worst_first
from ctxview.core.origin import JsonValue, Origin
from ctxview.files.line_columns import LineColumns
from ctxview.files.reading import ReadError, read_bytes
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse, parse_once
from ctxview.formats.interface import Abilities, Lens, Revision
from ctxview.formats.kit.file_source import FileLoader, FileReader, LoadedFile, LoadedFiles
from ctxview.formats.kit.general_checks import CheckedFile, general_findings
from ctxview.formats.kit.history_passes import tallied
from ctxview.formats.kit.json_records import line_spans
from ctxview.formats.peek import Peek
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import Api, LineProblem
from ctxview.formats.transcript.records import BOM
from ctxview.formats.transcript.requests.log import PlacedRequest, RequestLog
from ctxview.formats.transcript.requests.shapes import FoundRequest, is_message, requests_in
from ctxview.formats.transcript.whole_log import CallRevisions, WholeLogSource


class RequestFile(Struct, frozen=True):
    """A file of request bodies: its JSON texts with the prefixes of their pointers, and what is not JSON."""

    file: str
    data: bytes
    documents: tuple[tuple[str, JsonDocument], ...] = ()
    errors: tuple[JsonError, ...] = ()
    problems: tuple[LineProblem, ...] = ()
    lines: bool = False

    def origin(self, prefix: str, document: JsonDocument, pointer: str) -> Origin:
        return replace(document.origin(self.file, pointer), pointer=f"{prefix}{pointer}")


def read_requests(file: str, data: bytes, whole: bool) -> RequestFile:
    """Read one JSON text, or JSON lines; never raises."""
    lead = len(data) - len(data.removeprefix(BOM))
    try:
        return RequestFile(file, data, (("", parse(data, lead) if lead else parse_once(data)),))
    except JsonError as error:
        first = error
    documents, errors, problems = [], [], []
    places = LineColumns(data)
    for index, start, end in line_spans(data):
        start = max(start, lead)
        if not data[start:end].strip(b"\0 \t"):
            continue
        try:
            documents.append((f"/{index}", parse(data, start, end, places=places)))
        except JsonError as error:
            origin = Origin(file, f"/{index}", start, end, index + 1, 1)
            last = end == len(data)
            if last and not whole:
                continue
            rule, words = ("TRF002", "the last line is unfinished") if last else ("TRF001", "")
            problems.append(LineProblem(rule, origin, words or f"the line is not JSON: {error.reason}"))
            errors += [] if last else [error]
    if not any(isinstance(document.value, dict) for _, document in documents):
        return RequestFile(file, data, errors=(first,))
    return RequestFile(file, data, tuple(documents), tuple(errors), tuple(problems), lines=True)


def placed_requests(read: RequestFile) -> Iterator[PlacedRequest]:
    """Yield the requests of a file; lines that are messages are one request together."""
    values = [document.value for _, document in read.documents]
    if read.lines and sum(map(is_message, values)) * 2 > len(values):
        yield _from_messages(read)
        return
    for prefix, document in read.documents:
        for found in requests_in(document.value):

            def origin_of(pointer: str, prefix: str = prefix, document: JsonDocument = document) -> Origin:
                return read.origin(prefix, document, pointer)

            yield PlacedRequest(found, origin_of)


def _from_messages(read: RequestFile) -> PlacedRequest:
    chosen = [each for each in read.documents if is_message(each[1].value)]
    values: list[JsonValue] = [document.value for _, document in chosen]

    def origin_of(pointer: str) -> Origin:
        at = pointer.rpartition("/")[2]
        prefix, document = chosen[int(at) if at.isdecimal() else 0]
        return read.origin(prefix, document, "")

    return PlacedRequest(FoundRequest(Api.BARE, {"messages": values}, "", listed=True), origin_of)


_READER = FileReader(
    read=read_requests,
    is_broken=lambda found: bool(found.errors),
    belongs=lambda _: True,
    takes_part=True,
)


def open_requests(peek: Peek) -> RequestSource:
    """Open a file of request bodies; raises `OpenError`."""
    loader = FileLoader(_READER, None)
    loader.add_named(peek)
    return RequestSource(peek.path, loader.loaded())


class RequestSource(WholeLogSource):
    """One file of request bodies."""

    def __init__(self, path: Path, loaded: LoadedFiles[RequestFile]) -> None:
        super().__init__()
        self._path, self._loaded = path, loaded

    @property
    def path(self) -> Path:
        return self._path

    @property
    def abilities(self) -> Abilities:
        return Abilities(prompt=self, partial_writes=self)

    @property
    def _file(self) -> LoadedFile[RequestFile]:
        return self._loaded.files[0]

    @cached_property
    def held(self) -> RequestLog:
        made = RequestLog(str(self._path))
        for placed in placed_requests(self._file.found):
            made.add(placed)
        made.log.problems += self._file.found.problems
        made.log.left_out = self._file.left_out
        return made

    @cached_property
    def revisions(self) -> Sequence[Revision]:
        calls = self.held.log.calls
        if len(calls) < 2:
            return (Revision("request", "call", self._path, 1),)
        return CallRevisions(self.held.log, self._path)

    def bytes_of(self, file: str) -> bytes:
        if file != str(self._path):
            raise ReadError(Path(file), "this file is not part of the source")
        return self._file.data if self._file.whole else read_bytes(self._path)

    def history(self, facts: TranscriptFacts) -> Sequence[int]:
        if facts.request is None:
            return ()
        answered = bool(facts.log.rows[facts.request.answer].parts)
        return range(facts.request.first, facts.request.answer + answered)

    def findings(self, lens: Lens) -> Sequence[Finding]:
        """Return the findings of the last request of each conversation, and of the steps between requests."""
        from ctxview.formats.transcript.rules import check_request, check_transcript

        found: dict[tuple[str, str], Finding] = {}
        continued = {call.previous for call in self.held.log.calls}
        for revision in range(len(self.revisions)):
            facts = self.facts(revision, lens)
            for finding in check_request(facts) if revision in continued else check_transcript(facts):
                found.setdefault((finding.rule, finding.message), finding)
        return worst_first(tallied((*found.values(), *self.general_findings)))

    @cached_property
    def general_findings(self) -> Sequence[Finding]:
        read, seen = self._file.found, set[int]()

        def known(_pointer: str, string: str) -> bool:
            """Whether an earlier request has the same string; a set never grows by a lookup twice."""
            key = hash(string)
            if key in seen:
                return True
            seen.add(key)
            return False

        checked = CheckedFile(
            read.file,
            read.data,
            documents=read.documents,
            errors=read.errors,
            lines=read.lines,
            already_checked=known,
        )
        return tallied(general_findings(checked))

    @property
    def held_back(self) -> Sequence[Path]:
        return self._loaded.held_back

    @property
    def watched(self) -> Sequence[Path]:
        return (self._path,)

    def again(self) -> RequestSource:
        loader = FileLoader(_READER, self._loaded)
        loader.add_named(Peek(self._path))
        loaded = loader.loaded()
        same = loaded.files == self._loaded.files and loaded.held_back == self._loaded.held_back
        return self if same else RequestSource(self._path, loaded)
