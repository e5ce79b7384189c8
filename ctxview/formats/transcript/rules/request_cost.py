"""Rules about what a request costs: cache breakpoints, tool schemas, texts that stand twice (REQ)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from ctxview.analysis.wording import counted, excerpt
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.transcript.model import LogPart, PartKind
from ctxview.formats.transcript.requests.facts import RequestFacts
from ctxview.formats.transcript.values import LONG

_CLOCK = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\b\d{1,2}:\d\d:\d\d\b"
_UUID = r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
_CHANGING = re.compile(f"{_CLOCK}|{_UUID}|\\b1[6-9]\\d{{8}}(?:\\d{{3}})?\\b", re.IGNORECASE)
_NOW = re.compile(
    rf"(?:now|current (?:date|time)|time is|today|timestamp)\W{{0,12}}(?:{_CLOCK})", re.IGNORECASE
)
_LINE_NUMBER = re.compile(r"^\s*\d+\s*[→|:\t]\s?")
_SHORT_LINE = 12


@rule("REQ005", name="cache-breakpoints", severity=Severity.ERROR, effect=Effect.REJECTED)
def cache_breakpoints(request: RequestFacts) -> Iterator[Hit]:
    """There are more than four cache breakpoints, or one for an hour stands behind one for five minutes.

    ## Why
    The provider refuses the request.
    ## Bad
    tool a: one | cached
    tool b: two | cached
    system: three | cached
    user: four | cached
    user: five | cached
    ## Good
    tool b: two | cached
    system: three | cached
    user: four | cached
    user: five | cached
    ## Fix
    Keep the last one of the tools, the system prompt and two in the messages.
    ## Source
    The Messages API: prompt caching.
    """
    most = request.facts.profile.limits.cache_marks
    if len(request.marks) > most:
        text = f"there are {len(request.marks)} cache breakpoints, and {most} are allowed"
        yield Hit(request.origin(request.marks[most].row), text)
    for before, part in zip(request.marks, request.marks[1:], strict=False):
        if part.cache > before.cache:
            text = f"{request.name(part.row)}: a breakpoint for 1 hour stands behind one for 5 minutes"
            yield Hit(request.origin(part.row), text)


@rule("REQ006", name="breakpoint-too-early", severity=Severity.WARNING, effect=Effect.IGNORED)
def breakpoint_too_early(request: RequestFacts) -> Iterator[Hit]:
    """A cache breakpoint stands behind fewer tokens than the model caches.

    ## Why
    It does nothing, nothing says so, and it is one of four.
    ## Bad
    system: word*100 | cached
    user: Hi
    ## Good
    system: word*9000 | cached
    user: Hi
    ## Fix
    Move it behind more text, or leave it out.
    ## Source
    The Messages API: prompt caching; the minimums are in the profile.
    """
    least = request.facts.profile.least_cached(request.call.model)
    for part in request.marks:
        size = request.facts.sizes_up_to(part)
        if size < least:
            text = (
                f"{request.name(part.row)}: {size:,} tokens are before the breakpoint, {least:,} are needed"
            )
            yield Hit(request.origin(part.row), text)


@rule("REQ007", name="changing-prefix", severity=Severity.WARNING)
def changing_prefix(request: RequestFacts) -> Iterator[Hit]:
    """A time, a uuid or a random id is in tools or system prompt, or the present time before a breakpoint.

    ## Why
    The cache matches the beginning of the prompt byte for byte: everything behind the change is paid again.
    ## Bad
    system: You are a helper. Now: 2026-08-01T12:00:31
    user: Hi
    ## Good
    system: You are a helper. Today is 2026-08-01
    user: Hi
    ## Fix
    Put what changes into the last message.
    ## Source
    The Messages API: prompt caching.
    """
    last = request.facts.sizes_up_to(request.marks[-1]) if request.marks else 0
    for part in request.facts.context.parts:
        fixed = part.kind in (PartKind.SYSTEM, PartKind.SCHEMA)
        if not fixed and (
            part.kind not in (PartKind.PROMPT, PartKind.REMINDER) or request.facts.sizes_up_to(part) > last
        ):
            continue
        found = (_CHANGING if fixed else _NOW).search(request.facts.texts.whole(part))
        if found is not None:
            text = f"{request.name(part.row)} has {excerpt(found[0])}, which changes with every request"
            yield Hit(request.origin(part.row), text)


@rule("REQ008", name="large-tools", severity=Severity.WARNING)
def large_tools(request: RequestFacts) -> Iterator[Hit]:
    """Tool schemas take a large part of the input.

    ## Why
    They are sent with every request, whether the model calls them or not.
    ## Bad
    tool shell: word*9000
    user: Hi
    ## Good
    tool shell: word*90
    user: Hi
    ## Fix
    Shorten descriptions, and leave out tools that are not needed; load tools on demand.
    ## Source
    ctxview's own; share and least size are in the profile.
    """
    limits, total = request.facts.profile.limits, request.facts.sizes.total
    used = sum(map(request.tokens, request.tools))
    if used > limits.tools_floor and used * 100 > total * limits.tools_percent:
        largest = max(request.tools, key=request.tokens)
        text = f"{counted(len(request.tools), 'tool schema')} take {used:,} of {total:,} tokens"
        text += f" ({100 * used // total} %); {largest.tool} alone {request.tokens(largest):,}"
        yield Hit(request.origin(largest.row), text)


@rule("REQ009", name="unused-tools", severity=Severity.INFO)
def unused_tools(request: RequestFacts) -> Iterator[Hit]:
    """Tools are defined that no message calls.

    ## Why
    Their schemas cost tokens with every request, and more tools make a wrong choice more likely.
    ## Bad
    tool shell: Run a command
    tool search: Search the files
    user: Find it
    assistant: call t1 search
    user: result t1 ok
    ## Good
    tool shell: Run a command
    user: Find it
    ## Fix
    Leave tools out that this kind of work never needs.
    ## Source
    ctxview's own.
    """
    called = {part.tool for part in request.facts.context.parts if part.kind is PartKind.CALL}
    if not any(row.role == "assistant" for _, row in request.messages):
        return
    unused = [part for part in request.tools if part.tool not in called]
    if unused:
        tokens = sum(map(request.tokens, unused))
        text = f"{len(unused)} of {counted(len(request.tools), 'tool')} are never called: {tokens:,} tokens"
        yield Hit(request.origin(unused[0].row), text)


@rule("REQ015", name="prefix-changed", severity=Severity.WARNING)
def prefix_changed(request: RequestFacts) -> Iterator[Hit]:
    """The beginning that this request shares with the one before it ends before the last cache breakpoint.

    ## Why
    What was cached behind the change is written and paid again.
    ## Bad
    tool a: one
    system: word*9000 | cached
    user: Hi
    ---
    tool b: two
    system: word*9000 | cached
    user: Hi
    assistant: Hello
    user: Go on
    ## Good
    tool a: one
    system: word*9000 | cached
    user: Hi
    ---
    tool a: one
    system: word*9000 | cached
    user: Hi
    assistant: Hello
    user: Go on
    ## Fix
    Keep the order of tools and of keys, and what is at the beginning, the same.
    ## Source
    The Messages API: prompt caching.
    """
    if request.call.previous is None:
        return
    log, texts = request.facts.log, request.facts.texts
    earlier = request.rows_of(log.requests[request.call.previous])
    before = [part for _, row in earlier for part in row.parts]
    marks = [at for at, part in enumerate(before) if part.cache]
    # Other providers cache by themselves: there the whole request before counts.
    end = (marks[-1] if marks else -1) if request.anthropic else len(before) - 1
    for at, (old, new) in enumerate(zip_longest(before[: end + 1], request.facts.context.parts[: end + 1])):
        said, says = (texts.whole(each) if each is not None else "" for each in (old, new))
        if old is not None and new is not None and said == says and old.kind is new.kind:
            continue
        same = next((k for k, (x, y) in enumerate(zip(said, says, strict=False)) if x != y), 0)
        place = request.name(new.row if new is not None else before[at].row)
        text = f"{place} differs from the request before at character {same}: {excerpt(says[same:], 60)}"
        row = new.row if new is not None else request.body.first
        behind = sum(map(request.tokens, request.facts.context.parts[at:]))
        yield Hit(request.origin(row), f"{text}; {behind:,} tokens behind it are not read from the cache")
        return


@rule("REQ016", name="text-stands-twice", severity=Severity.WARNING)
def text_stands_twice(request: RequestFacts) -> Iterator[Hit]:
    """The same long text stands twice in the request.

    ## Why
    The second copy tells the model nothing and is paid with every request.
    ## Bad
    system: line one of a file that is long enough~*60
    user: Read it
    assistant: call t1 read
    user: result t1 line one of a file that is long enough~*60
    ## Good
    system: line one of a file that is long enough~*60
    user: Why does it say "line one of a file that is long enough"?
    ## Fix
    Refer to the first copy.
    ## Source
    ctxview's own.
    """
    seen: dict[int, LogPart] = {}
    for part in request.facts.context.parts:
        if part.kind is PartKind.SCHEMA:
            continue
        lines = [_LINE_NUMBER.sub("", line).strip() for line in request.facts.texts.whole(part).splitlines()]
        copied, first = _longest_copy(lines, seen)
        if copied >= LONG and first is not None:
            text = f"{copied:,} characters of {request.name(part.row)} stand in"
            yield Hit(request.origin(part.row), f"{text} {request.name(first.row)} too")
        for line in lines:
            seen.setdefault(hash(line), part)


def _longest_copy(lines: list[str], seen: dict[int, LogPart]) -> tuple[int, LogPart | None]:
    """Return the length of the longest run of lines that all stand in one earlier part, and that part."""
    best: tuple[int, LogPart | None] = (0, None)
    first: LogPart | None = None
    run = 0
    for line in lines:
        known = seen.get(hash(line))
        if len(line) >= _SHORT_LINE and known is not first:
            run, first = 0, known
        if first is not None:
            run += len(line)
            best = max(best, (run, first), key=lambda each: each[0])
    return best
