"""The references of a session with their status: sources, refs, swap, dedup, children and pack items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from ctxview.analysis.diff.values import meaning_of
from ctxview.analysis.wording import beginning
from ctxview.core.origin import Origin
from ctxview.core.state import Ref, RefStatus
from ctxview.files.strict_json.tree import join
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.kit.json_records import JsonRecord, JsonRecordFile
from ctxview.formats.session import MESSAGES
from ctxview.formats.session.caps import MOST_SHOWN
from ctxview.formats.session.forms import OWNERSHIP, REF_FIELDS, session_record_form, text_form_of
from ctxview.formats.session.grammar import cited_range, digest_in, parse_citation
from ctxview.formats.session.model import Blob
from ctxview.formats.session.rules.dedup_refs import holder_of, refs_of
from ctxview.formats.session.rules.swap import orphans
from ctxview.formats.session.state.budgets import is_stale
from ctxview.formats.session.state.inputs import SessionStateInputs
from ctxview.formats.session.store.blobs import BlobFacts, child_uses, uses_by_child
from ctxview.formats.session.store.content import follow_reference, rebuild
from ctxview.formats.session.survey.citations import CitationStatus, cited_text, resolve_citation

LONGEST_TEXT = 4000
LARGEST_READ = 1024 * 1024
_SOURCES = {
    CitationStatus.RESOLVED: RefStatus.RESOLVED,
    CitationStatus.BEYOND: RefStatus.DANGLING,
    CitationStatus.REVERSED: RefStatus.DANGLING,
    CitationStatus.UNKNOWN: RefStatus.UNKNOWN,
    CitationStatus.UNREADABLE: RefStatus.UNKNOWN,
    CitationStatus.FREE: RefStatus.EXTERNAL,
}
_UNFOLLOWED = {"hash": RefStatus.MISMATCH, None: RefStatus.UNKNOWN}
"""The status of a chunk whose reference failed, by the member at fault; dangling for any other member."""


def build_refs(inputs: SessionStateInputs) -> tuple[Ref, ...]:
    """Build the references of each kind, so that many of one kind do not displace another."""
    session = inputs.facts.session
    kinds = (
        _sources(inputs, session.facts),
        _sources(inputs, session.decisions),
        (_reference(inputs, session.refs, record, "", "refs.jsonl") for record in session.refs.records),
        (
            _reference(inputs, child.refs, record, f"context/child/{child.name}/", child.name)
            for child in session.children
            for record in child.refs.records
        ),
        _swapped(inputs),
        _shared(inputs),
        _orphans(inputs),
        _children(inputs),
        _pack_items(inputs),
    )
    return tuple(ref for kind in kinds for ref in islice(kind, MOST_SHOWN))


def _sources(inputs: SessionStateInputs, records: JsonRecordFile) -> Iterator[Ref]:
    """Yield a reference from each fact or decision to the messages it cites."""
    facts = inputs.facts
    for record in records.records:
        source = record.text("source")
        if not source:
            continue
        where = parse_citation(source)
        if inputs.is_later(where):
            continue
        citation = resolve_citation(where, facts.survey)
        text = None
        if citation.resolution is CitationStatus.RESOLVED and facts.survey is not None:
            text = cited_text(where, facts.history, facts.survey)
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


def _reference(
    inputs: SessionStateInputs, records: JsonRecordFile, record: JsonRecord, base: str, user: str
) -> Ref:
    path = record.text("path") or ""
    name = path if path.startswith("context/") else f"{base}{path}"
    parts = path.split("/")
    # A path outside the session is shown and never followed.
    leads_out = not path or path.startswith("/") or ":" in parts[0] or ".." in parts
    entry = None if leads_out else inputs.facts.session.folder.entry(name)
    found = entry is not None and entry.kind is EntryKind.FILE
    size = entry.size if entry is not None and found else None
    text = None
    status = RefStatus.EXTERNAL if entry is None else RefStatus.DANGLING
    if entry is not None and entry.kind is EntryKind.UNKNOWN:
        status = RefStatus.UNKNOWN
    elif found:
        status = RefStatus.RESOLVED
    if size is not None and size <= LARGEST_READ:
        part = inputs.facts.session.folder.read(name)
        text, status = (part.text, status) if part.readable else (None, RefStatus.UNKNOWN)
    return Ref(
        id=record.text("id") or f"line {record.line}",
        kind=record.text("kind") or "ref",
        target=path or "?",
        status=status,
        tokens=inputs.tokens(text) if text is not None else None,
        bytes=size,
        used_by=(user,),
        origin=record.origin("path"),
        text=beginning(text, LONGEST_TEXT) if text is not None else record.text("summary"),
        form=session_record_form(records, record, REF_FIELDS, inputs.profile),
    )


def _swapped(inputs: SessionStateInputs) -> Iterator[Ref]:
    session = inputs.facts.session
    for record in session.swap.index.records:
        name = record.text("id")
        if name is None:
            continue
        blob = session.swap.blob(name)
        source, where = record.text("source") or "?", record.text("range") or record.text("event") or ""
        if inputs.is_later(cited_range(source, where)):
            continue
        facts = inputs.facts.blob_facts(blob) if blob is not None else None
        ref = Ref(
            id=name,
            kind="swap",
            target=f"{source} {where}".strip(),
            status=_blob_status(blob, facts) if blob is not None else _lost_status(inputs, record),
            tokens=_blob_tokens(inputs, blob),
            bytes=blob.entry.size if blob is not None else None,
            used_by=_users(inputs, name),
            origin=record.origin(),
            text=facts.head if facts is not None and facts.head else record.text("summary"),
            form=session_record_form(session.swap.index, record, (), inputs.profile),
        )
        yield ref if blob is None or facts is None else _followed(inputs, ref, blob, facts)


def _lost_status(inputs: SessionStateInputs, record: JsonRecord) -> RefStatus:
    """Return the status of a missing chunk: whether the histories can rebuild it."""
    if inputs.facts.survey is None or "context/swap/chunk" in inputs.facts.session.closed:
        return RefStatus.UNKNOWN
    rebuilt = rebuild(inputs.facts, record)
    if rebuilt.text is None:
        return RefStatus.UNKNOWN if rebuilt.unreadable else RefStatus.DANGLING
    digest = digest_in(record.text("id") or "")
    if digest is None:
        return RefStatus.PLACEHOLDER
    return RefStatus.REBUILDABLE if digest == rebuilt.digest else RefStatus.MISMATCH


def _followed(inputs: SessionStateInputs, ref: Ref, blob: Blob, facts: BlobFacts) -> Ref:
    """Return `ref` with size and text of the target when its chunk only refers to other content."""
    if facts.reference is None or inputs.facts.survey is None:
        return ref
    found = follow_reference(inputs.facts, facts.reference, blob.id)
    if found.text is None:
        lost = RefStatus.UNKNOWN if found.unreadable else _UNFOLLOWED.get(found.member, RefStatus.DANGLING)
        status = ref.status if ref.status in (RefStatus.ORPHAN, RefStatus.MISMATCH) else lost
        return replace(
            ref, status=status, text=f"refers to content that cannot be found: {found.why}\n{facts.head}"
        )
    text = found.text.decode("utf-8", "replace")
    verified = ref.status is RefStatus.PLACEHOLDER and digest_in(facts.reference.hash or "") is not None
    status = RefStatus.RESOLVED if verified else ref.status
    preview = f"refers to {found.why}, whose content is counted:\n{beginning(text, LONGEST_TEXT)}"
    return replace(ref, status=status, tokens=inputs.tokens(text), bytes=len(found.text), text=preview)


def _shared(inputs: SessionStateInputs) -> Iterator[Ref]:
    session = inputs.facts.session
    for record in session.dedup.index.records:
        name = record.text("hash")
        if name is None:
            continue
        blob = session.dedup.blob(name)
        facts = inputs.facts.blob_facts(blob) if blob is not None else None
        yield Ref(
            id=name,
            kind="dedup",
            target=f"context/dedup/blob/{name}",
            status=_lost_blob(inputs, record) if blob is None else _blob_status(blob, facts),
            tokens=_blob_tokens(inputs, blob),
            bytes=blob.entry.size if blob is not None else None,
            used_by=refs_of(record),
            origin=record.origin(),
            text=facts.head if facts is not None else None,
            form=session_record_form(session.dedup.index, record, (), inputs.profile),
        )


def _blob_tokens(inputs: SessionStateInputs, blob: Blob | None) -> int | None:
    """Count the text of a chunk or blob; the figure in its index is that of the runtime's own estimate."""
    if blob is None or blob.entry.kind is not EntryKind.FILE or blob.entry.size > LARGEST_READ:
        return None
    facts = inputs.facts.blob_facts(blob)
    if facts is not None and facts.reference is not None:
        return None
    part = inputs.facts.session.folder.read(blob.name, LARGEST_READ)
    return inputs.tokens(part.text) if part.readable else None


