"""Rules about compactions and their summaries (ENV064 to ENV071).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import counted, excerpt, listed
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.envelope.model import EnvelopeRecords, Record, count
from ctxview.formats.envelope.outcomes import InjectedPlacement, outcomes
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.redactions import is_gone, is_redacted
from ctxview.formats.envelope.references import RefResolution, resolve_reference
from ctxview.formats.envelope.rules.lookups import id_of, ids, is_blank, label
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.word_lists import SENSITIVE

EXPLAINING = ("trigger", "coverage", "replacement_policy")
"""The fields that explain a compaction, beside its loss notes, which may be empty."""


@rule("ENV064", name="lost-sources", severity=Severity.WARNING)
def lost_sources(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A compaction names no sources, or one that does not exist any more.

    ## Why
    A summary is shorter than the items it replaces. A reader who doubts it must be able to go back, so the
    items are kept in the bundle and listed. A compaction opened by itself, without an envelope and
    without items, is not checked.
    ## Bad
    item-old-2 (absent)
    ## Good
    item-extra (absent)
    ## Fix
    Keep the sources with the bundle, by reference at least.
    ## Source
    Agent Context draft, compaction contract; runtime profile ACTX-AR-COMPACT-001.
    """
    alone = records.envelope is None and not records.of(RecordKind.ITEM)
    for compaction in records.of(RecordKind.COMPACTION):
        if compaction.value.get("source_item_refs") == []:
            message = (
                f"the compaction {id_of(compaction)} names no sources, so that its summary cannot be checked"
            )
            yield Hit(compaction.origin("source_item_refs"), message)
        for reference in compaction.refs("source_item_refs"):
            if (
                not alone
                and reference.id is not None
                and resolve_reference(reference, records) is RefResolution.BROKEN
            ):
                message = (
                    f"{excerpt(reference.id)}, which {id_of(compaction)} compacted, does not exist any more"
                )
                yield Hit(reference.origin, message)


