"""Rules about selections: candidates, selected and omitted items, reasons, and retries (ENV034 to ENV042).

Examples change a sound bundle, as in `shape`. Where a selection does not record its candidates, they are
not checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted, excerpt, listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.envelope.model import EnvelopeRecords, Record, text
from ctxview.formats.envelope.outcomes import outcomes, risky_omissions
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookups import ReasonEvidence, ids, is_blank, label, words_of_gaps
from ctxview.formats.envelope.vocabulary import KNOWN, RecordKind, WordList
from ctxview.formats.envelope.word_lists import HIGH_IMPACT


@rule("ENV034", name="selected-not-candidate", severity=Severity.ERROR)
def selected_not_candidate(record: Record, profile: Profile) -> Iterator[Hit]:
    """An item was selected that was not a candidate.

    ## Why
    A selection chooses from its candidates. What came in another way was never weighed against the others,
    and the record of the choice is not the choice that was made.
    ## Bad
    selection-1.candidate_item_refs = ["item-goal"]
    ## Good
    selection-1.candidate_item_refs = (absent)
    ## Fix
    List it among the candidates, or record where it came from.
    ## Source
    Agent Context draft, selection contract.
    """
    yield from _check_candidates(record, "selected_item_refs", "selected")


@rule("ENV035", name="omitted-not-candidate", severity=Severity.ERROR)
def omitted_not_candidate(record: Record, profile: Profile) -> Iterator[Hit]:
    """An item was left out that was not a candidate.

    ## Why
    What was never considered cannot be left out. The candidates are incomplete, or the omission belongs to
    another selection.
    ## Bad
    selection-1.omitted_item_refs = [{"item_ref": "item-never", "reason": "stale"}]
    ## Good
    selection-1.omitted_item_refs = [{"item_ref": "item-extra", "reason": "stale"}]
    ## Fix
    List it among the candidates, or take the omission away.
    ## Source
    Agent Context draft, selection contract.
    """
    yield from _check_candidates(record, "omitted_item_refs", "omitted")


@rule("ENV036", name="selected-and-omitted", severity=Severity.ERROR)
def selected_and_omitted(record: Record, profile: Profile) -> Iterator[Hit]:
    """An item was selected and left out by the same selection.

    ## Why
    Only one of the two happened. A reader who asks why the agent did not know something gets both answers.
    ## Bad
    selection-1.omitted_item_refs[0].item_ref = "item-goal"
    ## Good
    selection-1.omitted_item_refs[0].item_ref = "item-extra"
    ## Fix
    Take it off the list that is wrong.
    ## Source
    Ours: the draft does not say it, but a choice cannot go both ways.
    """
    if record.kind is RecordKind.SELECTION:
        chosen = frozenset(ids(record.refs("selected_item_refs")))
        both = [each for each in record.refs("omitted_item_refs") if each.id in chosen]
        if both:
            message = f"{label(record)} both selected and omitted {listed(ids(both))}"
            yield Hit(both[0].origin, message)


@rule("ENV037", name="unexplained-candidate", severity=Severity.WARNING)
def unexplained_candidate(record: Record, profile: Profile) -> Iterator[Hit]:
    """A candidate was neither selected nor left out, so that its outcome is unknown.

    ## Why
    The question "why did it not know X?" is answered by the omissions. A candidate that is on neither list
    was lost without a trace.
    ## Bad
    selection-1.omitted_item_refs = []
    ## Good
    selection-1.selected_item_refs = (absent)
    ## Fix
    Add it to `omitted_item_refs` with its reason.
    ## Source
    Agent Context draft, specification, compatibility notes and acceptance scenario 2; ACTX-AR-SEL-001.
    """
    if record.kind is not RecordKind.SELECTION or not _records(
        record, "candidate_item_refs", "selected_item_refs"
    ):
        return
    listed_ids = {*ids(record.refs("selected_item_refs")), *ids(record.refs("omitted_item_refs"))}
    lost = [
        each
        for each in record.refs("candidate_item_refs")
        if each.id is not None and each.id not in listed_ids
    ]
    if lost:
        were = "was" if len(ids(lost)) == 1 else "were"
        message = f"{label(record)}: {listed(ids(lost))} {were} neither selected nor omitted"
        yield Hit(lost[0].origin, message)


@rule("ENV038", name="omission-without-reason", severity=Severity.WARNING)
def omission_without_reason(record: Record, profile: Profile) -> Iterator[Hit]:
    """An item was left out and no reason is given.

    ## Why
    Without a reason it is unknown whether it was a duplicate or the one thing that mattered. A bare id in the
    list of omissions has no room for one: it takes an object.
    ## Bad
    selection-1.omitted_item_refs[2] = "item-extra"
    ## Good
    selection-1.omitted_item_refs[2] = {"item_ref": "item-extra", "reason": "custom"}
    ## Fix
    Write `{"item_ref": …, "reason": …}` with one of the twelve reasons.
    ## Source
    Agent Context draft, specification and acceptance scenario 2.
    """
    if record.kind is RecordKind.SELECTION:
        silent = [each for each in record.refs("omitted_item_refs") if is_blank(each.members.get("reason"))]
        if silent:
            names = listed(each.id or "an item without an id" for each in silent)
            yield Hit(silent[0].origin, f"{label(record)} gives no reason for omitting {names}")


@rule("ENV039", name="unbacked-reason", severity=Severity.WARNING)
def unbacked_reason(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """The records do not support the reason for leaving an item out.

    ## Why
    A reason points at something: a budget, a summary that covers the item, a policy, the visibility or the
    freshness of the item. Where that is not there, the reason was a guess. In records without an envelope,
    a budget, a summary or a policy may be elsewhere and is not missed.
    ## Bad
    selection-1.omitted_item_refs[0] = {"item_ref": "item-old-1", "reason": "stale"}
    ## Good
    selection-1.omitted_item_refs[0] = {"item_ref": "item-old-1", "reason": "low_relevance"}
    ## Fix
    Give the true reason, or record what it points at.
    ## Source
    Ours, from the meaning of the reasons in the selection contract of the Agent Context draft.
    """
    evidence = ReasonEvidence(records)
    for selection in records.of(RecordKind.SELECTION):
        for reference in selection.refs("omitted_item_refs"):
            reason = text(reference.members.get("reason"))
            why = evidence.why_not(selection, reference, reason) if reference.id and reason else None
            if why is not None:
                message = (
                    f"{label(selection)} omitted {excerpt(reference.id or '')} as {excerpt(reason or '')}"
                )
                yield Hit(reference.origin, f"{message}, but {why}")


@rule("ENV040", name="omission-may-matter", severity=Severity.INFO)
def omission_may_matter(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """An item was left out that ranked as high as one that was selected, and nothing flags it.

    ## Why
    It would perhaps have changed the answer. Such an omission is flagged as of high impact, or a gap asks for
    it; else a reviewer has no reason to look. Duplicates and items that a summary covers are present anyway.
    ## Bad
    selection-1.ranking_signals.item-extra = {"relevance": 0.95}
    ## Good
    selection-1.ranking_signals.item-extra = {"relevance": 0.95}
    selection-1.omitted_item_refs[2].impact = "high"
    ## Fix
    Mark the omission with `"impact": "high"`, or record a missing_context with its id.
    ## Source
    Agent Context draft, selection contract. That the ranking decides is our reading.
    """
    asked_for = words_of_gaps(records)
    for found in risky_omissions(outcomes(records)):
        omission = found.omission
        members = omission.reference.members
        impact = (text(members.get("impact")) or "").casefold()
        is_flagged = members.get("high_impact") is True or impact in HIGH_IMPACT
        if found.outcome.id not in asked_for and not is_flagged:
            message = f"{label(omission.selection)} omitted {excerpt(found.outcome.id)}, although {found.why}"
            yield Hit(omission.reference.origin, f"{message}; nothing flags it")


@rule("ENV041", name="ranked-not-candidate", severity=Severity.WARNING)
def ranked_not_candidate(record: Record, profile: Profile) -> Iterator[Hit]:
    """The ranking signals name an item that was not a candidate.

    ## Why
    Signals explain the choice among the candidates. Those of another item belong to another selection, or a
    candidate is not recorded.
    ## Bad
    selection-1.ranking_signals.item-never = {"relevance": 0.5}
    ## Good
    selection-1.ranking_signals.item-extra = {"relevance": 0.5}
    ## Fix
    Take the signals away, or list the candidate.
    ## Source
    Ours, from the published example: signals by the id of the item.
    """
    if record.kind is not RecordKind.SELECTION or not _records(record, "candidate_item_refs"):
        return
    signals = record.object("ranking_signals")
    # Some producers write the signals first and the items below them; then the keys are not ids.
    if all(name in KNOWN[WordList.SIGNAL] for name in signals):
        return
    candidates = frozenset(ids(record.refs("candidate_item_refs")))
    if others := [name for name in signals if name not in candidates]:
        message = f"{label(record)} ranks {listed(others)}, which is not a candidate"
        yield Hit(record.origin("ranking_signals", others[0]), message)


@rule("ENV042", name="retry-not-told-apart", severity=Severity.WARNING)
def retry_not_told_apart(groups: Sequence[EnvelopeRecords], profile: Profile) -> Iterator[Hit]:
    """Two attempts share one selection id, or a retry does not name its attempt.

    ## Why
    A retry chooses again, and both choices are needed to see why the second went otherwise. It gets a
    selection of its own that names task, run and attempt, and the older one stays as it was.
    ## Bad
    selection-1 += {"attempt_id": "attempt-2"}
    ## Good
    selection-1 += {"selection_id": "selection-2", "attempt_id": "attempt-2"}
    ## Fix
    Give the later selection its own id and its `attempt_id`; bring the older one back.
    ## Source
    Agent Context draft, runtime profile ACTX-AR-ID-002.
    """
    found = {id(each): each for records in groups for each in records.of(RecordKind.SELECTION)}
    first: dict[str, Record] = {}
    for selection in found.values():
        other = first.setdefault(selection.id, selection) if selection.id else selection
        mine, theirs = selection.text("attempt_id"), other.text("attempt_id")
        if mine and theirs and mine != theirs:
            message = f"{label(selection)} belongs to {excerpt(mine)} and, in {excerpt(other.file)}, to"
            yield Hit(
                selection.origin("attempt_id"),
                f"{message} {excerpt(theirs)}; each attempt needs its own selection",
            )
    yield from _nameless_retries([*found.values()])


def _records(selection: Record, *names: str) -> bool:
    return all(isinstance(selection.value.get(name), list) for name in names)


def _check_candidates(record: Record, name: str, verb: str) -> Iterator[Hit]:
    """Check that the entries of a list of a selection are candidates."""
    if record.kind is not RecordKind.SELECTION or not _records(record, "candidate_item_refs"):
        return
    candidates = frozenset(ids(record.refs("candidate_item_refs")))
    others = [each for each in record.refs(name) if each.id is not None and each.id not in candidates]
    if others:
        message = f"{label(record)} {verb} {listed(ids(others))}, but had no such candidate"
        yield Hit(others[0].origin, message)


def _nameless_retries(selections: Sequence[Record]) -> Iterator[Hit]:
    """Check for selections without an attempt beside one with an attempt or with the same query."""
    runs: dict[tuple[str, str], list[Record]] = {}
    for selection in selections:
        task, run = selection.text("task_id"), selection.text("run_id")
        if task and run:
            runs.setdefault((task, run), []).append(selection)
    for (task, run), members in runs.items():
        nameless = [each for each in members if not each.text("attempt_id")]
        asked = Counter(map(_question, nameless))
        for selection in nameless:
            question = _question(selection)
            if len(nameless) < len(members) or (question[1] and asked[question] > 1):
                total = counted(len(members), "selection")
                message = f"{label(selection)} is one of {total} for {quoted(run)} of {quoted(task)}"
                yield Hit(selection.origin(), f"{message} and names no attempt")


def _question(selection: Record) -> tuple[str | None, str | None, str | None]:
    """The surface, query and intent, which a retry shares with the attempt before."""
    return selection.text("surface_id"), selection.text("query"), selection.text("intent")
