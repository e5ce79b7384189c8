"""Rules about budgets: limits, use and overflow (ENV043 to 45, 51, 52).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import excerpt, listed
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.envelope.model import EnvelopeRecords, Record, count, text
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookups import (
    assembled_items,
    blocks,
    id_of,
    omissions,
    truncations,
)
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.word_lists import FITTING_DIMENSION, SIZE_KEYS, SIZE_OMISSIONS

DIMENSIONS = ("tokens", "bytes", "items")


@rule("ENV043", name="limit-without-use", severity=Severity.WARNING)
def limit_without_use(record: Record, profile: Profile) -> Iterator[Hit]:
    """A budget has a limit without its use, or a use without its limit.

    ## Why
    A limit alone does not say whether it was kept, and a use alone does not say whether it was much. The
    draft wants both for each of tokens, bytes and items that a budget speaks of.
    ## Bad
    budget-model.actual_tokens = (absent)
    ## Good
    budget-model.actual_items = (absent)
    budget-model.max_items = (absent)
    ## Fix
    Measure what was used and record it as `actual_…`, or record the limit as `max_…`.
    ## Source
    Agent Context draft, budget contract: a limit and its measured use belong together.
    """
    if record.kind is not RecordKind.BUDGET:
        return
    for dimension in DIMENSIONS:
        limit, used = f"max_{dimension}", f"actual_{dimension}"
        has_limit, has_used = record.value.get(limit) is not None, record.value.get(used) is not None
        if has_limit and not has_used:
            yield Hit(
                record.origin(limit), f"{limit} is recorded, but not {used}: whether it was kept is unknown"
            )
        elif has_used and not has_limit:
            yield Hit(
                record.origin(used), f"{used} is recorded, but not {limit}: whether that is much is unknown"
            )


@rule("ENV044", name="unfitting-dimension", severity=Severity.WARNING)
def unfitting_dimension(record: Record, profile: Profile) -> Iterator[Hit]:
    """A budget limits something else than what counts for its target.

    ## Why
    A model runs out of tokens, a resource or an export out of bytes, a panel or a tool out of items. A limit
    in another measure does not keep the target from overflowing. Targets the draft does not speak of are
    left alone, and so is a budget without any limit.
    ## Bad
    budget-model.max_tokens = (absent)
    ## Good
    budget-model.max_items = (absent)
    ## Fix
    Add the limit that fits: `max_tokens` for the model, `max_bytes` for exports, `max_items` for ui and tool.
    ## Source
    Agent Context draft, budget contract: dimensions by target.
    """
    target = record.text("target")
    fitting = FITTING_DIMENSION.get(target or "")
    if record.kind is not RecordKind.BUDGET or fitting is None:
        return
    limited = [each for each in DIMENSIONS if record.count(f"max_{each}") is not None]
    if limited and fitting not in limited:
        message = (
            f"the budget {id_of(record)} is for {target} and limits {listed(limited)}, but not {fitting}"
        )
        yield Hit(record.origin("target"), message)


@rule("ENV045", name="over-budget", severity=Severity.WARNING)
def over_budget(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """More was used than the limit allows and no record says what was cut, or the reserve exceeds the limit.

    ## Why
    Something was then cut off, left out or rejected without a record. A truncation record on the
    budget or on one of its segments explains it. So does an omission for its size in a selection with this
    budget, unless the blocks assembled under the budget hold more than the limit all the same.
    ## Bad
    budget-tool.actual_tokens = 700
    ## Good
    budget-model.actual_tokens = 700
    ## Fix
    Find out what the target really got, and record what was truncated or omitted.
    ## Source
    Agent Context draft, runtime profile ACTX-AR-BUDGET-001.
    """
    for budget in records.of(RecordKind.BUDGET):
        for dimension in _exceeded(budget) if not truncations(budget) else ():
            used, limit = budget.count(f"actual_{dimension}"), budget.count(f"max_{dimension}")
            if _assembled(records, budget, dimension) <= (limit or 0) and _has_left_out(records, budget):
                continue
            message = f"{used} {dimension} were used of {limit}, and no truncation or omission explains it"
            yield Hit(budget.origin(f"actual_{dimension}"), message)
        reserved, limit = budget.count("reserved_tokens"), budget.count("max_tokens")
        if reserved is not None and limit is not None and reserved > limit:
            message = f"{reserved} tokens are reserved of a budget of {limit}"
            yield Hit(budget.origin("reserved_tokens"), message)


@rule("ENV051", name="unbacked-strategy", severity=Severity.WARNING)
def unbacked_strategy(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A budget was full, and what its overflow strategy should have led to is not there.

    ## Why
    `summarize_oldest` and `summarize_low_priority` leave a compaction, `ask_for_choice` a missing_context,
    `policy_block` a policy reference, and under `reject` nothing goes over the limit. Checked only where the
    limit was reached, something was truncated, or items were left out for their size; and not in records
    without an envelope, where the rest may be elsewhere.
    ## Bad
    budget-model.overflow_strategy = "ask_for_choice"
    missing-1 (absent)
    ## Good
    budget-model.overflow_strategy = "defer_to_retrieval"
    ## Fix
    Record what was really done, or name the strategy that was really used.
    ## Source
    Our inference from the overflow strategies of the Agent Context draft.
    """
    for budget in records.of(RecordKind.BUDGET) if records.envelope is not None else ():
        strategy = budget.text("overflow_strategy") or ""
        if not _is_full(records, budget):
            continue
        why = _why_unbacked(records, budget, strategy)
        if why is not None:
            message = (
                f"the budget {id_of(budget)} was full and its strategy is {excerpt(strategy)}, but {why}"
            )
            yield Hit(budget.origin("overflow_strategy"), message)


