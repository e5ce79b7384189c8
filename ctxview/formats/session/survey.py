"""What a whole pass over both histories tells: counts, runs, places, repetitions. See `surveyor`."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import field

from ctxview.findings import Finding
from ctxview.formats.session.compactions import Compaction
from ctxview.formats.session.moments import Moment
from ctxview.formats.session.runs import RunFacts
from ctxview.quick_dataclass import dataclass
from ctxview.state import Origin


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
    compactions: tuple[Compaction, ...]
    """The latest ones, in the order of their first calls."""
    cancels: tuple[tuple[str, Origin], ...]
    """Children that were cancelled because their parent died."""

    def facts(self, stream: str) -> StreamFacts:
        return self.events if stream.startswith("events") else self.messages
