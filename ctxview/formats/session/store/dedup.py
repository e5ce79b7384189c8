"""Dedup: keeps large repeated content once, as a blob named by its hash, with a line of references.

Nothing is removed from the histories or the files: packs and people can refer to the blob instead of copying.
Every blob can be made again from any of its references. `repetitions` finds the copies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import StrEnum
from functools import cache

from msgspec import Struct

from ctxview.analysis.wording import counted
from ctxview.files.reading import ReadError, read_beneath
from ctxview.files.strict_json.document import parse
from ctxview.files.strict_json.splice import SpliceError, set_value
from ctxview.files.strict_json.values import as_texts
from ctxview.formats.kit.json_records import JsonRecord
from ctxview.formats.session.grammar import digest_in
from ctxview.formats.session.model import Session
from ctxview.formats.session.parser import GcLimits, parse_gc_policy
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.store.content import LARGEST, ContentMissing, RawContent
from ctxview.formats.session.store.derived_files import (
    WriteFailed,
    WrittenFile,
    cost,
    json_line,
    with_lines,
    write_derived,
)
from ctxview.formats.session.store.repetitions import Repetition, content_at, find_repetitions
from ctxview.formats.session.store.swap import ChunkStatus, chunk_state

INDEX = "context/dedup/index.jsonl"
BLOBS = "context/dedup/blob"


class DedupAction(StrEnum):
    KEEP = "keep once"
    REFER = "add references"
    REBUILD = "rebuild"
    NOTHING = "nothing"
    LOST = "lost"

    @property
    def writes(self) -> bool:
        return self in (DedupAction.KEEP, DedupAction.REFER, DedupAction.REBUILD)


class DedupItem(Struct, frozen=True):
    """One content: its size, number of copies and places, and what dedup does about it."""

    digest: str
    size: int
    times: int
    refs: tuple[str, ...]
    action: DedupAction
    reason: str
    blob_wanted: bool = False
    """Whether the blob has to be written."""
    record: JsonRecord | None = None
    """Its line in the index, if any."""

    @property
    def id(self) -> str:
        return _id(self.digest, self.record)

    @property
    def name(self) -> str:
        return f"{BLOBS}/{self.id}"

    @property
    def saved(self) -> int:
        """The size of all copies but one."""
        return self.size * max(0, self.times - 1)


class DedupPlan(Struct, frozen=True):
    items: tuple[DedupItem, ...]
    contents: int
    notes: tuple[str, ...]

    @property
    def to_do(self) -> tuple[DedupItem, ...]:
        return tuple(item for item in self.items if item.action.writes)


def plan_dedup(session: Session, raw: RawContent, profile: Profile, least: int | None = None) -> DedupPlan:
    """Find repeated content of at least `least` bytes (default: the profile's figure) and missing blobs."""
    listed: dict[str, JsonRecord] = {}
    for record in session.dedup.index.records:
        digest = digest_in(record.text("hash") or "")
        if digest is not None:
            listed.setdefault(digest, record)
    is_there = cache(lambda digest: _is_there(session, _id(digest, listed.get(digest)), digest))
    gone = {digest for digest in listed if not is_there(digest)}
    seen = find_repetitions(raw, least or profile.large_content, gone)
    policy = parse_gc_policy(session, profile)
    items = [
        _item(session, each, listed.get(each.digest), policy, is_there(each.digest)) for each in seen.found
    ]
    unread = raw.history.unreadable_rows
    left_out = () if unread is None else (f"some messages or events were left out: {unread}",)
    where = "in the session" if unread is None else "that could be read"
    reason = f"the blob is gone, and nothing {where} holds it"
    for digest in sorted(gone - {each.digest for each in seen.found}):
        record = listed[digest]
        size, refs = record.number("bytes") or 0, _refs(record)
        items.append(DedupItem(digest, size, 0, refs, DedupAction.LOST, reason, record=record))
    return DedupPlan(tuple(items), seen.contents, (*seen.notes, *left_out))


def apply_dedup(session: Session, raw: RawContent, profile: Profile, plan: DedupPlan) -> list[WrittenFile]:
    """Write the blobs, then the index in one step; raises `WriteFailed`."""
    wrote: list[WrittenFile] = []
    lines: list[bytes] = []
    index = session.dedup.index
    for item in plan.to_do:
        if item.blob_wanted or item.record is None:
            content = _content(raw, item)
            if item.blob_wanted:
                wrote.append(write_derived(session.folder, item.name, content, _damaged(session, item)))
            if item.record is None:
                size, tokens = len(content), cost(content.decode("utf-8", "replace"), profile)
                lines.append(
                    json_line({"hash": item.id, "refs": list(item.refs), "bytes": size, "tokens": tokens})
                )
    changed = _with_more_refs(
        index.part.data, [item for item in plan.to_do if item.action is DedupAction.REFER]
    )
    grown = with_lines(index, INDEX, lines, changed)
    if grown is not None and grown != index.part.data:
        wrote.append(write_derived(session.folder, INDEX, grown, index.part.data))
    return wrote


def _item(
    session: Session, found: Repetition, record: JsonRecord | None, policy: GcLimits, there: bool
) -> DedupItem:
    refs, action = found.refs, DedupAction.NOTHING
    if record is not None:
        refs = tuple(dict.fromkeys((*_refs(record), *found.refs)))
        if len(refs) > len(_refs(record)):
            action, reason = DedupAction.REFER, f"{len(refs) - len(_refs(record))} more places hold it"
        elif not there:
            action, reason = DedupAction.REBUILD, f"the blob is gone; {found.refs[0]} still holds it"
        else:
            reason = "already kept once"
    elif _swapped(session, found.digest):
        reason = "already kept as a swap chunk: refer to that"
    elif len(refs) < max(2, policy.dedup_min_refs or 0):
        fewest = policy.setting("dedup_min_refs") if len(refs) > 1 else "2"
        reason = f"{counted(len(refs), 'reference')}, fewer than {fewest}"
    else:
        action, reason = DedupAction.KEEP, f"occurs {found.times} times"
    wanted = action.writes and not there
    return DedupItem(found.digest, found.size, found.times, refs, action, reason, wanted, record)


def _swapped(session: Session, digest: str) -> bool:
    """Whether a sound swap chunk holds or refers to the content, with any spelling of its name."""
    chunks = (blob.id for blob in session.swap.blobs if blob.digest == digest)
    return any(chunk_state(session, name, digest) is ChunkStatus.VERIFIED for name in chunks)


def _id(digest: str, record: JsonRecord | None) -> str:
    """The name of a blob: the one in its index line, which may have another separator, or the default."""
    return (record.text("hash") if record is not None else None) or f"sha256-{digest}"


def _is_there(session: Session, name: str, digest: str) -> bool:
    if session.dedup.blob(name) is None:
        return False
    try:
        content = read_beneath(session.folder.root, f"{BLOBS}/{name}", LARGEST)
    except ReadError:
        return False
    return hashlib.sha256(content).hexdigest() == digest


def _damaged(session: Session, item: DedupItem) -> bytes | None:
    """Return the wrong content of a blob file; None when the file does not exist."""
    if session.dedup.blob(item.id) is None:
        return None
    try:
        return read_beneath(session.folder.root, item.name, LARGEST)
    except ReadError as error:
        raise WriteFailed(item.name, f"the existing entry cannot be replaced: {error.reason}") from None


def _content(raw: RawContent, item: DedupItem) -> bytes:
    for ref in item.refs:
        try:
            content = content_at(raw, ref, item.digest)
        except (ContentMissing, ValueError):
            continue
        if content is not None:
            return content
    raise WriteFailed(item.name, "its content changed meanwhile")


def _with_more_refs(index: bytes | None, items: Sequence[DedupItem]) -> bytes | None:
    """Return the index with new references in the lines of `items`; no other byte changes."""
    records = {item.record.start: item for item in items if item.record is not None}
    data = index
    for start in sorted(records, reverse=True):
        record, refs = records[start].record, records[start].refs
        if data is None or record is None:
            continue
        try:
            data = set_value(parse(data, start, record.end), "/refs", list(refs))
        except SpliceError as error:
            raise WriteFailed(INDEX, f"line {record.line}: {error}") from None
    return data


def _refs(record: JsonRecord) -> tuple[str, ...]:
    return as_texts(record.members.get("refs"))