@rule("ENV052", name="limit-without-budget", severity=Severity.WARNING)
def limit_without_budget(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """Something was limited in size, and no budget says by how much.

    ## Why
    An item left out as too large, a compaction under token pressure, a limit in a policy or in metadata: all
    of them mean that there was a limit. Without a budget it cannot be checked. A budget that is
    referred to and is elsewhere counts, and records without an envelope are not checked.
    ## Bad
    budget-model (absent)
    budget-tool (absent)
    ctx-1.budget_ref = (absent)
    selection-1.budget_ref = (absent)
    assembly-model.budget_ref = (absent)
    assembly-tool.budget_ref = (absent)
    ## Good
    selection-1.selection_policy = {"max_items": 3}
    ## Fix
    Record the limit and the use as a context_budget, and refer to it.
    ## Source
    Agent Context draft, compatibility list, point 4.
    """
    refers = any(
        each.name == "budget_ref" and each.id for record in records.records for each in record.references
    )
    if records.envelope is None or records.of(RecordKind.BUDGET) or refers:
        return
    for reference in omissions(records.of(RecordKind.SELECTION), *SIZE_OMISSIONS):
        reason = excerpt(text(reference.members.get("reason")) or "")
        message = f"{excerpt(reference.id or 'an item')} was left out for {reason}, but there is no budget"
        yield Hit(reference.origin, message)
    for compaction in records.of(RecordKind.COMPACTION):
        if compaction.text("trigger") == "token_pressure":
            message = (
                f"the compaction {id_of(compaction)} was made under token pressure, but there is no budget"
            )
            yield Hit(compaction.origin("trigger"), message)
    for record in records.records:
        for home in ("selection_policy", "metadata"):
            for key in SIZE_KEYS:
                if count(record.object(home).get(key)) is not None:
                    yield Hit(record.origin(home, key), f"{home} limits {key}, but there is no budget")


def _exceeded(budget: Record) -> list[str]:
    """The dimensions in which more was used than allowed."""
    found = []
    for dimension in DIMENSIONS:
        used, limit = budget.count(f"actual_{dimension}"), budget.count(f"max_{dimension}")
        if used is not None and limit is not None and used > limit:
            found.append(dimension)
    return found


def _is_full(records: EnvelopeRecords, budget: Record) -> bool:
    """Whether the records show that the limit was reached."""
    for dimension in DIMENSIONS:
        used, limit = budget.count(f"actual_{dimension}"), budget.count(f"max_{dimension}")
        if used is not None and limit is not None and used >= limit:
            return True
    return bool(truncations(budget)) or _has_left_out(records, budget)


def _assembled(records: EnvelopeRecords, budget: Record, dimension: str) -> int:
    """How much the blocks assembled under a budget hold at least; 0 where it is unknown."""
    under = records.under_budget(RecordKind.ASSEMBLY, budget)
    if dimension == "items":
        return len({name for each in under for name in assembled_items(each)})
    parts = [part for each in under for part in blocks(each)] if dimension == "tokens" else []
    return sum(part.count("token_estimate") or 0 for part in parts)


def _has_left_out(records: EnvelopeRecords, budget: Record) -> bool:
    """Whether a selection with this budget left something out for its size."""
    return any(omissions(records.under_budget(RecordKind.SELECTION, budget), *SIZE_OMISSIONS))


def _why_unbacked(records: EnvelopeRecords, budget: Record, strategy: str) -> str | None:
    """Why the records do not show the overflow strategy, or None."""
    if strategy.startswith("summarize_") and not records.of(RecordKind.COMPACTION):
        return "nothing was compacted"
    if strategy == "ask_for_choice" and not records.of(RecordKind.MISSING):
        return "there is no missing_context"
    if strategy == "policy_block" and not any(each.refs("policy_refs") for each in records.records):
        return "no record refers to a policy"
    if strategy == "reject" and (over := _exceeded(budget)):
        return f"more {listed(over)} were used than it allows"
    return None
