"""The runs of a session, followed event by event in bounded memory: what each did, and what is odd about it.

Notes facts only; what an oddity means is said by the rules. Places are kept as line numbers, which are small.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from enum import StrEnum

from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import Message, message_in
from ctxview.formats.session.names import EVENTS
from ctxview.state import JsonValue

MOST_RUNS = 50_000
MOST_CALLS = 100_000
MOST_ODDITIES = 500
"""Of one kind; more are only counted."""


class Odd(StrEnum):
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


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something odd about a run, on a line of one of the histories."""

    kind: Odd
    run: str | None
    detail: str
    stream: str
    line: int


@dataclass(frozen=True, slots=True)
class Run:
    """One run as far as the histories tell. Lines are physical ones, from 0."""

    id: str
    line: int
    """Its first event."""
    started: bool = False
    status: str | None = None
    """What done said; None while it did not."""
    events: int = 0
    calls: int = 0
    errors: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    client: str | None = None
    asked: tuple[str | None, str | None] = (None, None)
    """Scope and working directory of its start."""
    first_message: int | None = None
    last_message: int | None = None


@dataclass(frozen=True)
class RunFacts:
    """What the run book knew when it was closed."""

    runs: tuple[Run, ...] = ()
    oddities: tuple[Oddity, ...] = ()
    counts: dict[Odd, int] = field(default_factory=dict)
    forgotten: int = 0
    """How many of the oldest runs and calls had to be forgotten."""


class RunBook:
    """Is told every event, then every message, then closed."""

    def __init__(self) -> None:
        self.events = 0
        self._runs: dict[str, _Going] = {}
        self._calls: dict[int, int] = {}
        """Line of each call by the hash of its run and id; answered ones have the complement of it."""
        self._call_ids: set[int] = set()
        self._runs_unsaid = False
        """Whether results came without their run, as in old sessions: then nobody knows what they answer."""
        self._clients: dict[str, str] = {}
        self._reused: list[tuple[str, str, str, int]] = []
        self._oddities: list[Oddity] = []
        self._counts: Counter[Odd] = Counter()
        self._forgotten = 0

    def event(self, line: HistoryLine, value: dict[str, JsonValue]) -> None:
        self.events += 1
        kind, name = value.get("type"), value.get("run")
        if not isinstance(name, str) or not isinstance(kind, str):
            return
        run = self._runs.get(name)
        if run is None:
            run = self._new(name, line)
            if kind != "start" and not self._forgotten:
                self._odd(Odd.NO_START, name, kind, line)
        if run.status is not None and kind != "done":
            self._odd(Odd.AFTER_DONE, name, kind, line)
        run.events += 1
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
                self._results(message_in(line), name, line)

    def message(self, line: HistoryLine, message: Message) -> None:
        if not self.events:
            return
        self._results(message, message.run, line)
        if message.run is None or line.number is None:
            return
        run = self._runs.get(message.run)
        if message.role == "user":
            self._user(run, message, line)
        if run is not None:
            run.first_message = line.number if run.first_message is None else run.first_message
            run.last_message = line.number

    def close(self) -> RunFacts:
        """Everything known at the end of both histories."""
        for run in self._runs.values():
            if run.status is None:
                self._note(Oddity(Odd.NO_DONE, run.id, "", EVENTS, run.line))
        for line in self._calls.values():
            if line >= 0 and not self._runs_unsaid:
                self._note(Oddity(Odd.UNANSWERED, None, "", EVENTS, line))
        for client, first, second, line in self._reused:
            one, other = self._runs.get(first), self._runs.get(second)
            if one is not None and other is not None and (one.user, one.asked) != (other.user, other.asked):
                self._note(Oddity(Odd.CLIENT_REUSED, second, client, EVENTS, line))
        runs = tuple(run.frozen() for run in self._runs.values())
        return RunFacts(runs, tuple(self._oddities), dict(self._counts), self._forgotten)

    def _new(self, name: str, line: HistoryLine) -> _Going:
        run = self._runs[name] = _Going(name, line.number or 0)
        if len(self._runs) > MOST_RUNS:
            oldest = self._runs.pop(next(iter(self._runs)))
            if oldest.status is None:
                self._note(Oddity(Odd.NO_DONE, oldest.id, "", EVENTS, oldest.line))
            self._clients.pop(oldest.client or "", None)
            self._forgotten += 1
        return run

    def _start(self, run: _Going, value: dict[str, JsonValue], line: HistoryLine) -> None:
        if run.started:
            self._odd(Odd.TWO_STARTS, run.id, "", line)
        run.started = True
        run.client = _string(value.get("client_id"))
        run.asked = (_string(value.get("scope")), _string(value.get("cwd")))
        if run.client is not None:
            first = self._clients.setdefault(run.client, run.id)
            if first != run.id and len(self._reused) < MOST_ODDITIES:
                self._reused.append((run.client, first, run.id, line.number or 0))

    def _done(self, run: _Going, value: dict[str, JsonValue], line: HistoryLine) -> None:
        status = _string(value.get("status")) or "unknown"
        if run.status is not None:
            self._odd(Odd.TWO_DONES, run.id, status, line)
        elif run.errors and status == "ok":
            self._odd(Odd.ERROR_THEN_OK, run.id, "", line)
        run.status = status

    def _user(self, run: _Going | None, message: Message, line: HistoryLine) -> None:
        if (run is None and not self._forgotten) or (run is not None and not run.started):
            self._odd(Odd.USER_WITHOUT_START, message.run, "", line)
        if run is None:
            return
        said = hash(message.text)
        if run.user not in (None, said):
            self._odd(Odd.TWO_USERS, run.id, "", line)
        run.user = said

    def _call(self, run: str, call: JsonValue, line: HistoryLine) -> None:
        if isinstance(call, str):
            self._calls[hash((run, call))] = line.number or 0
            self._call_ids.add(hash(call))
            if len(self._calls) > MOST_CALLS:
                self._calls.pop(next(iter(self._calls)))
                self._forgotten += 1

    def _results(self, message: Message, run: str | None, line: HistoryLine) -> None:
        self._runs_unsaid = self._runs_unsaid or (run is None and bool(message.answers))
        for call in message.answers:
            key = hash((run, call))
            if key in self._calls:
                self._calls[key] = min(self._calls[key], ~self._calls[key])
            elif not self._forgotten and (run is not None or hash(call) not in self._call_ids):
                # Old messages carry no run: any call of that name will have been meant.
                self._odd(Odd.UNKNOWN_CALL, run, call, line)

    def _odd(self, kind: Odd, run: str | None, detail: str, line: HistoryLine) -> None:
        self._note(Oddity(kind, run, detail, line.stream, line.number or 0))

    def _note(self, oddity: Oddity) -> None:
        if self._counts[oddity.kind] < MOST_ODDITIES:
            self._oddities.append(oddity)
        self._counts[oddity.kind] += 1


@dataclass(slots=True)
class _Going:
    """A run while its events come in; the same fields as `Run`, and a hash of its user message."""

    id: str
    line: int
    started: bool = False
    status: str | None = None
    events: int = 0
    calls: int = 0
    errors: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    client: str | None = None
    asked: tuple[str | None, str | None] = (None, None)
    first_message: int | None = None
    last_message: int | None = None
    user: int | None = None

    def frozen(self) -> Run:
        return Run(**{each.name: getattr(self, each.name) for each in fields(Run)})


def _count(value: JsonValue) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _string(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
