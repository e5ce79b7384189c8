"""Which events are worth a mark on the timeline, and what it says."""

from __future__ import annotations

from ctxview.formats.session.history_line import HistoryLine
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue, Origin

LONGEST_LABEL = 120
DECISIONS = {"allow_once": "allowed once", "deny": "denied"}
"""What people say for the words of the runtime."""


@dataclass(frozen=True, slots=True)
class Moment:
    kind: str
    label: str
    run: str | None
    place: tuple[str, int, int, int]
    """File, line from 0, start and end: less than an origin while there are many."""
    time: str | None = None

    @property
    def origin(self) -> Origin:
        file, line, start, end = self.place
        return Origin(file, f"/{line}", start, end, line + 1, 1)


def moment_in(
    line: HistoryLine, value: dict[str, JsonValue], time: str | None = None, compacted: str | None = None
) -> Moment | None:
    """The mark for an event; None for the many that only carry text or figures.

    `compacted` says what it did to the context, where it did.
    """
    kind = value.get("type")
    if not isinstance(kind, str):
        return None
    made = _label(kind, value) if compacted is None else ("compaction", f"compaction: {compacted}")
    if made is None:
        return None
    word, label = made
    run = value.get("run")
    place = (line.file, line.number or 0, line.start, line.end)
    return Moment(word, label[:LONGEST_LABEL], run if isinstance(run, str) else None, place, time)


def _label(kind: str, value: dict[str, JsonValue]) -> tuple[str, str] | None:
    def word(name: str) -> str:
        found = value.get(name)
        return found if isinstance(found, str) else "?"

    match kind:
        case "start":
            return "run", f"run {word('run')} starts"
        case "done":
            return "done", f"run {word('run')} ends: {word('status')}"
        case "tool_call":
            return "tool call", f"calls {word('name')}"
        case "error":
            tool = f" in {word('tool')}" if isinstance(value.get("tool"), str) else ""
            return "error", f"{word('code')}{tool}: {word('message')}"
        case "approval_request":
            return "approval", f"asks to run {word('name')}"
        case "approval_result":
            decision = word("decision")
            return "approval", f"{DECISIONS.get(decision, decision)}: {word('reason')}"
        case "agent.child.cancel":
            return "child", f"child {word('child')} is cancelled: {word('reason')}"
        case "agent.stop":
            return "stop", f"agent {word('agent')} stops: {word('status')}"
    return None
