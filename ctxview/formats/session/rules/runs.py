"""The rules about runs and about files that the runtime derives from the histories (ABI009, 010, 018 to 021).

Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import counted, excerpt, json_excerpt, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.core.origin import Origin
from ctxview.files.strict_json.values import as_text
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.survey.facts import SessionFacts, Survey
from ctxview.formats.session.survey.runs import Run, RunAnomaly, RunAnomalyKind

STATES = {"ok": "done", "error": "error", "cancelled": "cancelled"}
"""The state of the session by the status of the last run's done event."""


@rule("ABI009", name="latest-or-state-stale", severity=Severity.WARNING)
def latest_or_state_stale(facts: SessionFacts) -> Iterator[Hit]:
    """latest.md is not the last answer, or the state is not what the last run ended with.

    ## Why
    The runtime derives both from the histories. When they differ, a write was lost or one side was edited,
    and tools that read only them are misled.
    ## Bad
    latest.md = Something else.
    ## Good
    latest.md = The review found nothing more.
    ## Fix
    Believe the histories; let the next run write both again.
    ## Source
    Runtime: latest.md is the last assistant text; a run that ends sets the state.
    """
    survey, session = facts.survey, facts.session
    if survey is None or not survey.messages.whole:
        return
    latest = session.part("latest.md")
    answer = survey.assistant.text if survey.assistant is not None else ""
    if latest.readable and latest.text.removesuffix("\n") != answer.removesuffix("\n"):
        origin = Origin(latest.file, None, 0, len(latest.data or b""), 1, 1)
        if answer:
            yield Hit(origin, f"latest.md is not the last answer, which begins {quoted(answer, 30)}")
        elif not latest.is_blank:
            yield Hit(origin, "latest.md has a text, but the messages hold no answer")
    expected = expected_state(facts)
    if expected is not None and session.state is not None and session.state != expected:
        part = session.part("state")
        origin = Origin(part.file, None, 0, len(part.data or b""), 1, 1)
        why = "has not ended" if expected == "active" else "ended so"
        message = f"the state is {excerpt(session.state)}, but should be {expected}: the last run {why}"
        yield Hit(origin, message)


@rule("ABI010", name="state-json-stale", severity=Severity.WARNING)
def state_json_stale(facts: SessionFacts) -> Iterator[Hit]:
    """state.json has another state, run or time than the files beside it.

    ## Why
    Newer versions of the runtime write the same facts twice. Where they differ, one of the writes was lost.
    A different time alone is only mentioned.
    ## Bad
    state.json = {"status": "active"}
    ## Good
    state.json = {"status": "done"}
    ## Fix
    Believe the histories; let the next run write both again.
    ## Source
    Runtime: state.json mirrors state, current_run and updated_at.
    """
    session, mirror = facts.session, facts.session.runtime_state
    status, run = as_text(mirror.members.get("status")), as_text(mirror.members.get("run"))
    if status is not None and session.state is not None and status != session.state:
        message = f"status is {excerpt(status)}, the state is {excerpt(session.state)}"
        yield Hit(mirror.origin("status"), message)
    last = last_run(facts)
    if run is not None and last is not None and run != last.id:
        yield Hit(mirror.origin("run"), f"run is {excerpt(run)}, but the last run is {excerpt(last.id)}")
    updated = session.part("updated_at").value
    mirrored = mirror.members.get("updated_at")
    if updated is not None and mirrored is not None and str(mirrored) != updated:
        message = f"updated_at is {excerpt(str(mirrored))} here and {excerpt(updated)} in its own file"
        yield Hit(mirror.origin("updated_at"), message, Severity.INFO)


def last_run(facts: SessionFacts) -> Run | None:
    """The run that began last."""
    return facts.survey.runs.runs[-1] if facts.survey is not None and facts.survey.runs.runs else None


def expected_state(facts: SessionFacts) -> str | None:
    """Return the state that follows from the events, or None."""
    run = last_run(facts)
    if run is None or facts.survey is None or not facts.survey.events.whole:
        return None
    return "active" if run.status is None else STATES.get(run.status)


_RUN_WORDS = {
    RunAnomalyKind.NO_START: "begins without a start",
    RunAnomalyKind.TWO_STARTS: "starts a second time",
    RunAnomalyKind.NO_DONE: "never ends: there is no done",
    RunAnomalyKind.TWO_DONES: "ends a second time",
    RunAnomalyKind.AFTER_DONE: "goes on after it has ended",
    RunAnomalyKind.ERROR_THEN_OK: "had an error, but ends with ok",
}


_ABSENCES = (
    RunAnomalyKind.NO_START,
    RunAnomalyKind.NO_DONE,
    RunAnomalyKind.UNKNOWN_CALL,
    RunAnomalyKind.UNANSWERED,
    RunAnomalyKind.USER_WITHOUT_START,
)