@rule("ENV065", name="no-summary", severity=Severity.WARNING)
def no_summary(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A compaction has no summary that can be read.

    ## Why
    Its sources were removed from the window, and nothing replaces them. A summary may be a record with
    a content, a reference with an address, or a redacted record that says so. A compaction opened by
    itself is only asked whether it names one.
    ## Bad
    compaction-1.summary_ref = (absent)
    ## Good
    compaction-1.summary_ref = {"uri": "store:summary-1"}
    ## Fix
    Add the summary, or put the sources back.
    ## Source
    Agent Context draft, acceptance scenario 3.
    """
    alone = (
        records.envelope is None and not records.of(RecordKind.ITEM) and not records.of(RecordKind.SUMMARY)
    )
    for compaction in records.of(RecordKind.COMPACTION):
        reference = next(iter(compaction.refs("summary_ref")), None)
        homes = (compaction.value, reference.members if reference is not None else {})
        if any(not is_blank(home.get(name)) for home in homes for name in ("content", "summary")):
            continue
        summary = records.resolve(reference) if reference is not None else None
        if reference is None or reference.id is None:
            yield Hit(
                compaction.origin("summary_ref"), f"the compaction {id_of(compaction)} names no summary"
            )
        elif not alone and resolve_reference(reference, records) is RefResolution.BROKEN:
            message = f"{excerpt(reference.id)}, the summary of {id_of(compaction)}, does not exist"
            yield Hit(reference.origin, message)
        elif (
            summary is not None
            and not is_gone(summary.redaction)
            and all(is_blank(summary.value.get(name)) for name in ("content", "content_ref"))
        ):
            message = f"{label(summary)}, the summary of {id_of(compaction)}, has no content"
            yield Hit(summary.origin("content"), message)


@rule("ENV066", name="unexplained-compaction", severity=Severity.WARNING)
def unexplained_compaction(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A compaction does not say why it was made, what was lost, or how to refresh the summary.

    ## Why
    Readers need the trigger, the coverage, the loss notes and the replacement policy to decide whether
    the summary is enough, and the refresh policy of the summary to know when it is not any more. An empty
    list of loss notes says that nothing was lost.
    ## Bad
    compaction-1.loss_notes = (absent)
    ## Good
    compaction-1.loss_notes = []
    ## Fix
    Add the missing fields; `refresh_policy` belongs to the summary, also where the summary is an item.
    ## Source
    Agent Context draft, compaction contract and acceptance scenario 3.
    """
    for compaction in records.of(RecordKind.COMPACTION):
        lacks = [name for name in EXPLAINING if is_blank(compaction.value.get(name))]
        lacks += ["loss_notes"] if compaction.value.get("loss_notes") is None else []
        if lacks:
            yield Hit(compaction.origin(), f"the compaction {id_of(compaction)} has no {listed(lacks)}")
        for summary in records.targets_of(compaction.refs("summary_ref")):
            homes = (summary.value, summary.object("metadata"))
            if all(is_blank(home.get("refresh_policy")) for home in homes):
                message = f"the summary {id_of(summary)} of {id_of(compaction)} has no refresh_policy"
                yield Hit(summary.origin(), f"{message}: it is unknown when it is out of date")


@rule("ENV067", name="coverage-figures", severity=Severity.WARNING)
def coverage_figures(record: Record, profile: Profile) -> Iterator[Hit]:
    """The figures of a coverage do not fit the sources, or the summary is longer than what it replaces.

    ## Why
    `items_covered` is the number of sources, and tokens after are not more than before. Otherwise the
    coverage was written for other sources, or the compaction made things worse. Absent figures are not
    reported.
    ## Bad
    compaction-1.coverage.items_covered = 3
    ## Good
    compaction-1.coverage.items_covered = (absent)
    ## Fix
    Count the sources and the tokens again.
    ## Source
    Our inference from the published example of a compaction.
    """
    if record.kind not in (RecordKind.COMPACTION, RecordKind.SUMMARY):
        return
    coverage = record.object("coverage")
    covered, sources = count(coverage.get("items_covered")), len(ids(record.refs("source_item_refs")))
    if covered is not None and sources and covered != sources:
        message = f"{counted(covered, 'item')} covered, but {id_of(record)} has {counted(sources, 'source')}"
        yield Hit(record.origin("coverage", "items_covered"), message)
    before, after = (count(coverage.get(f"estimated_tokens_{when}")) for when in ("before", "after"))
    if before is not None and after is not None and after > before:
        message = f"{label(record)} made {before} tokens into {after}: the summary is longer than its sources"
        yield Hit(record.origin("coverage", "estimated_tokens_after"), message)


@rule("ENV068", name="other-sources", severity=Severity.WARNING)
def other_sources(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A summary names other sources than the compaction that made it.

    ## Why
    Then one of them covers items that are not in it. Compared only where both name some.
    ## Bad
    summary-1.source_item_refs = ["item-old-1"]
    ## Good
    summary-1.source_item_refs = ["item-old-2", "item-old-1"]
    ## Fix
    Correct the list that is wrong; the compaction knows what it took away.
    ## Source
    Our inference from the compaction contract of the Agent Context draft.
    """
    for compaction in records.of(RecordKind.COMPACTION):
        own = set(ids(compaction.refs("source_item_refs")))
        for summary in records.targets_of(compaction.refs("summary_ref")):
            its = set(ids(summary.refs("source_item_refs")))
            if own and its and own != its:
                differences = ((own - its, id_of(compaction)), (its - own, id_of(summary)))
                apart = "; ".join(
                    f"only {who} names {listed(sorted(names))}" for names, who in differences if names
                )
                message = f"{label(summary)} and {id_of(compaction)} name different sources: {apart}"
                yield Hit(summary.origin("source_item_refs"), message)


@rule("ENV069", name="source-beside-summary", severity=Severity.INFO)
def source_beside_summary(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """Compacted items were injected together with the summary that replaces them.

    ## Why
    The target read the same thing twice, and the tokens that the compaction saved were spent after all. It
    may be wanted. Items that were shown before the compaction was made do not count.
    ## Bad
    assembly-model.ordered_blocks[0].item_refs = ["summary-1", "item-old-1"]
    ## Good
    assembly-tool.ordered_blocks[0].item_refs = ["item-log", "item-extra"]
    ## Fix
    Take either the summary or its sources out of the assembly.
    ## Source
    Our inference from the compaction contract of the Agent Context draft.
    """
    found = outcomes(records) if records.of(RecordKind.COMPACTION) else {}
    for compaction in records.of(RecordKind.COMPACTION):
        made = parse_time(compaction.text("created_at"))
        summaries = [
            each
            for name in ids(compaction.refs("summary_ref"))
            if name in found
            for each in found[name].injected
        ]
        sources = [found[name] for name in ids(compaction.refs("source_item_refs")) if name in found]
        twice = [
            outcome.id
            for outcome in sources
            if any(_beside(raw, summary, made) for raw in outcome.injected for summary in summaries)
        ]
        if twice:
            message = f"{listed(twice)} was injected beside the summary that {id_of(compaction)} made of it"
            yield Hit(compaction.origin("source_item_refs"), message)


@rule("ENV070", name="summary-of-redacted", severity=Severity.WARNING)
def summary_of_redacted(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A summary of redacted or sensitive items does not say what was redacted in it.

    ## Why
    What was masked in an item easily comes back in its summary. A summary of redacted items needs a redaction
    state of its own other than none; of sensitive ones (private, personal, confidential, secret and
    the like) at least one that says none.
    ## Bad
    compaction-1.source_item_refs = ["item-old-1", "item-note"]
    ## Good
    compaction-1.source_item_refs = ["item-old-1", "item-note"]
    summary-1.redaction_state = "summarized"
    ## Fix
    Read the summary for what its sources hide, then set its `redaction_state`.
    ## Source
    Agent Context draft, failure case 5. The words for what is sensitive are ours.
    """
    for compaction in records.of(RecordKind.COMPACTION):
        for summary in records.targets_of(compaction.refs("summary_ref")):
            state = summary.redaction
            if is_redacted(state):
                continue
            sources = records.targets_of(
                (*compaction.refs("source_item_refs"), *summary.refs("source_item_refs"))
            )
            hiding = [id_of(each) for each in sources if is_redacted(each.redaction)]
            private = [
                id_of(each) for each in sources if (each.text("sensitivity") or "").casefold() in SENSITIVE
            ]
            if hiding:
                message = f"{label(summary)} is made of {listed(hiding)}, where something was redacted"
                yield Hit(
                    summary.origin("redaction_state"),
                    f"{message}, but its redaction_state is {state or 'absent'}",
                )
            elif private and state is None:
                message = f"{label(summary)} is made of {listed(private)}, which is sensitive"
                yield Hit(summary.origin(), f"{message}, but it has no redaction_state")


@rule("ENV071", name="summary-as-answer", severity=Severity.WARNING)
def summary_as_answer(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A summary is used as the final answer, or old reasoning is replayed (this cannot be checked).

    ## Why
    A summary says what was said, not what is right now. Whether a runtime gave one out as its answer, or fed
    old reasoning to the model again, is not in any context record: these hold what the model was shown, and
    never what it did with it. This rule is here so that the list is complete. It never has a finding, which
    proves nothing.
    ## Bad
    A user asks again, and the runtime answers with the text of `summary-1`.
    ## Good
    The runtime shows `summary-1` to the model, and the model answers.
    ## Fix
    Compare the runtime's own record of its answers with the summaries by hand.
    ## Source
    Agent Context draft, failure case 3; runtime profile ACTX-AR-COMPACT-001.
    """
    yield from ()


def _beside(raw: InjectedPlacement, summary: InjectedPlacement, made: datetime | None) -> bool:
    """Whether one target got both: in one assembly, or the item after the summary was made."""
    if raw.assembly is summary.assembly:
        return True
    when = parse_time(raw.injection.text("created_at"))
    return raw.target == summary.target and made is not None and when is not None and when >= made
