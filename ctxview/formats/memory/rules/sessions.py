"""The rules about the course of one traced session: bootstrap, flushes and exit (MTR001 to 007)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import orjson

from ctxview.analysis.wording import counted, json_excerpt
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.formats.memory.model import Call, TraceMessage, TraceSession
from ctxview.formats.memory.profile import Profile
from ctxview.formats.memory.records import PLACEHOLDER, unwrapped

WORKING: Final = (
    "add_entry",
    "list_entries",
    "get_context",
    "put_context",
    "await_consistency",
    "search_memories",
)
"""The tools that use a memory; the others set it up."""
WRITES: Final = ("add_entry", "put_context")


@rule("MTR001", name="first-call", severity=Severity.ERROR)
def first_call(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """A session does not begin with get_context (v1), or begins with it without resuming (v2).

    ## Why
    Without the context the agent answers as if it had never met the user. The later rules (v2) hand the
    context over themselves, so that reading it first is needless unless a session is resumed.
    ## Bad
    list_entries {"limit": 10}
    ## Good
    get_context -> Sam leads the launch
    list_entries {"limit": 10}
    ## Fix
    Call get_context before any other memory tool.
    ## Source
    Source document, rule 7.1. Later rules: get_context is restricted.
    """
    calls = _working(session)
    if not calls:
        return
    first = calls[0]
    if profile.bootstrap.required and first.tool != "get_context":
        message = f"the session begins with {first.tool} instead of get_context (profile {profile.name})"
        yield Hit(first.place.origin(), message)
    elif not profile.bootstrap.required and first.tool == "get_context" and not _resumes(first):
        message = (
            f"the session begins with get_context and there is nothing to resume (profile {profile.name})"
        )
        yield Hit(first.place.origin(), message, Severity.WARNING)


@rule("MTR002", name="placeholder-not-replaced", severity=Severity.WARNING)
def placeholder_not_replaced(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """The first context was the placeholder, and no put_context followed at once.

    ## Why
    The placeholder means that the memory is new. Until a context is written, each session starts empty.
    ## Bad
    get_context -> PLACEHOLDER
    list_entries {"limit": 10}
    add_entry {"raw_entry": "Hello there", "summary": "The user said hello."}
    ## Good
    get_context -> PLACEHOLDER
    put_context {"content": "A new conversation"}
    list_entries {"limit": 10}
    ## Fix
    Call put_context before or directly after list_entries.
    ## Source
    Source document, rule 7.1.
    """
    calls = _working(session)
    if not profile.bootstrap.required or not calls or calls[0].tool != "get_context":
        return
    first, following = calls[0], [call.tool for call in calls[1:3]]
    new = unwrapped(first.result or "").strip() == PLACEHOLDER
    if new and following[:1] != ["put_context"] and following != ["list_entries", "put_context"]:
        yield Hit(first.place.origin(), f"the placeholder was not replaced at once (profile {profile.name})")


@rule("MTR003", name="bootstrap-entries", severity=Severity.ERROR)
def bootstrap_entries(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """A session does not list the last ten entries before it answers.

    ## Why
    Entries that were stored after the last put_context are not in the context. The agent would not know them.
    ## Bad
    get_context -> Sam leads the launch
    user: When is the launch?
    assistant: I do not know.
    add_entry {"raw_entry": "When is the launch?", "summary": "The user asked for the launch date."}
    ## Good
    get_context -> Sam leads the launch
    list_entries {"limit": 10}
    user: When is the launch?
    assistant: In May.
    ## Fix
    Call list_entries with limit 10 directly after get_context.
    ## Source
    Source document, rule 7.2.
    """
    if not profile.bootstrap.required or not _working(session):
        return
    wanted = profile.bootstrap.entries
    for item in session.items:
        if isinstance(item, TraceMessage) and item.role == "assistant":
            break
        if isinstance(item, Call) and item.tool == "list_entries":
            limit = item.arguments.get("limit")
            if not item.partial and limit != wanted:
                shown = json_excerpt(limit)
                message = f"list_entries has the limit {shown} instead of {wanted} (profile {profile.name})"
                yield Hit(item.place.origin(), message, Severity.WARNING)
            return
    first = _working(session)[0]
    message = f"the session never lists the last {wanted} entries before it answers (profile {profile.name})"
    yield Hit(first.place.origin(), message)


@rule("MTR004", name="limit-ignored", severity=Severity.WARNING, effect=Effect.IGNORED)
def limit_ignored(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """The service applied another limit than the call asked for.

    ## Why
    Some services read the limit only as a number: the text "10" gives the default of 25, and more tokens.
    ## Bad
    list_entries {"limit": "10"} -> {"applied_limit": 25}
    ## Good
    list_entries {"limit": 10} -> {"applied_limit": 10}
    ## Fix
    Send the limit as a number.
    ## Source
    Service: reply field applied_limit.
    """
    for call in session.calls:
        asked = call.arguments.get("limit")
        if call.tool != "list_entries" or asked is None:
            continue
        applied = reply_of(call).get("applied_limit")
        if applied is not None and str(applied) != str(asked):
            message = f"asked for {json_excerpt(asked)} entries, applied {json_excerpt(applied)}"
            yield Hit(call.place.origin("limit"), message)


@rule("MTR005", name="flush-cadence", severity=Severity.WARNING)
def flush_cadence(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """The context is written after too few or too many stored messages.

    ## Why
    put_context is expensive, so it waits for about six messages. Waiting longer risks that a crash loses
    them.
    ## Bad
    get_context -> Sam leads the launch
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."} x10
    await_consistency
    put_context {"content": "The launch moved"}
    ## Good
    get_context -> Sam leads the launch
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."} x6
    await_consistency
    put_context {"content": "The launch moved"}
    ## Fix
    Call await_consistency and put_context after about six calls of add_entry.
    ## Source
    Source document, rule 5.4.
    """
    cadence, added = profile.cadence, 0
    puts = [call for call in session.calls if call.tool == "put_context"]
    for call in session.calls:
        if call.tool == "add_entry" and not call.failed:
            added += 1
        elif call.tool == "put_context" and not call.failed:
            entries = counted(added, "entry", "entries")
            if added > cadence.most:
                severity = Severity.ERROR if added > cadence.latest else None
                yield Hit(
                    call.place.origin(), f"written after {entries}; about {cadence.usual} are usual", severity
                )
            elif 0 < added < cadence.least and call is not puts[-1]:
                yield Hit(
                    call.place.origin(), f"written after only {entries}; about {cadence.usual} are usual"
                )
            added = 0


@rule("MTR006", name="missing-barrier", severity=Severity.ERROR)
def missing_barrier(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """The context is written while entries may not be stored yet.

    ## Why
    await_consistency waits until the entries are durable. Without it, a crash leaves a context that knows
    messages which do not exist.
    ## Bad
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."}
    put_context {"content": "The launch moved"}
    ## Good
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."}
    await_consistency
    put_context {"content": "The launch moved"}
    ## Fix
    Call await_consistency between the last add_entry and put_context.
    ## Source
    Source document, rule 5.4. No barrier is needed before the session stored anything.
    """
    pending = 0
    for call in session.calls:
        if call.failed:
            continue
        if call.tool == "add_entry":
            pending += 1
        elif call.tool == "await_consistency":
            pending = 0
        elif call.tool == "put_context" and pending:
            entries = counted(pending, "entry", "entries")
            yield Hit(
                call.place.origin(), f"no await_consistency after {entries} and before this put_context"
            )
            pending = 0


@rule("MTR007", name="exit-sequence", severity=Severity.ERROR)
def exit_sequence(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """A session does not end with await_consistency and put_context after its last entry.

    ## Why
    What was stored after the last put_context is missing from the context of the next session.
    ## Bad
    get_context -> Sam leads the launch
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."}
    user: <END_SESSION>
    ## Good
    get_context -> Sam leads the launch
    user: <END_SESSION>
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."}
    await_consistency
    put_context {"content": "The launch moved"}
    ## Fix
    Finish with add_entry for what is left, await_consistency, put_context, and write nothing after it.
    ## Source
    Source document, rule 5.4 and the session lifecycle. Where only the file ends, the session may still be
    running, and this is a warning.
    """
    written = [call for call in session.calls if call.tool in WRITES and not call.failed]
    if not written or written[-1].tool == "put_context":
        return
    last = max((number for number, call in enumerate(written) if call.tool == "put_context"), default=-1)
    entries = counted(len(written) - 1 - last, "entry", "entries")
    severity = Severity.WARNING if session.ended == "end of file" else None
    message = f"the session ended ({session.ended}) with {entries} after the last put_context"
    yield Hit(written[-1].place.origin(), message, severity)


def reply_of(call: Call) -> dict[str, JsonValue]:
    """Return the result of a call as an object; empty when it is none."""
    try:
        value = orjson.loads(call.result or "")
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _working(session: TraceSession) -> list[Call]:
    return [call for call in session.calls if call.tool in WORKING]


def _resumes(call: Call) -> bool:
    """Whether the call returned a context; a debug line does not say what, so it may have."""
    context = unwrapped(call.result or "").strip()
    return call.partial or (bool(context) and context != PLACEHOLDER)
