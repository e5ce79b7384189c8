"""The rules about content that is kept once and referred to (ABI044 and 045).

Examples change a sound session, as in `layout`; its dedup store holds one blob.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import counted, quoted, shown
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.session.citing import Resolution, resolve
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import Blob
from ctxview.formats.session.names import cited, looks_like_range
from ctxview.state import Origin

MOST_TOLD = 20


@rule("ABI044", name="dedup-refs", severity=Severity.WARNING)
def dedup_refs(look: Look) -> Iterator[Hit]:
    """An entry of the dedup index stands twice, has too few references, or refers to nothing.

    ## Why
    A blob is kept for its references. Without any it is an error: nobody can say why it is there. A reference
    that leads nowhere keeps a blob alive for good.
    ## Bad
    context/dedup/index.jsonl += {"hash": "sha256-a", "refs": ["messages:90-99"], "bytes": 1, "tokens": 1}
    ## Good
    context/dedup/index.jsonl += {"hash": "sha256-a", "refs": ["messages:1-2"], "bytes": 1, "tokens": 1}
    ## Fix
    Let `ctxview dedup` write the index anew.
    ## Source
    Source document, Dedup: the index and its refs; gc.policy: dedup_min_refs.
    """
    least = _least_refs(look)
    seen: dict[str, int] = {}
    for record in look.session.dedup.index.records:
        name, refs = record.text("hash"), record.members.get("refs")
        if name is not None and name in seen:
            yield Hit(record.origin("hash"), f"{shown(name, 24)} is already listed on line {seen[name]}")
        if name is not None:
            seen.setdefault(name, record.line)
        if not isinstance(refs, list):
            continue
        if not refs:
            yield Hit(
                record.origin("refs"), "nothing refers to this content", Severity.ERROR, Effect.REJECTED
            )
        elif len(refs) < least:
            found = counted(len(refs), "reference")
            yield Hit(record.origin("refs"), f"{found}, but gc.policy keeps blobs from {least} on")
        for index, ref in enumerate(refs):
            if isinstance(ref, str) and (reason := unresolved(look, ref)):
                yield Hit(record.origin("refs", index), f"{quoted(ref, 60)} cannot be found: {reason}")


@rule("ABI045", name="stored-twice", severity=Severity.INFO)
def stored_twice(look: Look) -> Iterator[Hit]:
    """The same large content stands in several messages, and neither a blob nor a chunk keeps it once.

    ## Why
    Repeated tool output and file contents fill the prompt and the pack. The history itself is never changed,
    but a blob in the dedup store lets packs and swap entries refer to it. Content that already has a swap
    chunk of its own can be referred to there. A copy of each tool result in events.jsonl is how the runtime
    works and does not count.
    ## Bad
    messages.jsonl += {"role": "user", "content": "(x * 5000)"}
    messages.jsonl += {"role": "user", "content": "(x * 5000)"}
    ## Good
    messages.jsonl += {"role": "user", "content": "(x * 5000)"}
    ## Fix
    Run `ctxview dedup SESSION --write`.
    ## Source
    Source document, Dedup: large repeated content should be referenced instead of copied.
    """
    if look.survey is None:
        return
    kept = {blob.digest for blob in (*look.session.dedup.blobs, *_true_chunks(look))}
    told = 0
    for each in look.survey.repeated:
        if each.digest not in kept and told < MOST_TOLD:
            told += 1
            origin = look.history.messages.line(each.last).origin()
            message = f"the same {each.size:,} bytes stand in {each.times} messages"
            yield Hit(origin, f"{message}, first on line {each.first + 1}")
    yield from _same_blobs(look)


def unresolved(look: Look, ref: str) -> str | None:
    """Why a reference of the dedup index leads nowhere; None when it does, or nobody can tell yet."""
    kind, _, name = ref.partition(":")
    if kind in ("messages", "events"):
        citation = resolve(cited(ref), look.survey)
        if citation.resolution in (Resolution.BEYOND, Resolution.REVERSED):
            return f"there are {citation.count} lines"
        return "this is no range" if citation.resolution is Resolution.FREE else None
    if kind == "child":
        return None if look.session.child(name.split("/")[0]) is not None else "there is no such child"
    if kind == "swap":
        swapped = look.session.swap.index.records
        known = {word for record in swapped for word in (record.text("id"), record.text("summary")) if word}
        return None if name in known else "the swap index has no such entry"
    return "this is no range" if looks_like_range(ref) else None


def _true_chunks(look: Look) -> Iterator[Blob]:
    """The swap chunks that stand for what their names say."""
    for blob in look.session.swap.blobs:
        facts = look.facts(blob)
        if facts is not None and facts.stands_for(blob.digest):
            yield blob


def _same_blobs(look: Look) -> Iterator[Hit]:
    """Two files of the stores with one content."""
    first: dict[str, str] = {}
    for blob in (*look.session.dedup.blobs, *look.session.swap.blobs):
        facts = look.facts(blob)
        if facts is None or facts.digest is None or facts.size < look.profile.large_content:
            continue
        if facts.digest in first:
            yield Hit(Origin(blob.file), f"this is the same content as {shown(first[facts.digest], 60)}")
        first.setdefault(facts.digest, blob.name)


def _least_refs(look: Look) -> int:
    settings = {setting.key: setting.value for setting in look.session.gc.settings}
    value = settings.get("dedup_min_refs", "1")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 1
