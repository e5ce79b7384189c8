"""The runs of a session, tracked event by event in bounded memory, and their anomalies.

Only facts are noted; the rules judge the anomalies. Places are stored as line numbers, which are small.
Histories may grow after they were read, so a message is matched to its run when the run's events are known.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import as_text
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.messages import Message, message_in

MOST_RUNS = 50_000
MOST_CALLS = 100_000
MOST_EARLY = 10_000
MOST_ANOMALIES = 500
"""The most anomalies of one kind; more are only counted."""


class RunAnomalyKind(StrEnum):
    NO_START = "no start"
    TWO_STARTS = "two starts"
    NO_DONE = "no done"
    TWO_DONES = "two dones"
    AFTER_DONE = "events after done"
    ERROR_THEN_OK = "an error, but done says ok"
    UNKNOWN_CALL = "a result without its call"
    UNANSWERED = "a call without a result"
    USER_WITHOUT_START = "a message without a start"
    TWO_USERS = "two different user messages"
    CLIENT_REUSED = "a client id used for something else"


class RunAnomaly(Struct, frozen=True):
    """An anomaly of a run, on a line of one of the histories."""

    kind: RunAnomalyKind
    run: str | None
    detail: str
    stream: str
    line: int


class Run(Struct):
    """One run as described by the histories. Lines are counted from 0, blank ones included.

    Only `RunTracker` changes a run, and it returns copies.
    """

    id: str
    line: int
    """The line of its first event."""
    last_line: int = 0
    """The line of its last event so far."""
    started: bool = False
    status: str | None = None
    """The status in its done event, or None before that event."""
    events: int = 0
    calls: int = 0
    errors: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    client: str | None = None
    scope_and_cwd: tuple[str | None, str | None] = (None, None)
    """The scope and the working directory in its start event."""
    first_message: int | None = None
    last_message: int | None = None
    time: str | None = None
    """The time of its last event that has one."""
    user: int | None = None
    """A hash of the text of its user message."""


class RunFacts(Struct, frozen=True):
    """The runs and anomalies at the end of both histories."""

    runs: tuple[Run, ...] = ()
    anomalies: tuple[RunAnomaly, ...] = ()
    counts: dict[RunAnomalyKind, int] = field(default_factory=dict)
    forgotten: int = 0
    """How many of the oldest runs and calls were dropped."""


class RunTracker:
    """Collects runs from events and messages, each passed in their order; `close` may be followed by more."""

    def __init__(self) -> None:
        self.events = 0
        self._runs: dict[str, Run] = {}
        self._calls: dict[int, int] = {}
        """The line of each call by the hash of its run and id; the complement of the line once answered."""
        self._call_ids: set[int] = set()
        self._results_without_run = False
        """Whether results have no run, as in old sessions: then unanswered calls cannot be determined."""
        self._clients: dict[str, str] = {}
        self._reused: list[tuple[str, str, str, int]] = []
        self._anomalies: list[RunAnomaly] = []
        self._counts: Counter[RunAnomalyKind] = Counter()
        self._forgotten = 0
        self._early: list[_RunMessage] = []
        """Messages of runs, and results of calls, without an event so far."""
        self._early_runs: Counter[str | None] = Counter()

    def copy(self) -> RunTracker:
        made = RunTracker()
        for name, value in vars(self).items():
            setattr(made, name, copy(value))
        made._runs = {name: replace(run) for name, run in self._runs.items()}
        return made

    def event(self, line: HistoryLine, value: dict[str, JsonValue], time: str | None = None) -> None:
        self.events += 1
        kind, name = value.get("type"), value.get("run")
        if not isinstance(name, str) or not isinstance(kind, str):
            return
        run = self._runs.get(name)
        if run is None:
            run = self._new(name, line)
            if kind != "start" and not self._forgotten:
                self._note_at(RunAnomalyKind.NO_START, name, kind, line)
        if run.status is not None and kind != "done":
            self._note_at(RunAnomalyKind.AFTER_DONE, name, kind, line)
        run.events += 1
        run.time, run.last_line = time or run.time, line.number or 0
        match kind:
            case "start":
                self._start(run, value, line)
            case "done":
                self._done(run, value, line)
            case "error":
                run.errors += 1
            case "tool_call":
                run.calls += 1
                self._call(name, value.get("id"), line)
            case "usage":
                run.input_tokens += _count(value.get("input_tokens"))
                run.output_tokens += _count(value.get("output_tokens"))
            case "message":
                self._results(message_in(line).answers, name, line.stream, line.number or 0)

    def message(self, line: HistoryLine, message: Message) -> None:
        if not self.events:
            return
        self._results_without_run = self._results_without_run or (
            message.run is None and bool(message.answers)
        )
        named = message.run is not None and line.number is not None
        user = hash(message.text) if named and message.role == "user" else None
        self._add(
            _RunMessage(message.run if named else None, message.run, user, message.answers, line.number or 0)
        )

    def catch_up(self) -> None:
        """Match the early messages again, after more events."""
        early, self._early = self._early, []
        self._early_runs.clear()
        for message in early:
            self._add(message)

    def close(self) -> RunFacts:
        """Return the runs and anomalies at the present end of both histories."""
        final = self.copy() if self._early else copy(self)
        final._anomalies, final._counts = copy(self._anomalies), copy(self._counts)
        for message in final._early:
            final._match(message)
        return final._facts()

    def _facts(self) -> RunFacts:
        for run in self._runs.values():
            if run.status is None:
                self._note(RunAnomaly(RunAnomalyKind.NO_DONE, run.id, "", EVENTS, run.line))
        for line in self._calls.values():
            if line >= 0 and not self._results_without_run:
                self._note(RunAnomaly(RunAnomalyKind.UNANSWERED, None, "", EVENTS, line))
        for client, first, second, line in self._reused:
            one, other = self._runs.get(first), self._runs.get(second)
            if one is not None and other is not None and _request(one) != _request(other):
                self._note(RunAnomaly(RunAnomalyKind.CLIENT_REUSED, second, client, EVENTS, line))
        runs = tuple(replace(run) for run in self._runs.values())
        return RunFacts(runs, tuple(self._anomalies), dict(self._counts), self._forgotten)

    def _add(self, message: _RunMessage) -> None:
        if not self._is_early(message):
            self._match(message)
            return
        self._early.append(message)
        self._early_runs[message.run] += 1
        if len(self._early) > MOST_EARLY:
            oldest = self._early.pop(0)
            self._early_runs[oldest.run] -= 1
            self._match(oldest)

    def _is_early(self, message: _RunMessage) -> bool:
        """Return whether its events may still follow; later messages of its run wait with it."""
        if message.run is not None:
            run = self._runs.get(message.run)
            not_started = run is None or (message.user is not None and not run.started)
            if not_started or self._early_runs[message.run]:
                return True
        return any(not self._knows(message.written_run, call) for call in message.answers)

    def _match(self, message: _RunMessage) -> None:
        self._results(message.answers, message.written_run, MESSAGES, message.line)
        if message.run is None:
            return
        run = self._runs.get(message.run)
        if message.user is not None:
            self._user(run, message)
        if run is not None:
            first, last = run.first_message, run.last_message
            run.first_message = message.line if first is None else min(first, message.line)
            run.last_message = message.line if last is None else max(last, message.line)

    def _new(self, name: str, line: HistoryLine) -> Run:
        run = self._runs[name] = Run(name, line.number or 0)
        if len(self._runs) > MOST_RUNS:
            oldest = self._runs.pop(next(iter(self._runs)))
            if oldest.status is None:
                self._note(RunAnomaly(RunAnomalyKind.NO_DONE, oldest.id, "", EVENTS, oldest.line))
            self._clients.pop(oldest.client or "", None)
            self._forgotten += 1
        return run

    def _start(self, run: Run, value: dict[str, JsonValue], line: HistoryLine) -> None:
        if run.started:
            self._note_at(RunAnomalyKind.TWO_STARTS, run.id, "", line)
        run.started = True
        run.client = as_text(value.get("client_id"))
        run.scope_and_cwd = (as_text(value.get("scope")), as_text(value.get("cwd")))
        if run.client is not None:
            first = self._clients.setdefault(run.client, run.id)
            if first != run.id and len(self._reused) < MOST_ANOMALIES:
                self._reused.append((run.client, first, run.id, line.number or 0))

    def _done(self, run: Run, value: dict[str, JsonValue], line: HistoryLine) -> None:
        status = as_text(value.get("status")) or "unknown"
        if run.status is not None:
            self._note_at(RunAnomalyKind.TWO_DONES, run.id, status, line)
        elif run.errors and status == "ok":
            self._note_at(RunAnomalyKind.ERROR_THEN_OK, run.id, "", line)
        run.status = status

    def _user(self, run: Run | None, message: _RunMessage) -> None:
        if (run is None and not self._forgotten) or (run is not None and not run.started):
            self._note(RunAnomaly(RunAnomalyKind.USER_WITHOUT_START, message.run, "", MESSAGES, message.line))
        if run is None:
            return
        if run.user not in (None, message.user):
            self._note(RunAnomaly(RunAnomalyKind.TWO_USERS, run.id, "", MESSAGES, message.line))
        run.user = message.user

    def _call(self, run: str, call: JsonValue, line: HistoryLine) -> None:
        if isinstance(call, str):
            self._calls[hash((run, call))] = line.number or 0
            self._call_ids.add(hash(call))
            if len(self._calls) > MOST_CALLS:
                self._calls.pop(next(iter(self._calls)))
                self._forgotten += 1

    def _results(self, answers: tuple[str, ...], run: str | None, stream: str, line: int) -> None:
        for call in answers:
            key = hash((run, call))
            if key in self._calls:
                self._calls[key] = min(self._calls[key], ~self._calls[key])
            elif not self._forgotten and not self._knows(run, call):
                self._note(RunAnomaly(RunAnomalyKind.UNKNOWN_CALL, run, call, stream, line))

    def _knows(self, run: str | None, call: str) -> bool:
        # Old messages have no run: any call with that id matches.
        return hash((run, call)) in self._calls or (run is None and hash(call) in self._call_ids)

    def _note_at(self, kind: RunAnomalyKind, run: str | None, detail: str, line: HistoryLine) -> None:
        self._note(RunAnomaly(kind, run, detail, line.stream, line.number or 0))

    def _note(self, anomaly: RunAnomaly) -> None:
        if self._counts[anomaly.kind] < MOST_ANOMALIES:
            self._anomalies.append(anomaly)
        self._counts[anomaly.kind] += 1


class _RunMessage(Struct, frozen=True):
    """The facts of a message about its run: `user` is a hash of a user's text, `answers` are call ids."""

    run: str | None
    written_run: str | None
    """The run as written, also when the line has no number."""
    user: int | None
    answers: tuple[str, ...]
    line: int


def _count(value: JsonValue) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _request(run: Run) -> tuple[int | None, tuple[str | None, str | None]]:
    return run.user, run.scope_and_cwd
