"""Finds revisions in a list, by a name, number or time, the previous one, and the same one after a reload.

`read_facts` reads all revisions of a source and keeps what overview, skyline, log, why and search need.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from ctxview.analysis.wording import did_you_mean
from ctxview.core.lazy import lazy_pattern
from ctxview.core.revision_signs import COMPACTION as COMPACTED
from ctxview.formats.interface import Lens, Progress, Revision, Source

if TYPE_CHECKING:
    from ctxview.analysis.revisions.facts import KnownRevisions, RevisionFacts, RevisionName
    from ctxview.core.state import ContextState

REVISION_HELP = (
    "a round or number from 1, -1 for the latest, #3 for the third, a name or part of one, or a time"
)
"""The ways to name a revision, for help texts."""

REPLY = "reply"
"""The kind of a revision that answers another one instead of continuing it."""
COMPACTION = "compaction"
"""The kind of a revision that is the moment after a compaction."""
MOST_RECENT = 4
"""States that are kept to compare the next revision with."""

_NUMBER = lazy_pattern(r"(#|-)?(\d{1,9})")
_SECONDS = lazy_pattern(r"\d{10,11}")
_FEW = 8


class RevisionError(LookupError):
    """A name that fits no revision or several; the message lists the revisions."""


def find_revision(revisions: Sequence[Revision], wanted: str) -> int:
    """Return the index of the revision `wanted`: its whole name, a number, part of its name, or a time.

    A bare number is a round if that round exists, else a position from 1; with `#` it is always a position.
    A time means the last revision that is not later. Raises `RevisionError`.
    """
    wanted = wanted.strip()
    labels = [each.label for each in revisions]
    if wanted in labels:
        return labels.index(wanted)
    number = _NUMBER.fullmatch(wanted)
    found = _by_number(revisions, number[1] or "", int(number[2])) if number else _by_part(labels, wanted)
    if found is None and not number:
        found = _by_time(revisions, wanted)
    if found is None:
        near = did_you_mean(wanted, labels)
        raise RevisionError(f"unknown revision {wanted}{near}; known revisions: {_listed(labels)}")
    return found


def previous_revision(revisions: Sequence[Revision], number: int) -> int | None:
    """Return the revision that `number` continues, else the one before it; None when there is none."""
    revision = revisions[number]
    # A recording may have very many revisions: search them only for a name.
    places = reversed(range(number)) if revision.follows is not None else ()
    earlier = (place for place in places if revisions[place].label == revision.follows)
    return next(earlier, number - 1 if number and not revision.independent else None)


def is_past(revisions: Sequence[Revision], number: int, last: int | None = None) -> bool:
    """Whether a later revision has replaced revision `number`; revisions after `last` do not count."""
    revision = revisions[number]
    if revision.independent:
        return any(each.follows == revision.label for each in revisions)
    return number < (len(revisions) - 1 if last is None else last)


def same_revision(
    before: Sequence[Revision], at: int, after: Sequence[Revision], *, stay: bool = False
) -> int:
    """Return the index in `after` of revision `at` of `before`; the newest maps to the newest.

    With `stay` it does so only when `at` itself is gone.
    """
    last = len(after) - 1
    wanted = before[min(at, len(before) - 1)]
    alike = (
        lambda each: each == wanted,
        lambda each: bool(each.id) and each.id == wanted.id,
        lambda each: (each.file, each.label) == (wanted.file, wanted.label),
        lambda each: (each.file, each.kind) == (wanted.file, wanted.kind),
    )
    is_newest = at >= len(before) - 1
    tests = alike if not is_newest else alike[:3] if stay else ()
    found = (place for test in tests for place, each in enumerate(after) if test(each))
    return next(found, last if is_newest else min(at, last))


def name_revisions(revisions: Sequence[Revision]) -> tuple[RevisionName, ...]:
    """Return the names of all revisions, known before any of them is read."""
    from ctxview.analysis.revisions.facts import RevisionName

    labels = {each.label for each in revisions}
    found = []
    for number, each in enumerate(revisions):
        name, short = each.label, each.label
        if each.kind == REPLY and each.label == f"round {each.round} reply":
            name, short = f"the reply to round {each.round}", f"reply to {each.round}"
        elif each.label.startswith(f"round {each.round} ") and f"round {each.round}" not in labels:
            name = f"round {each.round}"
        previous = previous_revision(revisions, number)
        readable = each.kind != "unreadable"
        compacted = each.kind == COMPACTION
        is_reply = each.kind == REPLY
        found.append(
            RevisionName(each.label, name, short, each.time, is_reply, previous, readable, compacted)
        )
    return tuple(found)


def read_facts(
    source: Source, lens: Lens, progress: Progress, numbers: Iterable[int] | None = None
) -> Iterator[RevisionFacts]:
    """Yield the facts of `numbers`, or of the chosen ones, the newest first; ends early when cancelled."""
    from ctxview.analysis.revisions.facts import FactsCollector

    names = name_revisions(source.revisions)
    collector = FactsCollector(names)
    recent: dict[int, ContextState] = {}
    wanted = list(numbers if numbers is not None else reversed(choose_revisions(source)))
    for done, number in enumerate(wanted):
        if progress.cancelled:
            return
        progress.report(done, len(wanted), "revisions")
        reading = source.reading(number, lens)
        previous = names[number].previous
        if previous is not None and previous not in recent:
            recent[previous] = source.reading(previous, lens).state
        before = recent.get(previous) if previous is not None else None
        yield collector.collect(number, reading.state, reading.findings, before)
        recent[number] = reading.state
        for old in [*recent][:-MOST_RECENT]:
            del recent[old]


def read_known(source: Source, lens: Lens, progress: Progress) -> KnownRevisions:
    """Read the chosen revisions; those that are read before a cancellation are known."""
    from ctxview.analysis.revisions.facts import KnownRevisions

    facts = {each.number: each for each in read_facts(source, lens, progress)}
    return KnownRevisions(name_revisions(source.revisions), facts, len(choose_revisions(source)))


def choose_revisions(source: Source, most: int | None = None) -> list[int]:
    """Return the numbers to read: all, or of very many the last compactions and others between.

    Very many are more than `most`, by default more than the source is quick to read.
    """
    revisions, most = source.revisions, most or source.abilities.most_past
    last = len(revisions) - 1
    if most is None or last < most:
        return [*range(last + 1)]
    compacted = (number for number, each in enumerate(revisions) if each.sign is COMPACTED)
    pairs = [near for number in compacted for near in (number - 1, number) if near >= 0]
    half = most // 2
    return sorted({*pairs[-half:], *(last * step // half for step in range(half + 1))})


def _by_number(revisions: Sequence[Revision], sign: str, number: int) -> int | None:
    if sign == "-":
        return len(revisions) - number if 1 <= number <= len(revisions) else None
    if not sign:
        rounds = [place for place, each in enumerate(revisions) if each.round == number]
        if rounds:
            # A round may exist as the received context, as a reply and as a log: take the shortest name.
            return min(rounds, key=lambda place: len(revisions[place].label))
    return number - 1 if 1 <= number <= len(revisions) else None


def _by_part(labels: Sequence[str], wanted: str) -> int | None:
    """Find a revision by part of its name; a part that ends at a word boundary takes precedence."""
    parts = [label for label in labels if wanted.casefold() in label.casefold()]
    whole = [label for label in parts if re.search(rf"{re.escape(wanted)}\b", label, re.IGNORECASE)]
    for found in (whole, parts):
        if len(found) == 1:
            return labels.index(found[0])
    if parts:
        raise RevisionError(f"{wanted} is ambiguous: it could be {_listed(whole or parts)}")
    return None


def _by_time(revisions: Sequence[Revision], wanted: str) -> int | None:
    times = [(place, when) for place, each in enumerate(revisions) if (when := parse_time(each.time or ""))]
    moment = parse_time(wanted) or _clock(wanted, [when for _, when in times])
    if moment is None:
        return None
    if not times:
        raise RevisionError("the revisions have no times; name one by its number or its name")
    not_later = [place for place, when in times if _is_not_later(when, moment)]
    if not not_later:
        place = times[0][0]
        first, untimed = revisions[place], [each.label for each in revisions[:place]]
        others = f"; before it, without a time, there are {_listed(untimed)}" if untimed else ""
        earliest = "the first that has a time is" if untimed else "the first is"
        raise RevisionError(f"no revision at {wanted}: {earliest} {first.label}, {first.time}{others}")
    return not_later[-1]


def parse_time(text: str) -> datetime | None:
    """Parse a date with a time, a date (the end of that day), or Unix seconds as in sessions."""
    try:
        if _SECONDS.fullmatch(text):
            return datetime.fromtimestamp(int(text), UTC)
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if len(text) > 10 else found + timedelta(days=1, microseconds=-1)


def _clock(text: str, times: Sequence[datetime]) -> datetime | None:
    """Parse a local time of day: its last occurrence that is not after the latest revision."""
    try:
        clock = time.fromisoformat(text) if ":" in text else None
    except ValueError:
        return None
    if clock is None or not times:
        return None
    latest = times[-1].astimezone() if times[-1].tzinfo else times[-1]
    moment = datetime.combine(latest.date(), clock, clock.tzinfo or latest.tzinfo)
    return moment if _is_not_later(moment, latest) else moment - timedelta(days=1)


def _is_not_later(one: datetime, other: datetime) -> bool:
    """Compare two times; when only one has a time zone, ignore it."""
    if (one.tzinfo is None) != (other.tzinfo is None):
        one, other = one.replace(tzinfo=None), other.replace(tzinfo=None)
    return one <= other


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(labels) if len(labels) <= _FEW else f"{', '.join(labels[: _FEW - 1])} … {labels[-1]}"
