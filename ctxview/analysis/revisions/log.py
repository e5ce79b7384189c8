"""The revisions as a log: what each one changed, how full its window was, and its findings."""

from __future__ import annotations

from msgspec import Struct

from ctxview.analysis.diff.model import BlockCounts
from ctxview.analysis.revisions.events import EventKind, RevisionEvent
from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.analysis.revisions.skyline import SeriesKey, budget_at
from ctxview.analysis.revisions.window import Pressure, pressure_of
from ctxview.analysis.wording import counted
from ctxview.core.findings import Severity

_WEIGHTS: tuple[EventKind, ...] = ("broken", "loss", "stage", "cut", "noted", "shown")


class LogRow(Struct, frozen=True):
    """One revision. `counts` and `findings` are None until it is read."""

    number: int
    name: str
    time: str | None
    is_reply: bool
    counts: BlockCounts | None = None
    used: int | None = None
    limit: int | None = None
    pressure: Pressure = "unknown"
    errors: int | None = None
    warnings: int | None = None
    event: RevisionEvent | None = None
    """The most important event."""


def log_numbers(known: KnownRevisions, *, replies: bool = True) -> list[int]:
    """The numbers of the rows, the newest first."""
    newest = range(len(known.names) - 1, -1, -1)
    return [number for number in newest if replies or not known.names[number].is_reply]


def log_row(known: KnownRevisions, number: int, series: SeriesKey | None) -> LogRow:
    """A revision as a row; its window is that of the series, so that all rows have one unit."""
    name, facts = known.names[number], known.facts.get(number)
    time = None if name.is_reply else name.time
    if facts is None:
        return LogRow(number, name.short, time, name.is_reply)
    budget = budget_at(known, number, series) if facts.whole and not name.is_reply else None
    events = sorted(known.events_of(number), key=lambda each: _WEIGHTS.index(each.kind))
    return LogRow(
        number,
        name.short,
        time,
        name.is_reply,
        facts.counts,
        budget.used if budget is not None else None,
        budget.limit if budget is not None else None,
        pressure_of(budget),
        facts.severities[Severity.ERROR],
        facts.severities[Severity.WARNING],
        events[0] if events else None,
    )


def log_sentence(known: KnownRevisions) -> str:
    """`4 errors, all in the reply to round 9. 65 warnings in 17 of 29 revisions`."""
    (errors, with_errors), (warnings, with_warnings) = (
        known.severities[each] for each in (Severity.ERROR, Severity.WARNING)
    )
    if not known.is_complete:
        so_far = f"{counted(errors, 'error')}, {counted(warnings, 'warning')} so far"
        return f"{so_far}; {len(known.facts)} of {len(known.names)} revisions are checked"
    of_all = f"of {counted(len(known.names), 'revision')}"
    place = f"in {with_errors} {of_all}"
    if with_errors == 1 and known.worst is not None and len(known.names) > 1:
        place = f"{'' if errors == 1 else 'all '}in {known.names[known.worst.number].name}"
    first = f"{counted(errors, 'error')}, {place}" if errors else "No errors"
    second = f"{counted(warnings, 'warning')} in {with_warnings} {of_all}" if warnings else "No warnings"
    return f"{first}. {second}"


def next_finding(known: KnownRevisions, number: int, *, back: bool = False) -> int | None:
    """The nearest later or earlier revision with an error, else with a warning; None when there is none."""
    places = range(number - 1, -1, -1) if back else range(number + 1, len(known.names))
    for severity in (Severity.ERROR, Severity.WARNING):
        for place in places:
            facts = known.facts.get(place)
            if facts is not None and facts.severities[severity]:
                return place
    return None
