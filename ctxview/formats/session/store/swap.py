"""Swap: keeps content that leaves the working set as a verified chunk with a line in the index.

Swapping deletes nothing: the histories are only read, and every chunk can be rebuilt from them. A chunk is
named `sha256-` and the SHA-256 of its content, which `content` defines to the byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.origin import JsonValue
from ctxview.files.reading import ReadError, read_beneath
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.kit.json_records import JsonRecord
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.grammar import digest_in, has_control
from ctxview.formats.session.messages import content_text
from ctxview.formats.session.model import Session
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.store.blobs import reference_in
from ctxview.formats.session.store.content import LARGEST, ContentMissing, RawContent
from ctxview.formats.session.store.derived_files import (
    WriteFailed,
    WrittenFile,
    cost,
    json_line,
    with_lines,
    write_derived,
)

INDEX = "context/swap/index.jsonl"
CHUNKS = "context/swap/chunk"
LONGEST_SUMMARY = 100


class ChunkStatus(StrEnum):
    MISSING = "missing"
    VERIFIED = "verified"
    DAMAGED = "holds something else than its name says"


class SwapPlan(Struct, frozen=True):
    """A planned swap: the chunk, its line in the index, and which of them exist already."""

    id: str
    kind: str
    source: str
    place: str
    """`messages 1-120`, or `event call-1`."""
    summary: str
    tokens: int
    records: int
    content: bytes
    line: bytes
    chunk: ChunkStatus
    indexed: JsonRecord | None
    """The line of the index that already names the chunk."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return self.chunk is ChunkStatus.VERIFIED and self.indexed is not None

    @property
    def name(self) -> str:
        return f"{CHUNKS}/{self.id}"


class ChunkRebuild(Struct, frozen=True):
    """One line of the index, and whether its chunk exists or can be rebuilt."""

    id: str
    line: int
    chunk: ChunkStatus
    content: bytes | None
    """The verified content from the histories; None when the chunk is sound or cannot be rebuilt."""
    reason: str
    possible: bool = False
    """Whether the histories hold the content."""

    @property
    def name(self) -> str:
        return f"{CHUNKS}/{self.id}"

    def without_content(self) -> ChunkRebuild:
        """Return a copy without the content, for reports: contents are large and may be many."""
        return replace(self, content=None)


def plan_range(
    session: Session, raw: RawContent, profile: Profile, first: int, last: int, summary: str | None = None
) -> SwapPlan:
    """Plan to swap a range of messages, counted from 1 without blank lines; raises `ContentMissing`."""
    content = raw.range(MESSAGES, first, last)
    if not summary:
        message = next(raw.lines(MESSAGES, first, first)).value or {}
        summary = _one_line(content_text(message.get("content"))) or f"messages from {first} on"
    place: dict[str, JsonValue] = {"kind": "message_range", "source": MESSAGES, "range": f"{first}-{last}"}
    label = f"messages {first}-{last}"
    return _plan(session, profile, content, place, label, summary, last - first + 1)


def plan_event(
    session: Session, raw: RawContent, profile: Profile, event: str, summary: str | None = None
) -> SwapPlan:
    """Plan to swap the output of the tool call or event with that id; raises `ContentMissing`."""
    content = raw.output(event)
    summary = summary or _one_line(content.decode("utf-8", "replace")) or f"output of {event}"
    place: dict[str, JsonValue] = {"kind": "tool_output", "source": EVENTS, "event": event}
    return _plan(session, profile, content, place, f"event {event}", summary, 1)


def apply_swap(session: Session, plan: SwapPlan) -> list[WrittenFile]:
    """Write the chunk, then its index line, unless they exist already; raises `WriteFailed`."""
    wrote = []
    if plan.chunk is not ChunkStatus.VERIFIED:
        wrote.append(_write_chunk(session, plan.name, plan.content, plan.chunk))
    if plan.indexed is None:
        before = session.swap.index.part.data
        grown = with_lines(session.swap.index, INDEX, [plan.line], before) or b""
        wrote.append(write_derived(session.folder, INDEX, grown, before))
    return wrote


