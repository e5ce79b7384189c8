"""The window of a model as a budget states it: how full it is, in a sentence, and what grew.

The first budget of a state is the one its runtime compared with a limit, or the nearest to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from ctxview.analysis.wording import excerpt
from ctxview.core.budget import EVERY_TURN
from ctxview.core.state import Budget, Segment

ELSEWHERE = "not in this file"
"""The name of the segment for the part of a prompt that the read files do not hold."""

FULL, PRESSED = 0.95, 0.80
"""Shares of the limit from which the window counts as full, and as nearly full."""

Pressure = Literal["over", "full", "high", "low", "unknown"]


class Growth(Struct, frozen=True):
    """How one segment, or the whole, differs from an earlier revision."""

    name: str
    amount: int


def main_budget(budgets: Sequence[Budget]) -> Budget | None:
    """Return the budget that answers how full the window is."""
    return next((each for each in budgets if each.used is not None), budgets[0] if budgets else None)


def second_budget(budgets: Sequence[Budget]) -> Budget | None:
    """Return the main budget counted in another unit, where a runtime does not count tokens."""
    main = main_budget(budgets)
    if main is None or main.limit is None:
        return None
    alike = (each for each in budgets if (each.target, each.limit) == (main.target, main.limit))
    return next((each for each in alike if unit_of(each) != unit_of(main)), None)


def unit_of(budget: Budget) -> str:
    """The unit without the counter that a format may add in brackets."""
    return budget.unit.partition(" (")[0]


def counter_of(budget: Budget) -> str:
    """The method behind the figures, such as `bytes/3` or `o200k_base`; empty when none is named."""
    if budget.reported.startswith("reported"):
        # The provider counted the sum; here it was only shared out.
        return ""
    named = budget.unit.partition(" (")[2].removesuffix(")")
    names = {each.estimator or "" for each in budget.segments}
    found = named or (names.pop() if len(names) == 1 else "")
    return found.replace("UTF-8 ", "").replace(" / ", "/")


def is_estimate(budget: Budget) -> bool:
    return not budget.reported and not all(each.exact for each in budget.segments)


def counter_text(budget: Budget) -> str:
    """The unit of a window and how it was counted: `tokens: bytes/3, as recorded`."""
    reported = f"as {budget.reported.partition(' ')[0]}" if budget.reported else "exact"
    word = "estimate" if is_estimate(budget) else reported
    return f"{unit_of(budget)}: {', '.join(filter(None, (counter_of(budget).replace('_base', ''), word)))}"


def beside_prompt(budget: Budget | None, tokens: int, others: int, counter: str) -> str:
    """The figure of the window in words, when it is another one than that of the X-ray.

    The X-ray counts the `tokens` of the prompt's text and those of the `others`, messages beside it.
    """
    if budget is None or budget.used is None:
        return ""
    alike = unit_of(budget) == "tokens" and not budget.reported and counter_of(budget) == counter
    if alike and budget.used == tokens + others:
        return ""
    figure = f"{budget.used:,} {unit_of(budget)} ({counter_text(budget).partition(': ')[2]})"
    of = "" if budget.reported else f"“{budget.target}”: "
    return f"The Overview counts {of}{figure}"


def segments_here(budget: Budget) -> list[Segment]:
    """The segments that the read files hold, the largest first."""
    here = (each for each in budget.segments if each.name != ELSEWHERE and each.used > 0)
    return sorted(here, key=lambda each: -each.used)


def used_elsewhere(budget: Budget) -> int | None:
    """The part of the prompt that the read files do not hold; None when that is not known."""
    return next((each.used for each in budget.segments if each.name == ELSEWHERE), None)


def pressure_of(budget: Budget | None) -> Pressure:
    if budget is None or not budget.line or budget.used is None:
        return "unknown"
    share = budget.used / budget.line
    return "over" if share > 1 else "full" if share >= FULL else "high" if share >= PRESSED else "low"


def window_sentence(budget: Budget | None) -> str:
    """How full the window is. What is left is rounded down, so that a full window reads as full."""
    if budget is None or budget.used is None:
        return "No figure is recorded"
    unit, about = unit_of(budget), "≈" if is_estimate(budget) else ""
    if not budget.limit:
        how = "in every turn" if budget.target == EVERY_TURN else "used; the limit is not known"
        return f"{about}{budget.used:,} {unit} {how}"
    if budget.over:
        return (
            f"Over by {about}{budget.over:,}: {about}{budget.used:,} {unit} in a budget of {budget.limit:,}"
        )
    if budget.partial:
        here = f"{about}{budget.used:,} of {budget.limit:,} {unit} are in this file"
        return f"{here}; the rest is not known"
    line = budget.line or budget.limit
    left = f"{about}{line - budget.used:,} of {budget.limit:,} {unit} left"
    if budget.compacts:
        left = f"{about}{budget.free:,} {unit} left before it compacts at {line:,}"
    elif budget.holds_reserve and budget.reserve_left:
        all_of_it = budget.reserve_left >= line - budget.used
        left += ", all of it reserved" if all_of_it else f", {budget.reserve_left:,} of them reserved"
    if pressure_of(budget) in ("full", "over"):
        return f"Full: {left}"
    return f"{round(100 * budget.used / line)} % full: {left}"


def window_source(budget: Budget | None) -> str:
    """Where the figure and the limit come from, as the end of the sentence; empty when it is our count."""
    if budget is None:
        return ""
    how = "as " if budget.reported.startswith("recorded") else ""
    reported = f", {how}{budget.reported}" if budget.reported else ""
    limit = limit_source(budget)
    return f"{reported}; {limit}" if limit else reported


def limit_source(budget: Budget) -> str:
    """`limit assumed by atom-0.17`; empty when the file states the limit."""
    return f"limit {excerpt(budget.limit_from, 80)}" if budget.limit_from is not None else ""


def stage_of(budget: Budget | None) -> str | None:
    """What the runtime did because the limit was near, such as `stage trim_memory_ephemeral`."""
    return budget.stage.removeprefix("degrade ") if budget is not None and budget.stage else None


def same_budget(budgets: Sequence[Budget], wanted: Budget) -> Budget | None:
    """Return the budget of another revision that can be compared with `wanted`."""
    key = wanted.target, wanted.unit
    return next((each for each in budgets if (each.target, each.unit) == key), None)


def growth_of(before: Budget | None, after: Budget | None) -> tuple[Growth, ...]:
    """Return how each segment changed, the largest growth first; empty when it cannot be compared."""
    if before is None or after is None or (before.target, before.unit) != (after.target, after.unit):
        return ()
    old = {each.key: each.used for each in before.segments}
    new = {each.key: each.used for each in after.segments}
    found = (Growth(name, new.get(name, 0) - old.get(name, 0)) for name in {**old, **new})
    return tuple(sorted((each for each in found if each.amount), key=lambda each: -each.amount))