@rule("ABI018", name="run-out-of-order", severity=Severity.WARNING)
def run_out_of_order(facts: SessionFacts) -> Iterator[Hit]:
    """A run does not go from one start to one done.

    ## Why
    Tools that wait for a run wait for its done; tools that show it begin at its start. A run without an end
    was cut off by a crash, unless it is the last one of a session that is still active. An error that ends
    with ok hides a failure.
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
    survey, state = facts.survey, facts.session.part("state")
    last = survey.runs.runs[-1].id if survey is not None and survey.runs.runs else None
    may_be_active = state.value == "active" or (state.exists and not state.readable)
    for anomaly in _anomalies(facts, *_RUN_WORDS):
        if anomaly.kind is RunAnomalyKind.NO_DONE and anomaly.run == last and may_be_active:
            continue
        yield Hit(_origin(facts, anomaly), f"the run {excerpt(anomaly.run or '')} {_RUN_WORDS[anomaly.kind]}")
    yield from _uncounted(facts, *_RUN_WORDS)


@rule("ABI019", name="tool-result-unmatched", severity=Severity.WARNING)
def tool_result_unmatched(facts: SessionFacts) -> Iterator[Hit]:
    """A tool result answers a call that was not made in its run, or a call was never answered.

    ## Why
    Providers refuse a conversation with such a result, and exports lose it. A call without an answer is only
    mentioned: the run may have been cancelled.
    ## Bad
    messages.jsonl += {"role":"tool","content":[{"type":"tool_result","tool_call_id":"x","content":""}]}
    ## Good
    events.jsonl += {"type": "tool_call", "run": "r9", "id": "x", "name": "shell"}
    messages.jsonl += {"role":"tool","content":[{"type":"tool_result","tool_call_id":"x","content":""}]}
    ## Fix
    Histories are never edited here; tools that follow calls will skip the result.
    ## Source
    Runtime: tool_call events carry the id that tool_result parts name.
    """
    for anomaly in _anomalies(facts, RunAnomalyKind.UNKNOWN_CALL):
        where = f"in the run {excerpt(anomaly.run)}" if anomaly.run else "in any run"
        message = f"the result is for {quoted(anomaly.detail)}, but there is no such call {where}"
        yield Hit(_origin(facts, anomaly), message)
    for anomaly in _anomalies(facts, RunAnomalyKind.UNANSWERED):
        call = (facts.history.events.line(anomaly.line).value or {}).get("id")
        message = f"the tool call {json_excerpt(call)} was never answered"
        yield Hit(_origin(facts, anomaly), message, Severity.INFO)
    yield from _uncounted(facts, RunAnomalyKind.UNKNOWN_CALL, RunAnomalyKind.UNANSWERED)


@rule("ABI020", name="message-without-run", severity=Severity.WARNING)
def message_without_run(facts: SessionFacts) -> Iterator[Hit]:
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
    for anomaly in _anomalies(facts, RunAnomalyKind.USER_WITHOUT_START):
        message = f"the run {excerpt(anomaly.run or '')} of this message was never started"
        yield Hit(_origin(facts, anomaly), message)
    for anomaly in _anomalies(facts, RunAnomalyKind.TWO_USERS):
        message = f"the run {excerpt(anomaly.run or '')} has another user message already"
        yield Hit(_origin(facts, anomaly), message)
    for anomaly in _anomalies(facts, RunAnomalyKind.CLIENT_REUSED):
        message = f"the client id {quoted(anomaly.detail)} was used before for something else"
        yield Hit(_origin(facts, anomaly), message, Severity.ERROR)
    yield from _uncounted(facts, RunAnomalyKind.USER_WITHOUT_START, RunAnomalyKind.TWO_USERS)


@rule("ABI021", name="blank-lines", severity=Severity.WARNING)
def blank_lines(facts: SessionFacts) -> Iterator[Hit]:
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
    if facts.survey is None:
        return
    for name in (MESSAGES, EVENTS):
        blanks = facts.survey.facts(name).blanks
        if blanks:
            line = facts.history.stream(name).line(blanks[0])
            message = f"{counted(len(blanks), 'blank line')}, the first here: cited numbers leave them out"
            yield Hit(line.origin(), message)


def _anomalies(facts: SessionFacts, *kinds: RunAnomalyKind) -> Iterator[RunAnomaly]:
    if facts.survey is not None:
        known = _claimable(facts.survey, *kinds)
        yield from (anomaly for anomaly in facts.survey.runs.anomalies if anomaly.kind in known)


def _claimable(survey: Survey, *kinds: RunAnomalyKind) -> list[RunAnomalyKind]:
    """Return the kinds that are certain: those of an absent line are not if some lines cannot be read."""
    whole = survey.messages.whole and survey.events.whole
    return [kind for kind in kinds if whole or kind not in _ABSENCES]


def _origin(facts: SessionFacts, anomaly: RunAnomaly) -> Origin:
    return facts.history.stream(anomaly.stream).line(anomaly.line).origin()


def _uncounted(facts: SessionFacts, *kinds: RunAnomalyKind) -> Iterator[Hit]:
    """Report how many more anomalies there are than are listed."""
    if facts.survey is None:
        return
    run_facts = facts.survey.runs
    for kind in _claimable(facts.survey, *kinds):
        kept = [anomaly for anomaly in run_facts.anomalies if anomaly.kind is kind]
        more = run_facts.counts.get(kind, 0) - len(kept)
        if more > 0:
            yield Hit(_origin(facts, kept[-1]), f"{more:,} more of these are not listed: {kind.value}")
