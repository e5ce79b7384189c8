"""One pass over both histories that finds out all that needs a whole pass: counts, runs, places, repetitions.

The pass can be stopped anywhere and goes on from there; its memory does not grow with the histories. What it
knows before its end is not given away: until then nothing is known.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from threading import Lock

from ctxview.findings import Finding
from ctxview.formats.session.finding_tally import FindingTally
from ctxview.formats.session.history import Cancelled, History, Report, Stream
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import Message, answers_in, large_texts, message_in, outputs_in, size_of
from ctxview.formats.session.moments import Moment, moment_in
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.runs import RunBook, RunFacts
from ctxview.state import JsonValue, Origin

MOST_MOMENTS = 3000
MOST_PLACES = 1000
MOST_CONTENTS = 50_000
MOST_CANCELS = 1000
MOST_OUTPUTS = 4
"""So many different outputs of one call are noted: with two of them nobody knows which was meant."""
STEP = 512 * 1024
"""Bytes between two looks at whether somebody wants the pass to stop."""

Judge = Callable[[HistoryLine], Iterable[Finding]]


@dataclass(frozen=True)
class StreamFacts:
    """How a history is laid out. Records are the lines that are not blank, counted from 1."""

    lines: int
    size: int
    blanks: array[int] = field(default_factory=lambda: array("Q"))

    @property
    def records(self) -> int:
        return self.lines - len(self.blanks)

    def line_of(self, record: int) -> int:
        """The line, from 0, that holds the record of that number."""
        wanted = record - 1
        places = range(len(self.blanks))
        return wanted + bisect_right(places, wanted, key=lambda place: self.blanks[place] - place)

    def record_at(self, line: int) -> int:
        """The number of the record on a line that is not blank."""
        return line + 1 - bisect_left(self.blanks, line)


@dataclass(frozen=True, slots=True)
class Spoken:
    """The last message of somebody, and its line."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Repeated:
    """A large content that stands in more than one message; `first` and `last` are lines, from 0."""

    digest: str
    size: int
    times: int
    first: int
    last: int


@dataclass(frozen=True)
class Survey:
    """What a whole pass found out."""

    messages: StreamFacts
    events: StreamFacts
    runs: RunFacts
    findings: tuple[Finding, ...]
    moments: tuple[Moment, ...]
    moments_left_out: int
    roles: dict[str, int]
    long_lines: tuple[tuple[Origin, int], ...]
    """Messages the prompt never sees for their length, with that length; the first thousand."""
    long_count: int
    assistant: Spoken | None
    user: Spoken | None
    repeated: tuple[Repeated, ...]
    contents: frozenset[str]
    """The SHA-256 of every large content in the messages."""
    wanted: frozenset[str]
    """The ids of events and calls that were looked for."""
    telling: dict[tuple[str, str], tuple[int, ...]]
    """By history and id: the line that bears a wanted id, and those with each different output for it."""
    user_lines: tuple[int, ...]
    """The lines of the first user messages that name no run."""
    cancels: tuple[tuple[str, Origin], ...]
    """Children that were cancelled because their parent died."""

    def facts(self, stream: str) -> StreamFacts:
        return self.events if stream.startswith("events") else self.messages


