"""Compactions, recognised in the events: calls that write the summary or take messages out of the window.

Sessions do not record compactions. Known are the call and, once it is answered, the message that answers it.
Calls of a run with no other call between them are one compaction.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.origin import JsonValue
from ctxview.formats.session.grammar import SourceKind, parse_citation
from ctxview.formats.session.messages import Message
from ctxview.formats.session.profile import CompactionWords

MOST_COMPACTIONS = 1000
"""The latest ones are stored; older ones are only counted."""
MOST_TEXTS = 200
"""The most strings that are read from the arguments of one call."""


class SessionCompaction(Struct, frozen=True):
    """One compaction; `number` counts all compactions from 1, lines count from 0 with blank ones."""

    number: int
    run: str
    events: tuple[int, ...]
    """The lines of its calls."""
    description: str
    """A few words about its effect."""
    answered: int | None = None
    """The last message line that answers one of its calls; None when none does yet."""
    time: str | None = None


class CompactionTracker:
    """Collects compactions from the tool calls and the messages, each passed in their order."""

    def __init__(self, words: CompactionWords) -> None:
        self._words = words
        self._count = 0
        self._compactions: dict[int, SessionCompaction] = {}
        self._calls: dict[str, int] = {}
        self._latest: dict[str, int] = {}
        """By run: the compaction that its last call belongs to."""

    def copy(self) -> CompactionTracker:
        made = CompactionTracker(self._words)
        made._count, made._compactions = self._count, dict(self._compactions)
        made._calls, made._latest = dict(self._calls), dict(self._latest)
        return made

    def call(self, value: dict[str, JsonValue], run: str, line: int, time: str | None) -> str | None:
        """Add a call and describe its effect on the context, or return None when it does not compact."""
        description = _description(value, self._words)
        if description is None:
            self._latest.pop(run, None)
            return None
        before = self._compactions.get(self._latest.get(run, 0))
        if before is None:
            self._count += 1
            self._latest[run] = self._count
            made = SessionCompaction(self._count, run, (line,), description, None, time)
        else:
            both = before.description
            if description not in both:
                both = f"{both}, {description}"
            events = (*before.events, line)
            made = replace(before, events=events, description=both, time=time or before.time)
        self._compactions[made.number] = made
        if len(self._compactions) > MOST_COMPACTIONS:
            oldest = self._compactions.pop(next(iter(self._compactions))).number
            self._calls = {name: number for name, number in self._calls.items() if number != oldest}
            self._latest = {run: number for run, number in self._latest.items() if number != oldest}
        if isinstance(name := value.get("id"), str):
            self._calls[name] = made.number
        return description

    def message(self, message: Message, line: int) -> None:
        for name in message.answers:
            made = self._compactions.get(self._calls.get(name, 0))
            if made is not None and message.run in (None, made.run):
                self._compactions[made.number] = replace(made, answered=line)

    def close(self) -> tuple[SessionCompaction, ...]:
        return tuple(self._compactions.values())


def _description(value: dict[str, JsonValue], words: CompactionWords) -> str | None:
    name = value.get("name")
    if not isinstance(name, str):
        return None
    texts = list(_texts(value.get("arguments")))
    ranges = [text for text in texts if parse_citation(text).kind is SourceKind.MESSAGES]
    if name in words.tools:
        moved = ", ".join(f"messages {text.partition(':')[2]}" for text in ranges[:3])
        return f"{moved} out of the window" if moved and name in words.swaps else f"by {name}"
    if any(word in name for word in words.writers):
        written = next((file for file in words.files if _names(file, texts)), None)
        return f"{written} written" if written is not None else None
    return None


def _names(file: str, texts: list[str]) -> bool:
    """Return whether the arguments name a file, by its path or by its folder and its name."""
    folder, _, name = file.rpartition("/")
    whole = any(text == file or text.endswith(f"/{file}") for text in texts)
    parted = name in texts and any(text.rstrip("/").endswith(folder) for text in texts)
    return whole or parted


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the first strings in the arguments of a call, the outer ones first."""
    waiting: list[JsonValue] = [value]
    for _ in range(MOST_TEXTS):
        if not waiting:
            return
        found = waiting.pop(0)
        if isinstance(found, str):
            yield found
        elif isinstance(found, list):
            waiting += found[:MOST_TEXTS]
        elif isinstance(found, dict):
            waiting += list(found.values())[:MOST_TEXTS]
