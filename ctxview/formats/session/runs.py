"""The runs of a session, followed event by event in bounded memory: what each did, and what is odd about it.

Notes facts only; what an oddity means is said by the rules. Places are kept as line numbers, which are small.
Histories may grow after they were read: what a message says of a run is judged when its events are known.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import field, replace
from enum import StrEnum

from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import Message, message_in
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue

MOST_RUNS = 50_000
MOST_CALLS = 100_000
MOST_EARLY = 10_000
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


@dataclass(slots=True)
class Run:
    """One run as far as the histories tell. Lines are physical ones, from 0.

    Only the book writes into one, and gives out copies.
    """

    id: str
    line: int
    """Its first event."""
    last_line: int = 0
    """Its last one so far."""
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
    time: str | None = None
    """When the last of its events was that says so."""
    user: int | None = None
    """A hash of what its user said."""


@dataclass(frozen=True)
class RunFacts:
    """What the run book knew when it was closed."""

    runs: tuple[Run, ...] = ()
    oddities: tuple[Oddity, ...] = ()
    counts: dict[Odd, int] = field(default_factory=dict)
    forgotten: int = 0
    """How many of the oldest runs and calls had to be forgotten."""


class RunBook:
    """Is told events and messages, each in their order; can be closed, told more, and closed again."""

    def __init__(self) -> None:
        self.events = 0
        self._runs: dict[str, Run] = {}
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
        self._early: list[_Said] = []
        """Messages of runs, and results of calls, that no event told of yet."""
        self._early_runs: Counter[str | None] = Counter()

    def copy(self) -> RunBook:
        """One that can be told more without this one knowing."""
        made = RunBook()
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
                self._odd(Odd.NO_START, name, kind, line)
        if run.status is not None and kind != "done":
            self._odd(Odd.AFTER_DONE, name, kind, line)
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
        self._runs_unsaid = self._runs_unsaid or (message.run is None and bool(message.answers))
        named = message.run is not None and line.number is not None
        user = hash(message.text) if named and message.role == "user" else None
        said = _Said(message.run if named else None, message.run, user, message.answers, line.number or 0)
        if self._is_early(said):
            self._wait(said)
        else:
            self._judge(said)

    def catch_up(self) -> None:
        """After more events: the messages that came before them can be judged now."""
        early, self._early = self._early, []
        self._early_runs.clear()
        for said in early:
            if self._is_early(said):
                self._wait(said)
            else:
                self._judge(said)

    def close(self) -> RunFacts:
        """Everything known at the end of both histories, as they are now."""
        final = self.copy() if self._early else copy(self)
        final._oddities, final._counts = copy(self._oddities), copy(self._counts)
        for said in final._early:
            final._judge(said)
        return final._facts()

    def _facts(self) -> RunFacts:
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
        runs = tuple(replace(run) for run in self._runs.values())
        return RunFacts(runs, tuple(self._oddities), dict(self._counts), self._forgotten)

    def _is_early(self, said: _Said) -> bool:
        """Whether its events may still come; what follows in its run waits with it."""
        if said.run is not None:
            run = self._runs.get(said.run)
            if run is None or (said.user is not None and not run.started) or self._early_runs[said.run]:
                return True
        return any(not self._knows(said.told_run, call) for call in said.answers)

    def _wait(self, said: _Said) -> None:
        self._early.append(said)
        self._early_runs[said.run] += 1
        if len(self._early) > MOST_EARLY:
            oldest = self._early.pop(0)
            self._early_runs[oldest.run] -= 1
            self._judge(oldest)

    def _judge(self, said: _Said) -> None:
        self._results(said.answers, said.told_run, MESSAGES, said.line)
        if said.run is None:
            return
        run = self._runs.get(said.run)
        if said.user is not None:
            self._user(run, said)
        if run is not None:
            first, last = run.first_message, run.last_message
            run.first_message = said.line if first is None else min(first, said.line)
            run.last_message = said.line if last is None else max(last, said.line)

    def _new(self, name: str, line: HistoryLine) -> Run:
        run = self._runs[name] = Run(name, line.number or 0)
        if len(self._runs) > MOST_RUNS:
            oldest = self._runs.pop(next(iter(self._runs)))
            if oldest.status is None:
                self._note(Oddity(Odd.NO_DONE, oldest.id, "", EVENTS, oldest.line))
            self._clients.pop(oldest.client or "", None)
            self._forgotten += 1
        return run

    def _start(self, run: Run, value: dict[str, JsonValue], line: HistoryLine) -> None:
        if run.started:
            self._odd(Odd.TWO_STARTS, run.id, "", line)
        run.started = True
        run.client = _string(value.get("client_id"))
        run.asked = (_string(value.get("scope")), _string(value.get("cwd")))
        if run.client is not None:
            first = self._clients.setdefault(run.client, run.id)
            if first != run.id and len(self._reused) < MOST_ODDITIES:
                self._reused.append((run.client, first, run.id, line.number or 0))

    def _done(self, run: Run, value: dict[str, JsonValue], line: HistoryLine) -> None:
        status = _string(value.get("status")) or "unknown"
        if run.status is not None:
            self._odd(Odd.TWO_DONES, run.id, status, line)
        elif run.errors and status == "ok":
            self._odd(Odd.ERROR_THEN_OK, run.id, "", line)
        run.status = status

    def _user(self, run: Run | None, said: _Said) -> None:
        if (run is None and not self._forgotten) or (run is not None and not run.started):
            self._note(Oddity(Odd.USER_WITHOUT_START, said.run, "", MESSAGES, said.line))
        if run is None:
            return
        if run.user not in (None, said.user):
            self._note(Oddity(Odd.TWO_USERS, run.id, "", MESSAGES, said.line))
        run.user = said.user

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
                self._note(Oddity(Odd.UNKNOWN_CALL, run, call, stream, line))

    def _knows(self, run: str | None, call: str) -> bool:
        # Old messages carry no run: any call of that name will have been meant.
        return hash((run, call)) in self._calls or (run is None and hash(call) in self._call_ids)

    def _odd(self, kind: Odd, run: str | None, detail: str, line: HistoryLine) -> None:
        self._note(Oddity(kind, run, detail, line.stream, line.number or 0))

    def _note(self, oddity: Oddity) -> None:
        if self._counts[oddity.kind] < MOST_ODDITIES:
            self._oddities.append(oddity)
        self._counts[oddity.kind] += 1


@dataclass(frozen=True, slots=True)
class _Said:
    """What matters of a message to its run: `user` is a hash of what a user said, `answers` are call ids."""

    run: str | None
    told_run: str | None
    user: int | None
    answers: tuple[str, ...]
    line: int


def _count(value: JsonValue) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _string(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
