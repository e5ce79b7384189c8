"""The timeline of a session, its runs, compactions and events, and the revisions for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted
from ctxview.core.origin import Origin
from ctxview.core.revision_signs import COMPACTION, RUN
from ctxview.core.state import Event
from ctxview.formats.interface import Revision
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.caps import MOST_POINTS
from ctxview.formats.session.grammar import iso
from ctxview.formats.session.model import Session
from ctxview.formats.session.state.inputs import HistoryPoint
from ctxview.formats.session.survey.compactions import SessionCompaction
from ctxview.formats.session.survey.facts import SessionFacts, Survey

NOW = "now"


def build_revisions(session: Session, survey: Survey | None) -> tuple[Revision, ...]:
    """Return the last runs and compactions, and now, which is always last and the only editable one."""
    root = session.folder.root
    past = (
        Revision(each.label, "run", root / MESSAGES, each.number, each.run.time, sign=RUN)
        if each.compaction is None
        else Revision(each.label, "compaction", root / MESSAGES, time=each.compaction.time, sign=COMPACTION)
        for each in history_points(survey)
    )
    return (*past, Revision(NOW, "session", root, time=iso(session.part("updated_at").value)))


def history_points(survey: Survey | None) -> list[HistoryPoint]:
    """Return the ends of the last runs and the compactions in them, each with its last message."""
    if survey is None:
        return []
    runs = survey.runs.runs
    ends = {run.id: run.last_message for run in runs if run.last_message is not None}
    if not ends and runs and len(runs) == len(survey.user_lines):
        # In old messages without runs each user message starts one.
        last_lines = [*(line - 1 for line in survey.user_lines[1:]), survey.messages.lines - 1]
        ends = {run.id: end for run, end in zip(runs, last_lines, strict=True)}
    known = bool(ends) or not survey.messages.records
    compactions: dict[str, list[SessionCompaction]] = defaultdict(list)
    for each in survey.compactions:
        compactions[each.run].append(each)
    found, last, last_event = [], -1, 0
    for number, run in enumerate(runs, 1):
        placed = (each for each in compactions[run.id] if known and each.answered is not None)
        found += [HistoryPoint(run, number, each.answered, each.events[-1], each) for each in placed]
        last, last_event = max(last, ends.get(run.id, -1)), max(last_event, run.last_line)
        found.append(HistoryPoint(run, number, last if known else None, last_event))
    return found[-MOST_POINTS:]


def build_timeline(facts: SessionFacts) -> tuple[Event, ...]:
    """Build the timeline: runs, tool calls, compactions, errors, approvals and children in their order."""
    survey = facts.survey
    if survey is None:
        origin = facts.session.origin(EVENTS)
        return (Event("the histories are being read …", "unknown", None, 0, origin),)
    points = history_points(survey)
    events = list(_events(survey, points))
    if survey.event_marks_left_out:
        label = f"{counted(survey.event_marks_left_out, 'earlier event')} not shown"
        origin = Origin(facts.session.file(EVENTS), start=0, line=1)
        events.insert(0, Event(label, "left out", None, None, origin))
    label = f"now · {facts.session.state or 'unknown'} · {counted(survey.messages.records, 'message')}"
    updated = iso(facts.session.part("updated_at").value)
    return (*events, Event(label, "now", updated, len(points), facts.session.origin("state")))


def _events(survey: Survey, points: Sequence[HistoryPoint]) -> Iterator[Event]:
    runs = {run.id: run for run in survey.runs.runs}
    ends = {each.run.id: index for index, each in enumerate(points) if each.compaction is None}
    compacting = {
        line: index for index, each in enumerate(points) if each.compaction for line in each.compaction.events
    }
    for mark in survey.event_marks:
        run = runs.get(mark.run or "")
        label = mark.label
        if mark.kind == "done" and run is not None:
            parts = [counted(run.calls, "call")] if run.calls else []
            parts += [counted(run.errors, "error")] if run.errors else []
            if run.input_tokens or run.output_tokens:
                parts.append(f"{run.input_tokens:,} in, {run.output_tokens:,} out")
            label = f"{label} · {' · '.join(parts) or 'no calls'}"
        revision = compacting.get(mark.place[1], ends.get(mark.run or ""))
        yield Event(label, mark.kind, mark.time, revision, mark.origin)
