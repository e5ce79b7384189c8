"""The rules of the memory format, one module a subject, and the functions that run them."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.core.findings import Finding, group_rules, run
from ctxview.formats.memory.model import Call, ContextSnapshot, Entry, TraceSession
from ctxview.formats.memory.profile import Profile
from ctxview.formats.memory.survey import MemoryHistory, MemorySurvey


def check_together(survey: MemorySurvey, profile: Profile) -> Iterator[Finding]:
    """Check a bundle, except its single entries."""
    for snapshot in survey.bundle.snapshots:
        yield from check_snapshot(snapshot, profile)
    for history in survey.histories.values():
        yield from check_history(history, profile)
    yield from run(BUNDLE_RULES, survey.bundle, profile)
    stored = {text for entry in survey.bundle.entries for text in (entry.raw, entry.summary)}
    kept = {snapshot.text for snapshot in survey.bundle.snapshots}
    for session in survey.bundle.sessions:
        yield from check_session(session, profile)
        yield from check_arguments(session, profile, stored, kept)


def check_entry(entry: Entry, profile: Profile) -> Iterator[Finding]:
    yield from run(ENTRY_RULES, entry, profile)


def check_snapshot(snapshot: ContextSnapshot, profile: Profile) -> Iterator[Finding]:
    if not snapshot.is_placeholder:
        yield from run(SNAPSHOT_RULES, snapshot, profile)


def check_history(history: MemoryHistory, profile: Profile) -> Iterator[Finding]:
    yield from run(HISTORY_RULES, history, profile)


def check_session(session: TraceSession, profile: Profile) -> Iterator[Finding]:
    """Check the calls of one session."""
    yield from run(SESSION_RULES, session, profile)


def check_arguments(
    session: TraceSession, profile: Profile, stored: set[str | None], kept: set[str]
) -> Iterator[Finding]:
    """Check the texts of calls in the trace, unless the same text is checked where it is stored."""
    for call in session.calls:
        if call.tool == "add_entry" and call.stored_text not in stored:
            if call.stored_text is not None and call.text("summary") is not None:
                yield from check_entry(_entry_of(call), profile)
        elif call.tool == "put_context" and (text := call.text("content")) is not None and text not in kept:
            snapshot = ContextSnapshot(
                id=None, memory=call.memory, text=text, time=call.time, place=call.place, member="content"
            )
            yield from check_snapshot(snapshot, profile)


def _entry_of(call: Call) -> Entry:
    tags = call.arguments.get("tags")
    return Entry(
        id=None,
        memory=call.memory,
        raw=call.text("raw_entry"),
        summary=call.text("summary"),
        time=call.time,
        place=call.place,
        tags=tags if isinstance(tags, dict) else None,
        partial=call.partial,
    )


ENTRY_RULES, SNAPSHOT_RULES, HISTORY_RULES, BUNDLE_RULES, SESSION_RULES = group_rules(
    __name__,
    "entry profile",
    "snapshot profile",
    "history profile",
    "bundle profile",
    "session profile",
)
