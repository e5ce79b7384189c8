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


def call_label(call: Call, added: int, barrier: bool, usual: int) -> tuple[str, str, int, bool]:
    """Return label and kind of a call; then the entries since the last flush, and whether they are safe."""
    label, kind = call.tool, "call"
    if call.tool == "add_entry":
        added, barrier = added + (not call.failed), False
        label = f"add_entry {added}/{usual} · {excerpt(call.text('summary') or '', LONGEST)}"
    elif call.tool == "await_consistency":
        barrier, label, kind = True, "──── await_consistency: barrier ────", "barrier"
    elif call.tool == "put_context":
        safe = "after the barrier" if barrier or not added else "WITHOUT a barrier"
        label, kind = f"put_context · {counted(added, 'entry', 'entries')} · {safe}", "flush"
        added = 0
    elif query := call.text("query"):
        label = f"{call.tool} · {excerpt(query, LONGEST)}"
    if call.failed:
        label, kind = f"{label} · failed: {excerpt(call.result or '', LONGEST)}", "error"
    return label, kind, added, barrier


def _calls(sessions: Sequence[TraceSession], profile: Profile) -> Iterator[Event]:
    for session in sessions:
        added, barrier = 0, True
        for item in session.items:
            if isinstance(item, TraceMessage):
                continue
            label, kind, added, barrier = call_label(item, added, barrier, profile.cadence.usual)
            yield Event(label, kind, item.time, None, item.place.origin())
        last = session.items[-1]
        yield Event(f"session ended: {session.ended}", "session", last.time, None, last.place.origin())
