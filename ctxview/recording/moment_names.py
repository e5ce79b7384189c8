"""When moments were, in words. Times come from files and may be anything."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)


def when(time: int) -> str | None:
    """Nanoseconds since 1970 as ISO 8601 in UTC, to the millisecond; None for a time no calendar has."""
    try:
        moment = _FIRST + timedelta(microseconds=time // 1000)
    except OverflowError:
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def clock(time: int) -> str:
    """The time of day where the person is, to the second."""
    try:
        return (_FIRST + timedelta(microseconds=time // 1000)).astimezone().strftime("%H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return "--:--:--"
