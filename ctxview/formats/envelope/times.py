"""Moments as the draft writes them (RFC 3339), so that they can be compared; it judges none."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:(?P<second>\d\d)(?P<fraction>\.\d+)?(?P<zone>[Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)


def instant(text: str | None) -> datetime | None:
    """The moment a text names; None when it is no RFC 3339 date and time."""
    found = _RFC3339.fullmatch(text) if text is not None else None
    if found is None or text is None:
        return None
    # A leap second is the next one to everything that compares; fractions beyond microseconds are cut.
    second = min(int(found["second"]), 59) if found["second"] == "60" else int(found["second"])
    zone = "+00:00" if found["zone"] in "Zz" else found["zone"]
    fraction = (found["fraction"] or "")[:7].ljust(7, "0") if found["fraction"] else ""
    try:
        return datetime.fromisoformat(f"{text[:10]}T{text[11:17]}{second:02}{fraction}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def in_time(text: str | None) -> tuple[bool, str]:
    """Sorts known moments by time and puts the others behind them."""
    found = instant(text)
    return (found is None, found.isoformat(timespec="microseconds") if found is not None else "")
