"""Rules about redaction, and the search for redacted texts elsewhere in a bundle (ENV077 to ENV081).

Examples change a sound bundle, as in `shape`. No redacted text is quoted in a message.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.text_copies import ANYWHERE
from ctxview.analysis.wording import excerpt, listed
from ctxview.core.findings import Effect, Finding, Hit, Severity, rule
from ctxview.core.pauses import give_way
from ctxview.files.strict_json.values import all_values
from ctxview.formats.envelope.model import EnvelopeRecords, Record
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.redactions import (
    UNREADABLE,
    is_link_to_original,
    is_placeholder,
    is_raw_key,
    is_redacted,
    withheld_values,
)
from ctxview.formats.envelope.rules.lookups import Path, blocks, id_of, is_blank, label, member_strings
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.withheld import WithheldContent

WANTED = {
    "method": ("redaction_method", "method"),
    "policy": ("policy_refs", "policy_ref"),
    "who did it": ("redacted_by", "actor_ref", "by"),
    "reason": ("redaction_reason", "reason"),
}
"""The facts that belong to a redaction, and the names of their fields."""
ORIGINALS = ("original_ref", "original_item_ref", "replacement_ref")
DIGESTS = ("digest", "original_digest", "content_digest")


@rule("ENV077", name="unexplained-redaction", severity=Severity.WARNING)
def unexplained_redaction(record: Record, profile: Profile) -> Iterator[Hit]:
    """A redacted item does not say how, under which policy, by whom or why.

    ## Why
    A reader who misses something must know whether it was a policy or an accident, and whom to ask. Checked
    are the item, its metadata and a member `redaction`. An item that names redacted fields is redacted, and
    one whose state denies it contradicts itself.
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
    state = record.redaction
    if record.kind is not RecordKind.ITEM:
        return
    if not is_redacted(state):
        if not is_blank(record.value.get("redacted_fields")):
            message = f"{label(record)} names redacted fields, but its redaction_state is {state or 'absent'}"
            yield Hit(record.origin("redaction_state"), message)
        return
    lacks = [fact for fact, names in WANTED.items() if not _has_any(record, *names)]
    if lacks:
        message = (
            f"{label(record)} is {excerpt(state or '')}, but the record does not state the {listed(lacks)}"
        )
        yield Hit(record.origin("redaction_state"), message)


@rule("ENV078", name="raw-content", severity=Severity.ERROR, effect=Effect.LEAKED)
def raw_content(record: Record, profile: Profile) -> Iterator[Hit]:
    """A record still holds content that its redaction should have removed.

    ## Why
    Under `removed`, `policy_blocked`, `encrypted_ref` and words that are not known, no content and no
    redacted field may be left but a placeholder such as `[removed]`, and under no redaction a member such as
    `raw` or `original_content`; of blocks and other objects in the record the same is true. Every reader of
    the file can read it; the inspector does not show it.
    ## Bad
    item-note.redaction_state = "removed"
    ## Good
    item-note.redaction_state = "removed"
    item-note.content = "[removed by policy-7]"
    ## Fix
    Delete the content from the record, and replace any secret that it revealed.
    ## Source
    Our inference from the redaction states of the Agent Context draft.
    """
    for path, state in unremoved(record):
        where = excerpt(".".join(map(str, path)))
        message = f"{label(record)}: {where} still holds the text behind the redaction ({excerpt(state)})"
        yield Hit(record.origin(*path), message)


