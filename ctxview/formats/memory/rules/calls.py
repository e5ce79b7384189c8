"""The rules about single calls of a traced session (MTR008 to 015)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import orjson

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import counted, did_you_mean, excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.memory.model import Call, TraceMessage, TraceSession
from ctxview.formats.memory.profile import Profile
from ctxview.formats.memory.rules.sessions import reply_of
from ctxview.formats.memory.trace import END
from ctxview.formats.memory.words import content_words

MOST_RETRIES: Final = 3
SAME_QUERY: Final = 0.7
_ARGUMENTS: Final = {
    "create_memory": ("title", "memory_type", "description"),
    "create_vault": ("title", "description"),
    "create_memory_in_vault": ("title", "memory_type", "description"),
    "get_memory": ("memory_id",),
    "add_entry": ("memory_id", "raw_entry", "summary", "tags", "conversation_time"),
    "list_entries": ("memory_id", "limit", "before", "after"),
    "get_entry": ("memory_id", "entry_id"),
    "get_context": ("memory_id",),
    "put_context": ("memory_id", "content"),
    "await_consistency": ("memory_id",),
    "search_memories": ("memory_id", "query", "top_k", "top_ke", "top_kc", "include_raw_entries"),
    "get_default_prompts": ("memory_type",),
    "get_user": (),
    "list_vaults": (),
    "list_memories": (),
}


@rule("MTR008", name="entry-arguments", severity=Severity.ERROR)
def entry_arguments(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """add_entry lacks the raw text or the summary; under v2, a message is stored never or twice.

    ## Why
    An entry without its summary cannot be found. The later rules (v2) want every message exactly once;
    the source document (v1) lets the agent decide what to store.
    ## Bad
    add_entry {"raw_entry": "The launch moved"}
    ## Good
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."}
    ## Fix
    Send both texts with each call.
    ## Source
    Source document, tools. Later rules: every message is stored once.
    """
    stored: Counter[str] = Counter()
    for call in session.calls:
        if call.tool != "add_entry" or call.partial:
            continue
        missing = [name for name in ("raw_entry", "summary") if not (call.text(name) or "").strip()]
        if missing:
            yield Hit(call.place.origin(), f"add_entry without {' and '.join(missing)}")
        elif not call.failed:
            stored[(call.text("raw_entry") or "").strip()] += 1
    said = [item for item in session.items if isinstance(item, TraceMessage) and not END.search(item.text)]
    if not profile.every_message or not said or any(call.partial for call in session.calls):
        return
    for message in said:
        times = stored[message.text.strip()]
        wanted = sum(each.text.strip() == message.text.strip() for each in said)
        if times != wanted:
            how = "was not stored" if not times else f"was stored {times} times"
            text = f"a message of the {message.role} {how}: {quoted(message.text)} (profile {profile.name})"
            yield Hit(message.place.origin(), text)


@rule("MTR009", name="unknown-tool", severity=Severity.WARNING, effect=Effect.IGNORED)
def unknown_tool(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """A call names a tool that the profile does not have, or an argument that the tool does not take.

    ## Why
    The call fails, or the argument is dropped without a word. The two profiles have different tools: v1
    the nine of the source document, v2 thirteen.
    ## Bad
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch.", "role": "user"}
    ## Good
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."}
    ## Fix
    Use the names of the tool list exactly.
    ## Source
    Source document, tools. Service: its tool list.
    """
    tools = profile.words.tools
    for call in session.calls:
        if call.tool not in tools:
            hint = did_you_mean(call.tool, tools)
            message = f"there is no tool {excerpt(call.tool)}{hint} (profile {profile.name})"
            yield Hit(call.place.origin(), message)
        elif not call.partial:
            unknown = [name for name in call.arguments if name not in (*_ARGUMENTS[call.tool], "vault_id")]
            if unknown:
                yield Hit(call.place.origin(), f"{call.tool} does not take {listed(unknown)}")


@rule("MTR010", name="paging", severity=Severity.WARNING)
def paging(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """list_entries has both cursors, or pages forward with next_after, which repeats entries.

    ## Why
    Both cursors are an error or one of them is ignored. Some services compute next_after from the oldest
    entry of the page, so that the next page repeats it.
    ## Bad
    list_entries {"limit": 10, "before": "2026-05-11T09:00:00Z", "after": "2026-05-10T09:00:00Z"}
    ## Good
    list_entries {"limit": 10, "before": "2026-05-11T09:00:00Z"}
    ## Fix
    Page with before, from the newest entries to older ones.
    ## Source
    Service: cursors of list_entries.
    """
    cursors: set[str] = set()
    for call in session.calls:
        if call.tool != "list_entries":
            continue
        after = call.text("after")
        if after and call.text("before"):
            yield Hit(call.place.origin("after"), "before and after are given together")
        elif after is not None and after in cursors:
            yield Hit(call.place.origin("after"), "pages forward with next_after, which repeats entries")
        reply = reply_of(call)
        oldest = reply.get("next_before") if reply.get("next_before") == reply.get("next_after") else None
        if isinstance(oldest, str):
            cursors.add(oldest)


@rule("MTR011", name="failed-call", severity=Severity.WARNING)
def failed_call(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """A failed call was not tried again, or was tried too often in the same way.

    ## Why
    A failed add_entry that is not repeated is a lost message. The same call with the same arguments fails
    again.
    ## Bad
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."} ! the disk is full
    ## Good
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."} ! the disk is full
    add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."} -> stored
    ## Fix
    Correct the arguments, or try again at most three times.
    ## Source
    Prompt for entries: retries.
    """
    calls = session.calls
    failures: dict[bytes, list[Call]] = {}
    for number, call in enumerate(calls):
        if not call.failed:
            continue
        if not any(later.tool == call.tool for later in calls[number + 1 :]):
            yield Hit(
                call.place.origin(),
                f"{call.tool} failed and was not tried again: {quoted(call.result or '')}",
            )
        key = orjson.dumps([call.tool, dict(call.arguments)], option=orjson.OPT_SORT_KEYS)
        failures.setdefault(key, []).append(call)
    for same in failures.values():
        if len(same) > MOST_RETRIES + 1:
            yield Hit(
                same[-1].place.origin(), f"{same[0].tool} failed {len(same)} times with the same arguments"
            )


@rule("MTR012", name="search-use", severity=Severity.WARNING)
def search_use(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """A search breaks the limits of the profile v2: once a turn, few results, short and new queries.

    ## Why
    Every search spends tokens on results. A second one for the same words finds the same.
    ## Bad
    profile: v2
    search_memories {"query": "launch date", "top_k": 50}
    ## Good
    profile: v2
    search_memories {"query": "launch date", "top_k": 5}
    ## Fix
    Search once for a user message, with at most eight words and top_k 5.
    ## Source
    Later rules: search_memories.
    """
    limits = profile.search
    if limits.per_turn is None:
        return
    turn, in_turn, speaker = 0, 0, "user"
    queries: list[tuple[int, set[str]]] = []
    for item in session.items:
        if isinstance(item, TraceMessage):
            speaker = item.role
            if item.role == "user":
                turn, in_turn = turn + 1, 0
            continue
        if item.tool != "search_memories":
            continue
        in_turn += 1
        query, top = item.text("query") or "", item.arguments.get("top_k")
        words = content_words(query)
        problems = []
        if in_turn > limits.per_turn:
            problems.append(f"is search {in_turn} of one turn")
        if speaker == "assistant":
            problems.append("follows an answer instead of a question")
        if limits.top_k is not None and isinstance(top, int) and top != limits.top_k:
            problems.append(f"has top_k {top} instead of {limits.top_k}")
        if limits.query_words is not None and len(query.split()) > limits.query_words:
            problems.append(f"has {len(query.split())} words; {limits.query_words} are enough")
        if limits.repeat_turns is not None and any(
            turn - when <= limits.repeat_turns
            and words
            and len(words & known) / len(words | known) >= SAME_QUERY
            for when, known in queries
        ):
            problems.append("repeats a search of the last turns")
        queries.append((turn, words))
        for problem in problems:
            yield Hit(item.place.origin(), f"the search {quoted(query)} {problem} (profile {profile.name})")


@rule("MTR013", name="context-read-again", severity=Severity.WARNING)
def context_read_again(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """get_context is called more than once in a session. Only the profile v2 checks this.

    ## Why
    The agent has the context already; reading it again costs its tokens again. A read directly after
    put_context verifies the write and is allowed.
    ## Bad
    profile: v2
    get_context -> Sam leads the launch
    list_entries {"limit": 10}
    get_context -> Sam leads the launch
    ## Good
    profile: v2
    get_context -> Sam leads the launch
    put_context {"content": "The launch moved"}
    get_context -> The launch moved
    ## Fix
    Keep the context that the first call returned.
    ## Source
    Later rules: get_context is restricted.
    """
    if not profile.one_read:
        return
    seen, previous = False, None
    for call in session.calls:
        if call.tool == "get_context" and seen and previous != "put_context":
            yield Hit(call.place.origin(), f"the context was read before (profile {profile.name})")
        seen = seen or call.tool == "get_context"
        previous = call.tool


@rule("MTR014", name="trace-order", severity=Severity.WARNING)
def trace_order(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """The times of a trace run backwards.

    ## Why
    The order of calls decides which raw entries a context may use. The texts of the calls themselves are
    checked by the MCX and MEN rules at their place in the trace.
    ## Bad
    get_context @2026-05-11T09:00:05Z -> Sam leads the launch
    list_entries @2026-05-11T09:00:01Z {"limit": 10}
    ## Good
    get_context @2026-05-11T09:00:01Z -> Sam leads the launch
    list_entries @2026-05-11T09:00:05Z {"limit": 10}
    ## Fix
    Write the trace in the order of the calls.
    ## Source
    Source document, rule 1: the context grows from new raw entries.
    """
    latest = None
    for item in session.items:
        when = parse_time(item.time)
        if when is None:
            continue
        if latest is not None and when < latest:
            yield Hit(item.place.origin(), f"{excerpt(item.time or '')} is before the line above")
        latest = max(latest, when) if latest is not None else when


@rule("MTR015", name="unconfirmed-context", severity=Severity.INFO)
def unconfirmed_context(session: TraceSession, profile: Profile) -> Iterator[Hit]:
    """The last put_context was only queued, and no read confirmed it.

    ## Why
    Such a service answers before it stores, and its await_consistency proves only that the queue ran. A
    write that failed is not reported.
    ## Bad
    put_context {"content": "The launch moved"} -> enqueued
    ## Good
    put_context {"content": "The launch moved"} -> enqueued
    get_context -> The launch moved
    ## Fix
    Read the context once after the last write.
    ## Source
    Service: writes are asynchronous.
    """
    calls = session.calls
    last = max((number for number, call in enumerate(calls) if call.tool == "put_context"), default=None)
    if last is None or calls[last].failed or (calls[last].result or "") != "enqueued":
        return
    if not any(call.tool in ("get_context", "search_memories") for call in calls[last + 1 :]):
        later = counted(len(calls) - 1 - last, "call")
        yield Hit(
            calls[last].place.origin(), f"the write was queued and not confirmed by a read ({later} followed)"
        )
