"""The rules about the system's fields in a reply, which a model must not write (SNP042, 048, 049).

In the examples the lines above `---` change the received snapshot, those below the emitted one; both start as
the template.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import excerpt, json_excerpt, listed
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.files.strict_json.values import same_value
from ctxview.formats.snapshot.forms import UNGUARDED_MEMBERS
from ctxview.formats.snapshot.model import MemoryBlock, Snapshot
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.rules.lookups import tier_blocks
from ctxview.formats.snapshot.runtime.javascript import trim
from ctxview.formats.snapshot.runtime.merge_fields import not_preserved

STORE_FIELDS = ("content_state", "tag_id", "tag_summary", "rehydrated_at")
"""The fields that link a block to the memory store, besides those that begin with `persistent_`."""


@rule("SNP042", name="system-field-changed", severity=Severity.ERROR, effect=Effect.RESTORED)
def system_field_changed(received: Snapshot, emitted: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A reply changes or leaves out a field that only the system may write.

    ## Why
    version, the four runtime fields and todo's summary, total and step have to come back exactly as they
    were. The runtime throws the model's values away, so nothing breaks; but a model that edits them has
    misunderstood the protocol, and its other edits deserve a look.
    ## Bad
    ---
    runtime.round = 2
    ## Good
    ---
    version = 3
    ## Fix
    Copy these fields; of todo change the cursor only.
    ## Source
    Context Protocol 3.0, rules 8 and 9. Runtime: discards the change silently and restores its own.
    """
    omitted = []
    for field in not_preserved(received, emitted):
        if not field.sent:
            omitted.append(field.name)
            continue
        was = json_excerpt(field.was) if field.known else "absent"
        message = f"{field.name} was {was} and comes back as {json_excerpt(field.now)}"
        yield Hit(emitted.origin(*field.path), f"{message}; the system's value is put back")
    if omitted:
        message = f"{listed(omitted, 8)} left out of the reply; the system's values stay"
        yield Hit(emitted.origin(), message)


@rule("SNP048", name="task-record-edited", severity=Severity.WARNING, effect=Effect.STORED)
def task_record_edited(received: Snapshot, emitted: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A reply edits the system's records of tasks, and the runtime accepts it.

    ## Why
    `active_task_meta`, `last_task` and `task_checkpoint` are the system's records, but the runtime merges
    them from a reply like any other key. A changed checkpoint changes what a retry restores. A new
    `active_task` is only mentioned: the protocol's template shows it to the model.
    ## Bad
    active_task_meta = {"id": "t1", "status": "running"}
    ---
    active_task_meta = {"id": "t1", "status": "success"}
    ## Good
    active_task_meta = {"id": "t1", "status": "running"}
    ---
    active_task_meta = {"id": "t1", "status": "running"}
    ## Fix
    Leave these keys out of the reply.
    ## Source
    Runtime: unprotected keys. The protocol document names only `active_task`.
    """
    for name in (*UNGUARDED_MEMBERS, "active_task"):
        if name not in emitted.value or same_value(received.value.get(name), emitted.value[name]):
            continue
        before = json_excerpt(received.value[name]) if name in received.value else "absent"
        after = json_excerpt(emitted.value[name])
        message = f"{name} was {before} and comes back as {after}; the runtime stores it"
        severity = Severity.INFO if name == "active_task" else None
        yield Hit(emitted.origin(name), message, severity)


@rule("SNP049", name="store-link-edited", severity=Severity.WARNING, effect=Effect.STORED)
def store_link_edited(received: Snapshot, emitted: Snapshot, profile: Profile) -> Iterator[Hit]:
    """A reply edits the fields that link a block to the memory store.

    ## Why
    The runtime does not check content_state, tag_id, tag_summary, rehydrated_at or persistent_*. A forged
    tag_ref in core is captured after the task and becomes a placeholder whose text exists nowhere.
    ## Bad
    ---
    memory.core[0].tag_id = "tag:core-001:m1x2y3:a1b2c3"
    ## Good
    memory.core[0].tag_id = "tag:core-001:m1x2y3:a1b2c3"
    ---
    memory.core[0].tag_id = "tag:core-001:m1x2y3:a1b2c3"
    ## Fix
    Send back what was received, or leave the fields out: then the stored ones stay.
    ## Source
    Context Protocol 3.0, structural notes on cold memory: these fields describe what the system did.
    """
    before = {(block.tier, trim(block.id or "")): block for block in tier_blocks(received)}
    for block in tier_blocks(emitted):
        old = before.get((block.tier, trim(block.id or "")))
        links = [key for key in block.members if key in STORE_FIELDS or key.startswith("persistent_")]
        edited = [key for key in links if _differs(old, block, key)]
        if edited:
            origin = emitted.origin_of(f"{block.pointer}/{edited[0]}")
            values = listed((f"{key} {json_excerpt(block.members[key])}" for key in edited), 6)
            new = "" if old is not None else " (a new block)"
            yield Hit(
                origin, f"{excerpt(block.name)}{new}: the model writes {values}, which only the system may"
            )


def _differs(old: MemoryBlock | None, new: MemoryBlock, key: str) -> bool:
    """Whether the model changed this field; `active` on an ordinary block is not a change."""
    was = old.members.get(key) if old is not None else None
    now = new.members[key]
    return not same_value(was, now) and not (key == "content_state" and now == "active" and was is None)
