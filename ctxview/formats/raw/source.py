"""The `Source` of a raw file: one read-only revision, with the findings that need no format."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from ctxview.analysis.json_rules import check_document, check_json, check_json_lines
from ctxview.analysis.text_rules import check_lines
from ctxview.analysis.tokens import TokenCounter
from ctxview.core.edits import WritePolicy
from ctxview.core.figures import Reason, ReasonKind
from ctxview.core.findings import Finding, worst_first
from ctxview.core.origin import Origin
from ctxview.core.state import Block, ContextState, Counts, Gap, Tier
from ctxview.files.change_detector import is_settled
from ctxview.files.line_file import LineFile
from ctxview.files.reading import ReadError
from ctxview.formats.discovery import enclosing_source
from ctxview.formats.interface import (
    AS_ON_DISK,
    Abilities,
    Lens,
    OpenError,
    Reading,
    Revision,
    Source,
)
from ctxview.formats.kit.file_rules import report_partly_read, report_unrecognised
from ctxview.formats.kit.history import FileHistoryStream
from ctxview.formats.masked_bytes import Spans, mask_bytes
from ctxview.formats.peek import JSON_SUFFIXES, LINES_SUFFIXES, Peek
from ctxview.formats.raw.lines import LARGE, RawLinesSource, may_redact
from ctxview.formats.raw.parser import (
    BYTES,
    LONGEST_TEXT,
    RawFile,
    RawKind,
    RawPiece,
    looks_like_json,
    looks_like_lines,
    read_raw,
    read_raw_file,
)
from ctxview.formats.registry import detect, format_problems, open_source

MAY_REDACT = re.compile(rb"redact|\\u00", re.IGNORECASE)
_OBJECT = re.compile(rb"\{\s*\"")
REDACTING_FORMAT = "envelope"
"""The format that knows how JSON names redactions: records that it does not recognise are withheld too."""


def open_raw(peek: Peek) -> Source:
    """Open a file because the user asked for raw; raises `OpenError`."""
    return open_large_lines(peek) or RawSource(peek.path, *read_raw_file(peek.path))


def open_unrecognised(peek: Peek) -> Source:
    """Open a file that no format recognises; its `again` changes to another format once one fits."""
    return open_large_lines(peek) or RawSource(peek.path, *read_raw_file(peek.path), unrecognised=True)


def open_large_lines(peek: Peek) -> Source | None:
    """Open a large file of JSON lines so that its lines are read when they are shown; None for other files.

    A file that may name a redaction is read whole, because that withholds other lines.
    """
    if peek.size <= LARGE or not looks_like_lines(peek.head):
        return None
    try:
        lines = LineFile(peek.path.parent, peek.path.name)
    except ReadError as error:
        raise OpenError(f"{peek.path}: {error.reason}") from None
    stream = FileHistoryStream(lines, peek.path.name, str(peek.path))
    return None if may_redact(lines) else RawLinesSource(peek.path, stream)


class RawSource:
    """One file as it is, without what a redaction in it withholds."""

    format = "raw"
    profiles: Sequence[str] = ()

    def __init__(
        self,
        path: Path,
        data: bytes,
        left_out: str | None = None,
        *,
        being_written: bool = False,
        unrecognised: bool = False,
    ) -> None:
        """`unrecognised` is true when no format fitted, false when the user asked for raw."""
        self._path = path
        self._data = data
        self._left_out = left_out
        self._being_written = being_written
        self._unrecognised = unrecognised

    @property
    def path(self) -> Path:
        return self._path

    @property
    def title(self) -> str:
        return self._path.name

    @property
    def abilities(self) -> Abilities:
        return Abilities(redactor=self, partial_writes=self)

    @cached_property
    def revisions(self) -> Sequence[Revision]:
        return (Revision(self._path.name, "file", self._path),)

    def bytes_of(self, file: str) -> bytes:  # noqa: ARG002 - there is only one
        return self._data

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - the owners of the fields are unknown
        return None

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        data = overlay.get(str(self._path))
        raw = self._raw if data is None else read_raw(str(self._path), data)
        spans = self._spans if data is None else self._spans_in(data)
        state = _state(_masked(raw, spans), self._path, self.revisions[revision].label, lens.counter)
        return Reading(state, self.findings_of(revision, lens, overlay))

    def withheld(self, file: str, data: bytes | None = None) -> Sequence[tuple[int, int]]:  # noqa: ARG002
        return self._spans if data is None or data == self._data else self._spans_in(data)

    def findings(self, lens: Lens) -> Sequence[Finding]:  # noqa: ARG002 - no lens changes what is found
        return self._found

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> tuple[Finding, ...]:  # noqa: ARG002
        if (data := overlay.get(str(self._path))) is None:
            return self._found
        found = _findings(read_raw(str(self._path), data), whole=True)
        return _masked_findings(found, self._spans_in(data))

    @property
    def watched(self) -> Sequence[Path]:
        return (self._path,)

    @property
    def held_back(self) -> Sequence[Path]:
        return (self._path,) if self._being_written else ()

    def again(self) -> Source:
        """Read the file again; raises `OpenError`. JSON that is half written is left for later.

        A file that no format recognised is opened by the format that recognises it now.
        """
        data, left_out = read_raw_file(self._path)
        if (data, left_out) == (self._data, self._left_out):
            return self._with(self._data, left_out) if self._being_written else self
        if self._unrecognised and len(matches := detect(self._path)) == 1:
            return open_source(self._path, matches[0].format)
        new = self._with(data, left_out)
        if self._raw.document is not None and new._raw.document is None and not is_settled(self._path):
            return self._with(self._data, self._left_out, being_written=True)
        return new

    def _with(self, data: bytes, left_out: str | None, *, being_written: bool = False) -> RawSource:
        return RawSource(
            self._path, data, left_out, being_written=being_written, unrecognised=self._unrecognised
        )

    @cached_property
    def _raw(self) -> RawFile:
        return read_raw(str(self._path), self._data, self._left_out)

    @cached_property
    def _spans(self) -> Spans:
        return self._spans_in(self._data)

    def _spans_in(self, data: bytes) -> Spans:
        """The spans that the redactions in JSON withhold; all of it when they cannot be read."""
        # An object may be anywhere in a text, behind a broken line or inside a log.
        if not MAY_REDACT.search(data) or not (looks_like_json(data) or _OBJECT.search(data)):
            return ()
        try:
            source = open_source(self._path, REDACTING_FORMAT)
        except OpenError:
            return ((0, len(data)),)
        redactor = source.abilities.redactor
        return redactor.withheld(str(self._path), data) if redactor is not None else ()

    @cached_property
    def _found(self) -> tuple[Finding, ...]:
        return _masked_findings(_findings(self._raw, whole=self._left_out is None), self._spans)


def _masked(raw: RawFile, spans: Spans) -> RawFile:
    """Return the file without the bytes of `spans`; a part is masked where it touches one."""
    if not spans:
        return raw
    ends = [end for _, end in spans]
    pieces = []
    for piece in raw.pieces:
        start, end = piece.origin.start or 0, piece.origin.end or len(raw.data)
        # The piece is masked by itself, so only the spans from the first that reaches into it are needed.
        touching: list[tuple[int, int]] = []
        for span in islice(spans, bisect_right(ends, start), None):
            if span[0] >= end:
                break
            touching.append((max(0, span[0] - start), span[1] - start))
        if touching:
            text = mask_bytes(raw.data[start:end], touching).data.decode("utf-8", "replace")[:LONGEST_TEXT]
            place = f"line {piece.origin.line}"
            is_whole = touching[0][0] == 0 and touching[0][1] >= end - start
            group = "withheld" if is_whole else piece.group
            name = piece.name if piece.name in text and not is_whole else place
            piece = replace(piece, group=group, name=name, text=text, origin=_without_keys(piece.origin))
        pieces.append(piece)
    data = mask_bytes(raw.data, spans).data
    return replace(raw, pieces=tuple(pieces), data=data)


def _masked_findings(findings: Iterable[Finding], spans: Spans) -> tuple[Finding, ...]:
    """Return the findings, worst first; those about withheld bytes do not quote them."""
    found = []
    ends = [end for _, end in spans]
    for each in findings:
        start = each.origin.start
        at = bisect_right(ends, start) if start is not None else len(spans)
        if at < len(spans) and spans[at][0] < (each.origin.end or (start or 0) + 1):
            each = replace(each, message="about withheld content", origin=_without_keys(each.origin))
        found.append(each)
    return worst_first(found)


def _without_keys(origin: Origin) -> Origin:
    return replace(origin, pointer=None)


def _findings(raw: RawFile, *, whole: bool) -> Iterator[Finding]:
    home = enclosing_source(Path(raw.file))
    shown_as = raw.description
    if home is not None and not home.matches[0].lists:
        shown_as = f"{shown_as}; it is part of the {home.format} {home.path}"
    yield from report_unrecognised(raw.file, shown_as, format_problems())
    if raw.left_out is not None:
        yield from report_partly_read(raw.file, raw.left_out)
    if whole:
        yield from _json_findings(raw)
    if raw.kind is not RawKind.BINARY:
        yield from check_lines(raw.file, raw.data)


def _json_findings(raw: RawFile) -> Iterator[Finding]:
    """Run the JSN rules if the name of the file or its content says that it is JSON or JSON lines."""
    suffix = Path(raw.file).suffix.lower()
    if suffix in LINES_SUFFIXES or (raw.kind is RawKind.LINES and suffix not in JSON_SUFFIXES):
        yield from check_json_lines(raw.file, raw.data)
    elif raw.document is not None:
        yield from check_document(raw.file, raw.document)
    elif suffix in JSON_SUFFIXES or (raw.kind is RawKind.TEXT and looks_like_json(raw.data)):
        yield from check_json(raw.file, raw.data)


def _state(raw: RawFile, path: Path, revision: str, counter: TokenCounter) -> ContextState:
    groups = dict.fromkeys(piece.group for piece in raw.pieces)
    tiers = tuple(
        Tier(group, tuple(_block(piece, counter) for piece in raw.pieces if piece.group == group))
        for group in groups
    )
    blocks = [block for tier in tiers for block in tier.blocks]
    return ContextState(
        format="raw",
        title=path.name,
        source=str(path),
        revision=revision,
        tiers=tiers,
        missing=tuple(_gaps(raw)),
        counts=Counts(
            blocks=len(blocks),
            visible=0,
            hidden=0,
            tokens=sum(block.tokens or 0 for block in blocks),
            tokens_exact=counter.exact,
            estimator=counter.name,
        ),
        text=raw.data.decode("utf-8", "replace") if raw.kind is not RawKind.BINARY else None,
        extra={"kind": raw.description},
    )


def _block(piece: RawPiece, counter: TokenCounter) -> Block:
    return Block(
        id=piece.name,
        tier=piece.group,
        type=piece.type,
        text=piece.text,
        tokens=counter.count(piece.text) if piece.type != BYTES else None,
        reason=Reason(ReasonKind.INVALID, piece.problem) if piece.problem is not None else None,
        origin=piece.origin,
    )


def _gaps(raw: RawFile) -> Iterator[Gap]:
    whole = Origin(raw.file, start=0, line=1, column=1)
    if raw.left_out is not None:
        yield Gap("rest", "the rest of the file", "warning", "left out", (), raw.left_out, whole)
    for piece in raw.pieces:
        if piece.problem is not None:
            yield Gap(piece.name, "a line", "error", "unreadable", (piece.name,), piece.problem, piece.origin)
