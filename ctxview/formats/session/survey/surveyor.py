"""One pass over both histories, which collects every fact that needs a whole pass into a `Survey`.

The pass can be stopped anywhere and continued, also for histories that have only grown. Its memory is
bounded, and there is no result before its end.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from copy import copy
from threading import Lock

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.findings import Rule
from ctxview.core.origin import JsonValue, Origin
from ctxview.formats.kit.history import Cancelled, Report
from ctxview.formats.kit.history_line import HistoryLine, PassClock
from ctxview.formats.kit.history_passes import FindingTally
from ctxview.formats.session import EVENTS
from ctxview.formats.session.grammar import iso
from ctxview.formats.session.history import SessionHistory
from ctxview.formats.session.messages import answers_in, large_texts, message_in, outputs_in, size_of
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.survey.compactions import CompactionTracker
from ctxview.formats.session.survey.facts import (
    EventMark,
    LastMessage,
    RepeatedContent,
    StreamLayout,
    Survey,
    event_mark,
)
from ctxview.formats.session.survey.runs import RunTracker

MOST_MARKS = 3000
MOST_PLACES = 1000
MOST_CONTENTS = 50_000
MOST_CANCELS = 1000
MOST_OUTPUTS = 4
"""The most different outputs of one call that are noted: already two are ambiguous."""


class Surveyor:
    """Makes the pass in steps, in one thread at a time; other threads may read the result."""

    def __init__(
        self, history: SessionHistory, profile: Profile, rules: Sequence[Rule], wanted: Iterable[str] = ()
    ) -> None:
        """`rules` are those about a line and the profile."""
        self._history = history
        self._notes = _Notes(profile, rules, frozenset(wanted))
        self._working = Lock()
        self._steps = self._pass()
        self._result: Survey | None = None

    @property
    def result(self) -> Survey | None:
        """The survey, or None before the end of the pass."""
        return self._result

    @property
    def left(self) -> int:
        """How many bytes are still to be read."""
        return max(0, self._history.size - self._notes.events.done - self._notes.messages.done)

    def on(self, history: SessionHistory) -> Surveyor | None:
        """Return a surveyor that continues with grown histories, or None when it must start again."""
        with self._working:
            if not self._notes.runs.events and self._notes.messages.lines and len(history.events):
                # Before the first event the messages of runs were not noted.
                return None
            made = copy(self)
            made._notes = self._notes.copy()
        made._history = history
        made._working = Lock()
        made._steps = made._pass()
        if history != self._history:
            made._result = None
        return made

    def add_wanted(self, wanted: frozenset[str], cancelled: Cancelled) -> None:
        """Note the lines of these events and calls too, also in lines that were read already."""
        more = wanted - self._notes.wanted
        if not more:
            return
        with self._working:
            for name in more:
                self._notes.search_read_lines(name, self._history, cancelled)
            self._notes.wanted |= more
            self._result, self._steps = None, self._pass()

    def advance(self, cancelled: Cancelled, report: Report | None = None) -> bool:
        """Continue until the end or until `cancelled` returns True; return whether the end is reached."""
        for stream in (self._history.events, self._history.messages):
            stream.index(cancelled)
        while self._result is None and not cancelled():
            with self._working:
                done = next(self._steps, None)
            if report is not None and done is not None:
                report(done, self._history.size)
        return self._result is not None

    def _pass(self) -> Iterator[int]:
        notes, clock = self._notes, PassClock()
        torn: list[HistoryLine] = []
        for stream in (self._history.events, self._history.messages):
            layout, take = notes.part(stream.name)
            for line in stream.scan(layout.lines):
                if not line.ending:
                    torn.append(line)  # it may still change
                    continue
                layout.note(line)
                take(line)
                if clock.due(line.size):
                    yield notes.events.done + notes.messages.done
            if stream is self._history.events:
                notes.runs.catch_up()
        if torn:
            notes = notes.copy()
        for line in torn:
            layout, take = notes.part(line.stream)
            layout.note(line)
            take(line)
        self._result = notes.survey(self._history)


class _Content(Struct):
    """A large content, with the first and the last line that hold it."""

    size: int
    first: int
    last: int
    times: int = 1


class _Notes:
    def __init__(self, profile: Profile, rules: Sequence[Rule], wanted: frozenset[str]) -> None:
        self._profile = profile
        self._rules = rules
        self.wanted = wanted
        self.events = StreamLayout()
        self.messages = StreamLayout()
        self.runs = RunTracker()
        self._compactions = CompactionTracker(profile.compaction)
        self._tally = FindingTally()
        self._marks: deque[EventMark] = deque(maxlen=MOST_MARKS)
        self._mark_count = 0
        self._roles: Counter[str] = Counter()
        self._long: list[tuple[Origin, int]] = []
        self._long_count = 0
        self._last_messages: dict[str, LastMessage] = {}
        self._contents: dict[bytes, _Content] = {}
        self._id_lines: dict[tuple[str, str], dict[int | None, int]] = {}
        self._user_lines: list[int] = []
        self._cancels: list[tuple[str, Origin]] = []

    def copy(self) -> _Notes:
        made = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | dict | deque):
                setattr(made, name, copy(value))
        made.events, made.messages = self.events.copy(), self.messages.copy()
        made.runs, made._tally = self.runs.copy(), self._tally.copy()
        made._compactions = self._compactions.copy()
        made._contents = {digest: replace(content) for digest, content in self._contents.items()}
        made._id_lines = {key: dict(seen) for key, seen in self._id_lines.items()}
        return made

    def part(self, stream: str) -> tuple[StreamLayout, Callable[[HistoryLine], None]]:
        """Return how far a history was read, and what takes its lines."""
        return (self.events, self.event) if stream == EVENTS else (self.messages, self.message)

    def event(self, line: HistoryLine) -> None:
        self._check_line(line)
        value = line.value
        if value is None:
            return
        words = self._profile.words.event_times
        time = next((found for name in words if name in value and (found := iso(value[name]))), None)
        self.runs.event(line, value, time)
        if self.wanted:
            self._note_ids(self.wanted, line, value)
        child = value.get("child")
        cancels = value.get("type") == "agent.child.cancel" and len(self._cancels) < MOST_CANCELS
        if cancels and isinstance(child, str):
            self._cancels.append((child, line.origin()))
        run, compacted = value.get("run"), None
        if value.get("type") == "tool_call" and isinstance(run, str):
            compacted = self._compactions.call(value, run, line.number or 0, time)
        mark = event_mark(line, value, time, compacted)
        if mark is not None:
            self._marks.append(mark)
            self._mark_count += 1

    def message(self, line: HistoryLine) -> None:
        self._check_line(line)
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
        self.runs.message(line, message)
        self._compactions.message(message, line.number or 0)
        if self.wanted:
            self._note_ids(self.wanted, line, value)
        self._roles[message.role or "none"] += 1
        if message.role in ("user", "assistant") and line.number is not None:
            self._last_messages[message.role] = LastMessage(message.text, line.number)
            if message.role == "user" and message.run is None and len(self._user_lines) < MOST_PLACES:
                self._user_lines.append(line.number)
        for text in large_texts(value.get("content"), self._profile.large_content):
            self._note_content(text, line)

    def survey(self, history: SessionHistory) -> Survey:
        repeated = (
            RepeatedContent(digest.hex(), content.size, content.times, content.first, content.last)
            for digest, content in self._contents.items()
            if content.times > 1
        )
        return Survey(
            messages=self.messages.facts(history.messages),
            events=self.events.facts(history.events),
            runs=self.runs.close(),
            findings=self._tally.findings(),
            event_marks=tuple(self._marks),
            event_marks_left_out=self._mark_count - len(self._marks),
            roles=dict(self._roles),
            long_lines=tuple(self._long),
            long_count=self._long_count,
            assistant=self._last_messages.get("assistant"),
            user=self._last_messages.get("user"),
            repeated=tuple(sorted(repeated, key=lambda each: -each.size * each.times)),
            contents=frozenset(digest.hex() for digest in self._contents),
            wanted=self.wanted,
            id_lines={key: tuple(sorted(set(seen.values()))) for key, seen in self._id_lines.items()},
            user_lines=tuple(self._user_lines),
            compactions=self._compactions.close(),
            cancels=tuple(self._cancels),
        )

    def _check_line(self, line: HistoryLine) -> None:
        for rule in self._rules:
            for hit in rule.check(line, self._profile):
                self._tally.add_hit(rule, hit, line.file)

    def search_read_lines(self, name: str, history: SessionHistory, cancelled: Cancelled) -> None:
        """Note the lines with an id among those that were read already."""
        for stream, layout in ((history.events, self.events), (history.messages, self.messages)):
            for number in stream.find(name, 0, False, cancelled):
                if number >= layout.lines:
                    break
                line = stream.line(number)
                if line.value is not None:
                    self._note_ids({name}, line, line.value)

    def _note_ids(self, wanted: Set[str], line: HistoryLine, value: dict[str, JsonValue]) -> None:
        """Note the lines with wanted ids; of many lines with the same output only the first."""
        own = value.get("id")
        named = (*answers_in(value.get("content")), *((own,) if isinstance(own, str) else ()))
        for name in wanted & set(named):
            seen = self._id_lines.setdefault((line.stream, name), {})
            if name == own:
                seen.setdefault(None, line.number or 0)
            for text in outputs_in(value, name):
                if len(seen) < MOST_OUTPUTS:
                    seen.setdefault(hash(text), line.number or 0)

    def _note_content(self, text: str, line: HistoryLine) -> None:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        known = self._contents.get(digest)
        number = line.number or 0
        if known is not None:
            known.times += 1
            known.last = number
        elif len(self._contents) < MOST_CONTENTS:
            self._contents[digest] = _Content(size_of(text), number, number)
