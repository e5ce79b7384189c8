"""The rules about the entries of a bundle together: repeated and lost writes (MEN011, 013)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ctxview.analysis.wording import excerpt, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.memory.model import Call, Entry, MemoryBundle
from ctxview.formats.memory.profile import Profile
from ctxview.formats.memory.records import ENTRIES
from ctxview.formats.memory.survey import MemoryHistory
from ctxview.formats.memory.words import content_words

MOST_ATTEMPTS: Final = 3


@rule("MEN011", name="duplicate-entry", severity=Severity.WARNING)
def duplicate_entry(history: MemoryHistory, profile: Profile) -> Iterator[Hit]:
    """The same message was stored again within a minute.

    ## Why
    The agent probably retried a call that had succeeded. Each copy appears in every search.
    ## Bad
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch to May."}
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch to May."}
    ## Good
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch to May."}
    entry: {"rawEntry": "The launch moved to June", "summary": "The user moved the launch to June."}
    ## Fix
    Do not retry a call whose answer says that it was stored.
    ## Source
    Prompt for entries: exactly once. The service has no idempotency keys.
    """
    last: dict[str, Entry] = {}
    for entry in history.entries:
        if not entry.raw:
            continue
        before = last.get(entry.raw)
        if before is not None and before.when is not None and entry.when is not None:
            seconds = (entry.when - before.when).total_seconds()
            if 0 <= seconds <= profile.duplicate_seconds:
                message = f"{entry.shown} repeats {before.shown} after {seconds:.0f} s: {quoted(entry.raw)}"
                yield Hit(entry.place.origin("rawEntry"), message)
        last[entry.raw] = entry


@rule("MEN013", name="lost-write", severity=Severity.ERROR, effect=Effect.DROPPED)
def lost_write(bundle: MemoryBundle, profile: Profile) -> Iterator[Hit]:
    """A message that the trace stored is not among the entries, or cannot be found by a search.

    ## Why
    `add_entry` only queues the write in some services, and a write that fails later is lost without an error.
    ## Bad
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."} -> enqueued
    entry: {"rawEntry": "Something else", "summary": "The user said something else."}
    ## Good
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."} -> enqueued
    entry: {"rawEntry": "The launch moved", "summary": "The user moved the launch."}
    ## Fix
    Store the message again, and call await_consistency before relying on it.
    ## Source
    Service: the outbox and its retries.
    """
    for row in bundle.outbox:
        if row.attempts > MOST_ATTEMPTS and row.status != "done":
            status = excerpt(row.status or "not done")
            message = f"the outbox row {excerpt(row.id)} was tried {row.attempts} times and is {status}"
            yield Hit(row.place.origin(), message, Severity.WARNING)
    for call in lost_calls(bundle):
        message = f"this add_entry has no entry: {quoted(call.stored_text or '')}"
        yield Hit(call.place.origin("summary" if call.partial else "raw_entry"), message)
    for entry in bundle.entries:
        if entry.summary and not content_words(entry.summary):
            message = f"{entry.shown} cannot be found by its own summary {quoted(entry.summary)}"
            yield Hit(entry.place.origin("summary"), message, Severity.WARNING, Effect.NONE)


def lost_calls(bundle: MemoryBundle) -> Iterator[Call]:
    """Yield the calls that stored a message which is not among the entries; none when these are unknown."""
    if ENTRIES not in bundle.files or not bundle.complete or ENTRIES in bundle.left_out:
        return
    raw = Counter((entry.memory, entry.raw) for entry in bundle.entries)
    summaries = Counter((entry.memory, entry.summary) for entry in bundle.entries)
    known = {entry.memory for entry in bundle.entries}
    for call in bundle.calls:
        if call.tool != "add_entry" or call.failed or call.stored_text is None:
            continue
        stored = summaries if call.partial else raw
        key = call.memory if call.memory in known or None not in known else None, call.stored_text
        if stored[key] > 0:
            stored[key] -= 1
        else:
            yield call
