"""The runs and the events of a session on a timeline, and the revisions that go with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ctxview.analysis.wording import counted
from ctxview.formats.interface import Revision
from ctxview.formats.session.look import Look
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.formats.session.runs import Run
from ctxview.formats.session.survey import Survey
from ctxview.formats.session.view import AsOf
from ctxview.state import Event, Origin

MOST_RUNS = 500
"""Runs that get a revision of their own; older ones are on the timeline only."""
NOW = "now"


def build_revisions(root: Path, survey: Survey | None) -> tuple[Revision, ...]:
    """One for each of the last runs, and now, which comes last, is always there and may be edited."""
    runs = moments_of(survey)
    past = (Revision(_label(each), "run", root / MESSAGES, each.number) for each in runs)
    return (*past, Revision(NOW, "session", root))


def moments_of(survey: Survey | None) -> list[AsOf]:
    """The end of each of the last runs, with the last message there was by then."""
    if survey is None:
        return []
    ends = _message_ends(survey)
    known = bool(ends) or not survey.messages.records
    found, last = [], -1
    for number, run in enumerate(survey.runs.runs, 1):
        last = max(last, ends.get(run.id, -1))
        found.append(AsOf(run, number, last if known else None))
    return found[-MOST_RUNS:]


def build_timeline(look: Look) -> tuple[Event, ...]:
    """Runs, tool calls, errors, approvals and children in the order of the events."""
    survey = look.survey
    if survey is None:
        origin = look.session.origin(EVENTS)
        return (Event("the histories are being read …", "unknown", None, 0, origin),)
    revisions = {each.run.id: place for place, each in enumerate(moments_of(survey))}
    return (*_left_out(survey, look), *_events(survey, revisions), _now(look, len(revisions)))


def _message_ends(survey: Survey) -> dict[str, int]:
    """The last message line of each run. Old messages name no run: then each user message began one."""
    runs: Sequence[Run] = survey.runs.runs
    named = {run.id: run.last_message for run in runs if run.last_message is not None}
    if named or not runs or len(runs) != len(survey.user_lines):
        return named
    ends = [*(line - 1 for line in survey.user_lines[1:]), survey.messages.lines - 1]
    return {run.id: end for run, end in zip(runs, ends, strict=True)}


def _events(survey: Survey, revisions: dict[str, int]) -> Iterator[Event]:
    runs = {run.id: run for run in survey.runs.runs}
    for moment in survey.moments:
        run = runs.get(moment.run or "")
        label = moment.label
        if moment.kind == "done" and run is not None:
            label = f"{label} · {_told(run)}"
        yield Event(label, moment.kind, None, revisions.get(moment.run or ""), moment.origin)


def _left_out(survey: Survey, look: Look) -> Iterator[Event]:
    if survey.moments_left_out:
        label = f"{counted(survey.moments_left_out, 'earlier event')} not shown"
        yield Event(label, "left out", None, None, Origin(look.session.file(EVENTS), start=0, line=1))


def _now(look: Look, revision: int) -> Event:
    state = look.session.state or "unknown"
    label = f"now · {state}"
    if look.survey is not None:
        label = f"{label} · {counted(look.survey.messages.records, 'message')}"
    updated = look.session.part("updated_at").value
    return Event(label, "now", updated, revision, look.session.origin("state"))


def _told(run: Run) -> str:
    parts = [counted(run.calls, "call")] if run.calls else []
    parts += [counted(run.errors, "error")] if run.errors else []
    if run.input_tokens or run.output_tokens:
        parts.append(f"{run.input_tokens:,} in, {run.output_tokens:,} out")
    return " · ".join(parts) or "no calls"


def _label(moment: AsOf) -> str:
    return f"run {moment.number} {moment.run.id[:12]}"
