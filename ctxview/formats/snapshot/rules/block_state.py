"""The rules about the state of a block: finished, cold, recalled (SNP025 to 027).

Each line of an example sets one member of the template snapshot; `(absent)` takes it away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxview.analysis.text_copies import holds_redaction_mark
from ctxview.analysis.wording import excerpt, json_excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.snapshot.model import (
    STATUSES,
    TERMINAL_STATUSES,
    MemoryBlock,
    Snapshot,
    text,
    utf16_length,
)
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules.lookups import tier_blocks
from ctxview.formats.snapshot.runtime.javascript import trim

RECALL_TYPES = {"ephemeral": "persistent_recall", "longterm": "persistent_longterm_recall"}
"""The type a recalled block has, by the tier it is put into."""
RECALL_PREFIX = "persistent:"
PLACEHOLDER = "[tag_ref:"


@rule("SNP025", name="status-irregular", severity=Severity.WARNING, effect=Effect.STORED)
def status_irregular(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A status is unknown, is used outside working, or does not agree with `closed_at`.

    ## Why
    Only working blocks are opened and closed. There an unknown word counts as open, so a finished block
    comes back to life; in other tiers a status means nothing. The system writes the status and `closed_at`
    together: one without the other was written by someone else.
    ## Bad
    memory.working[0].status = "finished"
    ## Good
    memory.working[0].status = "done"
    memory.working[0].closed_at = 1772000000000
    ## Fix
    Use open, done, failed or cancelled, in working only; leave `closed_at` to the system.
    ## Source
    The protocol document does not name status; the runtime knows these four words in working.
    """
    for block in tier_blocks(snapshot):
        for field, fault, effect in _status_faults(block):
            origin = snapshot.origin_of(f"{block.pointer}/{field}")
            yield Hit(origin, f"{excerpt(block.name)}{fault}", effect=effect)