class Surveyor:
    """Makes the pass, in as many goes as it takes. One thread at a time; others may ask for the result."""

    def __init__(self, history: History, profile: Profile, judge: Judge, wanted: Iterable[str] = ()) -> None:
        self._history = history
        self._profile = profile
        self._judge = judge
        self._wanted = frozenset(wanted)
        self._working = Lock()
        self._steps = self._pass()
        self._result: Survey | None = None
        self._tally = FindingTally()
        self._book = RunBook()
        self._moments: deque[Moment] = deque(maxlen=MOST_MOMENTS)
        self._moment_count = 0
        self._roles: Counter[str] = Counter()
        self._long: list[tuple[Origin, int]] = []
        self._long_count = 0
        self._spoken: dict[str, Spoken] = {}
        self._contents: dict[bytes, _Content] = {}
        self._telling: dict[tuple[str, str], dict[int | None, int]] = {}
        self._user_lines: list[int] = []
        self._cancels: list[tuple[str, Origin]] = []

    @property
    def result(self) -> Survey | None:
        """All of it, or None while the pass is not over."""
        return self._result

    def advance(self, cancelled: Cancelled, report: Report | None = None) -> bool:
        """Go on until the end, or until somebody cancels; whether the end is reached."""
        with self._working:
            for stream in (self._history.events, self._history.messages):
                stream.index(cancelled)
            while self._result is None and not cancelled():
                done = next(self._steps, None)
                if report is not None and done is not None:
                    report(done, self._history.size)
            return self._result is not None

    def _pass(self) -> Iterator[int]:
        events = _Layout(self._history.events)
        for line, done in events.walk():
            self._see(line)
            value = line.value
            if value is not None:
                self._event(line, value)
            if done is not None:
                yield done
        messages = _Layout(self._history.messages)
        for line, done in messages.walk():
            self._see(line)
            if not line.is_blank:
                self._message(line)
            if done is not None:
                yield events.size + done
        self._result = self._close(messages.facts(), events.facts())

    def _see(self, line: HistoryLine) -> None:
        for finding in self._judge(line):
            self._tally.add(finding)

    def _event(self, line: HistoryLine, value: dict[str, JsonValue]) -> None:
        self._book.event(line, value)
        if self._wanted:
            self._look_for_wanted(line, value)
        child = value.get("child")
        cancels = value.get("type") == "agent.child.cancel" and len(self._cancels) < MOST_CANCELS
        if cancels and isinstance(child, str):
            self._cancels.append((child, line.origin()))
        moment = moment_in(line, value)
        if moment is not None:
            self._moments.append(moment)
            self._moment_count += 1

    def _look_for_wanted(self, line: HistoryLine, value: dict[str, JsonValue]) -> None:
        """Note where a wanted id stands; of many lines with the same output the first will do."""
        own = value.get("id")
        named = (*answers_in(value.get("content")), *((own,) if isinstance(own, str) else ()))
        for name in self._wanted.intersection(named):
            seen = self._telling.setdefault((line.stream, name), {})
            if name == own:
                seen.setdefault(None, line.number or 0)
            for text in outputs_in(value, name):
                if len(seen) < MOST_OUTPUTS:
                    seen.setdefault(hash(text), line.number or 0)

    def _message(self, line: HistoryLine) -> None:
        limit = self._profile.limits.prompt_line
        if limit is not None and line.size > limit:
            self._long_count += 1
            if len(self._long) < MOST_PLACES:
                self._long.append((line.origin(), line.size))
        value = line.value
        if value is None:
            return
        message = message_in(line)
        self._book.message(line, message)
        if self._wanted:
            self._look_for_wanted(line, value)
        self._roles[message.role or "none"] += 1
        self._note_spoken(line, message)
        for text in large_texts(value.get("content"), self._profile.large_content):
            self._note_content(text, line)

    def _note_spoken(self, line: HistoryLine, message: Message) -> None:
        if message.role in ("user", "assistant") and line.number is not None:
            self._spoken[message.role] = Spoken(message.text, line.number)
            if message.role == "user" and message.run is None and len(self._user_lines) < MOST_PLACES:
                self._user_lines.append(line.number)

    def _note_content(self, text: str, line: HistoryLine) -> None:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        known = self._contents.get(digest)
        number = line.number or 0
        if known is not None:
            known.times += 1
            known.last = number
        elif len(self._contents) < MOST_CONTENTS:
            self._contents[digest] = _Content(size_of(text), number, number)

    def _close(self, messages: StreamFacts, events: StreamFacts) -> Survey:
        repeated = (
            Repeated(digest.hex(), content.size, content.times, content.first, content.last)
            for digest, content in self._contents.items()
            if content.times > 1
        )
        return Survey(
            messages=messages,
            events=events,
            runs=self._book.close(),
            findings=self._tally.findings(),
            moments=tuple(self._moments),
            moments_left_out=self._moment_count - len(self._moments),
            roles=dict(self._roles),
            long_lines=tuple(self._long),
            long_count=self._long_count,
            assistant=self._spoken.get("assistant"),
            user=self._spoken.get("user"),
            repeated=tuple(sorted(repeated, key=lambda each: -each.size * each.times)),
            contents=frozenset(digest.hex() for digest in self._contents),
            wanted=self._wanted,
            telling={key: tuple(sorted(set(seen.values()))) for key, seen in self._telling.items()},
            user_lines=tuple(self._user_lines),
            cancels=tuple(self._cancels),
        )


@dataclass(slots=True)
class _Content:
    size: int
    first: int
    last: int
    times: int = 1


class _Layout:
    """Walks a history and keeps count of its lines."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._lines = 0
        self._blanks = array("Q")
        self.size = stream.size

    def walk(self) -> Iterator[tuple[HistoryLine, int | None]]:
        """Each line; every so often with the bytes done by then."""
        done = looked = 0
        for line in self._stream.scan():
            number = self._lines if line.number is None else line.number
            self._lines = number + 1
            if line.is_blank:
                self._blanks.append(number)
            done += line.size + line.ending
            due = done - looked >= STEP
            looked = done if due else looked
            yield line, done if due else None

    def facts(self) -> StreamFacts:
        return StreamFacts(max(self._lines, len(self._stream)), self.size, self._blanks)
