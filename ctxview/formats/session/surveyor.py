"""One pass over both histories that finds out all that needs a whole pass; a `Survey` is what it found.

The pass can be stopped anywhere and goes on from there, also on a later look at histories that only grew; its
memory does not grow with them. What it knows before its end is not given away: until then nothing is known.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Set
from copy import copy
from dataclasses import dataclass, replace
from threading import Lock

from ctxview.findings import Finding
from ctxview.formats.session.compactions import CompactionBook
from ctxview.formats.session.finding_tally import FindingTally
from ctxview.formats.session.history import Cancelled, History, Report, Stream
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import Message, answers_in, large_texts, message_in, outputs_in, size_of
from ctxview.formats.session.moments import Moment, moment_in
from ctxview.formats.session.pace import Pace
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.runs import RunBook
from ctxview.formats.session.survey import Repeated, Spoken, StreamFacts, Survey
from ctxview.formats.session.times import iso
from ctxview.state import JsonValue, Origin

MOST_MOMENTS = 3000
MOST_PLACES = 1000
MOST_CONTENTS = 50_000
MOST_CANCELS = 1000
MOST_OUTPUTS = 4
"""So many different outputs of one call are noted: with two of them nobody knows which was meant."""

Judge = Callable[[HistoryLine], Iterable[Finding]]


class Surveyor:
    """Makes the pass, in as many goes as it takes. One thread at a time; others may ask for the result."""

    def __init__(self, history: History, profile: Profile, judge: Judge, wanted: Iterable[str] = ()) -> None:
        self._history = history
        self._notes = _Notes(profile, judge, frozenset(wanted))
        self._working = Lock()
        self._steps = self._pass()
        self._result: Survey | None = None

    @property
    def result(self) -> Survey | None:
        """All of it, or None while the pass is not over."""
        return self._result

    @property
    def left(self) -> int:
        """How many bytes the pass has still to read."""
        return max(0, self._history.size - self._notes.events.done - self._notes.messages.done)

    def on(self, history: History) -> Surveyor | None:
        """One that goes on from here through histories that begin with these; None when it cannot."""
        with self._working:
            if not self._notes.book.events and self._notes.messages.lines and len(history.events):
                # Without any event nobody noted what the messages say of runs.
                return None
            made = copy(self)
            made._notes = self._notes.copy()
        made._history = history
        made._working = Lock()
        made._steps = made._pass()
        if history != self._history:
            made._result = None
        return made

    def want(self, wanted: frozenset[str], cancelled: Cancelled) -> None:
        """Note the lines of these events and calls too, also where the pass has been already."""
        more = wanted - self._notes.wanted
        if not more:
            return
        with self._working:
            for name in more:
                self._notes.look_back_for(name, self._history, cancelled)
            self._notes.wanted |= more
            self._result, self._steps = None, self._pass()

    def advance(self, cancelled: Cancelled, report: Report | None = None) -> bool:
        """Go on until the end, or until somebody cancels; whether the end is reached."""
        for stream in (self._history.events, self._history.messages):
            stream.index(cancelled)
        while self._result is None and not cancelled():
            with self._working:
                done = next(self._steps, None)
            if report is not None and done is not None:
                report(done, self._history.size)
        return self._result is not None

    def _pass(self) -> Iterator[int]:
        notes, pace = self._notes, Pace()
        torn: list[HistoryLine] = []
        for line in self._lines(self._history.events, notes.events, torn):
            notes.event(line)
            if pace.due(line.size):
                yield notes.events.done + notes.messages.done
        notes.book.catch_up()
        for line in self._lines(self._history.messages, notes.messages, torn):
            notes.message(line)
            if pace.due(line.size):
                yield notes.events.done + notes.messages.done
        self._result = self._finish(torn)

    def _lines(self, stream: Stream, layout: _Layout, torn: list[HistoryLine]) -> Iterator[HistoryLine]:
        """Those that were not read yet. A last line without its newline may still become another one."""
        for line in stream.scan(layout.lines):
            if line.ending:
                layout.note(line)
                yield line
            else:
                torn.append(line)

    def _finish(self, torn: list[HistoryLine]) -> Survey:
        notes = self._notes.copy() if torn else self._notes
        for line in torn:
            events = line.stream == self._history.events.name
            (notes.events if events else notes.messages).note(line)
            (notes.event if events else notes.message)(line)
        return notes.survey(self._history)


class _Layout:
    """How far a history was read, and where its lines are."""

    def __init__(self) -> None:
        self.lines = 0
        self.done = 0
        self._blanks = array("Q")

    def copy(self) -> _Layout:
        made = copy(self)
        made._blanks = self._blanks[:]
        return made

    def note(self, line: HistoryLine) -> None:
        number = self.lines if line.number is None else line.number
        self.lines = number + 1
        self.done += line.size + line.ending
        if line.is_blank:
            self._blanks.append(number)

    def facts(self, stream: Stream) -> StreamFacts:
        return StreamFacts(max(self.lines, len(stream)), stream.size, self._blanks[:])


@dataclass(slots=True)
class _Content:
    size: int
    first: int
    last: int
    times: int = 1


class _Notes:
    """What was found out so far."""

    def __init__(self, profile: Profile, judge: Judge, wanted: frozenset[str]) -> None:
        self._profile = profile
        self._judge = judge
        self.wanted = wanted
        self.events = _Layout()
        self.messages = _Layout()
        self.book = RunBook()
        self._compactions = CompactionBook(profile.compaction)
        self._tally = FindingTally()
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

    def copy(self) -> _Notes:
        made = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | dict | deque):
                setattr(made, name, copy(value))
        made.events, made.messages = self.events.copy(), self.messages.copy()
        made.book, made._tally = self.book.copy(), self._tally.copy()
        made._compactions = self._compactions.copy()
        made._contents = {digest: replace(content) for digest, content in self._contents.items()}
        made._telling = {key: dict(seen) for key, seen in self._telling.items()}
        return made

    def event(self, line: HistoryLine) -> None:
        self._see(line)
        value = line.value
        if value is None:
            return
        time = self._time_in(value)
        self.book.event(line, value, time)
        if self.wanted:
            self._look_for(self.wanted, line, value)
        child = value.get("child")
        cancels = value.get("type") == "agent.child.cancel" and len(self._cancels) < MOST_CANCELS
        if cancels and isinstance(child, str):
            self._cancels.append((child, line.origin()))
        moment = moment_in(line, value, time, self._compacted(line, value, time))
        if moment is not None:
            self._moments.append(moment)
            self._moment_count += 1

    def message(self, line: HistoryLine) -> None:
        self._see(line)
        if line.is_blank:
            return
        limit = self._profile.limits.prompt_line
        if limit is not None and line.size > limit:
            self._long_count += 1
            if len(self._long) < MOST_PLACES:
                self._long.append((line.origin(), line.size))
        value = line.value
        if value is None:
            return
        message = message_in(line)
        self.book.message(line, message)
        self._compactions.message(message, line.number or 0)
        if self.wanted:
            self._look_for(self.wanted, line, value)
        self._roles[message.role or "none"] += 1
        self._note_spoken(line, message)
        for text in large_texts(value.get("content"), self._profile.large_content):
            self._note_content(text, line)

    def survey(self, history: History) -> Survey:
        repeated = (
            Repeated(digest.hex(), content.size, content.times, content.first, content.last)
            for digest, content in self._contents.items()
            if content.times > 1
        )
        return Survey(
            messages=self.messages.facts(history.messages),
            events=self.events.facts(history.events),
            runs=self.book.close(),
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
            wanted=self.wanted,
            telling={key: tuple(sorted(set(seen.values()))) for key, seen in self._telling.items()},
            user_lines=tuple(self._user_lines),
            compactions=self._compactions.close(),
            cancels=tuple(self._cancels),
        )

    def _time_in(self, value: dict[str, JsonValue]) -> str | None:
        names = self._profile.words.event_times
        return next((found for name in names if name in value and (found := iso(value[name]))), None)

    def _compacted(self, line: HistoryLine, value: dict[str, JsonValue], time: str | None) -> str | None:
        run = value.get("run")
        if value.get("type") != "tool_call" or not isinstance(run, str):
            return None
        return self._compactions.call(value, run, line.number or 0, time)

    def _see(self, line: HistoryLine) -> None:
        for finding in self._judge(line):
            self._tally.add(finding)

    def look_back_for(self, name: str, history: History, cancelled: Cancelled) -> None:
        """Where an id stands among the lines that were read already."""
        for stream, layout in ((history.events, self.events), (history.messages, self.messages)):
            for number in stream.find(name, 0, False, cancelled):
                if number >= layout.lines:
                    break
                line = stream.line(number)
                if line.value is not None:
                    self._look_for({name}, line, line.value)

    def _look_for(self, wanted: Set[str], line: HistoryLine, value: dict[str, JsonValue]) -> None:
        """Note where a wanted id stands; of many lines with the same output the first will do."""
        own = value.get("id")
        named = (*answers_in(value.get("content")), *((own,) if isinstance(own, str) else ()))
        for name in wanted & set(named):
            seen = self._telling.setdefault((line.stream, name), {})
            if name == own:
                seen.setdefault(None, line.number or 0)
            for text in outputs_in(value, name):
                if len(seen) < MOST_OUTPUTS:
                    seen.setdefault(hash(text), line.number or 0)

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
