"""The rules about content that was moved out of the prompt window (ABI039 to 043, and 046).

Examples change a sound session, as in `layout`; its swap holds messages 1-2, and `(hash)` means the hash of
the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import excerpt
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import Origin
from ctxview.formats.kit.json_records import JsonRecord
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.grammar import digest_in, is_hash_id
from ctxview.formats.session.model import Blob, BlobStore
from ctxview.formats.session.pack_candidates import counted_by, estimate
from ctxview.formats.session.rules.dedup_refs import holder_of, is_resolved, refs_of
from ctxview.formats.session.store.blobs import BlobFacts, text_of
from ctxview.formats.session.store.content import follow_reference, rebuild
from ctxview.formats.session.survey.facts import SessionFacts


@rule("ABI039", name="blob-hash", severity=Severity.ERROR)
def blob_hash(facts: SessionFacts) -> Iterator[Hit]:
    """A chunk or blob does not have the SHA-256 that its name promises, or its name promises none.

    ## Why
    Content is found by its hash, so a file with another content makes every reference to it wrong. A name
    without a whole hash is a placeholder: nothing can be verified, which is warned about. Where the history
    still holds the swapped content, nothing is lost and the chunk can be made again.
    ## Bad
    context/swap/chunk/sha256-0000000000000000000000000000000000000000000000000000000000000000 = text
    ## Good
    context/swap/chunk/sha256-(hash) = text
    ## Fix
    Rebuild the chunk with `ctxview swap SESSION --rebuild --write`; never edit one.
    ## Source
    Source document, Swap and Dedup: content-addressed chunks.
    """
    for blob in (*facts.session.swap.blobs, *facts.session.dedup.blobs):
        origin = Origin(blob.file)
        known = facts.blob_facts(blob)
        if blob.digest is None:
            message = f"{excerpt(blob.id, 40)} has no whole SHA-256, so its content cannot be verified"
            yield Hit(origin, message, Severity.WARNING)
        elif known is not None and known.digest is not None and not known.stands_for(blob.digest):
            message = f"the content has the SHA-256 {known.digest[:16]}…, not that of its name"
            original = _original(facts, blob)
            yield Hit(origin, f"{message}; it can be rebuilt from {original}" if original else message)
    for store, key in ((facts.session.swap, "id"), (facts.session.dedup, "hash")):
        for record in store.index.records:
            name = record.text(key) or ""
            if is_hash_id(name) and digest_in(name) is None and store.blob(name) is None:
                message = f"{excerpt(name, 40)} has no whole SHA-256, so no content can be verified"
                yield Hit(record.origin(key), message, Severity.WARNING)


@rule("ABI040", name="swap-lost", severity=Severity.ERROR)
def swap_lost(facts: SessionFacts) -> Iterator[Hit]:
    """A chunk of the swap, or a blob of the dedup store, is gone.

    ## Why
    The index says that content is in a chunk or blob. When the lines, the event or the file it came from can
    still be found, its absence is only warned about: it can be rebuilt, unless they have another hash than it
    had. Otherwise the content is lost.
    ## Bad
    context/swap/index.jsonl += {"id": "sha256-a", "kind": "message_range", "source": "messages.jsonl", \
"range": "90-99", "summary": "?", "tokens": 1}
    ## Good
    context/swap/index.jsonl (empty)
    ## Fix
    Rebuild it with `ctxview swap` or `ctxview dedup`, or remove the line from the index.
    ## Source
    Source document, Swap: content is out of the window, not deleted. Context GC: rebuildable chunks may go.
    """
    yield from _lost_blobs(facts)
    for record in facts.session.swap.index.records:
        name = record.text("id")
        if name is None or facts.session.swap.blob(name) is not None or facts.survey is None:
            continue
        if "context/swap/chunk" in facts.session.closed:
            continue
        rebuilt = rebuild(facts, record)
        if rebuilt.unreadable:
            message = (
                f"the chunk {excerpt(name)} is gone; whether it can be rebuilt is unknown: {rebuilt.why}"
            )
            yield Hit(record.origin("id"), message, Severity.WARNING)
        elif rebuilt.text is None:
            message = f"the chunk {excerpt(name)} is gone and cannot be rebuilt: {rebuilt.why}"
            yield Hit(record.origin("id"), message)
        elif digest_in(name) is None:
            unknown = "without its SHA-256 no copy of its content can be recognised"
            message = f"the chunk {excerpt(name)} is gone; {unknown}"
            yield Hit(record.origin("id"), message, Severity.WARNING)
        elif digest_in(name) != rebuilt.digest:
            gone = f"the chunk {excerpt(name)} is gone"
            message = f"{gone}, and what it came from has another hash: {rebuilt.why}"
            yield Hit(record.origin("id"), message, Severity.WARNING)
        else:
            message = f"the chunk {excerpt(name)} is gone; it can be rebuilt from {rebuilt.why}"
            yield Hit(record.origin("id"), message, Severity.WARNING)


@rule("ABI041", name="blob-orphan", severity=Severity.WARNING)
def blob_orphan(facts: SessionFacts) -> Iterator[Hit]:
    """A chunk or blob is listed in no index.

    ## Why
    Nothing will ever use it. It takes space until it is collected.
    ## Bad
    context/dedup/blob/sha256-0000000000000000000000000000000000000000000000000000000000000000 = x
    ## Good
    context/dedup/index.jsonl += (blank)
    ## Fix
    Collect it with `ctxview gc`, or list it again.
    ## Source
    Source document, Context GC: unreferenced blobs may be deleted.
    """
    areas = ((facts.session.swap, "id", "swap"), (facts.session.dedup, "hash", "dedup"))
    for store, key, area in areas:
        for blob in orphans(store, key):
            yield Hit(Origin(blob.file), f"{excerpt(blob.id, 24)} is not in the index of {area}")


@rule("ABI042", name="swap-range", severity=Severity.ERROR)
def swap_range(facts: SessionFacts) -> Iterator[Hit]:
    """A swap entry or a referring chunk names lines or an event that cannot be found, or their hash is wrong.

    ## Why
    The entry promises that its content is still in the history. A range beyond the end or an event id that
    no event has breaks that promise. A chunk that refers by message ids is warned about, since messages carry
    none, unless the range of its entry has its hash.
    Hashes are those of the named lines as they are stored, each with its line feed.
    ## Bad
    context/swap/index.jsonl += {"id": "sha256-a", "kind": "tool_output", "source": "events.jsonl", \
"event": "ev-991", "summary": "?", "tokens": 1}
    ## Good
    context/swap/index.jsonl += {"id": "sha256-a", "kind": "tool_output", "source": "events.jsonl", \
"event": "call-1", "summary": "?", "tokens": 1}
    ## Fix
    Point the entry at the lines it means, or remove it.
    ## Source
    Source document, Swap: `range` and `event` of the index, the referring chunk.
    """
    if facts.survey is None:
        return
    for record in facts.session.swap.index.records:
        if record.text("source") not in (MESSAGES, EVENTS):
            continue
        rebuilt = rebuild(facts, record)
        if rebuilt.text is None and rebuilt.member is not None:
            yield Hit(record.origin(rebuilt.member), rebuilt.why)
    yield from _reference_hits(facts)


@rule("ABI043", name="blob-figures", severity=Severity.WARNING)
def blob_figures(facts: SessionFacts) -> Iterator[Hit]:
    """The size or the tokens in an index are not those of the file.

    ## Why
    Content is chosen for the window by these figures. For a chunk that only refers, the referenced content
    counts. A token figure that another way of counting gives is only mentioned, with the name of that way.
    ## Bad
    context/swap/index.jsonl[0].tokens = 1
    ## Good
    context/swap/index.jsonl[0].summary = "how it began"
    ## Fix
    Write the true figures; `ctxview dedup` and `ctxview swap` do.
    ## Source
    Source document, Swap and Dedup: `bytes` and `tokens` of the indexes.
    """
    areas = ((facts.session.swap, "id"), (facts.session.dedup, "hash"))
    for store, key in areas:
        for record in store.index.records:
            blob = store.blob(record.text(key) or "")
            if blob is not None:
                yield from _figure_hits(facts, record, blob)


@rule("ABI046", name="swap-only-copy", severity=Severity.ERROR, effect=Effect.DELETED)
def swap_only_copy(facts: SessionFacts) -> Iterator[Hit]:
    """Swapped content is no longer in the lines of the history that its entry names.

    ## Why
    Swapping takes content out of the prompt, never out of storage. When the lines an entry names hold
    something else than its chunk, the chunk may be the only copy left, and collecting it would lose the
    content. When the chunk was altered as well, the content is nowhere. An altered chunk whose lines are
    still the original has lost nothing: ABI039 reports it.
    ## Bad
    messages.jsonl = {"role": "user", "content": "The history was written anew."}
    ## Good
    messages.jsonl += {"role": "user", "content": "The history grew."}
    ## Fix
    Keep the chunk; restore the history from a copy.
    ## Source
    Source document, Swap and Summary Rules: swap removes content from the window, not from storage.
    """
    if facts.survey is None or facts.survey.messages.problem is not None:
        return
    for record in facts.session.swap.index.records:
        blob = facts.session.swap.blob(record.text("id") or "")
        known = facts.blob_facts(blob) if blob is not None else None
        if blob is None or known is None or known.digest is None or known.reference is not None:
            continue
        if record.text("kind") != "message_range" or record.text("source") != MESSAGES:
            continue
        meant, rebuilt = blob.digest or known.digest, rebuild(facts, record)
        if rebuilt.unreadable or rebuilt.digest == meant or meant in facts.survey.contents:
            continue
        where = f"the messages {excerpt(record.text('range') or '?')}"
        if known.digest == meant:
            message = f"{where} are not what the chunk holds: no other copy is known"
        else:
            message = f"neither {where} nor the altered chunk hold what was swapped out: it is lost"
        yield Hit(record.origin("range"), message)


def _lost_blobs(facts: SessionFacts) -> Iterator[Hit]:
    if facts.survey is None or "context/dedup/blob" in facts.session.closed:
        return
    for record in facts.session.dedup.index.records:
        name = record.text("hash")
        if name is None or facts.session.dedup.blob(name) is not None:
            continue
        gone = f"the blob {excerpt(name, 24)} is gone"
        if (place := holder_of(facts, record)) is not None:
            message = f"{gone}; {excerpt(place, 60)} still holds its content"
            yield Hit(record.origin("hash"), message, Severity.WARNING)
        elif (why := facts.history.unreadable_rows) is not None:
            message = f"{gone}; whether its content is elsewhere is unknown: {excerpt(why, 120)}"
            yield Hit(record.origin("hash"), message, Severity.WARNING)
        elif digest_in(name) is None and any(is_resolved(facts, ref) for ref in refs_of(record)):
            message = f"{gone}; without its SHA-256 no copy of its content can be recognised"
            yield Hit(record.origin("hash"), message, Severity.WARNING)
        else:
            yield Hit(record.origin("hash"), f"{gone}, and nothing that its line names holds its content")


def orphans(store: BlobStore, key: str) -> Iterator[Blob]:
    """Yield the files of a store that its index does not list; none when the index cannot be read."""
    if store.index.part.exists and not store.index.part.readable:
        return
    listed = {record.text(key) for record in store.index.records}
    yield from (blob for blob in store.blobs if blob.id not in listed)


def _original(facts: SessionFacts, blob: Blob) -> str | None:
    """The place of an altered chunk's content in the histories; None when it is not there or not known."""
    if facts.survey is None or facts.session.swap.blob(blob.id) is not blob:
        return None
    for record in facts.session.swap.index.records:
        if record.text("id") == blob.id and (rebuilt := rebuild(facts, record)).digest == blob.digest:
            return rebuilt.why
    return None


