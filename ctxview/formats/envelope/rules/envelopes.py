"""The rules about an envelope as an index and as a snapshot (ENV014 to ENV017, ENV019).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import listed, quoted, shown
from ctxview.files.json_values import same_value
from ctxview.findings import Hit, Severity, rule
from ctxview.formats.envelope.bundle import revision_of
from ctxview.formats.envelope.fates import Fate, fates, is_redacted
from ctxview.formats.envelope.model import Dossier, Record
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookup import ids, named, stand_ins
from ctxview.formats.envelope.standing import Standing, standing
from ctxview.formats.envelope.vocabulary import Kind

EVIDENCE = {
    "available": ("surface_refs", Kind.SURFACE),
    "selected": ("selection_refs", Kind.SELECTION),
    "assembled": ("assembly_refs", Kind.ASSEMBLY),
    "injected": ("injection_refs", Kind.INJECTION),
    "compacted": ("compaction_refs", Kind.COMPACTION),
}
"""What must exist for an envelope to be in a state: the field that names it and its kind."""
INDIRECT = (
    ("selection_refs", "surface_id", "surface_refs"),
    ("injection_refs", "assembly_id", "assembly_refs"),
    ("compaction_refs", "summary_ref", "item_refs"),
)
"""What an envelope reaches through a record it lists: its field, that record's, and where it belongs."""
SUMMARY_KINDS = ("computed_summary", "thread_summary")


