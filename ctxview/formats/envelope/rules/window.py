"""Rules about the content of a window: items, tokens, segments and truncations (ENV046 to ENV050).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted, excerpt, listed
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.envelope.model import EnvelopeRecords, Record
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.redactions import is_redacted
from ctxview.formats.envelope.rules.lookups import (
    SizedPart,
    assembled_items,
    blocks,
    id_of,
    member_strings,
    segments,
    selected,
    summary_ids,
    truncations,
)
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.word_lists import CUT_MARKS


@rule("ENV046", name="item-count", severity=Severity.WARNING)
def item_count(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """The number of items a budget counted is not the number of items assembled under it.

    ## Why
    One of the two is wrong: an item was shown and not counted, or counted and then lost. Checked only
    where an assembly names the budget and every one of its blocks says which items it holds.
    ## Bad
    budget-model.actual_items = 2
    ## Good
    budget-model.actual_items = (absent)
    budget-model.max_items = (absent)
    ## Fix
    Count the distinct items in the blocks of the assemblies that name this budget.
    ## Source
    Our inference from the budget and assembly contracts of the Agent Context draft.
    """
    for budget in records.of(RecordKind.BUDGET):
        recorded = budget.count("actual_items")
        under = records.under_budget(RecordKind.ASSEMBLY, budget)
        if recorded is None or not under or any(_has_unknown_items(each) for each in under):
            continue
        found = {name for each in under for name in assembled_items(each)}
        if len(found) != recorded:
            names = listed(id_of(each) for each in under)
            message = f"the budget {id_of(budget)} counts {counted(recorded, 'item')}, but {names}"
            yield Hit(budget.origin("actual_items"), f"{message} holds {len(found)}")


@rule("ENV047", name="token-sum", severity=Severity.WARNING)
def token_sum(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """The tokens a budget counted are not the sum of its segments, or of the blocks assembled under it.

    ## Why
    Then it is unknown what filled the window. Five in a hundred are forgiven, because separators and
    wrappers cost tokens too; where a segment or a block has no count, only a sum that is too big is reported.
    ## Bad
    budget-model.actual_tokens = 300
    ## Good
    budget-model.window_segments = (absent)
    ## Fix
    Measure segments, blocks and the whole with the same tokenizer, after the last change.
    ## Source
    Our inference from the budget and assembly contracts of the Agent Context draft.
    """
    for budget in records.of(RecordKind.BUDGET):
        total = budget.count("actual_tokens")
        if total is None:
            continue
        under = records.under_budget(RecordKind.ASSEMBLY, budget)
        sums = (
            ("its segments", _sum(segments(budget), "actual_tokens")),
            (
                "the blocks under it",
                _sum([part for each in under for part in blocks(each)], "token_estimate"),
            ),
        )
        for parts, (known, whole) in sums:
            leeway = max(total, known) * profile.limits.token_tolerance // 100
            if known - total > leeway or (whole and total - known > leeway):
                message = f"the budget {id_of(budget)} counts {total} tokens, but {parts} hold {known}"
                yield Hit(budget.origin("actual_tokens"), message)


@rule("ENV048", name="reserve-sum", severity=Severity.WARNING)
def reserve_sum(record: Record, profile: Profile) -> Iterator[Hit]:
    """The tokens a budget reserves are not the sum of what its segments reserve.

    ## Why
    The reserve keeps room for the answer. A segment that reserves more than the whole takes it from others.
    Where a segment does not say what it reserves, only a sum that is too big is reported.
    ## Bad
    budget-model.reserved_tokens = 1
    ## Good
    budget-model.reserved_tokens = (absent)
    ## Fix
    Set `reserved_tokens` to the sum, or correct the segment.
    ## Source
    Our inference from the budget contract of the Agent Context draft.
    """
    reserved = record.count("reserved_tokens")
    if record.kind is not RecordKind.BUDGET or reserved is None:
        return
    known, whole = _sum(segments(record), "reserved_tokens")
    if known > reserved or (whole and known != reserved):
        message = f"{reserved} tokens are reserved, but the segments reserve {known} together"
        yield Hit(record.origin("reserved_tokens"), message)


@rule("ENV049", name="segment-misfit", severity=Severity.WARNING)
def segment_misfit(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """Two segments claim one place, or a segment is for another target, or holds what was not selected.

    ## Why
    A window is filled segment after segment. Two with the same order leave open which comes first; a segment
    of another target is not in this window; and nothing gets into a window but selected items and the
    summaries that replace some.
    ## Bad
    budget-model.window_segments[0].target = "ui"
    ## Good
    budget-model.window_segments[0].target = (absent)
    ## Fix
    Number the segments again; move foreign segments to the budget of their target.
    ## Source
    Agent Context draft, budget contract: window segments.
    """
    chosen = selected(records)
    allowed = None if chosen is None else chosen | summary_ids(records)
    for window in (*records.of(RecordKind.BUDGET), *records.of(RecordKind.WINDOW)):
        places: dict[float, str] = {}
        for segment in segments(window):
            order = segment.number("order")
            if order in places:
                message = f"the segments {places[order]} and {segment.id} both have the order {order:g}"
                yield Hit(segment.origin("order"), message)
            elif order is not None:
                places[order] = segment.id
            target, own = segment.text("target"), window.text("target")
            if target is not None and own is not None and target != own:
                message = f"the segment {segment.id} is for {excerpt(target)}"
                message += f", its window {id_of(window)} for {excerpt(own)}"
                yield Hit(segment.origin("target"), message)
            for reference in segment.refs or ():
                if allowed is not None and reference.id is not None and reference.id not in allowed:
                    message = (
                        f"the segment {segment.id} holds {excerpt(reference.id)}, which was not selected"
                    )
                    yield Hit(reference.origin, message)


@rule("ENV050", name="silent-truncation", severity=Severity.WARNING)
def silent_truncation(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """An item was cut to fit, and no truncation record of a budget says so.

    ## Why
    A later reader believes that the model saw all of the item. A block that holds one item and less than
    nine tenths of its tokens, or a text that ends in a mark such as `[truncated]`, was cut. The draft
    does not say how a truncation record looks: any that names the item will do, and one that names
    nothing could mean it.
    ## Bad
    item-plan.content = "The parser fails on [truncated]"
    ## Good
    item-plan.content = "The parser fails on [truncated]"
    budget-model.truncation_records = [{"item_ref": "item-plan"}]
    ## Fix
    Add a truncation record with the item, the strategy and how much was cut.
    ## Source
    Agent Context draft, runtime profile ACTX-AR-BUDGET-001. The signs of a cut are ours.
    """
    budgets = records.of(RecordKind.BUDGET)
    cuts = [each for budget in budgets for each in truncations(budget)]
    named = [{found for _, found in member_strings(each)} for each in cuts]
    known = {each.id for kind in (RecordKind.ITEM, RecordKind.SUMMARY) for each in records.of(kind)}
    if not budgets or any(not words & known for words in named):
        return
    explained = {word for words in named for word in words}
    for assembly in records.of(RecordKind.ASSEMBLY):
        for block in blocks(assembly):
            sign = _cut(records, block, profile.limits.cut_share)
            if sign is not None and block.refs and block.refs[0].id not in explained:
                name = excerpt(block.refs[0].id or "")
                message = f"{sign}, and no truncation record names {name}"
                yield Hit(block.origin("item_refs"), message)


def _has_unknown_items(assembly: Record) -> bool:
    """Whether some items of an assembly are not known."""
    found = blocks(assembly)
    return not found or any(each.refs is None for each in found)


def _sum(parts: Sequence[SizedPart], name: str) -> tuple[int, bool]:
    """The sum of the known figures, and whether all are known."""
    figures = [each.count(name) for each in parts]
    return sum(each for each in figures if each is not None), bool(figures) and None not in figures


def _cut(records: EnvelopeRecords, block: SizedPart, share: int) -> str | None:
    """The sign that the only item of a block was cut; None without one, or when it was redacted."""
    refs = block.refs or ()
    item = records.resolve(refs[0]) if len(refs) == 1 else None
    if item is None or is_redacted(item.redaction) or is_redacted(block.text("redaction_state")):
        return None
    if (item.text("content") or "").rstrip().casefold().endswith(CUT_MARKS):
        return f"the text of {id_of(item)} ends in a mark for a cut"
    held, whole = block.count("token_estimate"), item.count("token_estimate")
    if held is not None and whole is not None and held * 100 < whole * share:
        return f"the block {block.id} holds {held} of the {whole} tokens of {id_of(item)}"
    return None
