"""Rules about tool calls and their results (TRC)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import beginning, counted
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
    for part in facts.noted:
        if part.error is not None:
            key = part.tool, part.about, part.error
            seen[key] += 1
            if seen[key] == facts.profile.limits.same_failures:
                text = f"{part.tool} {part.about or ''} failed {seen[key]} times: {beginning(part.error, 80)}"
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
    for part in facts.noted:
        if part.mark is Mark.REFUSED:
            yield Hit(facts.log.origin(part.row), f"the model was given: {beginning(part.detail or '', 100)}")


@rule("TRC006", name="repeated-id", severity=Severity.WARNING)
def repeated_id(facts: TranscriptFacts) -> Iterator[Hit]:
    """Two rows have one id; it is a note when they are equal.

    ## Why
    The first one counts. When they differ, a row was edited, or two programs wrote one session.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    u1 user : Fix something else
    ## Good
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    u2 user : Fix it
    ## Fix
    Look at both rows in the History.
    ## Source
    Observed in sessions of Claude Code.
    """
    for row, first in facts.log.repeated:
        if row < facts.end:
            equal = facts.texts.same_bytes(row, first)
            text = f"this row has the id of {_place(facts, first)} and {'is equal' if equal else 'differs'}"
            yield Hit(facts.log.origin(row), text, Severity.INFO if equal else None)


@rule("TRC011", name="time-goes-back", severity=Severity.INFO)
def time_goes_back(facts: TranscriptFacts) -> Iterator[Hit]:
    """The time goes back between two live rows.

    ## Why
    Rows were carried over, the clock was set, or two programs wrote one session.
    ## Bad
    u1 user wait=900 : Fix it
    a1 assistant wait=-600 sent=900 out=5 : Done
    ## Good
    u1 user wait=900 : Fix it
    a1 assistant wait=-30 sent=900 out=5 : Done
    ## Fix
    Nothing.
    ## Source
    Observed: small steps in 10 of 38 files.
    """
    before = ""
    rows, limit = facts.log.rows, facts.profile.limits.time_back_seconds
    for index in facts.context.lineage:
        row = rows[index]
        if row.role not in ("user", "assistant") or row.time is None:
            continue
        # Times of one form are in order as texts, which is much faster to see.
        first, now = (parse_time(before), parse_time(row.time)) if row.time < before else (None, None)
        seconds = (first - now).total_seconds() if first is not None and now is not None else 0
        if seconds > limit:
            yield Hit(facts.log.origin(index), f"the time goes back by {seconds / 60:,.0f} minutes")
        before = row.time


@rule("TRC019", name="aborted-with-open-calls", severity=Severity.WARNING)
def aborted_with_open_calls(facts: TranscriptFacts) -> Iterator[Hit]:
    """A turn was aborted while calls had no output.

    ## Why
    The model is told "aborted"; what the commands did until then is not in the context.
    ## Bad
    meta
    user: Test it
    call id=c1
    turn_aborted
    user: Go on
    ## Good
    meta
    user: Test it
    call id=c1
    output id=c1: ok
    turn_aborted
    user: Go on
    ## Fix
    Ask the agent to look at what was done.
    ## Source
    Observed in rollouts of Codex: five calls at once.
    """
    rows = facts.log.rows
    aborted = [at for at in facts.log.turn_ends if rows[at].sort == "event_msg turn_aborted"]
    for start, at in zip([-1, *aborted], aborted, strict=False):
        left = [part for part in facts.context.missing_results if start < part.row < at]
        if left and at < facts.end:
            first = left[0].about or left[0].tool or "a call"
            text = f"the turn was aborted with {counted(len(left), 'open call')}: {first}"
            yield Hit(facts.log.origin(at), text)


def _place(facts: TranscriptFacts, row: int) -> str:
    line = facts.log.rows[row].line
    return f"line {line + 1}" if line is not None else "an earlier row"
