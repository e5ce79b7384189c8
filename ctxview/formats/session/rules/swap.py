"""The rules about content that was moved out of the prompt window (ABI039 to 043, and 046).

Examples change a sound session, as in `layout`; its swap holds messages 1-2, and `(hash)` stands
for the hash of the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import quoted, shown
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.session.blobs import text_of
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import Blob, BlobStore
from ctxview.formats.session.names import EVENTS, MESSAGES, digest_in
from ctxview.formats.session.rebuilding import Rebuilt, rebuild, referenced_digest
from ctxview.formats.session.records import Record
from ctxview.formats.session.token_match import counted_by
from ctxview.state import Origin


@rule("ABI039", name="blob-hash", severity=Severity.ERROR)
def blob_hash(look: Look) -> Iterator[Hit]:
    """A chunk or blob does not have the SHA-256 that its name promises.

    ## Why
    Content is found by its hash, so a file with another content answers every reference to it wrongly. A name
    without a whole hash is a placeholder: nothing can be verified, which is warned about.
    ## Bad
    context/swap/chunk/sha256-0000000000000000000000000000000000000000000000000000000000000000 = text
    ## Good
    context/swap/chunk/sha256-(hash) = text
    ## Fix
    Rebuild the chunk from the history it came from; never edit one.
    ## Source
    Source document, Swap and Dedup: content-addressed chunks.
    """
    for blob in (*look.session.swap.blobs, *look.session.dedup.blobs):
        origin = Origin(blob.file)
        facts = look.facts(blob)
        if blob.digest is None:
            message = f"{shown(blob.id, 40)} spells out no SHA-256, so its content cannot be verified"
            yield Hit(origin, message, Severity.WARNING)
        elif facts is not None and facts.digest is not None and facts.digest != blob.digest:
            reference = facts.reference
            if reference is None or digest_in(reference.hash or "") != blob.digest:
                yield Hit(origin, f"the content has the SHA-256 {facts.digest[:16]}…, not that of its name")


@rule("ABI040", name="swap-lost", severity=Severity.ERROR)
def swap_lost(look: Look) -> Iterator[Hit]:
    """A swapped chunk is gone.

    ## Why
    The index says that content waits in a chunk. When the lines or the event it came from can still be found,
    the chunk can be rebuilt and its absence is only warned about; otherwise the content cannot be had again.
    ## Bad
    context/swap/index.jsonl += {"id": "sha256-a", "kind": "message_range", "source": "messages.jsonl", \
"range": "90-99", "summary": "?", "tokens": 1}
    ## Good
    context/swap/index.jsonl (empty)
    ## Fix
    Rebuild the chunk with `ctxview swap`, or remove the line from the index.
    ## Source
    Source document, Swap: content is out of the window, not deleted. Context GC: rebuildable chunks may go.
    """
    for record in look.session.swap.index.records:
        name = record.text("id")
        if name is None or look.session.swap.blob(name) is not None or look.survey is None:
            continue
        rebuilt = rebuild(look, record)
        if rebuilt.text is None:
            message = f"the chunk {shown(name)} is gone and cannot be rebuilt: {rebuilt.why}"
            yield Hit(record.origin("id"), message)
        else:
            message = f"the chunk {shown(name)} is gone; it can be rebuilt from {rebuilt.why}"
            yield Hit(record.origin("id"), message, Severity.WARNING)


@rule("ABI041", name="blob-orphan", severity=Severity.WARNING)
def blob_orphan(look: Look) -> Iterator[Hit]:
    """A chunk or blob is listed in no index.

    ## Why
    Nothing will ever look for it. It takes room until somebody collects it.
    ## Bad
    context/dedup/blob/sha256-0000000000000000000000000000000000000000000000000000000000000000 = x
    ## Good
    context/dedup/index.jsonl += (blank)
    ## Fix
    Collect it with `ctxview gc`, or list it again.
    ## Source
    Source document, Context GC: unreferenced blobs may be deleted.
    """
    areas = ((look.session.swap, "id", "swap"), (look.session.dedup, "hash", "dedup"))
    for store, key, area in areas:
        for blob in orphans(store, key):
            yield Hit(Origin(blob.file), f"{shown(blob.id, 24)} is not in the index of {area}")


@rule("ABI042", name="swap-range", severity=Severity.ERROR)
def swap_range(look: Look) -> Iterator[Hit]:
    """A swap entry or a referring chunk names lines or an event that cannot be found, or their hash is wrong.

    ## Why
    The entry promises that its content is still in the history. A range beyond the end or an event id that
    no event has breaks that promise. A chunk that refers by message ids is warned about: messages carry none.
    Hashes are taken of the named lines as they stand, each with its line feed.
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
    if look.survey is None:
        return
    for record in look.session.swap.index.records:
        if record.text("source") not in (MESSAGES, EVENTS):
            continue
        rebuilt = rebuild(look, record)
        if rebuilt.text is None and rebuilt.member is not None:
            yield Hit(record.origin(rebuilt.member), rebuilt.why)
    yield from _reference_hits(look)