def _lost_blob(inputs: SessionStateInputs, record: JsonRecord) -> RefStatus:
    """Return the status of a missing blob: whether a place in the session still holds its content."""
    if inputs.facts.survey is None or "context/dedup/blob" in inputs.facts.session.closed:
        return RefStatus.UNKNOWN
    if holder_of(inputs.facts, record) is not None:
        return RefStatus.REBUILDABLE
    return RefStatus.DANGLING if inputs.facts.history.unreadable_rows is None else RefStatus.UNKNOWN


def _orphans(inputs: SessionStateInputs) -> Iterator[Ref]:
    session = inputs.facts.session
    for store, key, kind in ((session.swap, "id", "swap"), (session.dedup, "hash", "dedup")):
        for blob in orphans(store, key):
            facts = inputs.facts.blob_facts(blob)
            ref = Ref(
                id=blob.id,
                kind=kind,
                target=blob.name,
                status=RefStatus.ORPHAN,
                tokens=_blob_tokens(inputs, blob),
                bytes=blob.entry.size,
                used_by=_users(inputs, blob.id),
                origin=Origin(blob.file),
                text=facts.head if facts is not None else None,
                form=OWNERSHIP.of(blob.name).locked_form(blob.file, "", {"content": blob.id}),
            )
            yield ref if facts is None else _followed(inputs, ref, blob, facts)


