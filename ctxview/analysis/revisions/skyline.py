"""The window over time: one column per revision, or one for several when there are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.diff.model import BlockCounts
from ctxview.analysis.revisions.events import RevisionEvent
from ctxview.analysis.revisions.facts import KnownRevisions, RevisionFacts, RevisionName
from ctxview.analysis.revisions.window import (
    ELSEWHERE,
    Growth,
    growth_of,
    is_estimate,
    main_budget,
    unit_of,
)
from ctxview.core.lazy import lazy_pattern
from ctxview.core.state import Budget, LoggedWindow

_NUMBERED = lazy_pattern(r"\D*?(\w+?)[ -]?(\d+)")


class SkylineColumn(Struct, frozen=True):
    """The revisions from `first` to `last`; the figures are those of `number`, the fullest of them."""

    first: int
    last: int
    number: int
    used: int | None
    parts: tuple[tuple[str, int], ...] = ()
    events: tuple[RevisionEvent, ...] = ()
    is_reply: bool = False

    @property
    def here(self) -> int:
        """The size of the part that the read files hold."""
        return sum(used for name, used in self.parts if name != ELSEWHERE)


class Skyline(Struct, frozen=True):
    """The columns, the oldest first, all in one unit by one counter."""

    columns: tuple[SkylineColumn, ...]
    budget: Budget | None
    """The newest budget of the series: its target, unit and limit."""
    limit: int | None
    each: int = 1
    """How many revisions a column stands for."""
    names: tuple[str, ...] = ()
    """The segments of this source, from bottom to top."""
    fullest: int | None = None
    """The place of the fullest column."""
    is_estimate: bool = False
    pending: int = 0
    """How many revisions are not read yet."""

    @property
    def largest(self) -> int:
        """The largest part of this source in any column."""
        return max((each.here for each in self.columns), default=0)


def logged_revisions(windows: Sequence[LoggedWindow]) -> KnownRevisions:
    """The turns of a log in the shape of revisions: the last one is now."""
    names = (
        RevisionName(each.name, each.name, each.name, each.time, False, at - 1 if at else None)
        for at, each in enumerate(windows)
    )
    facts = {
        at: RevisionFacts(
            number=at,
            budgets=(each.budget,),
            counts=BlockCounts(),
            severities={},
            findings=(),
            events=(RevisionEvent("cut", each.event),) if each.event else (),
        )
        for at, each in enumerate(windows)
    }
    return KnownRevisions(tuple(names), facts)


def build_skyline(
    known: KnownRevisions, most: int, *, replies: bool = False, within: range | None = None
) -> Skyline:
    """Return at most `most` columns, for the revisions `within` a range.

    Without `replies` these are not columns, and their events move on.
    """
    series = series_of(known)
    within = range(len(known.names)) if within is None else within
    numbers = [number for number in within if replies or not known.names[number].is_reply]
    numbers = [number for number in numbers if number not in known.facts or known.facts[number].whole]
    size = max(1, -(-len(numbers) // max(1, most)))
    columns = []
    for start in range(0, len(numbers), size):
        own = numbers[start : start + size]
        end = numbers[start + size] if start + size < len(numbers) else within.stop
        columns.append(_column(known, own, end, series))
    used = [(each.used or 0, -place) for place, each in enumerate(columns) if not each.is_reply]
    newest = next(
        (found for each in reversed(columns) if (found := budget_at(known, each.number, series))), None
    )
    limits = [
        budget.line for each in columns if (budget := budget_at(known, each.number, series)) and budget.line
    ]
    return Skyline(
        tuple(columns),
        newest,
        max(limits, default=None),
        size,
        tuple(dict.fromkeys(name for each in columns for name, _ in each.parts if name != ELSEWHERE)),
        -max(used)[1] if used and max(used)[0] else None,
        newest is not None and is_estimate(newest),
        len(known.names) - len(known.facts),
    )


def growth_at(known: KnownRevisions, number: int) -> tuple[Growth, ...]:
    """How the segments of the series grew since the revision before, the largest growth first."""
    series = series_of(known)
    previous = known.names[number].previous
    if previous is None:
        return ()
    return growth_of(budget_at(known, previous, series), budget_at(known, number, series))


def unchanged_text(known: KnownRevisions, number: int) -> str:
    """What changed at a revision whose sizes did not: `~ 1 since round 7; no size changed`."""
    facts, previous = known.facts.get(number), known.names[number].previous
    if facts is None or previous is None:
        return "Nothing to compare yet."
    counts, since, series = facts.counts, known.names[previous].name, series_of(known)
    signs = (("+", counts.added), ("~", counts.changed + counts.moved), ("−", counts.removed))
    changed = "  ".join(f"{sign} {amount:,}" for sign, amount in signs if amount)
    has_sizes = None not in (budget_at(known, previous, series), budget_at(known, number, series))
    sizes = "no size changed" if has_sizes else "the sizes cannot be compared"
    return f"{changed} since {since}; {sizes}" if changed else f"Since {since} {sizes}"


def column_labels(known: KnownRevisions, skyline: Skyline) -> list[str]:
    """Short labels for the axis: the number in a name, `c2` for one of another kind, else its place."""
    found = [_NUMBERED.match(known.names[column.number].label) for column in skyline.columns]
    words = Counter(each[1] for each in found if each)
    common = words.most_common(1)[0][0] if words else ""
    # A number in one of many file names would read as the place of another column.
    if 2 * sum(words.values()) < len(found):
        found = [None] * len(found)
    labels = []
    for place, (column, name) in enumerate(zip(skyline.columns, found, strict=True)):
        if column.is_reply:
            labels.append("re")
        elif name is not None and len(name[2]) < 6:
            labels.append(name[2] if name[1] == common else f"{name[1][:1]}{name[2]}")
        else:
            label = known.names[column.number].label
            labels.append(label if label == "now" else str(place + 1))
    return labels


def fullest_sentences(known: KnownRevisions, skyline: Skyline) -> tuple[str, str]:
    """`Fullest: round 9, 24,655 of 24,720 tok` and `. Cause: +9,269 tok, not in this file`."""
    if skyline.fullest is None or skyline.budget is None:
        waiting = f"; {skyline.pending:,} revisions are not read yet" if skyline.pending else ""
        return f"No figure is recorded{waiting}", ""
    column = skyline.columns[skyline.fullest]
    about = "≈" if skyline.is_estimate else ""
    limit = f" of {skyline.limit:,}" if skyline.limit else ""
    text = f"Fullest: {known.names[column.number].name}, {about}{column.used or 0:,}{limit}"
    unit = unit_of(skyline.budget)
    short = "tok" if unit == "tokens" else unit
    text += f" {short}"
    growth, cause = growth_at(known, column.number), ""
    if growth and growth[0].amount > 0:
        # A segment may be called `messages` or `tool calls`: the amount is not their number.
        cause = f". Cause: +{growth[0].amount:,} {short}, {growth[0].name}"
    each = f". One column is {skyline.each:,} revisions, the fullest is drawn" if skyline.each > 1 else ""
    pending = f"; {skyline.pending:,} not read yet" if skyline.pending else ""
    return text, f"{cause}{each}{pending}"


def next_event(skyline: Skyline, place: int, *, back: bool = False) -> int | None:
    """The place of the next column with an event other than a block shown again."""
    places = range(place - 1, -1, -1) if back else range(place + 1, len(skyline.columns))
    notable = (
        each for each in places if any(event.kind != "shown" for event in skyline.columns[each].events)
    )
    return next(notable, None)


SeriesKey = tuple[str, str]
"""The target and the unit of the budgets that are compared over time."""


def series_of(known: KnownRevisions) -> SeriesKey | None:
    """The main budget of the newest prompt, unless fewer than half of them have it: then the commonest."""
    common: Counter[SeriesKey] = Counter()
    main, prompts = None, 0
    for facts in known.in_order:
        if facts.whole and not known.names[facts.number].is_reply:
            prompts += 1
            budgets = [each for each in facts.budgets if each.used is not None]
            common.update({(each.target, each.unit) for each in budgets if each.limit is not None})
            first = main_budget(budgets)
            main = (first.target, first.unit) if first is not None else main
    if not common or main is None or 2 * common[main] >= prompts:
        return main
    return common.most_common(1)[0][0]


def budget_at(known: KnownRevisions, number: int, series: SeriesKey | None) -> Budget | None:
    facts = known.facts.get(number)
    budgets: Sequence[Budget] = facts.budgets if facts is not None else ()
    return next((each for each in budgets if (each.target, each.unit) == series), None)


def _column(known: KnownRevisions, own: Sequence[int], end: int, series: SeriesKey | None) -> SkylineColumn:
    found = [(number, budget_at(known, number, series)) for number in own]
    number, budget = max(found, key=lambda each: (each[1].used or 0) if each[1] is not None else -1)
    is_reply = known.names[number].is_reply
    if budget is None and is_reply:
        budget = main_budget(known.facts[number].budgets) if number in known.facts else None
    parts = tuple((each.key, each.used) for each in budget.segments) if budget is not None else ()
    events = [_placed(known, each, event) for each in range(own[0], end) for event in known.events_of(each)]
    used = budget.used if budget is not None and not is_reply else None
    return SkylineColumn(own[0], own[-1], number, used, parts, tuple(events), is_reply)


def _placed(known: KnownRevisions, number: int, event: RevisionEvent) -> RevisionEvent:
    """Name the reply in its loss: it stands in the column of the prompt that it answers."""
    name = known.names[number]
    is_loss = event.kind == "loss" and name.is_reply
    return replace(event, text=f"{name.name} {event.text}") if is_loss else event