@rule("ABI043", name="blob-figures", severity=Severity.WARNING)
def blob_figures(look: Look) -> Iterator[Hit]:
    """The size or the tokens in an index are not those of the file.

    ## Why
    What to bring back into the window is chosen by these figures. A token figure that another way of counting
    gives is only mentioned, with the name of that way.
    ## Bad
    context/swap/index.jsonl[0].tokens = 1
    ## Good
    context/swap/index.jsonl[0].summary = "how it began"
    ## Fix
    Write the true figures; `ctxview dedup` and `ctxview swap` do.
    ## Source
    Source document, Swap and Dedup: `bytes` and `tokens` of the indexes.
    """
    areas = ((look.session.swap, "id"), (look.session.dedup, "hash"))
    for store, key in areas:
        for record in store.index.records:
            blob = store.blob(record.text(key) or "")
            if blob is not None:
                yield from _figure_hits(look, record, blob)


@rule("ABI046", name="swap-only-copy", severity=Severity.ERROR, effect=Effect.DELETED)
def swap_only_copy(look: Look) -> Iterator[Hit]:
    """What was swapped out is no longer in the history.

    ## Why
    Swapping takes content out of the prompt, never out of storage. When the lines an entry names hold
    something else than its chunk, the chunk is the only copy left, and collecting it would lose the content.
    ## Bad
    messages.jsonl = {"role": "user", "content": "The history was written anew."}
    ## Good
    messages.jsonl += {"role": "user", "content": "The history grew."}
    ## Fix
    Keep the chunk; bring the history back from a copy.
    ## Source
    Source document, Swap and Summary Rules: swap removes content from the window, not from storage.
    """
    if look.survey is None:
        return
    for record in look.session.swap.index.records:
        blob = look.session.swap.blob(record.text("id") or "")
        facts = look.facts(blob) if blob is not None else None
        if facts is None or facts.digest is None or facts.reference is not None:
            continue
        if record.text("kind") != "message_range" or record.text("source") != MESSAGES:
            continue
        rebuilt = rebuild(look, record)
        if rebuilt.digest != facts.digest and facts.digest not in look.survey.contents:
            message = f"the messages {shown(record.text('range') or '?')} are not what the chunk holds"
            yield Hit(record.origin("range"), f"{message}: it is the only copy")


def orphans(store: BlobStore, key: str) -> Iterator[Blob]:
    """The files of a store that its index does not list."""
    listed = {record.text(key) for record in store.index.records}
    yield from (blob for blob in store.blobs if blob.id not in listed)


def _figure_hits(look: Look, record: Record, blob: Blob) -> Iterator[Hit]:
    facts = look.facts(blob)
    if facts is None or facts.reference is not None or facts.problem is not None:
        return
    size, tokens = record.number("bytes"), record.number("tokens")
    if size is not None and size != facts.size:
        yield Hit(record.origin("bytes"), f"bytes is {size}, but the file has {facts.size}")
    if tokens is None or facts.tokens is None or tokens == facts.tokens:
        return
    text = text_of(look.session.folder, blob)
    name = counted_by(tokens, text, look.profile) if text is not None else None
    cost = f"the content has {facts.tokens} {look.profile.pack.estimator}"
    if name is not None:
        yield Hit(record.origin("tokens"), f"{cost}; the {tokens} given are {name}", Severity.INFO)
    else:
        yield Hit(record.origin("tokens"), f"{cost}, not {tokens}, and no other estimate gives that")


def _reference_hits(look: Look) -> Iterator[Hit]:
    for blob in look.session.swap.blobs:
        facts = look.facts(blob)
        reference = facts.reference if facts is not None else None
        if reference is None:
            continue
        origin = Origin(blob.file, None, 0, facts.size if facts is not None else None, 1, 1)
        found: Rebuilt = referenced_digest(look, reference)
        if found.digest is None:
            severity = None if found.member is not None else Severity.WARNING
            yield Hit(origin, f"the chunk refers to what cannot be found: {found.why}", severity)
        elif (wanted := digest_in(reference.hash or "")) is not None and wanted != found.digest:
            yield Hit(
                origin, f"{found.why} have another hash than the chunk says: {quoted(found.digest[:16])}…"
            )