def _blob_status(blob: Blob, facts: BlobFacts | None) -> RefStatus:
    if blob.digest is None:
        return RefStatus.PLACEHOLDER
    if facts is None:
        return RefStatus.UNKNOWN
    return RefStatus.RESOLVED if facts.stands_for(blob.digest) else RefStatus.MISMATCH


def _children(inputs: SessionStateInputs) -> Iterator[Ref]:
    uses = uses_by_child(inputs.facts.session)
    parts = defaultdict(set)
    for use in child_uses(inputs.facts.session):
        parts[use.child, use.user].add(use.name.rpartition("/")[2])
    terminal = inputs.profile.words.terminal_statuses

    def named(child: str, user: str) -> str:
        """The user, with the file it uses when that is not the result."""
        used = parts[child, user]
        return user if not used or "result.md" in used else f"{user} ({', '.join(sorted(used))})"

    for child in inputs.facts.session.children:
        result = child.result
        waiting = child.status not in terminal and bool(terminal)
        unknown = result.exists and (waiting or not result.readable)
        missing = RefStatus.UNKNOWN if unknown else RefStatus.DANGLING
        yield Ref(
            id=child.name,
            kind="child",
            target=result.name,
            status=RefStatus.RESOLVED if not result.is_blank else missing,
            tokens=inputs.tokens(result.text) if not result.is_blank else None,
            bytes=len(result.data) if result.data is not None else None,
            used_by=tuple(named(child.name, user) for user in uses.get(child.name, ())),
            origin=Origin(result.file),
            text=result.text if not result.is_blank else None,
            form=text_form_of(result),
        )


def _pack_items(inputs: SessionStateInputs) -> Iterator[Ref]:
    """Yield a reference for each pack item, and whether its text in the pack is stale."""
    session = inputs.facts.session
    for item in session.pack.items:
        content = inputs.content(item)
        if content is None:
            kind = session.folder.entry(item.source or "").kind
            unread = kind in (EntryKind.FILE, EntryKind.UNKNOWN) or (
                item.source == MESSAGES and inputs.facts.history.unreadable_rows is not None
            )
            status = RefStatus.UNKNOWN if unread else RefStatus.DANGLING
        else:
            status = RefStatus.STALE if is_stale(inputs, item) else RefStatus.RESOLVED
        yield Ref(
            id=item.kind or f"item {item.index + 1}",
            kind="pack",
            target=" ".join(filter(None, (item.source, item.range))) or "?",
            status=status,
            tokens=inputs.tokens(content) if content is not None else None,
            bytes=len(content.encode("utf-8", "surrogatepass")) if content is not None else None,
            used_by=("pack.json",),
            origin=session.pack.origin(item),
            text=beginning(content, LONGEST_TEXT) if content is not None else None,
            meaning=meaning_of(content) if content is not None else None,
            form=OWNERSHIP.of("context/pack.json").locked_form(
                session.pack.json.file, join("/items", item.index), item.members
            ),
        )


def _users(inputs: SessionStateInputs, name: str) -> tuple[str, ...]:
    """Return the ids of the references to a chunk or blob."""
    records = inputs.facts.session.refs.records
    return tuple(record.text("id") or "?" for record in records if name in (record.text("path") or ""))
