"""Which revision a person means, and which one another goes on from. Reads nothing but the list of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta

from ctxview.analysis.wording import did_you_mean
from ctxview.formats.interface import Revision

HOW = "a round or number from 1, -1 for the latest, #3 for the third, a name or part of one, or a time"
"""How a revision can be named, for help texts."""

_NUMBER = re.compile(r"(#|-)?(\d{1,9})")
_SECONDS = re.compile(r"\d{10,11}")
_FEW = 8


class NoSuchRevision(LookupError):
    """No revision, or more than one, is meant; the message says which there are."""


def find(revisions: Sequence[Revision], wanted: str) -> int:
    """The revision a person means, in this order: its whole name, a number, part of its name, a time.

    A bare number is a round where there is one of that number, else a place from 1; with `#` always a place.
    A time means what was current then: the last revision that is not later.
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
        raise NoSuchRevision(f"no revision is called {wanted}{near}; there are {_listed(labels)}")
    return found


def before(revisions: Sequence[Revision], number: int) -> int | None:
    """What a revision is best compared with: the one it goes on from, else the one before it, if any."""
    looked_at = revisions[number]
    # Of a recording there may be very many: they are only gone through where a name is looked for.
    places = reversed(range(number)) if looked_at.follows is not None else ()
    earlier = (place for place in places if revisions[place].label == looked_at.follows)
    return next(earlier, number - 1 if number and not looked_at.apart else None)


def is_over(revisions: Sequence[Revision], number: int, last: int | None = None) -> bool:
    """Whether something later has taken the place of a revision; `last` when not all of them count yet."""
    looked_at = revisions[number]
    if looked_at.apart:
        return any(each.follows == looked_at.label for each in revisions)
    return number < (len(revisions) - 1 if last is None else last)


def _by_number(revisions: Sequence[Revision], sign: str, number: int) -> int | None:
    if sign == "-":
        return len(revisions) - number if 1 <= number <= len(revisions) else None
    if not sign:
        rounds = [place for place, each in enumerate(revisions) if each.round == number]
        if rounds:
            # A round may be there as what was received, as a reply and as a log: the plainest name is meant.
            return min(rounds, key=lambda place: len(revisions[place].label))
    return number - 1 if 1 <= number <= len(revisions) else None


def _by_part(labels: Sequence[str], wanted: str) -> int | None:
    """By part of a name; a part that ends where a word ends says more than one that does not."""
    parts = [label for label in labels if wanted.casefold() in label.casefold()]
    whole = [label for label in parts if re.search(rf"{re.escape(wanted)}\b", label, re.IGNORECASE)]
    for found in (whole, parts):
        if len(found) == 1:
            return labels.index(found[0])
    if parts:
        raise NoSuchRevision(f"{wanted} could be {_listed(whole or parts)}")
    return None


def _by_time(revisions: Sequence[Revision], wanted: str) -> int | None:
    times = [(place, when) for place, each in enumerate(revisions) if (when := _moment(each.time or ""))]
    moment = _moment(wanted) or _clock(wanted, [when for _, when in times])
    if moment is None:
        return None
    if not times:
        raise NoSuchRevision("the revisions have no times; name one by its number or its name")
    not_later = [place for place, when in times if _is_not_later(when, moment)]
    if not not_later:
        place = times[0][0]
        first, untimed = revisions[place], [each.label for each in revisions[:place]]
        others = f"; before it, without a time, there are {_listed(untimed)}" if untimed else ""
        told = "the first that has a time is" if untimed else "the first is"
        raise NoSuchRevision(f"nothing is known of {wanted}: {told} {first.label}, {first.time}{others}")
    return not_later[-1]


def _moment(text: str) -> datetime | None:
    """A date, with a time or without: then the end of that day; or Unix seconds, as sessions keep them."""
    try:
        if _SECONDS.fullmatch(text):
            return datetime.fromtimestamp(int(text), UTC)
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if len(text) > 10 else found + timedelta(days=1, microseconds=-1)


def _clock(text: str, times: Sequence[datetime]) -> datetime | None:
    """A time of day, where the person is: when it last was so before the latest revision."""
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
    """Where only one of them knows its time zone, both are taken as what the clock on the wall said."""
    if (one.tzinfo is None) != (other.tzinfo is None):
        one, other = one.replace(tzinfo=None), other.replace(tzinfo=None)
    return one <= other


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(labels) if len(labels) <= _FEW else f"{', '.join(labels[: _FEW - 1])} … {labels[-1]}"
