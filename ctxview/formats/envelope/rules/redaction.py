"""The rules about redaction: who hid what and why, and whether it stayed hidden (ENV077 to ENV081).

Examples change a sound bundle, as in `shape`. No message quotes what is hidden.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import listed, shown
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.envelope.fates import is_redacted
from ctxview.formats.envelope.model import Dossier, Record
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookup import blocks, called, is_blank, named
from ctxview.formats.envelope.rules.secrets import hidden_texts, kept, returns
from ctxview.formats.envelope.vocabulary import Kind

WANTED = {
    "method": ("redaction_method", "method"),
    "policy": ("policy_refs", "policy_ref"),
    "who did it": ("redacted_by", "actor_ref", "by"),
    "reason": ("redaction_reason", "reason"),
}
"""What belongs to a redaction, and under which names it may stand."""
ORIGINALS = ("original_ref", "original_item_ref", "replacement_ref")
DIGESTS = ("digest", "original_digest", "content_digest")


@rule("ENV077", name="unexplained-redaction", severity=Severity.WARNING)
def unexplained_redaction(record: Record, profile: Profile) -> Iterator[Hit]:
    """A redacted item does not say how, under which policy, by whom or why.

    ## Why
    Whoever misses something must be able to tell a policy from an accident, and whom to ask. Looked at are
    the item, its metadata and a member `redaction`.
    ## Bad
    item-note.policy_refs = []
    ## Good
    item-note.policy_refs = (absent)
    item-note.redaction = {"policy_refs": ["policy-7"]}
    ## Fix
    Add `redaction_method`, `policy_refs`, `redacted_by` and `redaction_reason`.
    ## Source
    Agent Context draft, policy contract, acceptance scenario 6; runtime profile ACTX-AR-POLICY-001.
    """
    state = record.text("redaction_state")
    if record.kind is not Kind.ITEM or not is_redacted(state):
        return
    lacks = [what for what, names in WANTED.items() if not _told(record, *names)]
    if lacks:
        message = f"{named(record)} is {shown(state or '')}, but the record does not tell the {listed(lacks)}"
        yield Hit(record.origin("redaction_state"), message)


@rule("ENV078", name="raw-content", severity=Severity.ERROR, effect=Effect.LEAKED)
def raw_content(record: Record, profile: Profile) -> Iterator[Hit]:
    """What a redaction was to hide stands in the record all the same.

    ## Why
    Under `removed`, `policy_blocked` and `encrypted_ref` no content and no redacted field may be left but a
    placeholder such as `[removed]`, and under no redaction a member such as `raw` or `original_content`; of
    blocks the same is true. Everybody who can read the file can read it; the inspector does not show it.
    ## Bad
    item-note.redaction_state = "removed"
    ## Good
    item-note.redaction_state = "removed"
    item-note.content = "[removed by policy-7]"
    ## Fix
    Delete the content from the record, and change what it gave away.
    ## Source
    Our inference from the redaction states of the Agent Context draft.
    """
    for path, state in kept(record):
        where = shown(".".join(map(str, path)))
        message = f"{named(record)} still has in {where} what a redaction ({shown(state)}) took away"
        yield Hit(record.origin(*path), message)


@rule("ENV079", name="no-way-back", severity=Severity.WARNING)
def no_way_back(record: Record, profile: Profile) -> Iterator[Hit]:
    """A redacted item has no link to the original, nor its digest with a reason.

    ## Why
    Those who may see the original must find it; where even the link would tell too much, a digest proves
    later which text it was, and the reason says why it is gone. An encrypted item is linked by its
    `content_ref`.
    ## Bad
    item-note.original_ref = (absent)
    item-note.digest = (absent)
    ## Good
    item-note.original_ref = (absent)
    ## Fix
    Add `original_ref`, or `digest` and `redaction_reason`.
    ## Source
    Agent Context draft, policy contract: redaction keeps a link, or digest and reason.
    """
    state = record.text("redaction_state")
    if record.kind is not Kind.ITEM or not is_redacted(state):
        return
    linked = _told(record, *ORIGINALS) or (
        state == "encrypted_ref" and not is_blank(record.value.get("content_ref"))
    )
    digest, reason = _told(record, *DIGESTS), _told(record, *WANTED["reason"])
    if linked or (digest and reason):
        return
    lacks = [name for name, told in (("digest", digest), ("reason", reason)) if not told]
    message = f"{named(record)} is {shown(state or '')} and has no link to the original"
    yield Hit(record.origin("redaction_state"), f"{message}, and no {' and no '.join(lacks)} instead")


@rule("ENV080", name="unmarked-block", severity=Severity.ERROR)
def unmarked_block(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """A block holds a redacted item and is not marked, or a blocked item was assembled at all.

    ## Why
    Whoever reads the block takes it for the whole text. The block says the redaction state of what it
    holds, or its assembly says it for all blocks that say nothing. What a policy blocks is in no assembly.
    ## Bad
    assembly-model.ordered_blocks[3].redaction_state = "none"
    ## Good
    assembly-model.ordered_blocks[3].redaction_state = (absent)
    ## Fix
    Mark the block; take blocked items out and assemble anew.
    ## Source
    Agent Context draft, acceptance scenario 6; runtime profile ACTX-AR-POLICY-001.
    """
    for assembly in dossier.of(Kind.ASSEMBLY):
        blocked: set[str | None] = set()
        for block in blocks(assembly):
            mark = block.text("redaction_state") or assembly.text("redaction_state")
            for reference in block.refs or ():
                item = dossier.resolve(reference)
                state = item.text("redaction_state") if item is not None else None
                if item is None or not is_redacted(state):
                    continue
                if state == "policy_blocked":
                    blocked.add(item.id)
                    message = f"{named(item)} is blocked by policy, but stands in the block {block.id}"
                    yield Hit(reference.origin, f"{message} of {called(assembly)}")
                elif not is_redacted(mark):
                    message = f"the block {block.id} of {called(assembly)} says {mark or 'nothing'}"
                    holds = f"but holds {called(item)}, which is {shown(state or '')}"
                    yield Hit(block.origin("redaction_state"), f"{message}, {holds}")
        for reference in assembly.refs("source_item_refs"):
            item = dossier.resolve(reference)
            if item is None or item.id in blocked or item.text("redaction_state") != "policy_blocked":
                continue
            message = f"{named(item)} is blocked by policy, but is a source of {called(assembly)}"
            yield Hit(reference.origin, message)


@rule("ENV081", name="redacted-text-returns", severity=Severity.WARNING, effect=Effect.LEAKED)
def redacted_text_returns(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """A text that a redaction hides stands elsewhere in the bundle in the open.

    ## Why
    Summaries, diagnostics and exports are made from the original, and what was hidden in one place comes
    back in another. Compared without regard to case and spaces, from eight characters on: the content of
    removed, blocked and encrypted records, what they keep as `raw` or `original`, the original itself where
    the bundle holds it, and by its digest any whole text. What a mask took away is not known.
    ## Bad
    item-note.metadata.raw = "mail to Ada at 12 Orchard Row"
    summary-1.content = "They agreed; mail to  ADA at 12 orchard row."
    ## Good
    item-note.metadata.raw = "mail to Ada at 12 Orchard Row"
    summary-1.content = "They agreed; mail to the customer."
    ## Fix
    Redact the other place too, and what was made from it.
    ## Source
    Agent Context draft, failure case 5. Which texts are compared is ours.
    """
    for record, path, hider in returns(dossier, hidden_texts(dossier)):
        state = hider.text("redaction_state") or "redacted"
        message = f"what {called(hider)} hides ({shown(state)}) stands here in the open, in {called(record)}"
        yield Hit(record.origin(*path), message)


def _told(record: Record, *names: str) -> bool:
    homes = (record.value, record.object("redaction"), record.object("metadata"))
    return any(not is_blank(home.get(name)) for home in homes for name in names)
