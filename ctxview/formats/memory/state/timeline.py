"""The timeline of a memory: snapshots as revisions, and the calls of the trace with cadence and barrier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ctxview.analysis.rfc3339 import time_sort_key
from ctxview.analysis.wording import counted, excerpt
from ctxview.core.state import Event
from ctxview.formats.interface import Revision
from ctxview.formats.memory.model import Call, ContextSnapshot, TraceMessage, TraceSession
from ctxview.formats.memory.profile import Profile
from ctxview.formats.memory.state.inputs import NOW
from ctxview.formats.memory.survey import MemorySurvey

MOST_EVENTS: Final = 2000
LONGEST: Final = 60


def revised_snapshots(survey: MemorySurvey) -> list[ContextSnapshot]:
    """Return the snapshots that are revisions: those of a bundle that was read whole."""
    return list(survey.bundle.snapshots) if survey.bundle.complete else []


def build_revisions(survey: MemorySurvey, path: Path) -> tuple[Revision, ...]:
    past = []
    for number, snapshot in enumerate(revised_snapshots(survey), 1):
        past.append(Revision(f"snapshot {number}", "snapshot", path, round=number, time=snapshot.time))
    latest = (
        *(each.time for each in survey.bundle.entries[-1:]),
        *(each.time for each in survey.bundle.snapshots[-1:]),
    )
    times = [time for time in latest if time is not None]
    return (*past, Revision(NOW, "memory", path, time=max(times, key=time_sort_key, default=None)))


def build_timeline(survey: MemorySurvey, profile: Profile) -> tuple[Event, ...]:
    """Return snapshots and calls by time; without times, the snapshots come first."""
    events = [*_snapshots(survey), *_calls(survey.bundle.sessions, profile)]
    events.sort(key=lambda event: time_sort_key(event.time))
    return tuple(events[-MOST_EVENTS:])


def _snapshots(survey: MemorySurvey) -> Iterator[Event]:
    numbers = {id(each): number for number, each in enumerate(revised_snapshots(survey))}
    for history in survey.histories.values():
        for number, snapshot in enumerate(history.snapshots):
            if id(snapshot) not in numbers:
                continue
            lost = len(history.lost(number))
            size = "placeholder" if snapshot.is_placeholder else counted(len(snapshot.text), "character")
            label = f"snapshot {numbers[id(snapshot)] + 1} · {size}"
            label += f" · lost {counted(lost, 'line')}" if lost else ""
            yield Event(label, "snapshot", snapshot.time, numbers[id(snapshot)], snapshot.place.origin())


def _calls(sessions: Sequence[TraceSession], profile: Profile) -> Iterator[Event]:
    usual = profile.cadence.usual
    for session in sessions:
        added, barrier = 0, True
        for item in session.items:
            if isinstance(item, TraceMessage):
                continue
            label, kind = item.tool, "call"
            if item.tool == "add_entry":
                added, barrier = added + (not item.failed), False
                label = f"add_entry {added}/{usual} · {_quoted(item)}"
            elif item.tool == "await_consistency":
                barrier, label, kind = True, "──── await_consistency: barrier", "barrier"
            elif item.tool == "put_context":
                safe = "after the barrier" if barrier else "without a barrier"
                label, kind = f"put_context · {counted(added, 'entry', 'entries')} · {safe}", "flush"
                added = 0
            elif query := item.text("query"):
                label = f"{item.tool} · {excerpt(query, LONGEST)}"
            failed = f" · failed: {excerpt(item.result or '', LONGEST)}" if item.failed else ""
            yield Event(
                f"{label}{failed}", "error" if item.failed else kind, item.time, None, item.place.origin()
            )
        last = session.items[-1]
        yield Event(f"session ended: {session.ended}", "session", last.time, None, last.place.origin())


def _quoted(call: Call) -> str:
    return excerpt(call.text("summary") or call.text("raw_entry") or "", LONGEST)
