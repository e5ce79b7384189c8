"""The rules about runs as a whole, and about lines that hold nothing (ABI018 to 021).

They speak when both histories have been read to their ends. Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import counted, quoted, shown, spelled
from ctxview.findings import Hit, Severity, rule
from ctxview.formats.session.look import Look
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.formats.session.runs import Odd, Oddity
from ctxview.state import Origin

_RUN_WORDS = {
    Odd.NO_START: "begins without a start",
    Odd.TWO_STARTS: "starts a second time",
    Odd.NO_DONE: "never ends: there is no done",
    Odd.TWO_DONES: "ends a second time",
    Odd.AFTER_DONE: "goes on after it has ended",
    Odd.ERROR_THEN_OK: "had an error, but ends with ok",
}


@rule("ABI018", name="run-out-of-order", severity=Severity.WARNING)
def run_out_of_order(look: Look) -> Iterator[Hit]:
    """A run does not go from one start to one done.

    ## Why
    Whoever waits for a run waits for its done; whoever shows it begins at its start. A run without an end was
    cut off by a crash, unless it is the last one of a session that is still active. An error that ends with
    ok hides a failure.
    ## Bad
    events.jsonl += {"type": "done", "run": "r9", "status": "ok"}
    ## Good
    events.jsonl += {"type": "start", "run": "r9", "id": "r9"}
    events.jsonl += {"type": "done", "run": "r9", "status": "ok"}
    ## Fix
    Look at what wrote the events around it; histories are never edited here.
    ## Source
    Runtime: a send writes start, a finished, failed or cancelled run writes done.
    """
    survey = look.survey
    last = survey.runs.runs[-1].id if survey is not None and survey.runs.runs else None
    for odd in _oddities(look, *_RUN_WORDS):
        if odd.kind is Odd.NO_DONE and odd.run == last and look.session.state == "active":
            continue
        yield Hit(_origin(look, odd), f"the run {shown(odd.run or '')} {_RUN_WORDS[odd.kind]}")
    yield from _uncounted(look, *_RUN_WORDS)


@rule("ABI019", name="tool-result-unmatched", severity=Severity.WARNING)
def tool_result_unmatched(look: Look) -> Iterator[Hit]:
    """A tool result answers a call that nobody made in its run, or a call was never answered.

    ## Why
    Providers refuse a conversation with such a result, and exports lose it. A call without an answer is only
    mentioned: the run may have been cancelled.
    ## Bad
    messages.jsonl += {"role":"tool","content":[{"type":"tool_result","tool_call_id":"x","content":""}]}
    ## Good
    events.jsonl += {"type": "tool_call", "run": "r9", "id": "x", "name": "shell"}
    messages.jsonl += {"role":"tool","content":[{"type":"tool_result","tool_call_id":"x","content":""}]}
    ## Fix
    Nothing can be mended in the history; know that tools which follow calls will skip it.
    ## Source
    Runtime: tool_call events carry the id that tool_result parts name.
    """
    for odd in _oddities(look, Odd.UNKNOWN_CALL):
        where = f"in the run {shown(odd.run)}" if odd.run else "in any run"
        yield Hit(
            _origin(look, odd), f"the result is for {quoted(odd.detail)}, but there is no such call {where}"
        )
    for odd in _oddities(look, Odd.UNANSWERED):
        call = (look.history.events.line(odd.line).value or {}).get("id")
        yield Hit(_origin(look, odd), f"the tool call {spelled(call)} was never answered", Severity.INFO)
    yield from _uncounted(look, Odd.UNKNOWN_CALL, Odd.UNANSWERED)


@rule("ABI020", name="message-without-run", severity=Severity.WARNING)
def message_without_run(look: Look) -> Iterator[Hit]:
    """A user message belongs to no started run, shares one with another, or its client id was used before.

    ## Why
    Each message a client sends starts one run. The client's id makes sending it again harmless; the same id
    with another message or place is an error, because the second one is taken for a repetition and lost.
    ## Bad
    messages.jsonl += {"role": "user", "run": "r9", "content": "hello"}
    ## Good
    events.jsonl += {"type": "start", "run": "r9", "id": "r9"}
    messages.jsonl += {"role": "user", "run": "r9", "content": "hello"}
    ## Fix
    Look at the client that sent it: ids must be fresh for every message.
    ## Source
    Runtime: sends are claimed by client id; a replay must carry the same payload.
    """
    for odd in _oddities(look, Odd.USER_WITHOUT_START):
        yield Hit(_origin(look, odd), f"the run {shown(odd.run or '')} of this message was never started")
    for odd in _oddities(look, Odd.TWO_USERS):
        yield Hit(_origin(look, odd), f"the run {shown(odd.run or '')} has another user message already")
    for odd in _oddities(look, Odd.CLIENT_REUSED):
        message = f"the client id {quoted(odd.detail)} was used before for something else"
        yield Hit(_origin(look, odd), message, Severity.ERROR)
    yield from _uncounted(look, Odd.USER_WITHOUT_START, Odd.TWO_USERS)


@rule("ABI021", name="blank-lines", severity=Severity.WARNING)
def blank_lines(look: Look) -> Iterator[Hit]:
    """A history holds lines with nothing in them.

    ## Why
    Readers skip them, so nothing is lost. But an editor's line numbers are then not the numbers that facts
    and swap entries cite, which count only the lines that hold something.
    ## Bad
    messages.jsonl += (blank)
    ## Good
    messages.jsonl += {"role": "user", "content": "hello"}
    ## Fix
    Nothing to mend; count without them.
    ## Source
    Runtime: blank lines are filtered before lines are numbered.
    """
    if look.survey is None:
        return
    for name in (MESSAGES, EVENTS):
        blanks = look.survey.facts(name).blanks
        if blanks:
            line = look.history.stream(name).line(blanks[0])
            message = f"{counted(len(blanks), 'blank line')}, the first here: cited numbers leave them out"
            yield Hit(line.origin(), message)


def _oddities(look: Look, *kinds: Odd) -> Iterator[Oddity]:
    if look.survey is not None:
        yield from (odd for odd in look.survey.runs.oddities if odd.kind in kinds)


def _origin(look: Look, odd: Oddity) -> Origin:
    return look.history.stream(odd.stream).line(odd.line).origin()


def _uncounted(look: Look, *kinds: Odd) -> Iterator[Hit]:
    """How many more there are than were kept."""
    if look.survey is None:
        return
    facts = look.survey.runs
    for kind in kinds:
        kept = [odd for odd in facts.oddities if odd.kind is kind]
        more = facts.counts.get(kind, 0) - len(kept)
        if more > 0:
            yield Hit(_origin(look, kept[-1]), f"{more:,} more of these are not listed: {kind.value}")
