"""Dates and times of RFC 3339: parse one, sort by it, and say what is wrong with a text."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime

_FORM = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?P<separator>[Tt ])"
    r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?P<fraction>\.\d+)?"
    r"(?P<zone>[Zz]|(?P<sign>[+-])(?P<zone_hour>\d\d):(?P<zone_minute>\d\d))",
    re.ASCII,
)
_LEAP = 60
_DAY = 24 * 60
_LIMITS = {
    "month": (1, 12),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, _LEAP),
    "zone_hour": (0, 23),
    "zone_minute": (0, 59),
}


def parse_time(text: str | None) -> datetime | None:
    """The time in UTC, or None when the text is not a time."""
    found = _FORM.fullmatch(text) if text is not None else None
    if found is None or text is None:
        return None
    # A leap second compares as the second before it; digits below microseconds are cut.
    second = "59" if found["second"] == str(_LEAP) else found["second"]
    zone = "+00:00" if found["zone"] in "Zz" else found["zone"]
    fraction = found["fraction"][:7].ljust(7, "0") if found["fraction"] else ""
    try:
        return datetime.fromisoformat(f"{text[:10]}T{text[11:17]}{second}{fraction}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def time_sort_key(text: str | None) -> tuple[bool, str]:
    """A key that sorts texts by time and puts those without a valid time last."""
    found = parse_time(text)
    return (found is None, found.isoformat(timespec="microseconds") if found is not None else "")


def time_problem(text: str) -> str | None:
    """What is wrong with a date and time, or None when it is valid."""
    found = _FORM.fullmatch(text)
    if found is None or found["separator"] == " ":
        return "it does not have the form 2026-05-11T09:00:00Z or 2026-05-11T09:00:00+02:00"
    parts = {name: int(found[name] or 0) for name in ("year", "day", *_LIMITS)}
    for name, (least, most) in _LIMITS.items():
        if not least <= parts[name] <= most:
            return f"the {name.replace('_', ' ')} is {parts[name]:02}"
    # The calendar module has no year 0, which is a leap year like the year 400.
    days = monthrange(parts["year"] or 400, parts["month"])[1]
    if not 1 <= parts["day"] <= days:
        return f"that month has no day {parts['day']}"
    if parts["second"] == _LEAP and not _may_leap(parts, days, found["sign"]):
        return "a second 60 is valid only at 23:59 UTC on the last day of a month"
    return None


def _may_leap(parts: dict[str, int], days: int, sign: str | None) -> bool:
    """Whether this is the last second of a month in UTC, where leap seconds are."""
    offset = parts["zone_hour"] * 60 + parts["zone_minute"]
    minutes = parts["hour"] * 60 + parts["minute"] + (offset if sign == "-" else -offset)
    day = parts["day"] + minutes // _DAY
    return minutes % _DAY == _DAY - 1 and day in (0, days)
