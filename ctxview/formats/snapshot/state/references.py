"""Builds the references of a snapshot: tags of payloads in the memory store, and recalled blocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePath

from ctxview.analysis.tokens import TokenCounter
from ctxview.core.origin import Origin
from ctxview.core.state import Ref, RefStatus
from ctxview.formats.snapshot.model import AgentStore, MemoryBlock, Snapshot, text


def build_refs(snapshot: Snapshot | None, store: AgentStore | None, counter: TokenCounter) -> tuple[Ref, ...]:
    """Build references for tags of blocks, tags of stored entries, recalled blocks and unused payloads."""
    blocks = snapshot.blocks if snapshot is not None else ()
    by_tag: dict[str, list[MemoryBlock]] = defaultdict(list)
    for block in blocks:
        if block.tag_id and (block.content_state == "tag_ref" or "rehydrated_at" in block.members):
            by_tag[block.tag_id].append(block)
    refs = [_tag_ref(tag, users, snapshot, store, counter) for tag, users in by_tag.items() if snapshot]
    refs += _stored_refs(store, set(by_tag), counter)
    refs += _recalls(snapshot, store, counter)
    refs += _orphans(store, set(by_tag), counter)
    return tuple(refs)


def _tag_ref(
    tag: str, users: list[MemoryBlock], snapshot: Snapshot, store: AgentStore | None, counter: TokenCounter
) -> Ref:
    cold = any(block.content_state == "tag_ref" for block in users)
    payload = store.payloads.get(tag) if store is not None else None
    return Ref(
        id=tag,
        kind="tag_ref" if cold else "rehydrated",
        target=_target(store, tag),
        status=_status(store, payload),
        tokens=counter.count(payload) if payload is not None else None,
        bytes=_size(payload),
        used_by=tuple(block.name for block in users),
        origin=snapshot.origin_of(f"{users[0].pointer}/tag_id"),
        text=payload,
    )


def _stored_refs(store: AgentStore | None, block_tags: set[str], counter: TokenCounter) -> Iterator[Ref]:
    """Yield the tags that only entries of the database use."""
    users: dict[str, list[str]] = defaultdict(list)
    cold: set[str] = set()
    for entry in (store.entries or ()) if store is not None else ():
        if entry.tag_id and entry.tag_id not in block_tags:
            users[entry.tag_id].append(entry.block_id)
            if entry.content_state == "tag_ref":
                cold.add(entry.tag_id)
    for tag, names in users.items():
        payload = store.payloads.get(tag) if store is not None else None
        yield Ref(
            id=tag,
            kind="stored tag_ref" if tag in cold else "rehydrated",
            target=_target(store, tag),
            status=_status(store, payload),
            tokens=counter.count(payload) if payload is not None else None,
            bytes=_size(payload),
            used_by=tuple(names),
            origin=_database_origin(store),
            text=payload,
        )


def _recalls(snapshot: Snapshot | None, store: AgentStore | None, counter: TokenCounter) -> Iterator[Ref]:
    """Yield a reference from each recalled block to the entry it came from."""
    entries = {entry.block_id: entry for entry in (store.entries or ())} if store is not None else {}
    known = store is not None and store.entries is not None
    for block in snapshot.blocks if snapshot is not None else ():
        source = text(block.members.get("persistent_block_id"))
        if source is None or snapshot is None:
            continue
        entry = entries.get(source)
        dangling = RefStatus.DANGLING if known else RefStatus.UNKNOWN
        yield Ref(
            id=source,
            kind="recall",
            target=_target(store, source),
            status=RefStatus.RESOLVED if entry is not None else dangling,
            tokens=counter.count(entry.content) if entry is not None else None,
            bytes=_size(entry.content if entry is not None else None),
            used_by=(block.name,),
            origin=snapshot.origin_of(f"{block.pointer}/persistent_block_id"),
            text=entry.content if entry is not None else None,
        )


def _orphans(store: AgentStore | None, block_tags: set[str], counter: TokenCounter) -> Iterator[Ref]:
    if store is None:
        return
    used = block_tags | {entry.tag_id for entry in store.entries or () if entry.tag_id}
    for tag, payload in store.payloads.items():
        if tag not in used:
            yield Ref(
                id=tag,
                kind="payload",
                target=_target(store, tag),
                status=RefStatus.ORPHAN,
                tokens=counter.count(payload),
                bytes=_size(payload),
                used_by=(),
                origin=_database_origin(store),
                text=payload,
            )


def _status(store: AgentStore | None, payload: str | None) -> RefStatus:
    if payload is not None:
        return RefStatus.RESOLVED
    if store is None or store.entries is None:
        return RefStatus.UNKNOWN
    return RefStatus.DANGLING


def _target(store: AgentStore | None, name: str) -> str:
    """Name the database without its folder, which is in the origin of the reference."""
    database = store.database if store is not None else None
    return f"{PurePath(database).name if database else 'memory.db'}#{name}"


def _database_origin(store: AgentStore | None) -> Origin:
    return Origin(store.database or store.folder if store is not None else "memory.db")


def _size(payload: str | None) -> int | None:
    return len(payload.encode("utf-8", "surrogatepass")) if payload is not None else None
