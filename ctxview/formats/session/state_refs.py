"""Where everything in a session leads, with true status: sources, refs, swap, dedup, children, pack items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ctxview.analysis.diff.values import meaning_of
from ctxview.formats.session.blobs import BlobFacts
from ctxview.formats.session.candidates import estimate
from ctxview.formats.session.child_uses import uses_by_child
from ctxview.formats.session.citing import Resolution, cited_text, resolve
from ctxview.formats.session.folder import EntryKind
from ctxview.formats.session.model import Blob
from ctxview.formats.session.names import cited, cited_range, digest_in
from ctxview.formats.session.rebuilding import follow, rebuild
from ctxview.formats.session.records import Record
from ctxview.formats.session.rules.swap import orphans
from ctxview.formats.session.state_budget import is_stale
from ctxview.formats.session.view import View
from ctxview.state import Origin, Ref, RefStatus

MOST_REFS = 5000
LONGEST_TEXT = 4000
LARGEST_READ = 1024 * 1024
MOST_CITED = 400
"""How many records get the text of what they cite."""
_SOURCES = {
    Resolution.RESOLVED: RefStatus.RESOLVED,
    Resolution.BEYOND: RefStatus.DANGLING,
    Resolution.REVERSED: RefStatus.DANGLING,
    Resolution.UNKNOWN: RefStatus.UNKNOWN,
    Resolution.FREE: RefStatus.EXTERNAL,
}
_UNFOLLOWED = {"hash": RefStatus.MISMATCH, None: RefStatus.UNKNOWN}
"""What a referring chunk is that cannot be followed, by what is to blame; else it dangles."""


def build_refs(view: View) -> tuple[Ref, ...]:
    found = (
        *_sources(view),
        *_references(view),
        *_swapped(view),
        *_shared(view),
        *_orphans(view),
        *_children(view),
        *_pack_items(view),
    )
    return found[:MOST_REFS]


def _sources(view: View) -> Iterator[Ref]:
    """Each fact and decision, and the very messages it cites."""
    look = view.look
    for records in (look.session.facts, look.session.decisions):
        for place, record in enumerate(records.records):
            source = record.text("source")
            if not source:
                continue
            where = cited(source)
            if view.is_later(where):
                continue
            citation = resolve(where, look.survey)
            text = None
            if citation.resolution is Resolution.RESOLVED and look.survey is not None and place < MOST_CITED:
                text = cited_text(where, look.history, look.survey)
            yield Ref(
                id=record.text("id") or f"line {record.line}",
                kind="source",
                target=source,
                status=_SOURCES[citation.resolution],
                tokens=None,
                bytes=None,
                used_by=(record.text("id") or f"line {record.line}",),
                origin=record.origin("source"),
                text=text,
            )


def _references(view: View) -> Iterator[Ref]:
    """refs.jsonl of the session and of its children."""
    session = view.look.session
    for record in session.refs.records:
        yield _reference(view, record, "", "refs.jsonl")
    for child in session.children:
        for record in child.refs.records:
            yield _reference(view, record, f"context/child/{child.name}/", child.name)


def _reference(view: View, record: Record, base: str, user: str) -> Ref:
    path = record.text("path") or ""
    name = path if path.startswith("context/") else f"{base}{path}"
    entry = None if _leads_out(path) else view.look.session.folder.entry(name)
    found = entry is not None and entry.kind is EntryKind.FILE
    size = entry.size if entry is not None and found else None
    text = None
    if size is not None and size <= LARGEST_READ:
        text = view.look.session.folder.read(name).text
    return Ref(
        id=record.text("id") or f"line {record.line}",
        kind=record.text("kind") or "ref",
        target=path or "?",
        status=RefStatus.RESOLVED if found else RefStatus.EXTERNAL if entry is None else RefStatus.DANGLING,
        tokens=view.tokens(text) if text is not None else None,
        bytes=size,
        used_by=(user,),
        origin=record.origin("path"),
        text=text[:LONGEST_TEXT] if text is not None else record.text("summary"),
    )


def _leads_out(path: str) -> bool:
    """Whether a path is no path into the session; it is then shown and never followed."""
    parts = path.split("/")
    return not path or path.startswith("/") or ":" in parts[0] or ".." in parts


def _swapped(view: View) -> Iterator[Ref]:
    session = view.look.session
    for record in session.swap.index.records:
        name = record.text("id")
        if name is None:
            continue
        blob = session.swap.blob(name)
        source, where = record.text("source") or "?", record.text("range") or record.text("event") or ""
        if view.is_later(cited_range(source, where)):
            continue
        facts = view.look.facts(blob) if blob is not None else None
        ref = Ref(
            id=name,
            kind="swap",
            target=f"{source} {where}".strip(),
            status=_blob_status(blob, facts) if blob is not None else _lost_status(view, record),
            tokens=facts.tokens if facts is not None else record.number("tokens"),
            bytes=blob.entry.size if blob is not None else None,
            used_by=_users(view, name),
            origin=record.origin(),
            text=facts.head if facts is not None and facts.head else record.text("summary"),
        )
        yield ref if blob is None or facts is None else _followed(view, ref, blob, facts)


def _lost_status(view: View, record: Record) -> RefStatus:
    """What is left of a chunk that is gone."""
    if view.look.survey is None:
        return RefStatus.UNKNOWN
    rebuilt = rebuild(view.look, record)
    if rebuilt.text is None:
        return RefStatus.DANGLING
    same = digest_in(record.text("id") or "") in (None, rebuilt.digest)
    return RefStatus.REBUILDABLE if same else RefStatus.MISMATCH


def _followed(view: View, ref: Ref, blob: Blob, facts: BlobFacts) -> Ref:
    """A chunk that only refers, with the figures and the text of what it refers to; others as they are."""
    if facts.reference is None or view.look.survey is None:
        return ref
    found = follow(view.look, facts.reference, blob.id)
    if found.text is None:
        lost = _UNFOLLOWED.get(found.member, RefStatus.DANGLING)
        status = ref.status if ref.status in (RefStatus.ORPHAN, RefStatus.MISMATCH) else lost
        return replace(ref, status=status, text=f"refers to what cannot be found: {found.why}\n{facts.head}")
    text = found.text.decode("utf-8", "replace")
    verified = ref.status is RefStatus.PLACEHOLDER and digest_in(facts.reference.hash or "") is not None
    status = RefStatus.RESOLVED if verified else ref.status
    told = f"refers to {found.why}; counted is what stands there:\n{text[:LONGEST_TEXT]}"
    tokens = estimate(text, view.profile)
    return replace(ref, status=status, tokens=tokens, bytes=len(found.text), text=told)


def _shared(view: View) -> Iterator[Ref]:
    session = view.look.session
    for record in session.dedup.index.records:
        name = record.text("hash")
        if name is None:
            continue
        blob = session.dedup.blob(name)
        facts = view.look.facts(blob) if blob is not None else None
        refs = record.members.get("refs")
        yield Ref(
            id=name,
            kind="dedup",
            target=f"context/dedup/blob/{name}",
            status=RefStatus.DANGLING if blob is None else _blob_status(blob, facts),
            tokens=facts.tokens if facts is not None else record.number("tokens"),
            bytes=blob.entry.size if blob is not None else None,
            used_by=tuple(each for each in refs if isinstance(each, str)) if isinstance(refs, list) else (),
            origin=record.origin(),
            text=facts.head if facts is not None else None,
        )


def _orphans(view: View) -> Iterator[Ref]:
    session = view.look.session
    for store, key, kind in ((session.swap, "id", "swap"), (session.dedup, "hash", "dedup")):
        for blob in orphans(store, key):
            facts = view.look.facts(blob)
            ref = Ref(
                id=blob.id,
                kind=kind,
                target=blob.name,
                status=RefStatus.ORPHAN,
                tokens=facts.tokens if facts is not None else None,
                bytes=blob.entry.size,
                used_by=_users(view, blob.id),
                origin=Origin(blob.file),
                text=facts.head if facts is not None else None,
            )
            yield ref if facts is None else _followed(view, ref, blob, facts)


def _blob_status(blob: Blob, facts: BlobFacts | None) -> RefStatus:
    if blob.digest is None:
        return RefStatus.PLACEHOLDER
    if facts is None:
        return RefStatus.UNKNOWN
    return RefStatus.RESOLVED if facts.stands_for(blob.digest) else RefStatus.MISMATCH


def _children(view: View) -> Iterator[Ref]:
    uses = uses_by_child(view.look.session)
    terminal = view.profile.words.terminal_statuses
    for child in view.look.session.children:
        result = child.result
        waiting = child.status not in terminal and bool(terminal)
        missing = RefStatus.UNKNOWN if waiting and result.exists else RefStatus.DANGLING
        yield Ref(
            id=child.name,
            kind="child",
            target=result.name,
            status=RefStatus.RESOLVED if not result.is_blank else missing,
            tokens=view.tokens(result.text) if not result.is_blank else None,
            bytes=len(result.data) if result.data is not None else None,
            used_by=tuple(uses.get(child.name, ())),
            origin=Origin(result.file),
            text=result.text if not result.is_blank else None,
        )


def _pack_items(view: View) -> Iterator[Ref]:
    """What the pack says it shows, and whether that is still so."""
    session = view.look.session
    for item in session.pack.items:
        content = view.content(item)
        if content is None:
            status = RefStatus.DANGLING
        else:
            status = RefStatus.STALE if is_stale(view, item) else RefStatus.RESOLVED
        yield Ref(
            id=item.kind or f"item {item.index + 1}",
            kind="pack",
            target=" ".join(filter(None, (item.source, item.range))) or "?",
            status=status,
            tokens=view.tokens(content) if content is not None else None,
            bytes=len(content.encode("utf-8", "surrogatepass")) if content is not None else None,
            used_by=("pack.json",),
            origin=session.pack.origin(item),
            text=content[:LONGEST_TEXT] if content is not None else None,
            meaning=meaning_of(content) if content is not None else None,
        )


def _users(view: View, name: str) -> tuple[str, ...]:
    """The references that lead to a chunk or blob."""
    records = view.look.session.refs.records
    return tuple(record.text("id") or "?" for record in records if name in (record.text("path") or ""))
