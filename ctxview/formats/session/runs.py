"""The runs of a session, followed event by event in bounded memory: what each did, and what is odd about it.

Notes facts only; what an oddity means is said by the rules.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from enum import StrEnum

from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import Message, message_in
from ctxview.state import JsonValue, Origin

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
    kind: Odd
    run: str | None
    detail: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Run:
    """One run as far as the histories tell. Message lines are physical ones, from 0."""

    id: str
    origin: Origin
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
        self._calls: dict[str, dict[str | None, _Call]] = {}
        self._clients: dict[str, str] = {}
        self._reused: list[tuple[str, str, str, Origin]] = []
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
                self._odd(Odd.NO_START, name, kind, line.origin())
        if run.status is not None and kind != "done":
            self._odd(Odd.AFTER_DONE, name, kind, line.origin())
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
                self._odd(Odd.NO_DONE, run.id, "", run.origin)
        for call, by_run in self._calls.items():
            for name, known in by_run.items():
                if not known.answered:
                    self._odd(Odd.UNANSWERED, name, call, known.origin)
        for client, first, second, origin in self._reused:
            one, other = self._runs.get(first), self._runs.get(second)
            if one is not None and other is not None and (one.user, one.asked) != (other.user, other.asked):
                self._odd(Odd.CLIENT_REUSED, second, client, origin)
        runs = tuple(run.frozen() for run in self._runs.values())
        return RunFacts(runs, tuple(self._oddities), dict(self._counts), self._forgotten)

    def _new(self, name: str, line: HistoryLine) -> _Going:
        run = self._runs[name] = _Going(name, line.origin())
        if len(self._runs) > MOST_RUNS:
            oldest = self._runs.pop(next(iter(self._runs)))
            if oldest.status is None:
                self._odd(Odd.NO_DONE, oldest.id, "", oldest.origin)
            self._clients.pop(oldest.client or "", None)
            self._forgotten += 1
        return run

    def _start(self, run: _Going, value: dict[str, JsonValue], line: HistoryLine) -> None:
        if run.started:
            self._odd(Odd.TWO_STARTS, run.id, "", line.origin())
        run.started = True
        run.client = _string(value.get("client_id"))
        run.asked = (_string(value.get("scope")), _string(value.get("cwd")))
        if run.client is not None:
            first = self._clients.setdefault(run.client, run.id)
            if first != run.id and len(self._reused) < MOST_ODDITIES:
                self._reused.append((run.client, first, run.id, line.origin()))

    def _done(self, run: _Going, value: dict[str, JsonValue], line: HistoryLine) -> None:
        status = _string(value.get("status")) or "unknown"
        if run.status is not None:
            self._odd(Odd.TWO_DONES, run.id, status, line.origin())
        elif run.errors and status == "ok":
            self._odd(Odd.ERROR_THEN_OK, run.id, "", line.origin())
        run.status = status

    def _user(self, run: _Going | None, message: Message, line: HistoryLine) -> None:
        if (run is None and not self._forgotten) or (run is not None and not run.started):
            self._odd(Odd.USER_WITHOUT_START, message.run, "", line.origin())
        if run is None:
            return
        said = hash(message.text)
        if run.user not in (None, said):
            self._odd(Odd.TWO_USERS, run.id, "", line.origin())
        run.user = said

    def _call(self, run: str, call: JsonValue, line: HistoryLine) -> None:
        if isinstance(call, str):
            self._calls.setdefault(call, {})[run] = _Call(line.origin())
            if len(self._calls) > MOST_CALLS:
                self._calls.pop(next(iter(self._calls)))
                self._forgotten += 1

    def _results(self, message: Message, run: str | None, line: HistoryLine) -> None:
        for call in message.answers:
            known = self._calls.get(call, {})
            # Old messages carry no run: any call of that name will have been meant.
            meant = list(known.values()) if run is None else [known[run]] if run in known else []
            for each in meant:
                each.answered = True
            if not meant and not self._forgotten:
                self._odd(Odd.UNKNOWN_CALL, run, call, line.origin())

    def _odd(self, kind: Odd, run: str | None, detail: str, origin: Origin) -> None:
        if self._counts[kind] < MOST_ODDITIES:
            self._oddities.append(Oddity(kind, run, detail, origin))
        self._counts[kind] += 1


@dataclass(slots=True)
class _Call:
    origin: Origin
    answered: bool = False


@dataclass(slots=True)
class _Going:
    """A run while its events come in; the same fields as `Run`, and a hash of its user message."""

    id: str
    origin: Origin
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
