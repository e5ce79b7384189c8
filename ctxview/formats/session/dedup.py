"""Dedup: large repeated content kept once, as a blob named after its hash, with a line of references.

Nothing is taken out of the histories or the files: packs and people can refer to the blob instead of copying.
Every blob can be made again from any of its references. `repetitions` finds, this module plans and writes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum
from functools import cache

from ctxview.files.json_document import parse
from ctxview.files.reading import Unreadable, read_beneath
from ctxview.files.splice import SpliceError, set_value
from ctxview.formats.session.derived import NotWritten, Wrote, cost, json_line, with_lines, write_derived
from ctxview.formats.session.gc_policy import read_policy
from ctxview.formats.session.model import Session
from ctxview.formats.session.names import digest_in
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.raw_content import LARGEST, NoContent, RawContent
from ctxview.formats.session.records import Record
from ctxview.formats.session.repetitions import Repetition, content_at, find_repetitions
from ctxview.formats.session.swap import Chunk, chunk_state
from ctxview.quick_dataclass import dataclass

INDEX = "context/dedup/index.jsonl"
BLOBS = "context/dedup/blob"


class Act(StrEnum):
    """What is to be done about a content."""

    KEEP = "keep once"
    REFER = "add references"
    REBUILD = "rebuild"
    NOTHING = "nothing"
    LOST = "lost"

    @property
    def writes(self) -> bool:
        return self in (Act.KEEP, Act.REFER, Act.REBUILD)


@dataclass(frozen=True, slots=True)
class DedupItem:
    """One content: how often it stands where, and what is done about it."""

    digest: str
    size: int
    times: int
    refs: tuple[str, ...]
    act: Act
    reason: str
    blob_wanted: bool = False
    """Whether the blob itself has to be written."""
    record: Record | None = field(default=None, repr=False)
    """Its line in the index, when there is one."""

    @property
    def id(self) -> str:
        return _id(self.digest, self.record)

    @property
    def name(self) -> str:
        return f"{BLOBS}/{self.id}"

    @property
    def saved(self) -> int:
        """The bytes of all copies but one."""
        return self.size * max(0, self.times - 1)


@dataclass(frozen=True, slots=True)
class DedupPlan:
    items: tuple[DedupItem, ...]
    contents: int
    notes: tuple[str, ...]

    @property
    def to_do(self) -> tuple[DedupItem, ...]:
        return tuple(item for item in self.items if item.act.writes)


def plan_dedup(session: Session, raw: RawContent, profile: Profile, least: int | None = None) -> DedupPlan:
    """What is repeated from so many bytes on (the profile's figure), and which blobs are missing."""
    listed: dict[str, Record] = {}
    for record in session.dedup.index.records:
        digest = digest_in(record.text("hash") or "")
        if digest is not None:
            listed.setdefault(digest, record)
    is_there = cache(lambda digest: _is_there(session, _id(digest, listed.get(digest)), digest))
    gone = {digest for digest in listed if not is_there(digest)}
    seen = find_repetitions(raw, least or profile.large_content, gone)
    least_refs = max(2, read_policy(session, profile).dedup_min_refs or 0)
    items = [
        _item(session, each, listed.get(each.digest), least_refs, is_there(each.digest))
        for each in seen.found
    ]
    lost = gone - {each.digest for each in seen.found}
    items += [_lost(listed[digest], digest) for digest in sorted(lost)]
    return DedupPlan(tuple(items), seen.contents, seen.notes)


def apply_dedup(session: Session, raw: RawContent, profile: Profile, plan: DedupPlan) -> list[Wrote]:
    """Write the blobs, then the index in one step; raises `NotWritten`."""
    wrote: list[Wrote] = []
    lines: list[bytes] = []
    index = session.dedup.index
    for item in plan.to_do:
        if item.blob_wanted or item.record is None:
            content = _content(raw, item)
            if item.blob_wanted:
                wrote.append(write_derived(session.folder, item.name, content, _damaged(session, item)))
            if item.record is None:
                lines.append(_line(item, content, profile))
    changed = _with_more_refs(index.part.data, [item for item in plan.to_do if item.act is Act.REFER])
    grown = with_lines(index, INDEX, lines, changed)
    if grown is not None and grown != index.part.data:
        wrote.append(write_derived(session.folder, INDEX, grown, index.part.data))
    return wrote


def _item(
    session: Session, found: Repetition, record: Record | None, least_refs: int, there: bool
) -> DedupItem:
    refs, act = found.refs, Act.NOTHING
    if record is not None:
        refs = _merged(record, found.refs)
        if len(refs) > len(_refs(record)):
            act, reason = Act.REFER, f"{len(refs) - len(_refs(record))} more places hold it"
        elif not there:
            act, reason = Act.REBUILD, f"the blob is gone; {found.refs[0]} still holds it"
        else:
            reason = "already kept once"
    elif _swapped(session, found.digest):
        reason = "already kept as a swap chunk: refer to that"
    elif len(refs) < least_refs:
        reason = f"{len(refs)} references, gc.policy asks for {least_refs}"
    else:
        act, reason = Act.KEEP, f"stands {found.times} times"
    wanted = act.writes and not there
    return DedupItem(found.digest, found.size, found.times, refs, act, reason, wanted, record)


def _swapped(session: Session, digest: str) -> bool:
    """Whether a sound swap chunk stands for the content, however its name spells the hash."""
    chunks = (blob.id for blob in session.swap.blobs if blob.digest == digest)
    return any(chunk_state(session, name, digest) is Chunk.VERIFIED for name in chunks)


def _lost(record: Record, digest: str) -> DedupItem:
    reason = "the blob is gone, and nothing in the session holds it"
    return DedupItem(digest, record.number("bytes") or 0, 0, _refs(record), Act.LOST, reason, record=record)


def _id(digest: str, record: Record | None) -> str:
    """The name of a blob: the one its index line gives it, which may be spelled with another separator."""
    return (record.text("hash") if record is not None else None) or f"sha256-{digest}"


def _is_there(session: Session, name: str, digest: str) -> bool:
    if session.dedup.blob(name) is None:
        return False
    try:
        content = read_beneath(session.folder.root, f"{BLOBS}/{name}", LARGEST)
    except Unreadable:
        return False
    return hashlib.sha256(content).hexdigest() == digest


def _damaged(session: Session, item: DedupItem) -> bytes | None:
    """What stands in the place of a blob; None when nothing does."""
    if session.dedup.blob(item.id) is None:
        return None
    try:
        return read_beneath(session.folder.root, item.name, LARGEST)
    except Unreadable as error:
        raise NotWritten(item.name, f"something stands in its place: {error.reason}") from None


def _content(raw: RawContent, item: DedupItem) -> bytes:
    for ref in item.refs:
        try:
            content = content_at(raw, ref, item.digest)
        except (NoContent, ValueError):
            continue
        if content is not None:
            return content
    raise NotWritten(item.name, "its content changed meanwhile")


def _line(item: DedupItem, content: bytes, profile: Profile) -> bytes:
    tokens = cost(content.decode("utf-8", "replace"), profile)
    return json_line({"hash": item.id, "refs": list(item.refs), "bytes": len(content), "tokens": tokens})


def _with_more_refs(index: bytes | None, items: Sequence[DedupItem]) -> bytes | None:
    """The index with other references in some of its lines, and every other byte as it was."""
    records = {item.record.start: item for item in items if item.record is not None}
    data = index
    for start in sorted(records, reverse=True):
        record, refs = records[start].record, records[start].refs
        if data is None or record is None:
            continue
        try:
            data = set_value(parse(data, start, record.end), "/refs", list(refs))
        except SpliceError as error:
            raise NotWritten(INDEX, f"line {record.line}: {error}") from None
    return data


def _refs(record: Record) -> tuple[str, ...]:
    refs = record.members.get("refs")
    return tuple(ref for ref in refs if isinstance(ref, str)) if isinstance(refs, list) else ()


def _merged(record: Record, found: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*_refs(record), *found)))
