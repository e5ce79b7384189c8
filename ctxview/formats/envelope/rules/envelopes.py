"""Rules about an envelope as an index and as a snapshot (ENV014 to ENV017, ENV019).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted, excerpt, listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.files.strict_json.values import same_value
from ctxview.formats.envelope.bundle import revision_of
from ctxview.formats.envelope.model import EnvelopeRecords, Record
from ctxview.formats.envelope.outcomes import Outcome, outcome_key, outcomes
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.redactions import is_redacted
from ctxview.formats.envelope.references import RefResolution, resolve_reference
from ctxview.formats.envelope.rules.lookups import ids, label, summary_ids
from ctxview.formats.envelope.vocabulary import RecordKind

EVIDENCE = {
    "available": ("surface_refs", RecordKind.SURFACE),
    "selected": ("selection_refs", RecordKind.SELECTION),
    "assembled": ("assembly_refs", RecordKind.ASSEMBLY),
    "injected": ("injection_refs", RecordKind.INJECTION),
    "compacted": ("compaction_refs", RecordKind.COMPACTION),
}
"""The evidence of each lifecycle: the field that lists it, and its kind of record."""
INDIRECT = (
    ("selection_refs", "surface_id", "surface_refs"),
    ("injection_refs", "assembly_id", "assembly_refs"),
    ("compaction_refs", "summary_ref", "item_refs"),
)
"""Records that an envelope reaches through another: its field, the other's field, and the proper list."""
HOMES = {
    RecordKind.SURFACE: "surface_refs",
    RecordKind.SELECTION: "selection_refs",
    RecordKind.BUDGET: "budget_ref",
    RecordKind.ASSEMBLY: "assembly_refs",
    RecordKind.INJECTION: "injection_refs",
    RecordKind.ITEM: "item_refs",
    RecordKind.SUMMARY: "item_refs",
    RecordKind.SOURCE: "surface_refs",
}
"""The field of an envelope that leads to the records of a kind; ENV017 checks gaps and compactions."""
LISTED = (("compaction_refs", RecordKind.COMPACTION), ("missing_context_refs", RecordKind.MISSING))
"""The lists that name every record of a kind."""
SUMMARY_KINDS = ("computed_summary", "thread_summary")


