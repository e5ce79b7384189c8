"""Context GC: which derived files may go by `gc.policy` and why, and what is protected. Removes nothing.

Only packs, rebuildable chunks and unreferenced blobs may ever go. Histories, child results and whatever else
the session holds are protected, whatever a policy says. `collecting` does what a plan says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from typing import Final

from ctxview.files.reading import Unreadable, read_beneath
from ctxview.files.removal import Seen, seen
from ctxview.formats.session.blobs import LARGEST_REFERENCE, ChunkReference, reference_in
from ctxview.formats.session.child_uses import uses_by_child
from ctxview.formats.session.folder import EntryKind, Part, SessionFolder
from ctxview.formats.session.gc_policy import Policy, read_policy
from ctxview.formats.session.history import open_history
from ctxview.formats.session.mentions import Mentions
from ctxview.formats.session.model import Blob, Child, Session
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.raw_content import LARGEST, NoContent, RawContent
from ctxview.formats.session.read import read_session
from ctxview.formats.session.rebuilding import referred
from ctxview.formats.session.records import Record
from ctxview.formats.session.swap import verified
from ctxview.formats.session.tracing import Shape, shape_of, traced
from ctxview.quick_dataclass import dataclass

YOUNG: Final = 600
"""Seconds in which a blob may still be waiting for its line in the index."""

_PACKS: Final = ("context/pack.json", "context/pack.md")
_STORE: Final = (".store/manifest.json", ".store/wal.jsonl")
_STEPS: Final = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


class Fate(StrEnum):
    REMOVE = "remove"
    PROTECTED = "protected"


@dataclass(frozen=True, slots=True)
class GcItem:
    """One file and what would become of it."""

    name: str
    kind: str
    fate: Fate
    reason: str
    size: int = 0
    age: float | None = None
    """Seconds since it was last written."""
    seen: Seen | None = field(default=None, repr=False)
    """The file as it was when this was decided."""


@dataclass(frozen=True, slots=True)
class GcPlan:
    items: tuple[GcItem, ...]
    policy: Policy
    notes: tuple[str, ...]
    witnesses: dict[str, Seen | None] = field(repr=False)
    """The files that the plan rests on."""

    @property
    def removals(self) -> tuple[GcItem, ...]:
        return tuple(item for item in self.items if item.fate is Fate.REMOVE)

    @property
    def protected(self) -> tuple[GcItem, ...]:
        return tuple(item for item in self.items if item.fate is Fate.PROTECTED)


def plan_gc(folder: SessionFolder, profile: Profile, now: float) -> GcPlan:
    """What may go at this time, and what is protected from it."""
    witnesses = {name: seen(folder.root, name) for name in _witness_names(read_session(folder))}
    # Read after the witnesses were seen, so that a change in between shows.
    session = read_session(folder)
    raw = RawContent(folder, open_history(session))
    policy = read_policy(session, profile)
    notes = list(policy.problems)
    if session.state == "active":
        notes.append("the session is active: an agent may be at work in it")
    planner = _Planner(session, raw, policy, now)
    items = tuple(planner.items())
    return GcPlan(items, policy, tuple(notes), witnesses)


def age_in_words(seconds: float) -> str:
    """`41d`, `3h`, `0s`."""
    whole = max(0, int(seconds))
    size, letter = next(((size, letter) for size, letter in _STEPS if whole >= size), (1, "s"))
    return f"{whole // size}{letter}"


def _witness_names(session: Session) -> Iterator[str]:
    yield from (*session.parts, *_STORE)
    for child in session.children:
        yield from (part.name for part in child.parts.values())


@dataclass
class _Planner:
    session: Session
    raw: RawContent
    policy: Policy
    now: float

    def items(self) -> Iterator[GcItem]:
        yield from (self._pack(self.session.part(name)) for name in _PACKS if self.session.part(name).exists)
        yield from self._chunks()
        yield from (self._blob(blob) for blob in self.session.dedup.blobs)
        yield from self._histories()
        yield from (self._child_result(child) for child in self.session.children)
        reason = "only packs, chunks and blobs are ever collected"
        yield GcItem("everything else", "rest", Fate.PROTECTED, reason)

    def _pack(self, part: Part) -> GcItem:
        if part.kind is not EntryKind.FILE:
            return _untouched(part.name, "pack", part.kind)
        found = seen(self.session.folder.root, part.name)
        fate, reason = self._by_age(found, self.policy.pack_ttl, "pack_ttl")
        reason = f"{reason}; it can be built again" if fate is Fate.REMOVE else reason
        return self._file(part.name, "pack", fate, reason, found)

    def _chunks(self) -> Iterator[GcItem]:
        listed: dict[str, list[Record]] = {}
        for record in self.session.swap.index.records:
            listed.setdefault(record.text("id") or "", []).append(record)
        judged = [(blob, *self._chunk_by_age(blob)) for blob in self.session.swap.blobs]
        lost = (blob for blob, fate, *_ in judged if fate is Fate.REMOVE and blob.id not in listed)
        places = traced(self.raw, dict(self._shapes(lost)))
        for blob, fate, reason, found in judged:
            if fate is Fate.REMOVE:
                fate, proof = self._rebuildable(blob, listed.get(blob.id, []), places.get(blob.digest or ""))
                reason = f"{proof}; {reason}" if fate is Fate.REMOVE else proof
            yield self._file(blob.name, "chunk", fate, reason, found)

    def _chunk_by_age(self, blob: Blob) -> tuple[Fate, str, Seen | None]:
        if blob.entry.kind is not EntryKind.FILE:
            item = _untouched(blob.name, "chunk", blob.entry.kind)
            return item.fate, item.reason, None
        found = seen(self.session.folder.root, blob.name)
        return *self._by_age(found, self.policy.swap_ttl, "swap_ttl"), found

    def _rebuildable(self, blob: Blob, records: list[Record], place: str | None) -> tuple[Fate, str]:
        if named := self._mentions.of(blob.name):
            return Fate.PROTECTED, f"{_listed(named)} would lead nowhere"
        if (reference := self._reference(blob)) is not None:
            return self._referring(reference, records)
        if blob.digest is None:
            return Fate.PROTECTED, "a placeholder: no hash tells what it should hold"
        if place is not None:
            return Fate.REMOVE, f"not in the index, and {place} hold the same"
        why = "not in the index, and no history holds the same: the only copy"
        for record in records:
            content, why = verified(self.raw, record, blob.digest)
            if content is not None:
                return Fate.REMOVE, why
        return Fate.PROTECTED, why

    def _referring(self, reference: ChunkReference, records: list[Record]) -> tuple[Fate, str]:
        """A chunk without content of its own: what it refers to stays in the history, if it is there."""
        try:
            place, _ = referred(self.raw, reference, records)
            for record in records:
                self.raw.of(record)
        except NoContent as error:
            return Fate.PROTECTED, f"only refers, and cannot be made again: {error}"
        return Fate.REMOVE, f"only refers to {place}, which stay in the history"

    def _reference(self, blob: Blob) -> ChunkReference | None:
        if blob.entry.size > LARGEST_REFERENCE:
            return None
        return reference_in(self.session.folder.read(blob.name, LARGEST_REFERENCE).data or b"")

    def _blob(self, blob: Blob) -> GcItem:
        if blob.entry.kind is not EntryKind.FILE:
            return _untouched(blob.name, "blob", blob.entry.kind)
        found = seen(self.session.folder.root, blob.name)
        kept = self._why_kept(blob, found)
        fate, reason = (Fate.PROTECTED, kept) if kept else (Fate.REMOVE, "nothing refers to it")
        return self._file(blob.name, "blob", fate, reason, found)

    def _why_kept(self, blob: Blob, found: Seen | None) -> str | None:
        least, told = self.policy.dedup_min_refs, self.policy.told("dedup_min_refs")
        if refs := self._refs.get(blob.id, ()):
            few = f", fewer than {told}, but not none" if len(refs) < (least or 0) else ""
            return f"referenced by {_listed(refs)}{few}"
        if named := self._mentions.of(blob.id, besides="context/dedup/index.jsonl"):
            return f"named in {_listed(named)}"
        if least is None:
            return "no valid dedup_min_refs says when it may go"
        if least == 0:
            return f"{told} keeps blobs that nothing refers to"
        if self._age(found) < YOUNG:
            return "just written: its line in the index may still come"
        return None

    def _histories(self) -> Iterator[GcItem]:
        kept = ((MESSAGES, self.policy.keep_messages), (EVENTS, self.policy.keep_events))
        for name, keep in kept:
            key = f"keep_{name.removesuffix('.jsonl')}"
            reason = (
                "history is never removed" if keep else f"{key}=0 allows it, but history is never removed"
            )
            size = self.session.folder.entry(name).size
            yield GcItem(name, "history", Fate.PROTECTED, reason, size)

    def _child_result(self, child: Child) -> GcItem:
        users = self._child_users.get(child.name)
        reason = f"referenced by {_listed(users)}" if users else "a child's result is not a cache"
        size = len(child.result.data or b"")
        return GcItem(child.result.name, "child result", Fate.PROTECTED, reason, size)

    def _by_age(self, found: Seen | None, ttl: int | None, key: str) -> tuple[Fate, str]:
        if ttl is None:
            return Fate.PROTECTED, f"no valid {key} says when it may go"
        age = self._age(found)
        told = f"{age_in_words(age)} old, {self.policy.told(key)}"
        return (Fate.REMOVE if found is not None and age >= ttl else Fate.PROTECTED), told

    def _age(self, found: Seen | None) -> float:
        return max(0.0, self.now - found.modified / 1e9) if found is not None else 0.0

    def _file(self, name: str, kind: str, fate: Fate, reason: str, found: Seen | None) -> GcItem:
        size, age = (found.size, self._age(found)) if found is not None else (0, None)
        return GcItem(name, kind, fate, reason, size, age, found)

    def _shapes(self, blobs: Iterable[Blob]) -> Iterator[tuple[str, Shape]]:
        """What those unlisted chunks are recognised by that hold what their names say."""
        for blob in blobs:
            try:
                content = read_beneath(self.session.folder.root, blob.name, LARGEST)
            except Unreadable:
                continue
            if blob.digest is not None and hashlib.sha256(content).hexdigest() == blob.digest:
                yield blob.digest, shape_of(content)

    @cached_property
    def _child_users(self) -> dict[str, list[str]]:
        return uses_by_child(self.session)

    @cached_property
    def _mentions(self) -> Mentions:
        return Mentions(self.session)

    @cached_property
    def _refs(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for record in self.session.dedup.index.records:
            refs, name = record.members.get("refs"), record.text("hash") or ""
            if isinstance(refs, list):
                words = (ref if isinstance(ref, str) else "?" for ref in refs)
                found[name] = (*found.get(name, ()), *words)
        return found


def _untouched(name: str, kind: str, entry: EntryKind) -> GcItem:
    return GcItem(name, kind, Fate.PROTECTED, f"a {entry.value} is never touched")


def _listed(names: Sequence[str]) -> str:
    short = [name.removeprefix("context/") for name in names]
    return ", ".join(short) if len(short) <= 3 else f"{', '.join(short[:2])} and {len(short) - 2} more"