@rule("SNP026", name="cold-content", severity=Severity.ERROR, effect=Effect.STORED)
def cold_content(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A placeholder for cold content is incomplete, or contradicts the block's state.

    ## Why
    A `tag_ref` block is only a placeholder: its text lies in the memory store under `tag_id`. Without the
    id the text cannot be found again; an active block whose content is a placeholder has already lost it. A
    tag id on an active block, or `rehydrated_at` on a placeholder, are traces of an earlier move and only
    mentioned.
    ## Bad
    memory.longterm[0].content_state = "tag_ref"
    memory.longterm[0].tag_summary = "how to deploy"
    ## Good
    memory.longterm[0].content_state = "tag_ref"
    memory.longterm[0].tag_summary = "how to deploy"
    memory.longterm[0].tag_id = "tag:longterm-001:m1x2y3:a1b2c3"
    ## Fix
    Leave these fields to the system. If the text is lost, look for the payload in the memory store by its
    id.
    ## Source
    Context Protocol 3.0, structural notes on cold memory. Runtime: not validated, passes through.
    """
    for block in tier_blocks(snapshot):
        state = block.members.get("content_state", "active")
        if state == "tag_ref":
            yield from _placeholder(snapshot, block, profile)
        elif state == "active":
            yield from _active(snapshot, block)
        else:
            message = (
                f"{excerpt(block.name)}: content_state {json_excerpt(state)} is neither active nor tag_ref"
            )
            yield Hit(snapshot.origin_of(f"{block.pointer}/content_state"), message)


@rule("SNP027", name="recall-irregular", severity=Severity.WARNING, effect=Effect.STORED)
def recall_irregular(snapshot: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A recalled block has the wrong type, tier or id, or no link back.

    ## Why
    Before a task the system copies stored memories into ephemeral and longterm, under ids that begin with
    `persistent:`. It tells them apart by these marks when it captures memory again; with a mark missing, a
    copy of a copy is stored and grows with every task.
    ## Bad
    memory.ephemeral[0].id = "persistent:core-001"
    memory.ephemeral[0].type = "persistent_recall"
    ## Good
    memory.ephemeral[0].id = "persistent:core-001"
    memory.ephemeral[0].type = "persistent_recall"
    memory.ephemeral[0].persistent_block_id = "core-001"
    ## Fix
    Do not make or change recalled blocks; write a block of your own with its own id instead.
    ## Source
    Behaviour of the runtime; the protocol document does not name recalled blocks.
    """
    for block in tier_blocks(snapshot):
        if not is_recall(block):
            continue
        faults, block_id, wanted = [], block.id or "", RECALL_TYPES.get(block.tier)
        linked = trim(text(block.members.get("persistent_block_id")) or "")
        if block_id.startswith(RECALL_PREFIX) and not linked:
            faults.append("has no persistent_block_id")
        if doubled := doubled_prefix(block_id):
            faults.append(f"has the prefix {doubled} twice")
        if wanted is None:
            faults.append(f"is in {block.tier}, not in ephemeral or longterm")
        elif block.type is not None and block.type != wanted:
            faults.append(f"has the type {quoted(block.type)}, which in {block.tier} should be {wanted}")
        if faults:
            name = "id" if "id" in block.members else ""
            origin = snapshot.origin_of(f"{block.pointer}/{name}" if name else block.pointer)
            yield Hit(origin, f"{excerpt(block.name)}: a recalled block {listed(faults)}")


def is_recall(block: MemoryBlock) -> bool:
    """Whether the runtime treats this block as a copy from its memory store."""
    return (
        (block.id or "").startswith(RECALL_PREFIX)
        or block.type in RECALL_TYPES.values()
        or text(block.members.get("persistent_block_id")) is not None
    )


def doubled_prefix(block_id: str) -> str | None:
    """Return the prefix that is repeated at the start of an id, or None."""
    found = re.match(r"(persistent:|working:)(?:persistent:|working:){0,50}?\1", block_id)
    return found[1] if found else None


def _status_faults(block: MemoryBlock) -> Iterator[tuple[str, str, Effect | None]]:
    """Yield (field, fault, effect) for each fault in a block's status."""
    status = trim(block.status or "")
    closed = block.members.get("closed_at") is not None
    if "status" in block.members and block.tier != "working":
        yield "status", f": a status has no meaning in {block.tier}, only in working", None
    elif "status" in block.members and status not in STATUSES:
        found, known = json_excerpt(block.members["status"]), ", ".join(STATUSES)
        yield "status", f": status {found} is not one of {known}; the block counts as open", Effect.REPAIRED
    if status in TERMINAL_STATUSES and not closed:
        yield "status", f" is {status} but has no closed_at: the system did not close it", None
    elif closed and status not in TERMINAL_STATUSES:
        yield "closed_at", " has closed_at but is not closed", None


def _placeholder(snapshot: Snapshot, block: MemoryBlock, profile: Profile) -> Iterator[Hit]:
    label, origin = excerpt(block.name), snapshot.origin_of(f"{block.pointer}/content_state")
    limit = profile.limits.placeholder
    if not trim(block.tag_id or ""):
        yield Hit(origin, f"{label} is a tag_ref without tag_id: its content cannot be found")
    if not trim(text(block.members.get("tag_summary")) or ""):
        yield Hit(origin, f"{label} is a tag_ref without tag_summary", Severity.WARNING)
    content = block.content or ""
    if limit is not None and (length := utf16_length(content)) > limit and not holds_redaction_mark(content):
        origin = snapshot.origin_of(f"{block.pointer}/content")
        message = (
            f"{label} is a tag_ref, but has {length} characters of content; a placeholder has at most {limit}"
        )
        yield Hit(origin, message, Severity.WARNING)
    if block.members.get("rehydrated_at") is not None:
        origin = snapshot.origin_of(f"{block.pointer}/rehydrated_at")
        yield Hit(origin, f"{label} was restored once and is cold again", Severity.INFO)


def _active(snapshot: Snapshot, block: MemoryBlock) -> Iterator[Hit]:
    label = excerpt(block.name)
    if trim(block.content or "").startswith(PLACEHOLDER):
        origin = snapshot.origin_of(f"{block.pointer}/content")
        yield Hit(
            origin,
            f"{label} is active, but its content is only the placeholder {quoted(block.content or '')}",
        )
    if block.tag_id is not None:
        origin = snapshot.origin_of(f"{block.pointer}/tag_id")
        yield Hit(origin, f"{label} is active and still carries tag_id {quoted(block.tag_id)}", Severity.INFO)
