"""The rules about the dedup index, the collection policy, and deleted results (ABI044, 045, 047, 049).

Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ctxview.analysis.wording import counted, excerpt, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import Origin
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.session import MESSAGES
from ctxview.formats.session.grammar import duration
from ctxview.formats.session.rules.dedup_refs import unresolved
from ctxview.formats.session.store.blobs import child_uses
from ctxview.formats.session.survey.facts import SessionFacts

DURATIONS = ("pack_ttl", "swap_ttl")
SWITCHES = ("keep_messages", "keep_events")
COUNTS = ("dedup_min_refs",)
MOST_REPORTED = 20


@rule("ABI047", name="gc-policy", severity=Severity.WARNING)
def gc_policy(facts: SessionFacts) -> Iterator[Hit]:
    """A line of gc.policy is unknown, cannot be read, or allows the history to be deleted.

    ## Why
    A collector that does not understand a line may keep too much or delete too early. keep_messages=0 and
    keep_events=0 permit a deletion that cannot be undone; ctxview never deletes the history.
    ## Bad
    context/gc.policy = swap_ttl=soon
    ## Good
    context/gc.policy = swap_ttl=30d
    ## Fix
    Durations are a number and one of s, m, h, d, w; keep_messages and keep_events are 0 or 1.
    ## Source
    Source document, Context GC: the example policy.
    """
    policy, known = facts.session.gc, facts.profile.words.gc_keys
    for setting in policy.settings:
        key, value = setting.key, setting.value
        origin = policy.origin(setting)
        if not key:
            yield Hit(origin, f"{quoted(value)} is not a line of the form key=value")
        elif known and key not in known:
            yield Hit(origin, f"unknown key {quoted(key)}", effect=Effect.IGNORED)
        elif key in DURATIONS and duration(value) is None:
            yield Hit(origin, f"{key} is {quoted(value)}, not a duration such as 30d")
        elif key in SWITCHES and value not in ("0", "1"):
            yield Hit(origin, f"{key} is {quoted(value)}, not 0 or 1")
        elif key in SWITCHES and value == "0":
            yield Hit(origin, f"{key}=0 permits the history itself to be deleted", effect=Effect.DELETED)
        elif key in COUNTS and not (value.isascii() and value.isdigit()):
            yield Hit(origin, f"{key} is {quoted(value)}, not a number")


@rule("ABI049", name="child-result-gone", severity=Severity.ERROR)
def child_result_gone(facts: SessionFacts) -> Iterator[Hit]:
    """Something refers to the result of a child, and that result is gone.

    ## Why
    A child's result must not be deleted while the parent's context refers to it. Here it was: the pack, the
    references, the plan or the dedup index point to a file that no longer exists.
    ## Bad
    context/child/rev-1/result.md (absent)
    ## Good
    context/child/rev-1/result.md = All good.
    ## Fix
    Ask the child again, or remove what refers to it.
    ## Source
    Source document, Context GC: must not delete a child result while parent context references it.
    """
    for use in child_uses(facts.session):
        if use.result and facts.session.folder.entry(use.name).kind is EntryKind.ABSENT:
            yield Hit(use.origin, f"{excerpt(use.user)} refers to {quoted(use.name, 60)}, which is gone")


@rule("ABI044", name="dedup-refs", severity=Severity.WARNING)
def dedup_refs(facts: SessionFacts) -> Iterator[Hit]:
    """An entry of the dedup index occurs twice, has too few references, or refers to nothing.

    ## Why
    A blob is kept for its references. A blob without any is an error: nothing explains why it exists. A
    reference that leads nowhere keeps a blob for good.
    ## Bad
    context/dedup/index.jsonl += {"hash": "sha256-a", "refs": ["messages:90-99"], "bytes": 1, "tokens": 1}
    ## Good
    context/dedup/index.jsonl += {"hash": "sha256-a", "refs": ["messages:1-2"], "bytes": 1, "tokens": 1}
    ## Fix
    Let `ctxview dedup` write the index again.
    ## Source
    Source document, Dedup: the index and its refs; gc.policy: dedup_min_refs.
    """
    settings = {setting.key: setting.value for setting in facts.session.gc.settings}
    value = settings.get("dedup_min_refs", "1")
    least = int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 1
    seen: dict[str, int] = {}
    for record in facts.session.dedup.index.records:
        name, refs = record.text("hash"), record.members.get("refs")
        if name is not None and name in seen:
            yield Hit(record.origin("hash"), f"{excerpt(name, 24)} is already listed on line {seen[name]}")
        if name is not None:
            seen.setdefault(name, record.line)
        if not isinstance(refs, list):
            continue
        if not refs:
            message = "nothing refers to this content"
            yield Hit(record.origin("refs"), message, Severity.ERROR, Effect.REJECTED)
        elif len(refs) < least:
            found = counted(len(refs), "reference")
            yield Hit(record.origin("refs"), f"{found}, but gc.policy keeps blobs from {least} on")
        for index, ref in enumerate(refs):
            if isinstance(ref, str) and (reason := unresolved(facts, ref)):
                yield Hit(record.origin("refs", index), f"{quoted(ref, 60)} cannot be found: {reason}")


@rule("ABI045", name="stored-twice", severity=Severity.INFO)
def stored_twice(facts: SessionFacts) -> Iterator[Hit]:
    """The same large content is in several messages, and neither a blob nor a chunk keeps it once.

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
    blobs = ("context/swap", "context/dedup")
    unread = (place in ("", "context") or place.startswith(blobs) for place in facts.session.closed)
    if facts.survey is None or any(unread):
        return
    stored = {blob.digest for blob in facts.session.dedup.blobs}
    for chunk in facts.session.swap.blobs:
        known = facts.blob_facts(chunk)
        if known is not None and known.stands_for(chunk.digest):
            stored.add(chunk.digest)
    unstored = (each for each in facts.survey.repeated if each.digest not in stored)
    for each in islice(unstored, MOST_REPORTED):
        origin = facts.history.messages.line(each.last).origin()
        message = f"the same {each.size:,} bytes are in {each.times} messages"
        yield Hit(origin, f"{message}, first on line {each.first + 1}")
    if more := sum(1 for _ in unstored):
        yield Hit(facts.session.origin(MESSAGES), f"{more:,} more contents are in several messages")
    first: dict[str, str] = {}
    for blob in (*facts.session.dedup.blobs, *facts.session.swap.blobs):
        known = facts.blob_facts(blob)
        if known is None or known.digest is None or known.size < facts.profile.large_content:
            continue
        if known.digest in first:
            yield Hit(Origin(blob.file), f"this is the same content as {excerpt(first[known.digest], 60)}")
        first.setdefault(known.digest, blob.name)