@rule("ENV079", name="no-way-back", severity=Severity.WARNING)
def no_way_back(record: Record, profile: Profile) -> Iterator[Hit]:
    """A redacted item has no link to the original, nor its digest with a reason.

    ## Why
    Those who may see the original must find it; where even the link would reveal too much, a digest proves
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
    state = record.redaction
    if record.kind is not RecordKind.ITEM or not is_redacted(state):
        return
    linked = _has_any(record, *ORIGINALS) or (
        state == "encrypted_ref" and not is_blank(record.value.get("content_ref"))
    )
    digest, reason = _has_any(record, *DIGESTS), _has_any(record, *WANTED["reason"])
    if linked or (digest and reason):
        return
    lacks = [name for name, has in (("digest", digest), ("reason", reason)) if not has]
    message = f"{label(record)} is {excerpt(state or '')} and has no link to the original"
    yield Hit(record.origin("redaction_state"), f"{message}, and no {' and no '.join(lacks)} instead")


@rule("ENV080", name="unmarked-block", severity=Severity.ERROR)
def unmarked_block(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A block holds a redacted item and is not marked, or a blocked item was assembled at all.

    ## Why
    A reader of the block takes it for the whole text. The block says the redaction state of what it
    holds, or its assembly says it for all blocks that say nothing. A blocked item is not assembled.
    ## Bad
    assembly-model.ordered_blocks[3].redaction_state = "none"
    ## Good
    assembly-model.ordered_blocks[3].redaction_state = (absent)
    ## Fix
    Mark the block; take blocked items out and assemble again.
    ## Source
    Agent Context draft, acceptance scenario 6; runtime profile ACTX-AR-POLICY-001.
    """
    for assembly in records.of(RecordKind.ASSEMBLY):
        blocked: set[str | None] = set()
        for block in blocks(assembly):
            mark = block.text("redaction_state") or assembly.redaction
            for reference in block.refs or ():
                item = records.resolve(reference)
                state = item.redaction if item is not None else None
                if item is None or not is_redacted(state):
                    continue
                if state == "policy_blocked":
                    blocked.add(item.id)
                    message = f"{label(item)} is blocked by policy, but is in the block {block.id}"
                    yield Hit(reference.origin, f"{message} of {id_of(assembly)}")
                elif not is_redacted(mark):
                    message = f"the block {block.id} of {id_of(assembly)} is marked {mark or 'with nothing'}"
                    holds = f"but holds {id_of(item)}, which is {excerpt(state or '')}"
                    yield Hit(block.origin("redaction_state"), f"{message}, {holds}")
        for reference in assembly.refs("source_item_refs"):
            item = records.resolve(reference)
            if item is None or item.id in blocked or item.redaction != "policy_blocked":
                continue
            message = f"{label(item)} is blocked by policy, but is a source of {id_of(assembly)}"
            yield Hit(reference.origin, message)


def is_unmarked(finding: Finding) -> bool:
    """Whether ENV080 found a block without its mark, and not a blocked item in it."""
    return finding.rule == "ENV080" and (finding.origin.pointer or "").endswith("/redaction_state")


@rule("ENV081", name="redacted-text-returns", severity=Severity.WARNING, effect=Effect.LEAKED)
def redacted_text_returns(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A text that a redaction hides is readable elsewhere in the bundle.

    ## Why
    Summaries, diagnostics and exports are made from the original, and what was hidden in one place comes
    back in another. Compared without regard to case and spaces, from eight characters on, also single
    sentences and escaped or encoded copies: the content of removed, blocked and encrypted records, what they
    keep as `raw` or `original`, the original itself where the bundle holds it, and by its digest any whole
    text. The text behind a mask is not known.
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
    documents = {(each.file, each.prefix): each.document for each in records.records}
    withheld = WithheldContent((file, prefix, each) for (file, prefix), each in documents.items())
    reported: set[tuple[str, str]] = set()
    for record in records.records if withheld else ():
        give_way()
        for path, words in member_strings(record.value):
            place = record.file, record.at(*path)
            copies = [each for each in withheld.copies(words) if each[1] - each[0] >= ANYWHERE]
            if not copies or place in reported or withheld.redaction_at(*place):
                continue
            reported.add(place)
            hider = copies[0][2]
            message = f"a text that {excerpt(hider.name)} hides ({excerpt(hider.state or UNREADABLE)})"
            yield Hit(record.origin(*path), f"{message} is readable here, in {id_of(record)}")


def _has_any(record: Record, *names: str) -> bool:
    homes = (record.value, record.object("redaction"), record.object("metadata"))
    return any(not is_blank(home.get(name)) for home in homes for name in names)


def unremoved(record: Record) -> Iterator[tuple[Path, str]]:
    """Yield the path of content that a record has in spite of its redaction, and the redaction state.

    A redacted field of a masked record holds the mask; a placeholder reveals nothing.
    """
    for path, value, redaction in withheld_values(record.value):
        name = next(step for step in reversed(path) if isinstance(step, str))
        if not redaction.is_gone and not is_raw_key(name) and not is_link_to_original(name):
            continue
        if not all(
            is_blank(each) or is_placeholder(each)
            for each in all_values(value)
            if not isinstance(each, dict | list)
        ):
            yield path, redaction.state or UNREADABLE
