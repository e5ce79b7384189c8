"""When something was, as a session tells it: Unix seconds, or a date as text. Anything else is no time."""

from __future__ import annotations

from datetime import UTC, datetime

from ctxview.state import JsonValue

_MILLISECONDS = 100_000_000_000
"""A number from here on counts these: as seconds it would be thousands of years away."""


def instant(value: JsonValue) -> datetime | None:
    """The moment a number, a text of digits or an ISO date names; None when there is no such moment."""
    if isinstance(value, str):
        text = value.strip()
        if not text.isascii() or not text.isdigit():
            return _of_text(text)
        value = int(text) if len(text) <= 15 else None
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS else value, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def iso(value: JsonValue) -> str | None:
    """The same as revisions and events carry it."""
    moment = instant(value)
    if moment is None:
        return None
    spec = "milliseconds" if moment.microsecond else "seconds"
    return moment.isoformat(timespec=spec).replace("+00:00", "Z")


def _of_text(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if len(text) > 10 else None
    except ValueError:
        return None
