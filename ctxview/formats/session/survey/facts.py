"""The facts about a session: the survey of its histories, blob facts, and marks for the timeline."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from copy import copy

from msgspec import Struct, field

from ctxview.analysis.wording import beginning
from ctxview.core.findings import Finding
from ctxview.core.origin import JsonValue, Origin
from ctxview.formats.kit.history import HistoryStream
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.session.history import SessionHistory
from ctxview.formats.session.model import Blob, Session
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.store.blobs import BlobFacts
from ctxview.formats.session.survey.compactions import SessionCompaction
from ctxview.formats.session.survey.runs import RunFacts

LONGEST_LABEL = 120
DECISIONS = {"allow_once": "allowed once", "deny": "denied"}
"""Plain words for the decisions of the runtime."""


class EventMark(Struct, frozen=True):
    kind: str
    label: str
    run: str | None
    place: tuple[str, int, int, int]
    """File, line from 0, start and end: smaller than an origin, because there are many."""
    time: str | None = None

    @property
    def origin(self) -> Origin:
        file, line, start, end = self.place
        return Origin(file, f"/{line}", start, end, line + 1, 1)


class StreamFacts(Struct, frozen=True):
    """The layout of a history. Records are the lines that are not blank, counted from 1."""

    lines: int
    size: int
    blanks: array[int] = field(default_factory=lambda: array("Q"))
    problem: str | None = None
    """Why the history cannot be read, so that its number of records is not known."""
    left_out: int = 0
    """The lines that could not be read; their number is known."""

    @property
    def whole(self) -> bool:
        """Whether all of the history was read, so that something not found in it is not there."""
        return self.problem is None and not self.left_out

    @property
    def records(self) -> int:
        return self.lines - len(self.blanks)

    def line_of(self, record: int) -> int:
        """Return the line, from 0, of the record with this number."""
        wanted = record - 1
        indexes = range(len(self.blanks))
        return wanted + bisect_right(indexes, wanted, key=lambda index: self.blanks[index] - index)

    def record_at(self, line: int) -> int:
        """Return the number of the record on a line that is not blank."""
        return line + 1 - bisect_left(self.blanks, line)


class StreamLayout:
    """How far a history was read, and which of its lines are blank."""

    def __init__(self) -> None:
        self.lines = 0
        self._read = 0
        self.done = 0
        self._blanks = array("Q")

    def copy(self) -> StreamLayout:
        made = copy(self)
        made._blanks = self._blanks[:]
        return made

    def note(self, line: HistoryLine) -> None:
        number = self.lines if line.number is None else line.number
        self.lines = number + 1
        self._read += 1
        self.done += line.size + line.ending
        if line.is_blank:
            self._blanks.append(number)

    def facts(self, stream: HistoryStream) -> StreamFacts:
        lines = max(self.lines, len(stream))
        return StreamFacts(lines, stream.size, self._blanks[:], stream.problem, lines - self._read)


class LastMessage(Struct, frozen=True):
    """The last message of a role, and its line."""

    text: str
    line: int


class RepeatedContent(Struct, frozen=True):
    """A large content in more than one message; `first` and `last` are lines, from 0."""

    digest: str
    size: int
    times: int
    first: int
    last: int


class Survey(Struct, frozen=True):
    """The results of a whole pass over both histories."""

    messages: StreamFacts
    events: StreamFacts
    runs: RunFacts
    findings: tuple[Finding, ...]
    event_marks: tuple[EventMark, ...]
    event_marks_left_out: int
    roles: dict[str, int]
    long_lines: tuple[tuple[Origin, int], ...]
    """Messages that are too long for the prompt, with their length; the first thousand."""
    long_count: int
    assistant: LastMessage | None
    user: LastMessage | None
    repeated: tuple[RepeatedContent, ...]
    contents: frozenset[str]
    """The SHA-256 of every large content in the messages."""
    wanted: frozenset[str]
    """The ids of events and calls that were searched for."""
    id_lines: dict[tuple[str, str], tuple[int, ...]]
    """By history and wanted id: the line with that id, and one line for each different output of it."""
    user_lines: tuple[int, ...]
    """The lines of the first user messages without a run."""
    compactions: tuple[SessionCompaction, ...]
    """The latest ones, in the order of their first calls."""
    cancels: tuple[tuple[str, Origin], ...]
    """The children that were cancelled because their parent died, with the origin of the event."""

    def facts(self, stream: str) -> StreamFacts:
        return self.events if stream.startswith("events") else self.messages


class SessionFacts(Struct, frozen=True):
    """All facts about a session; `survey` is None and a blob not in `blobs` until they are read."""

    session: Session
    history: SessionHistory
    profile: Profile
    survey: Survey | None = None
    blobs: Mapping[str, BlobFacts] = field(default_factory=dict)

    def blob_facts(self, blob: Blob) -> BlobFacts | None:
        return self.blobs.get(blob.name)

    @property
    def complete(self) -> bool:
        return self.survey is not None and len(self.blobs) >= len(self.session.swap.blobs) + len(
            self.session.dedup.blobs
        )


def event_mark(
    line: HistoryLine, value: dict[str, JsonValue], time: str | None = None, compacted: str | None = None
) -> EventMark | None:
    """Return the mark for an event, or None for the many that only carry text or figures.

    `compacted` describes a compaction by this event.
    """
    kind = value.get("type")
    if not isinstance(kind, str):
        return None
    made = _label(kind, value) if compacted is None else ("compaction", f"compaction: {compacted}")
    if made is None:
        return None
    word, label = made
    run = value.get("run")
    run = run if isinstance(run, str) else None
    place = (line.file, line.number or 0, line.start, line.end)
    return EventMark(word, beginning(label, LONGEST_LABEL), run, place, time)


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
