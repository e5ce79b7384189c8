"""What the pack builder checks before it takes a source of JSON lines: one bad line, and there is no pack."""

from __future__ import annotations

from ctxview.findings import Severity
from ctxview.formats.session.history import Stream
from ctxview.formats.session.names import is_name
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.records import RecordFile

TEXTS = {
    "facts": ("text", "source"),
    "decisions": ("decision", "source"),
    "refs": ("path", "kind", "summary"),
    "child_refs": ("path", "kind", "summary"),
}
"""What a record of each kind must have besides its id."""


def broken_record(kind: str, records: RecordFile) -> str | None:
    """The first line of a derived file that is no record of its kind; None when all are."""
    for record in records.records:
        if record.problem is not None:
            return f"line {record.line} is broken"
        if not is_name(record.text("id") or ""):
            return f"line {record.line} has no proper id"
        missing = next((name for name in TEXTS[kind] if not record.text(name)), None)
        if missing is not None:
            return f"line {record.line} has no {missing}"
    return None


def broken_message(messages: Stream, profile: Profile) -> str | None:
    """The first message that the stream's own check refuses; None when it takes all of them."""
    from ctxview.formats.session.rules.lines import broken_line, message_shape, provider_native_key

    for number, line in enumerate(messages.scan(), 1):
        for check in (broken_line, message_shape, provider_native_key):
            for hit in check(line, profile):
                if hit.severity in (None, Severity.ERROR):
                    return f"line {number} is no valid message"
    return None
