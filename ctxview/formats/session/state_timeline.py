"""The runs, compactions and events of a session on a timeline, and the revisions that go with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted
from ctxview.formats.interface import Revision
from ctxview.formats.session.compactions import Compaction
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import Session
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.formats.session.runs import Run
from ctxview.formats.session.survey import Survey
from ctxview.formats.session.times import iso
from ctxview.formats.session.view import AsOf
from ctxview.state import Event, Origin

MOST_MOMENTS = 500
"""Runs and compactions that get a revision of their own; older ones are on the timeline only."""
NOW = "now"


def build_revisions(session: Session, survey: Survey | None) -> tuple[Revision, ...]:
    """The last runs and compactions, and now, which comes last, is always there and may be edited."""
    root = session.folder.root
    past = (
        Revision(each.label, "run", root / MESSAGES, each.number, each.run.time)
        if each.compaction is None
        else Revision(each.label, "compaction", root / MESSAGES, time=each.compaction.time)
        for each in moments_of(survey)
    )
    return (*past, Revision(NOW, "session", root, time=iso(session.part("updated_at").value)))


def moments_of(survey: Survey | None) -> list[AsOf]:
    """The end of each of the last runs, and compactions in them, with the last message there was by then."""
    if survey is None:
        return []
    ends = _message_ends(survey)
    known = bool(ends) or not survey.messages.records
    compactions: dict[str, list[Compaction]] = defaultdict(list)
    for each in survey.compactions:
        compactions[each.run].append(each)
    found, last, last_event = [], -1, 0
    for number, run in enumerate(survey.runs.runs, 1):
        placed = (each for each in compactions[run.id] if known and each.answered is not None)
        found += [AsOf(run, number, each.answered, each.events[-1], each) for each in placed]
        last, last_event = max(last, ends.get(run.id, -1)), max(last_event, run.last_line)
        found.append(AsOf(run, number, last if known else None, last_event))
    return found[-MOST_MOMENTS:]


def build_timeline(look: Look) -> tuple[Event, ...]:
    """Runs, tool calls, compactions, errors, approvals and children in the order of the events."""
    survey = look.survey
    if survey is None:
        origin = look.session.origin(EVENTS)
        return (Event("the histories are being read …", "unknown", None, 0, origin),)
    moments = moments_of(survey)
    return (*_left_out(survey, look), *_events(survey, moments), _now(look, len(moments)))


def _message_ends(survey: Survey) -> dict[str, int]:
    """The last message line of each run. Old messages name no run: then each user message began one."""
    runs: Sequence[Run] = survey.runs.runs
    named = {run.id: run.last_message for run in runs if run.last_message is not None}
    if named or not runs or len(runs) != len(survey.user_lines):
        return named
    ends = [*(line - 1 for line in survey.user_lines[1:]), survey.messages.lines - 1]
    return {run.id: end for run, end in zip(runs, ends, strict=True)}


def _events(survey: Survey, moments: Sequence[AsOf]) -> Iterator[Event]:
    runs = {run.id: run for run in survey.runs.runs}
    ends = {each.run.id: place for place, each in enumerate(moments) if each.compaction is None}
    compacting = {
        line: place
        for place, each in enumerate(moments)
        if each.compaction
        for line in each.compaction.events
    }
    for moment in survey.moments:
        run = runs.get(moment.run or "")
        label = moment.label
        if moment.kind == "done" and run is not None:
            label = f"{label} · {_told(run)}"
        revision = compacting.get(moment.place[1], ends.get(moment.run or ""))
        yield Event(label, moment.kind, moment.time, revision, moment.origin)


def _left_out(survey: Survey, look: Look) -> Iterator[Event]:
    if survey.moments_left_out:
        label = f"{counted(survey.moments_left_out, 'earlier event')} not shown"
        yield Event(label, "left out", None, None, Origin(look.session.file(EVENTS), start=0, line=1))


def _now(look: Look, revision: int) -> Event:
    state = look.session.state or "unknown"
    label = f"now · {state}"
    if look.survey is not None:
        label = f"{label} · {counted(look.survey.messages.records, 'message')}"
    updated = iso(look.session.part("updated_at").value)
    return Event(label, "now", updated, revision, look.session.origin("state"))


def _told(run: Run) -> str:
    parts = [counted(run.calls, "call")] if run.calls else []
    parts += [counted(run.errors, "error")] if run.errors else []
    if run.input_tokens or run.output_tokens:
        parts.append(f"{run.input_tokens:,} in, {run.output_tokens:,} out")
    return " · ".join(parts) or "no calls"