@rule("ENV014", name="item-neither-selected-nor-injected", severity=Severity.WARNING)
def item_neither_selected_nor_injected(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """An envelope lists an item that no selection selected and no injection shows.

    ## Why
    The items of an envelope are those that were chosen or shown, or summaries that stand in for them. One
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
    envelope = dossier.envelope
    if envelope is None or not _is_told_how_items_came(dossier, envelope):
        return
    known, summaries = fates(dossier), stand_ins(dossier)
    for reference in envelope.refs("item_refs"):
        fate = known.get(reference.id or "")
        if fate is None or fate.item is None or _came_in(fate) or fate.id in summaries:
            continue
        left = f"; {named(fate.omitted[0].selection)} left it out" if fate.omitted else ""
        message = f"{named(envelope)} lists {shown(fate.id)}, which was neither selected nor injected{left}"
        yield Hit(reference.origin, message)


@rule("ENV015", name="lifecycle-without-evidence", severity=Severity.WARNING)
def lifecycle_without_evidence(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """An envelope says how far it came, but there is no record of that step.

    ## Why
    Being injected means that an injection took place, and the record of it tells where and for whom. Without
    it the state is only a claim. The states are not inferred from each other: each has its own evidence.
    ## Bad
    injection-model (absent)
    injection-tool (absent)
    ctx-1.injection_refs = []
    ## Good
    ctx-1.injection_refs = []
    ## Fix
    Add the record of the step, or set the lifecycle back to what there is evidence for.
    ## Source
    Agent Context draft, lifecycle of the specification.
    """
    envelope = dossier.envelope
    state = envelope.text("lifecycle") if envelope is not None else None
    if envelope is None or state not in EVIDENCE:
        return
    field, kind = EVIDENCE[state]
    if not envelope.refs(field) and not dossier.of(kind):
        message = f"{named(envelope)} is {state}, but there is no {kind} and {field} names none"
        yield Hit(envelope.origin("lifecycle"), message)


@rule("ENV016", name="reached-but-not-listed", severity=Severity.INFO)
def reached_but_not_listed(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """A record is reached only through another one; the envelope itself does not list it.

    ## Why
    The envelope is the index of its snapshot. Whoever collects the records it lists, to send or to keep
    them, leaves out the surface of a selection, the assembly of an injection or the summary of a compaction
    that are not on its lists.
    ## Bad
    ctx-1.surface_refs = []
    ## Good
    ctx-1.surface_refs = [{"id": "surface-1"}]
    ## Fix
    Add the record to the list that the message names.
    ## Source
    Agent Context draft, envelope contract. That nothing is left to be found indirectly is our reading.
    """
    envelope = dossier.envelope
    if envelope is None:
        return
    for outer, inner, home in INDIRECT:
        there = frozenset(ids(envelope.refs(home)))
        for record in dossier.targets_of(envelope.refs(outer)):
            for name in ids(each for each in record.references if each.path[0] == inner):
                if name not in there:
                    message = f"{named(envelope)} reaches {shown(name)} only through {named(record)}"
                    yield Hit(envelope.origin(home), f"{message}; it is not in {home}")


@rule("ENV017", name="missing-reference-list", severity=Severity.WARNING)
def missing_reference_list(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """Something affected the snapshot that the envelope has a list for, and the list is empty.

    ## Why
    Compactions, known gaps, policies behind redactions, and evidence of reviews and exports are listed only
    when there are any. A reader who finds no list believes that there were none.
    ## Bad
    ctx-1.compaction_refs = (absent)
    ## Good
    ctx-1.evidence_refs = []
    ## Fix
    List the records on the envelope.
    ## Source
    Agent Context draft, specification of the envelope: the conditional reference lists.
    """
    envelope = dossier.envelope
    if envelope is None:
        return
    for field, why in _occasions(dossier, envelope):
        if not envelope.refs(field):
            yield Hit(envelope.origin(field), f"{named(envelope)} has no {field}, although {why}")


@rule("ENV019", name="snapshot-changed", severity=Severity.ERROR)
def snapshot_changed(dossiers: Sequence[Dossier], profile: Profile) -> Iterator[Hit]:
    """One context_id stands for two different envelopes, or a new revision came without an event.

    ## Why
    An envelope is a snapshot, and others cite it by its id: changed in place, it makes them cite what was
    never there. A change is told by an event and, where needed, by a new envelope with an id of its own. A
    revision without any event about it (a warning) is noticed only where events are recorded at all.
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
    envelopes = _envelopes(dossiers)
    for envelope in envelopes:
        other = first.setdefault(envelope.id, envelope) if envelope.id else envelope
        if not same_value(dict(envelope.value), dict(other.value)):
            names = listed(_differences(envelope, other))
            where = f"in {shown(other.file)}" + (f" at {shown(other.pointer)}" if other.pointer else "")
            message = f"{named(envelope)} also stands {where} with other content; they differ in {names}"
            yield Hit(envelope.origin("context_id"), message)
    events = [event for dossier in dossiers for event in dossier.of(Kind.EVENT)]
    told = {event.text(name) for event in events for name in ("context_id", "subject")}
    for envelope in envelopes if events else ():
        before = revision_of(envelope)
        if before is not None and envelope.id not in told:
            message = f"{named(envelope)} is a revision of {quoted(before)}, but no event tells of it"
            yield Hit(envelope.origin("metadata", "ctxview"), message, Severity.WARNING)


def _is_told_how_items_came(dossier: Dossier, envelope: Record) -> bool:
    """Whether every selection and injection that the envelope names is at hand, and there is one."""
    named = [*envelope.refs("selection_refs"), *envelope.refs("injection_refs")]
    if any(standing(each, dossier) in (Standing.BROKEN, Standing.EXTERNAL) for each in named):
        return False
    selections = dossier.of(Kind.SELECTION)
    return any("selected_item_refs" in each.value for each in selections) or bool(dossier.of(Kind.INJECTION))


def _came_in(fate: Fate) -> bool:
    if fate.selected_by or fate.injected or fate.item is None:
        return True
    item = fate.item
    return (
        item.kind is Kind.SUMMARY
        or item.text("context_kind") in SUMMARY_KINDS
        or item.text("content_mode") == "summary"
    )


def _occasions(dossier: Dossier, envelope: Record) -> Iterator[tuple[str, str]]:
    """Lists that ought to name something, and what gave occasion to it."""
    for field, kind in (("compaction_refs", Kind.COMPACTION), ("missing_context_refs", Kind.MISSING)):
        if found := dossier.of(kind):
            yield field, f"there is {named(found[0])}"
    redacted = (each for each in dossier.records if is_redacted(each.text("redaction_state")))
    if (first := next(redacted, None)) is not None:
        yield "policy_refs", f"{named(first)} is redacted ({shown(first.text('redaction_state') or '')})"
    exports = (each for each in dossier.of(Kind.EVENT) if each.text("event_type") == "context.exported")
    if (export := next(exports, None)) is not None:
        yield "evidence_refs", f"{named(export)} says that it was exported"
    elif envelope.text("scope") == "review":
        yield "evidence_refs", "its scope is a review"
    elif any(each.text("target") == "evidence_export" for each in dossier.of(Kind.INJECTION)):
        yield "evidence_refs", "it was injected for evidence_export"


def _envelopes(dossiers: Sequence[Dossier]) -> tuple[Record, ...]:
    """All envelopes of the source, each once, those of the dossiers first."""
    own = [each.envelope for each in dossiers if each.envelope is not None]
    others = [other for each in dossiers for other in each.others]
    return tuple({id(each): each for each in (*own, *others)}.values())


def _differences(one: Record, other: Record) -> list[str]:
    names = dict.fromkeys((*other.value, *one.value))
    missing = object()
    return [name for name in names if one.value.get(name, missing) != other.value.get(name, missing)]
