"""Swap: content that leaves the working set, kept as a verified chunk with a line in the index.

Swapping deletes nothing: the histories are only read, and every chunk can be rebuilt from them. A chunk is
named `sha256-` and the SHA-256 of what it holds; what that is, to the byte, says `raw_content`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import field, replace
from enum import StrEnum

from ctxview.files.reading import Unreadable, read_beneath
from ctxview.formats.session.blobs import reference_in
from ctxview.formats.session.derived import NotWritten, Wrote, cost, json_line, with_lines, write_derived
from ctxview.formats.session.folder import EntryKind
from ctxview.formats.session.message import content_text
from ctxview.formats.session.model import Session
from ctxview.formats.session.names import EVENTS, MESSAGES, digest_in, has_control
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.raw_content import LARGEST, NoContent, RawContent
from ctxview.formats.session.records import Record
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue

INDEX = "context/swap/index.jsonl"
CHUNKS = "context/swap/chunk"
LONGEST_SUMMARY = 100


class Chunk(StrEnum):
    """How a chunk stands in its folder."""

    MISSING = "missing"
    VERIFIED = "verified"
    DAMAGED = "holds something else than its name says"


@dataclass(frozen=True, slots=True)
class SwapPlan:
    """What swapping would do: the chunk, its line in the index, and what is already there."""

    id: str
    kind: str
    source: str
    place: str
    """`messages 1-120`, or `event call-1`."""
    summary: str
    tokens: int
    records: int
    content: bytes = field(repr=False)
    line: bytes = field(repr=False)
    chunk: Chunk
    indexed: Record | None
    """The line of the index that already names the chunk."""

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        return self.chunk is Chunk.VERIFIED and self.indexed is not None

    @property
    def name(self) -> str:
        return f"{CHUNKS}/{self.id}"


@dataclass(frozen=True, slots=True)
class Rebuild:
    """One line of the index, and whether its chunk is there or can be made again."""

    id: str
    line: int
    chunk: Chunk
    content: bytes | None = field(repr=False)
    """What the histories hold for it, verified; None when the chunk needs none or there is none."""
    reason: str
    possible: bool = False
    """Whether the histories hold it."""

    @property
    def name(self) -> str:
        return f"{CHUNKS}/{self.id}"

    def without_content(self) -> Rebuild:
        """The same for those who only tell about it: contents are large and there may be many."""
        return replace(self, content=None)


def plan_range(
    session: Session,
    raw: RawContent,
    profile: Profile,
    first: int,
    last: int,
    summary: str | None = None,
) -> SwapPlan:
    """Swap a range of messages, counted from 1 without blank lines; raises `NoContent`."""
    content = raw.range(MESSAGES, first, last)
    told = summary or _first_words(raw, first)
    place: dict[str, JsonValue] = {"kind": "message_range", "source": MESSAGES, "range": f"{first}-{last}"}
    label = f"messages {first}-{last}"
    return _plan(session, profile, content, place, label, told, last - first + 1)


def plan_event(
    session: Session,
    raw: RawContent,
    profile: Profile,
    event: str,
    summary: str | None = None,
) -> SwapPlan:
    """Swap what the tool call or event of that id put out; raises `NoContent`."""
    content = raw.output(event)
    told = summary or _one_line(content.decode("utf-8", "replace")) or f"output of {event}"
    place: dict[str, JsonValue] = {"kind": "tool_output", "source": EVENTS, "event": event}
    return _plan(session, profile, content, place, f"event {event}", told, 1)


def apply_swap(session: Session, plan: SwapPlan) -> list[Wrote]:
    """Write the chunk, then the line that names it; raises `NotWritten`. What is there already stays."""
    wrote = []
    if plan.chunk is not Chunk.VERIFIED:
        wrote.append(_write_chunk(session, plan.name, plan.content, plan.chunk))
    if plan.indexed is None:
        before = session.swap.index.part.data
        grown = with_lines(session.swap.index, INDEX, [plan.line], before) or b""
        wrote.append(write_derived(session.folder, INDEX, grown, before))
    return wrote


def rebuilds(session: Session, raw: RawContent) -> Iterator[Rebuild]:
    """Every line of the index with the state of its chunk, and the content of those to be made again."""
    for record in session.swap.index.records:
        name = record.text("id") or ""
        digest = digest_in(name)
        if digest is None:
            reason = f"{name or 'its id'} is a placeholder: no hash tells what it held"
            yield Rebuild(name, record.line, Chunk.MISSING, None, reason)
            continue
        chunk = chunk_state(session, name, digest)
        if chunk is Chunk.VERIFIED:
            yield Rebuild(name, record.line, chunk, None, "there, and what its name says")
            continue
        content, reason = verified(raw, record, digest)
        yield Rebuild(name, record.line, chunk, content, reason, content is not None)


def apply_rebuild(session: Session, rebuild: Rebuild) -> Wrote | None:
    """Write the chunk again; None when there is nothing to write. Raises `NotWritten`."""
    if rebuild.content is None:
        return None
    return _write_chunk(session, rebuild.name, rebuild.content, rebuild.chunk)


def verified(raw: RawContent, record: Record, digest: str) -> tuple[bytes | None, str]:
    """What the histories hold for a line of the index, if it has the hash its id says; and the reason."""
    try:
        content = raw.of(record)
    except NoContent as error:
        return None, f"cannot be rebuilt: {error}"
    if hashlib.sha256(content).hexdigest() != digest:
        return None, "cannot be rebuilt: the history holds something else than its hash says"
    return content, "rebuildable: the history holds it, hash verified"


def chunk_state(session: Session, name: str, digest: str) -> Chunk:
    """Whether the chunk is there and holds what its name says, or refers to it."""
    blob = session.swap.blob(name)
    if blob is None or blob.entry.kind is EntryKind.ABSENT:
        return Chunk.MISSING
    try:
        content = read_beneath(session.folder.root, f"{CHUNKS}/{name}", LARGEST)
    except Unreadable:
        return Chunk.DAMAGED
    reference = reference_in(content)
    refers = reference is not None and digest_in(reference.hash or "") == digest
    verified = refers or hashlib.sha256(content).hexdigest() == digest
    return Chunk.VERIFIED if verified else Chunk.DAMAGED


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
        raise NoContent("a summary is one line of plain text, without control characters")
    if not content:
        raise NoContent("there is nothing in it to be swapped out")
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


def _write_chunk(session: Session, name: str, content: bytes, before: Chunk) -> Wrote:
    if before is Chunk.MISSING:
        return write_derived(session.folder, name, content, None)
    try:
        damaged = read_beneath(session.folder.root, name, LARGEST)
    except Unreadable as error:
        raise NotWritten(name, f"something stands in its place: {error.reason}") from None
    return write_derived(session.folder, name, content, damaged)


def _first_words(raw: RawContent, first: int) -> str:
    """The beginning of the first message, for want of a better summary."""
    line = next(raw.lines(MESSAGES, first, first))
    value = line.value or {}
    return _one_line(content_text(value.get("content"))) or f"messages from {first} on"


def _one_line(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    plain = "".join(" " if has_control(char) else char for char in first).strip()
    plain = plain.encode("utf-8", "replace").decode()
    return plain if len(plain) <= LONGEST_SUMMARY else f"{plain[: LONGEST_SUMMARY - 1].rstrip()}…"
