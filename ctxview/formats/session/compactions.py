"""Compactions as the events tell of them: calls that write the summary or take messages out of the window.

Sessions keep no record of a compaction. What is known is that such a call was made, and, once it is answered,
behind which message. Calls of a run with no other call between them are one compaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ctxview.formats.session.message import Message
from ctxview.formats.session.names import SourceKind, cited
from ctxview.formats.session.profile import CompactionWords
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue

MOST_KEPT = 1000
"""Of the latest; older ones are only counted."""
MOST_TEXTS = 200
"""Of the arguments of one call."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """`number` is its place among all compactions, from 1; lines are physical ones, from 0."""

    number: int
    run: str
    events: tuple[int, ...]
    """The lines of its calls."""
    told: str
    """What it did, in a few words."""
    answered: int | None = None
    """The last message line that answers one of its calls; None when none does yet."""
    time: str | None = None


class CompactionBook:
    """Is told the tool calls and the messages, each in their order."""

    def __init__(self, words: CompactionWords) -> None:
        self._words = words
        self._count = 0
        self._kept: dict[int, Compaction] = {}
        self._calls: dict[str, int] = {}
        self._latest: dict[str, int] = {}
        """By run: the compaction its last call was part of."""

    def copy(self) -> CompactionBook:
        made = CompactionBook(self._words)
        made._count, made._kept = self._count, dict(self._kept)
        made._calls, made._latest = dict(self._calls), dict(self._latest)
        return made

    def call(self, value: dict[str, JsonValue], run: str, line: int, time: str | None) -> str | None:
        """What a call did to the context, in a few words; None when it compacts nothing."""
        told = _told(value, self._words)
        if told is None:
            self._latest.pop(run, None)
            return None
        before = self._kept.get(self._latest.get(run, 0))
        made = self._new(run, line, told, time) if before is None else _going_on(before, line, told, time)
        self._keep(made)
        if isinstance(name := value.get("id"), str):
            self._calls[name] = made.number
        return told

    def message(self, message: Message, line: int) -> None:
        for name in message.answers:
            made = self._kept.get(self._calls.get(name, 0))
            if made is not None and message.run in (None, made.run):
                self._kept[made.number] = replace(made, answered=line)

    def close(self) -> tuple[Compaction, ...]:
        return tuple(self._kept.values())

    def _new(self, run: str, line: int, told: str, time: str | None) -> Compaction:
        self._count += 1
        self._latest[run] = self._count
        return Compaction(self._count, run, (line,), told, None, time)

    def _keep(self, made: Compaction) -> None:
        self._kept[made.number] = made
        if len(self._kept) > MOST_KEPT:
            oldest = self._kept.pop(next(iter(self._kept))).number
            self._calls = {name: number for name, number in self._calls.items() if number != oldest}
            self._latest = {run: number for run, number in self._latest.items() if number != oldest}


def _going_on(before: Compaction, line: int, told: str, time: str | None) -> Compaction:
    both = before.told if told in before.told else f"{before.told}, {told}"
    return replace(before, events=(*before.events, line), told=both, time=time or before.time)


def _told(value: dict[str, JsonValue], words: CompactionWords) -> str | None:
    name = value.get("name")
    if not isinstance(name, str):
        return None
    texts = list(_texts(value.get("arguments")))
    ranges = [text for text in texts if cited(text).kind is SourceKind.MESSAGES]
    if name in words.tools:
        moved = ", ".join(f"messages {text.partition(':')[2]}" for text in ranges[:3])
        return f"{moved} out of the window" if moved and name in words.swaps else f"by {name}"
    if any(word in name for word in words.writers):
        written = next((file for file in words.files if _names(file, texts)), None)
        return f"{written} written" if written is not None else None
    return None


def _names(file: str, texts: list[str]) -> bool:
    """Whether arguments name a file, by its path or by its folder and its name."""
    folder, _, name = file.rpartition("/")
    whole = any(text == file or text.endswith(f"/{file}") for text in texts)
    parted = name in texts and any(text.rstrip("/").endswith(folder) for text in texts)
    return whole or parted


def _texts(value: JsonValue) -> Iterator[str]:
    """The strings in the arguments of a call, not many of them, and not deep inside."""
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
