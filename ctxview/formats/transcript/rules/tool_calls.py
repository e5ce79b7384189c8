"""Rules about tool calls and their results (TRC)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import Dialect, Mark, PartKind


@rule("TRC007", name="call-without-result", severity=Severity.WARNING, effect=Effect.RESTORED)
def call_without_result(facts: TranscriptFacts) -> Iterator[Hit]:
    """A tool call in the context has no result.

    ## Why
    The program invents one ("aborted", "interrupted"), and the model does not learn what happened.
    ## Bad
    u1 user : Run it
    a1 call id=t1 sent=900 out=9 : make
    u2 user : Stop, try again
    a2 assistant sent=950 out=5 : Done
    ## Good
    u1 user : Run it
    a1 call id=t1 sent=900 out=9 : make
    r1 result id=t1 : ok
    a2 assistant sent=950 out=5 : Done
    ## Fix
    Say in the next prompt what became of the call.
    ## Source
    Observed in sessions of Claude Code and rollouts of Codex.
    """
    newest = max((part.row for part in facts.context.parts), default=0)
    last = facts.log.rows[newest].message if facts.log.rows else None
    for part in facts.context.missing_results:
        running = part.row == newest or (last is not None and facts.log.rows[part.row].message == last)
        severity = Severity.INFO if running else None
        end = "it may be running" if running else "the program invents one"
        name = " ".join(filter(None, (part.tool, part.about)))
        yield Hit(facts.log.origin(part.row), f"the call {name} has no result; {end}", severity)


@rule("TRC008", name="result-without-call", severity=Severity.ERROR, effect=Effect.REJECTED)
def result_without_call(facts: TranscriptFacts) -> Iterator[Hit]:
    """A result is in the context without its call.

    ## Why
    The API refuses such a request; Codex leaves the result out.
    ## Bad
    u1 user : Run it
    r1 result id=t9 : ok
    a2 assistant sent=950 out=5 : Done
    ## Good
    u1 user : Run it
    a1 call id=t9 sent=900 out=9 : make
    r1 result id=t9 : ok
    a2 assistant sent=950 out=5 : Done
    ## Fix
    Start a new session from a summary.
    ## Source
    The Messages API; openai/codex.
    """
    codex = facts.log.dialect is Dialect.CODEX
    for part in facts.context.missing_calls:
        effect = Effect.IGNORED if codex else None
        severity = Severity.WARNING if codex else None
        text = f"the result of {part.call_id or '?'} has no call in the context"
        yield Hit(facts.log.origin(part.row), text, severity, effect)


@rule("TRC009", name="two-results", severity=Severity.WARNING)
def two_results(facts: TranscriptFacts) -> Iterator[Hit]:
    """Two live results answer one call, or two calls have one id.

    ## Why
    The API refuses two results for one call, and it is not clear which one the model got.
    ## Bad
    u1 user : Run it
    a1 call id=t1 sent=900 out=9 : make
    r1 result id=t1 : ok
    r2 result id=t1 : failed
    a2 assistant sent=950 out=5 : Done
    ## Good
    u1 user : Run it
    a1 call id=t1 sent=900 out=9 : make
    r1 result id=t1 : ok
    a2 assistant sent=950 out=5 : Done
    ## Fix
    Start a new session if requests fail.
    ## Source
    The Messages API.
    """
    seen: Counter[tuple[PartKind, str]] = Counter()
    for part in facts.context.parts:
        if part.kind in (PartKind.CALL, PartKind.RESULT) and part.call_id is not None:
            seen[part.kind, part.call_id] += 1
            if seen[part.kind, part.call_id] == 2:
                yield Hit(facts.log.origin(part.row), f"a second {part.kind.value} has the id {part.call_id}")


@rule("TRC010", name="same-failure", severity=Severity.WARNING)
def same_failure(facts: TranscriptFacts) -> Iterator[Hit]:
    """The same call failed with the same error several times.

    ## Why
    The agent repeats itself; each try costs tokens and brings nothing.
    ## Bad
    u1 user : Edit it
    a1 call id=t1 tool=Edit sent=900 out=9 : {"file_path": "a.py"}
    r1 result id=t1 error=1 : File has not been read yet
    a2 call id=t2 tool=Edit sent=950 out=9 : {"file_path": "a.py"}
    r2 result id=t2 error=1 : File has not been read yet
    a3 call id=t3 tool=Edit sent=990 out=9 : {"file_path": "a.py"}
    r3 result id=t3 error=1 : File has not been read yet
    ## Good
    u1 user : Edit it
    a1 call id=t1 tool=Edit sent=900 out=9 : {"file_path": "a.py"}
    r1 result id=t1 error=1 : File has not been read yet
    ## Fix
    Say in a prompt what to do instead.
    ## Source
    Observed in sessions of Claude Code.
    """
    seen: Counter[tuple[str | None, str | None, str]] = Counter()
    for part in facts.history:
        if part.error is not None:
            key = part.tool, part.about, part.error
            seen[key] += 1
            if seen[key] == facts.profile.limits.same_failures:
                text = f"{part.tool} {part.about or ''} failed {seen[key]} times: {part.error[:80]}"
                yield Hit(facts.log.origin(part.row), text)


@rule("TRC017", name="refused-by-person", severity=Severity.INFO)
def refused_by_person(facts: TranscriptFacts) -> Iterator[Hit]:
    """A person refused or interrupted a call; the model got this text instead of a result.

    ## Why
    The model acts on the refusal; it explains a change of direction.
    ## Bad
    u1 user : Run it
    a1 call id=t1 sent=900 out=9 : rm -r build
    r1 result id=t1 error=1 : The user doesn't want to proceed with this tool use.
    ## Good
    u1 user : Run it
    a1 call id=t1 sent=900 out=9 : rm -r build
    r1 result id=t1 error=1 : rm: cannot remove 'build'
    ## Fix
    Nothing.
    ## Source
    Observed in sessions of Claude Code.
    """
    for part in facts.history:
        if part.mark is Mark.REFUSED:
            yield Hit(facts.log.origin(part.row), f"the model was given: {(part.detail or '')[:100]}")