@rule("ENV014", name="item-neither-selected-nor-injected", severity=Severity.WARNING)
def item_neither_selected_nor_injected(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """An envelope lists an item that no selection selected and no injection shows.

    ## Why
    The items of an envelope are those that were selected or injected, or summaries that replace them. One
    that was only available, or was left out, makes the snapshot claim more than happened.
    ## Bad
    ctx-1.item_refs = ["item-goal", "item-extra"]
    ## Good
    ctx-1.item_refs = ["item-goal", "summary-1"]
    ## Fix
    Take the item off the list, or add the selection that chose it.
    ## Source
    Agent Context draft, specification of the envelope: `item_refs` are selected or injected items.
    """
    envelope = records.envelope
    if envelope is None or not _knows_item_origins(records, envelope):
        return
    known, summaries = outcomes(records), summary_ids(records)
    for reference in envelope.refs("item_refs"):
        outcome = known.get(reference.id or "")
        if outcome is None or outcome.item is None or _was_used(outcome) or outcome.id in summaries:
            continue
        left = f"; {label(outcome.omitted[0].selection)} left it out" if outcome.omitted else ""
        message = (
            f"{label(envelope)} lists {excerpt(outcome.id)}, which was neither selected nor injected{left}"
        )
        yield Hit(reference.origin, message)


@rule("ENV015", name="lifecycle-without-evidence", severity=Severity.WARNING)
def lifecycle_without_evidence(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """An envelope claims a lifecycle step, but no record proves it.

    ## Why
    Being injected means that an injection took place, and its record says where and for whom. Without
    it the state is only a claim. The states are not inferred from each other: each has its own evidence. A
    record that only happens to be in the same file or folder is not evidence: the envelope must lead to it.
    ## Bad
    ctx-1.injection_refs = []
    ## Good
    ctx-1.injection_refs = ["injection-model"]
    ## Fix
    Add the record of the step, or set the lifecycle back to what there is evidence for.
    ## Source
    Agent Context draft, lifecycle of the specification.
    """
    envelope = records.envelope
    state = envelope.text("lifecycle") if envelope is not None else None
    if envelope is None or state not in EVIDENCE:
        return
    field, kind = EVIDENCE[state]
    if envelope.refs(field) or any(each.kind is kind for each in records.reached):
        return
    message = f"{label(envelope)} is {state}, but there is no {kind} and {field} names none"
    if unlisted := records.of(kind):
        message = f"{label(envelope)} is {state}, but {field} names no {kind}"
        message += f"; nothing in the envelope leads to {listed(map(outcome_key, unlisted))}"
    yield Hit(envelope.origin("lifecycle"), message)


@rule("ENV016", name="reached-but-not-listed", severity=Severity.INFO)
def reached_but_not_listed(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """The envelope does not list a record: it is reached only through another one, or not at all.

    ## Why
    The envelope is the index of its snapshot. A program that collects the records it lists, to send or to
    keep them, leaves out the surface of a selection, the assembly of an injection or the summary of a
    compaction that are not on its lists. A record to which nothing in the envelope leads is shown with it
    only because it is in the same file or folder.
    ## Bad
    ctx-1.surface_refs = []
    ## Good
    ctx-1.surface_refs = [{"id": "surface-1"}]
    ## Fix
    Add the record to the list that the message names.
    ## Source
    Agent Context draft, envelope contract. That nothing is left to be found indirectly is our reading.
    """
    envelope = records.envelope
    if envelope is None:
        return
    for outer, inner, home in INDIRECT:
        present = frozenset(ids(envelope.refs(home)))
        for record in records.targets_of(envelope.refs(outer)):
            for name in ids(each for each in record.references if each.path[0] == inner):
                if name not in present:
                    message = f"{label(envelope)} reaches {excerpt(name)} only through {label(record)}"
                    yield Hit(envelope.origin(home), f"{message}; it is not in {home}")
    reached = {(each.kind, each.id) for each in records.reached}
    gaps = records.of(RecordKind.MISSING)
    reached |= {(RecordKind.ITEM, each.id) for gap in gaps for each in gap.refs("resolution_refs")}
    for kind, home in HOMES.items():
        if stray := [each for each in records.of(kind) if (each.kind, each.id) not in reached]:
            names = listed(map(outcome_key, stray))
            message = f"nothing in {label(envelope)} leads to {counted(len(stray), kind.value)}: {names}"
            yield Hit(envelope.origin(home), message)


@rule("ENV017", name="missing-reference-list", severity=Severity.WARNING)
def missing_reference_list(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """Something affected the snapshot that the envelope has a list for, and the list does not name it.

    ## Why
    Compactions, known gaps, policies behind redactions, and evidence of reviews and exports are listed only
    when there are any. A reader who finds no list, or a list without one of them, believes that it was not
    there. Policies and evidence are elsewhere: for them the list must only name something.
    ## Bad
    ctx-1.compaction_refs = (absent)
    ## Good
    ctx-1.evidence_refs = []
    ## Fix
    List the records on the envelope.
    ## Source
    Agent Context draft, specification of the envelope: the conditional reference lists.
    """
    envelope = records.envelope
    if envelope is None:
        return
    for field, why in _expected_lists(records, envelope):
        if not envelope.refs(field):
            yield Hit(envelope.origin(field), f"{label(envelope)} has no {field}, although {why}")
    for field, kind in LISTED:
        present = frozenset(ids(envelope.refs(field)))
        unlisted = [each for each in records.of(kind) if each.id not in present]
        if unlisted and envelope.refs(field):
            names = listed(map(outcome_key, unlisted))
            yield Hit(envelope.origin(field), f"{field} of {label(envelope)} does not name {names}")


@rule("ENV019", name="snapshot-changed", severity=Severity.ERROR)
def snapshot_changed(groups: Sequence[EnvelopeRecords], profile: Profile) -> Iterator[Hit]:
    """Two different envelopes have one context_id, two are revisions of the same one, or one has no event.

    ## Why
    An envelope is a snapshot, and others cite it by its id: changed in place, it makes them cite what was
    never there. A change is recorded by an event and, where needed, by a new envelope with its own id. Two
    revisions of the same envelope are a fork: each lacks the changes of the other. A revision without any
    event about it (a warning) is noticed only where events are recorded at all.
    ## Bad
    ctx-1 += {"lifecycle": "archived"}
    ## Good
    ctx-1 += {"context_id": "ctx-2", "lifecycle": "archived"}
    ## Fix
    Give the changed envelope a new id and add the event; keep the old one as it was.
    ## Source
    Agent Context draft, envelope contract: envelopes are snapshots, not mutable memory.
    """
    first: dict[str, Record] = {}
    own = [each.envelope for each in groups if each.envelope is not None]
    others = [other for each in groups for other in each.others]
    envelopes = {id(each): each for each in (*own, *others)}.values()
    for envelope in envelopes:
        other = first.setdefault(envelope.id, envelope) if envelope.id else envelope
        if not same_value(dict(envelope.value), dict(other.value)):
            names = listed(_differences(envelope, other))
            where = f"in {excerpt(other.file)}" + (f" at {excerpt(other.pointer)}" if other.pointer else "")
            message = f"{label(envelope)} also exists {where} with other content; they differ in {names}"
            yield Hit(envelope.origin("context_id"), message)
    revisions: dict[str, Record] = {}
    for envelope in envelopes:
        before = revision_of(envelope)
        other = revisions.setdefault(before, envelope) if before is not None else envelope
        if other.id != envelope.id:
            message = f"{label(envelope)} and {label(other)} are both revisions of {quoted(before or '')}"
            yield Hit(
                envelope.origin("metadata", "ctxview"), f"{message}: each lacks the changes of the other"
            )
    events = [event for records in groups for event in records.of(RecordKind.EVENT)]
    mentioned = {event.text(name) for event in events for name in ("context_id", "subject")}
    for envelope in envelopes if events else ():
        before = revision_of(envelope)
        if before is not None and envelope.id not in mentioned:
            message = f"{label(envelope)} is a revision of {quoted(before)}, but no event records it"
            yield Hit(envelope.origin("metadata", "ctxview"), message, Severity.WARNING)


def _knows_item_origins(records: EnvelopeRecords, envelope: Record) -> bool:
    """Whether all selections and injections that the envelope names are present, and there is one."""
    references = [*envelope.refs("selection_refs"), *envelope.refs("injection_refs")]
    if any(
        resolve_reference(each, records) in (RefResolution.BROKEN, RefResolution.EXTERNAL)
        for each in references
    ):
        return False
    selections = records.of(RecordKind.SELECTION)
    return any("selected_item_refs" in each.value for each in selections) or bool(
        records.of(RecordKind.INJECTION)
    )


def _was_used(outcome: Outcome) -> bool:
    if outcome.selected_by or outcome.injected or outcome.item is None:
        return True
    item = outcome.item
    return (
        item.kind is RecordKind.SUMMARY
        or item.text("context_kind") in SUMMARY_KINDS
        or item.text("content_mode") == "summary"
    )


def _expected_lists(records: EnvelopeRecords, envelope: Record) -> Iterator[tuple[str, str]]:
    """Yield the lists that should name something, and why."""
    for field, kind in LISTED:
        if found := records.of(kind):
            yield field, f"there is {label(found[0])}"
    redacted = (each for each in records.records if is_redacted(each.redaction))
    if (first := next(redacted, None)) is not None:
        yield "policy_refs", f"{label(first)} is redacted ({excerpt(first.redaction or '')})"
    exports = (each for each in records.of(RecordKind.EVENT) if each.text("event_type") == "context.exported")
    if (export := next(exports, None)) is not None:
        yield "evidence_refs", f"{label(export)} says that it was exported"
    elif envelope.text("scope") == "review":
        yield "evidence_refs", "its scope is a review"
    elif any(each.text("target") == "evidence_export" for each in records.of(RecordKind.INJECTION)):
        yield "evidence_refs", "it was injected for evidence_export"


def _differences(one: Record, other: Record) -> list[str]:
    names = dict.fromkeys((*other.value, *one.value))
    missing = object()
    return [name for name in names if one.value.get(name, missing) != other.value.get(name, missing)]