def rebuilds(session: Session, raw: RawContent) -> Iterator[ChunkRebuild]:
    """Yield every line of the index with the state of its chunk, and the content of those to be rebuilt."""
    for record in session.swap.index.records:
        name = record.text("id") or ""
        digest = digest_in(name)
        if digest is None:
            reason = f"{name or 'its id'} is a placeholder: it has no hash of its content"
            yield ChunkRebuild(name, record.line, ChunkStatus.MISSING, None, reason)
            continue
        chunk = chunk_state(session, name, digest)
        if chunk is ChunkStatus.VERIFIED:
            yield ChunkRebuild(name, record.line, chunk, None, "exists, hash verified")
            continue
        content, reason = verified(raw, record, digest)
        yield ChunkRebuild(name, record.line, chunk, content, reason, content is not None)


def apply_rebuild(session: Session, rebuild: ChunkRebuild) -> WrittenFile | None:
    """Write the chunk again; None when there is nothing to write. Raises `WriteFailed`."""
    if rebuild.content is None:
        return None
    return _write_chunk(session, rebuild.name, rebuild.content, rebuild.chunk)


def verified(raw: RawContent, record: JsonRecord, digest: str) -> tuple[bytes | None, str]:
    """Return the content of an index line if it has the hash `digest`, and the reason."""
    try:
        content = raw.of(record)
    except ContentMissing as error:
        return None, f"cannot be rebuilt: {error}"
    if hashlib.sha256(content).hexdigest() != digest:
        return None, "cannot be rebuilt: the history holds content with another hash"
    return content, "rebuildable: the history holds it, hash verified"


def chunk_state(session: Session, name: str, digest: str) -> ChunkStatus:
    """Check whether the chunk exists and holds, or refers to, the content of its hash."""
    blob = session.swap.blob(name)
    if blob is None or blob.entry.kind is EntryKind.ABSENT:
        return ChunkStatus.MISSING
    try:
        content = read_beneath(session.folder.root, f"{CHUNKS}/{name}", LARGEST)
    except ReadError:
        return ChunkStatus.DAMAGED
    reference = reference_in(content)
    refers = reference is not None and digest_in(reference.hash or "") == digest
    verified = refers or hashlib.sha256(content).hexdigest() == digest
    return ChunkStatus.VERIFIED if verified else ChunkStatus.DAMAGED


def _plan(
    session: Session,
    profile: Profile,
    content: bytes,
    place: dict[str, JsonValue],
    label: str,
    summary: str,
    records: int,
) -> SwapPlan:
    if has_control(summary):
        raise ContentMissing("a summary is one line of plain text, without control characters")
    if not content:
        raise ContentMissing("it is empty: there is nothing to swap out")
    digest = hashlib.sha256(content).hexdigest()
    name = f"sha256-{digest}"
    text = content.decode("utf-8", "replace")
    tokens = cost(text, profile)
    line = json_line({"id": name, **place, "summary": summary, "tokens": tokens})
    indexed = next((each for each in session.swap.index.records if each.text("id") == name), None)
    return SwapPlan(
        id=name,
        kind=str(place["kind"]),
        source=str(place["source"]),
        place=label,
        summary=summary,
        tokens=tokens,
        records=records,
        content=content,
        line=line,
        chunk=chunk_state(session, name, digest),
        indexed=indexed,
    )


def _write_chunk(session: Session, name: str, content: bytes, before: ChunkStatus) -> WrittenFile:
    if before is ChunkStatus.MISSING:
        return write_derived(session.folder, name, content, None)
    try:
        damaged = read_beneath(session.folder.root, name, LARGEST)
    except ReadError as error:
        raise WriteFailed(name, f"the existing entry cannot be replaced: {error.reason}") from None
    return write_derived(session.folder, name, content, damaged)


def _one_line(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    plain = "".join(" " if has_control(char) else char for char in first).strip()
    plain = plain.encode("utf-8", "replace").decode()
    return plain if len(plain) <= LONGEST_SUMMARY else f"{plain[: LONGEST_SUMMARY - 1].rstrip()}…"