def _figure_hits(facts: SessionFacts, record: JsonRecord, blob: Blob) -> Iterator[Hit]:
    known = facts.blob_facts(blob)
    if known is None or known.problem is not None:
        return
    size, tokens = record.number("bytes"), record.number("tokens")
    if size is not None and size != known.size and known.reference is None:
        yield Hit(record.origin("bytes"), f"bytes is {size}, but the file has {known.size}")
    true, what = _cost(facts, blob, known)
    if tokens is None or true is None or tokens == true:
        return
    text = _content(facts, blob, known)
    name = counted_by(tokens, text, facts.profile) if text is not None else None
    cost = f"{what} has {true} {facts.profile.pack.estimator}"
    if name is not None:
        yield Hit(record.origin("tokens"), f"{cost}; the {tokens} given are {name}", Severity.INFO)
    else:
        yield Hit(record.origin("tokens"), f"{cost}, not {tokens}, and no other estimate gives that")


def _cost(facts: SessionFacts, blob: Blob, known: BlobFacts) -> tuple[int | None, str]:
    """Return the tokens of a blob, None when unknown, and a phrase for the counted text."""
    if known.reference is None:
        return known.tokens, "the content"
    text = _content(facts, blob, known)
    return None if text is None else estimate(text, facts.profile), "what the chunk refers to"


def _content(facts: SessionFacts, blob: Blob, known: BlobFacts) -> str | None:
    """Return the text that a blob holds or refers to."""
    if known.reference is None:
        return text_of(facts.session.folder, blob)
    found = follow_reference(facts, known.reference, blob.id).text if facts.survey is not None else None
    return None if found is None else found.decode("utf-8", "replace")


def _reference_hits(facts: SessionFacts) -> Iterator[Hit]:
    for blob in facts.session.swap.blobs:
        known = facts.blob_facts(blob)
        reference = known.reference if known is not None else None
        if known is None or reference is None:
            continue
        found = follow_reference(facts, reference, blob.id)
        if found.text is not None or found.unreadable:
            continue
        origin = Origin(blob.file, None, 0, known.size, 1, 1)
        if found.member == "hash":
            yield Hit(origin, found.why)
        else:
            severity = None if found.member is not None else Severity.WARNING
            yield Hit(origin, f"the chunk refers to content that cannot be found: {found.why}", severity)
