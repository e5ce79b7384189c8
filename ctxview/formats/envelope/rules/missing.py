"""Rules about missing context: open, requested and answered gaps (ENV072 to 076, 087).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxview.analysis.wording import excerpt, json_excerpt, listed
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.envelope.model import EnvelopeRecords, Record, is_blocking, text
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookups import approves, id_of, is_approval_word, is_blank, members
from ctxview.formats.envelope.vocabulary import CLOSED_GAP, RecordKind
from ctxview.formats.envelope.word_lists import (
    ACTION_KEYS,
    OWNER_KEYS,
    SAFE_SUMMARY_KEYS,
    STATE_KEYS,
)

_WHOLE = 200
"""Actions are quoted whole: a part of one might hide what it is about."""


@rule("ENV072", name="gap-without-source", severity=Severity.WARNING)
def gap_without_source(record: Record, profile: Profile) -> Iterator[Hit]:
    """A gap does not say where the answer could come from, or blocks without saying what.

    ## Why
    A gap is there to be closed: a person is asked (`requested_from`), or there are places to look
    (`candidate_sources`). A blocking one must name the actions that wait for it, or no action waits.
    ## Bad
    missing-1.severity = "blocking"
    missing-1.blocked_actions = []
    ## Good
    missing-1.blocked_actions = []
    ## Fix
    Name who or what may know, and what must not be done before.
    ## Source
    Agent Context draft, acceptance scenario 5.
    """
    if record.kind is not RecordKind.MISSING:
        return
    if is_blank(record.value.get("requested_from")) and is_blank(record.value.get("candidate_sources")):
        message = f"the gap {id_of(record)} names neither a person to ask nor a source to look in"
        yield Hit(record.origin(), message)
    if is_blocking(record) and is_blank(record.value.get("blocked_actions")):
        message = f"the gap {id_of(record)} is blocking, but names no action that it blocks"
        yield Hit(record.origin("blocked_actions"), message)


@rule("ENV073", name="asked-nobody", severity=Severity.WARNING)
def asked_nobody(record: Record, profile: Profile) -> Iterator[Hit]:
    """A gap is requested or waiting, and does not name who was asked.

    ## Why
    Then no one can be reminded, and the gap waits for ever.
    ## Bad
    missing-1.requested_from = (absent)
    ## Good
    missing-1.requested_from = (absent)
    missing-1.status = "open"
    ## Fix
    Set `requested_from`, or set the status back to open.
    ## Source
    Our inference from the status words of the Agent Context draft.
    """
    status = record.text("status")
    if record.kind is not RecordKind.MISSING or status not in ("requested", "waiting"):
        return
    if is_blank(record.value.get("requested_from")):
        message = f"the gap {id_of(record)} is {status}, but does not say who was asked"
        yield Hit(record.origin("status"), message)


@rule("ENV074", name="resolved-by-nothing", severity=Severity.WARNING)
def resolved_by_nothing(record: Record, profile: Profile) -> Iterator[Hit]:
    """A gap is resolved, and does not name what resolved it.

    ## Why
    The answer is what the next reader needs; a status alone cannot be checked.
    ## Bad
    missing-1.status = "resolved"
    ## Good
    missing-1.status = "resolved"
    missing-1.resolution_refs = ["item-plan"]
    ## Fix
    Refer to the item, source or message that holds the answer.
    ## Source
    Agent Context draft, missing context contract: `resolution_refs`.
    """
    if record.kind is not RecordKind.MISSING or record.text("status") != "resolved":
        return
    if is_blank(record.value.get("resolution_refs")):
        message = f"the gap {id_of(record)} is resolved, but does not name what resolved it"
        yield Hit(record.origin("status"), message)


@rule("ENV075", name="injected-with-blocking-gap", severity=Severity.WARNING)
def injected_with_blocking_gap(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """The context was injected while a blocking gap is open.

    ## Why
    The target works without something that it must not work without. The records themselves are correct, so
    it is only a warning, but the most important one. A gap is open until it is resolved, declined or expired;
    one whose status is absent or unknown is open.
    ## Bad
    missing-1.severity = "blocking"
    ## Good
    missing-1.severity = "blocking"
    missing-1.status = "declined"
    ## Fix
    Close the gap and inject again, or keep the blocked actions from happening.
    ## Source
    Agent Context draft, missing context contract: a blocking gap is shown with the snapshot.
    """
    envelope = records.envelope
    lifecycle = envelope.text("lifecycle") if envelope is not None else None
    if lifecycle != "injected" and not records.of(RecordKind.INJECTION):
        return
    for gap in records.of(RecordKind.MISSING):
        if is_blocking(gap) and gap.text("status") not in CLOSED_GAP:
            status = gap.value.get("status")
            state = "open" if status is None else excerpt(text(status) or json_excerpt(status))
            actions = "; ".join(excerpt(each, _WHOLE) for each in gap.texts("blocked_actions"))
            waits = f"; it blocks: {actions}" if actions else ""
            message = f"BLOCKING: the context was injected while the gap {id_of(gap)} is {state}{waits}"
            yield Hit(gap.origin("severity"), message)


@rule("ENV076", name="gap-as-approval", severity=Severity.WARNING)
def gap_as_approval(record: Record, profile: Profile) -> Iterator[Hit]:
    """A gap says that something is approved, granted or allowed.

    ## Why
    An answer to a question is not a permission. Permission comes from the
    runtime and its policies; a context record must not say that it was given. Looked for are
    members called `approved`, `granted`, `permission` and the like that say yes, and such words as a status.
    ## Bad
    missing-1.metadata.approved = true
    ## Good
    missing-1.metadata.approved = false
    ## Fix
    Take the word out; refer to the approval where it was given.
    ## Source
    Agent Context draft, failure case 2 and integration contract. The words are ours.
    """
    if record.kind is not RecordKind.MISSING:
        return
    for path, value in members(record.value):
        key = str(path[-1]).casefold()
        if approves(key, value) or (key in STATE_KEYS and is_approval_word(value)):
            yield Hit(
                record.origin(*path),
                f"{excerpt(key)} makes the gap {id_of(record)} an approval, which a gap cannot be",
            )


@rule("ENV087", name="gap-without-owner", severity=Severity.INFO)
def gap_without_owner(record: Record, profile: Profile) -> Iterator[Hit]:
    """An open gap names no owner, no requested action, or no summary that users may read.

    ## Why
    The runtime profile asks for these three, but the draft names no fields for them. `owner`,
    `requested_action` and `user_safe_summary` are looked for, some names alike, and the metadata.
    ## Bad
    missing-1.owner = (absent)
    ## Good
    missing-1.owner = (absent)
    missing-1.metadata.owner = "user-1"
    ## Fix
    Add the three to the record or to its metadata.
    ## Source
    Agent Context draft, runtime profile ACTX-AR-MISSING-001. The names of the fields are ours.
    """
    if record.kind is not RecordKind.MISSING or record.text("status") in CLOSED_GAP:
        return
    wanted: Mapping[str, tuple[str, ...]] = {
        "owner": OWNER_KEYS,
        "requested action": ACTION_KEYS,
        "summary for users": SAFE_SUMMARY_KEYS,
    }
    homes = (record.value, record.object("metadata"))
    lacks = [
        label
        for label, names in wanted.items()
        if all(is_blank(home.get(name)) for home in homes for name in names)
    ]
    if lacks:
        yield Hit(record.origin(), f"the gap {id_of(record)} names no {listed(lacks)}")
