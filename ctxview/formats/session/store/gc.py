"""Context GC: plans which derived files may be removed by `gc.policy`, applies the plan, and undoes it.

Only packs, rebuildable chunks and unreferenced blobs are ever removed. Histories, child results and all other
files of the session are protected, even if the policy allows more.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from ctxview.files import undo_copies
from ctxview.files.reading import ReadError, read_beneath
from ctxview.files.removal import (
    FileIdentity,
    RemovalBatch,
    RemovalRefused,
    RestoredFile,
    begin_batch,
    identify,
    latest_batch,
)
from ctxview.formats.kit.folder import EntryKind, FolderFile, SourceFolder
from ctxview.formats.kit.json_records import JsonRecord
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.history import open_history
from ctxview.formats.session.model import Blob, Session
from ctxview.formats.session.parser import GcLimits, parse_gc_policy, read_session
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.store.blobs import (
    LARGEST_REFERENCE,
    ChunkReference,
    Mentions,
    reference_in,
    unread_naming,
    uses_by_child,
)
from ctxview.formats.session.store.content import (
    LARGEST,
    ContentMissing,
    ContentShape,
    RawContent,
    referred,
    shape_of,
    trace_content,
)
from ctxview.formats.session.store.swap import verified

YOUNG: Final = 600
"""Seconds in which a blob may still be waiting for its line in the index."""

_PACKS: Final = ("context/pack.json", "context/pack.md")
_STORE: Final = (".store/manifest.json", ".store/wal.jsonl")
_REMOVABLE: Final = re.compile(r"context/(?:pack\.json|pack\.md|swap/chunk/[^/]+|dedup/blob/[^/]+)")
_STEPS: Final = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


class GcOutcome(StrEnum):
    REMOVE = "remove"
    PROTECTED = "protected"


class GcItem(Struct, frozen=True):
    """One file, and whether it is removed or protected, with the reason."""

    name: str
    kind: str
    outcome: GcOutcome
    reason: str
    size: int = 0
    age: float | None = None
    """Seconds since it was last written."""
    identity: FileIdentity | None = None
    """The identity of the file when the plan was made."""


class GcPlan(Struct, frozen=True):
    items: tuple[GcItem, ...]
    policy: GcLimits
    notes: tuple[str, ...]
    inputs: dict[str, FileIdentity | None]
    """The identities of the files that the plan depends on."""

    @property
    def removals(self) -> tuple[GcItem, ...]:
        return tuple(item for item in self.items if item.outcome is GcOutcome.REMOVE)

    @property
    def protected(self) -> tuple[GcItem, ...]:
        return tuple(item for item in self.items if item.outcome is GcOutcome.PROTECTED)


def plan_gc(folder: SourceFolder, profile: Profile, now: float) -> GcPlan:
    """Plan which files are removed at the time `now`, and which are protected."""
    before = read_session(folder)
    channels = (part.name for child in before.children for part in child.parts.values())
    inputs = {name: identify(folder.root, name) for name in (*before.parts, *_STORE, *channels)}
    # Read the session after the identities, so that a change in between is noticed.
    session = read_session(folder)
    raw = RawContent(folder, open_history(session))
    policy = parse_gc_policy(session, profile)
    notes = list(policy.problems)
    if session.state == "active":
        notes.append("the session is active: an agent may be at work in it")
    for name, why in islice(unread_naming(session), 1):
        notes.append(f"{name} was not read whole ({why}), so nothing is collected")
    planner = _Planner(session, raw, policy, now)
    items = tuple(planner.items())
    return GcPlan(items, policy, tuple(notes), inputs)


def age_in_words(seconds: float) -> str:
    """Return an age in its largest unit: `41d`, `3h`, `0s`."""
    whole = max(0, int(seconds))
    size, letter = next(((size, letter) for size, letter in _STEPS if whole >= size), (1, "s"))
    return f"{whole // size}{letter}"


class GcError(Exception):
    """Nothing could be removed or restored; the message says why."""


class GcResult(Struct, frozen=True):
    """The removed files, and planned files that were not removed, with the reason."""

    removed: tuple[GcItem, ...]
    skipped: tuple[tuple[GcItem, str], ...]
    backup: Path | None


def apply_gc(root: Path, plan: GcPlan, again: Callable[[], GcPlan]) -> GcResult:
    """Remove the files of `plan`. When an input of the plan has changed, `again` makes a new plan.

    Raises `GcError` when the backup cannot be made.
    """
    removed: list[GcItem] = []
    skipped: list[tuple[GcItem, str]] = []
    batch: RemovalBatch | None = None
    current, known_items = plan, {item.name: item for item in plan.items}
    try:
        with undo_copies.lock():
            for item in plan.removals:
                gone = {each.name for each in removed}
                inputs = ((name, each) for name, each in current.inputs.items() if name not in gone)
                if any(identify(root, name) != before for name, before in inputs):
                    current = again()
                    known_items = {each.name: each for each in current.items}
                known = known_items.get(item.name)
                if known is None or known.outcome is not GcOutcome.REMOVE or known.identity is None:
                    skipped.append((item, known.reason if known else "it is gone"))
                    continue
                try:
                    batch = batch or begin_batch(root)
                    _take(batch, known)
                    removed.append(known)
                except RemovalRefused as error:
                    skipped.append((item, str(error)))
    except undo_copies.LockError:
        raise GcError("another ctxview has been saving for a long time") from None
    except OSError as error:
        raise GcError(f"the backup could not be made: {error.strerror or error}") from None
    return GcResult(tuple(removed), tuple(skipped), batch.folder if batch else None)


def undo_gc(root: Path) -> list[RestoredFile]:
    """Restore the files that the last collection removed; empty when there are none. Raises `GcError`."""
    try:
        with undo_copies.lock():
            batch = latest_batch(root)
            return batch.restore() if batch else []
    except undo_copies.LockError:
        raise GcError("another ctxview has been saving for a long time") from None
    except OSError as error:
        raise GcError(f"restoring failed: {error.strerror or error}") from None


def _take(batch: RemovalBatch, item: GcItem) -> None:
    """Remove one file; no other function removes any."""
    if _REMOVABLE.fullmatch(item.name) is None or item.identity is None:
        raise RemovalRefused("only packs, chunks and blobs are ever removed")
    batch.take(item.name, item.identity)


class _Planner(Struct, dict=True):
    session: Session
    raw: RawContent
    policy: GcLimits
    now: float

    def items(self) -> Iterator[GcItem]:
        yield from (self._pack(self.session.part(name)) for name in _PACKS if self.session.part(name).exists)
        yield from self._chunks()
        yield from self._blobs()
        for name, keep in ((MESSAGES, self.policy.keep_messages), (EVENTS, self.policy.keep_events)):
            allowed = "" if keep else f"keep_{name.removesuffix('.jsonl')}=0 allows it, but "
            size = self.session.folder.entry(name).size
            yield GcItem(name, "history", GcOutcome.PROTECTED, f"{allowed}history is never removed", size)
        users_of = uses_by_child(self.session)
        for child in self.session.children:
            users = users_of.get(child.name)
            reason = f"referenced by {_listed(users)}" if users else "a child's result is not a cache"
            size = len(child.result.data or b"")
            yield GcItem(child.result.name, "child result", GcOutcome.PROTECTED, reason, size)
        reason = "only packs, chunks and blobs are ever collected"
        yield GcItem("everything else", "rest", GcOutcome.PROTECTED, reason)

    def _pack(self, part: FolderFile) -> GcItem:
        if part.kind is not EntryKind.FILE:
            return _untouched(part.name, "pack", part.kind)
        found = identify(self.session.folder.root, part.name)
        outcome, reason = self._by_age(found, self.policy.pack_ttl, "pack_ttl")
        reason = f"{reason}; it can be built again" if outcome is GcOutcome.REMOVE else reason
        return self._file(part.name, "pack", outcome, reason, found)

    def _chunks(self) -> Iterator[GcItem]:
        listed: dict[str, list[JsonRecord]] = {}
        for record in self.session.swap.index.records:
            listed.setdefault(record.text("id") or "", []).append(record)
        judged = [(blob, *self._chunk_by_age(blob)) for blob in self.session.swap.blobs]
        lost = (blob for blob, outcome, *_ in judged if outcome is GcOutcome.REMOVE and blob.id not in listed)
        places = trace_content(self.raw, dict(self._shapes(lost)))
        for blob, outcome, reason, found in judged:
            if outcome is GcOutcome.REMOVE:
                outcome, proof = self._rebuildable(
                    blob, listed.get(blob.id, []), places.get(blob.digest or "")
                )
                reason = f"{proof}; {reason}" if outcome is GcOutcome.REMOVE else proof
            yield self._file(blob.name, "chunk", outcome, reason, found)

    def _chunk_by_age(self, blob: Blob) -> tuple[GcOutcome, str, FileIdentity | None]:
        if blob.entry.kind is not EntryKind.FILE:
            item = _untouched(blob.name, "chunk", blob.entry.kind)
            return item.outcome, item.reason, None
        found = identify(self.session.folder.root, blob.name)
        return *self._by_age(found, self.policy.swap_ttl, "swap_ttl"), found

    def _rebuildable(self, blob: Blob, records: list[JsonRecord], place: str | None) -> tuple[GcOutcome, str]:
        if named := self._mentions.of(blob.name):
            return GcOutcome.PROTECTED, f"{_listed(named)} would refer to a missing file"
        if blob.digest is None:
            return GcOutcome.PROTECTED, "a placeholder: its name has no hash of its content"
        if place is not None:
            return GcOutcome.REMOVE, f"not in the index, and {place} hold the same"
        small = blob.entry.size <= LARGEST_REFERENCE
        data = self.session.folder.read(blob.name, LARGEST_REFERENCE).data if small else None
        reference = reference_in(data or b"")
        if reference is not None and not records:
            return self._referring(reference, blob.digest)
        why = "not in the index, and no history holds the same: the only copy"
        for record in records:
            content, why = verified(self.raw, record, blob.digest)
            if content is not None:
                return GcOutcome.REMOVE, why
        return GcOutcome.PROTECTED, why if reference is None else f"only refers, and {why}"

    def _referring(self, reference: ChunkReference, digest: str) -> tuple[GcOutcome, str]:
        """Judge a chunk that only refers and is not in the index: the history must hold its content."""
        try:
            place, content = referred(self.raw, reference, ())
        except ContentMissing as error:
            return GcOutcome.PROTECTED, f"only refers, and cannot be rebuilt: {error}"
        if hashlib.sha256(content).hexdigest() != digest:
            return GcOutcome.PROTECTED, f"only refers, and cannot be rebuilt: {place} have another hash"
        return GcOutcome.REMOVE, f"only refers to {place}, which stay in the history"

    def _blobs(self) -> Iterator[GcItem]:
        judged = []
        for blob in self.session.dedup.blobs:
            plain = blob.entry.kind is EntryKind.FILE
            found = identify(self.session.folder.root, blob.name) if plain else None
            judged.append((blob, found, self._why_protected(blob, found)))
        # The text of the index is searched, because a broken line may name a blob too.
        index = self.session.dedup.index.part.text
        unused = (blob for blob, _, why in judged if why is None)
        listed = {blob.id: blob for blob in unused if (blob.digest or blob.id) in index}
        places = trace_content(self.raw, dict(self._shapes(listed.values())))
        for blob, found, why in judged:
            outcome, reason = GcOutcome.PROTECTED, why or "the index lists it, and no history holds the same"
            place = places.get(blob.digest or "")
            if why is None and (place is not None or blob.id not in listed):
                same = f", and {place} hold the same" if place is not None else ""
                outcome, reason = GcOutcome.REMOVE, f"nothing refers to it{same}"
            yield self._file(blob.name, "blob", outcome, reason, found)

    def _why_protected(self, blob: Blob, found: FileIdentity | None) -> str | None:
        if blob.entry.kind is not EntryKind.FILE:
            return _untouched(blob.name, "blob", blob.entry.kind).reason
        if self._unread is not None:
            return self._unread
        least, setting = self.policy.dedup_min_refs, self.policy.setting("dedup_min_refs")
        if refs := self._refs.get(blob.id, ()):
            few = f", fewer than {setting}, but not none" if len(refs) < (least or 0) else ""
            return f"referenced by {_listed(refs)}{few}"
        if named := self._mentions.of(blob.id, besides="context/dedup/index.jsonl"):
            return f"named in {_listed(named)}"
        if least is None:
            return "no valid dedup_min_refs says when it may be removed"
        if least == 0:
            return f"{setting} keeps blobs that nothing refers to"
        if self._age(found) < YOUNG:
            return "just written: its line in the index may still come"
        return None

    def _by_age(self, found: FileIdentity | None, ttl: int | None, key: str) -> tuple[GcOutcome, str]:
        if self._unread is not None:
            return GcOutcome.PROTECTED, self._unread
        if ttl is None:
            return GcOutcome.PROTECTED, f"no valid {key} says when it may be removed"
        age = self._age(found)
        reason = f"{age_in_words(age)} old, {self.policy.setting(key)}"
        return (GcOutcome.REMOVE if found is not None and age >= ttl else GcOutcome.PROTECTED), reason

    def _age(self, found: FileIdentity | None) -> float:
        return max(0.0, self.now - found.modified / 1e9) if found is not None else 0.0

    def _file(
        self, name: str, kind: str, outcome: GcOutcome, reason: str, found: FileIdentity | None
    ) -> GcItem:
        size, age = (found.size, self._age(found)) if found is not None else (0, None)
        return GcItem(name, kind, outcome, reason, size, age, found)

    def _shapes(self, blobs: Iterable[Blob]) -> Iterator[tuple[str, ContentShape]]:
        """Yield the digest and shape of the chunks that hold the content of the hash in their names."""
        for blob in blobs:
            try:
                content = read_beneath(self.session.folder.root, blob.name, LARGEST)
            except ReadError:
                continue
            if blob.digest is not None and hashlib.sha256(content).hexdigest() == blob.digest:
                yield blob.digest, shape_of(content)

    @cached_property
    def _unread(self) -> str | None:
        """Why not all references are known."""
        found = next(unread_naming(self.session), None)
        return None if found is None else f"it may be referred to from {found[0]}: {found[1]}"

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
    return GcItem(name, kind, GcOutcome.PROTECTED, f"a {entry.value} is never touched")


def _listed(names: Sequence[str]) -> str:
    short = [name.removeprefix("context/") for name in names]
    return ", ".join(short) if len(short) <= 3 else f"{', '.join(short[:2])} and {len(short) - 2} more"
