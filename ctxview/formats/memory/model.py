"""The records of a bundle as values: memories, entries, snapshots, outbox rows and the calls of a trace.

Built by `parser` and `trace`. Nothing here judges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final

from msgspec import Struct, field

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import excerpt
from ctxview.core.origin import JsonValue, Origin
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.memory.records import PLACEHOLDER, spelled

LONG_ID: Final = 36
SHORT_ID: Final = 10


class Place(Struct, frozen=True):
    """The place of a record: its line, which is read when an origin is needed, and a path in it."""

    line: Callable[[], HistoryLine]
    path: tuple[str | int, ...] = ()

    def origin(self, name: str | None = None) -> Origin:
        """Return the origin of the record, or of its member `name` in either spelling."""
        line = self.line()
        value: JsonValue = line.value
        for part in self.path:
            match value, part:
                case dict(), str():
                    value = value.get(part)
                case list(), int() if part < len(value):
                    value = value[part]
                case _:
                    value = None
        if name is None or not isinstance(value, dict) or spelled(value, name) not in value:
            return line.origin(*self.path)
        return line.origin(*self.path, spelled(value, name))


class MemoryRecord(Struct, frozen=True):
    """One memory of a vault."""

    id: str
    title: str | None
    type: str | None
    place: Place


class Entry(Struct, frozen=True, kw_only=True, dict=True):
    """One raw message with its summary."""

    id: str | None
    memory: str | None
    raw: str | None
    summary: str | None
    time: str | None
    place: Place
    tags: Mapping[str, JsonValue] | None = None
    corrected: tuple[str, ...] = ()
    """The correction members that are set."""
    partial: bool = False
    """Whether the record is the debug line of a call, which leaves out raw text and tags."""

    @cached_property
    def when(self) -> datetime | None:
        return parse_time(self.time)

    @property
    def name(self) -> str:
        """The id, or the end of a UUID: ids of the same minute begin alike."""
        if not self.id:
            return "this entry"
        return self.id[-SHORT_ID:] if len(self.id) == LONG_ID and self.id.count("-") == 4 else self.id

    @property
    def shown(self) -> str:
        """The name for messages: short and safe to print."""
        return excerpt(self.name)


class ContextSnapshot(Struct, frozen=True, kw_only=True, dict=True):
    """One stored version of a context document; `text` is without its wrapper."""

    id: str | None
    memory: str | None
    text: str
    time: str | None
    place: Place
    wrapped: bool = False
    member: str = "context"
    """The member of the record that holds the text."""

    @cached_property
    def when(self) -> datetime | None:
        return parse_time(self.time)

    @property
    def is_placeholder(self) -> bool:
        return self.text.strip() == PLACEHOLDER


class OutboxRow(Struct, frozen=True):
    """One write that the service still has to bring into its index."""

    id: str
    target: str | None
    operation: str | None
    status: str | None
    attempts: int
    place: Place


class TraceMessage(Struct, frozen=True):
    """A message of a person or of the model in a trace."""

    role: str
    text: str
    time: str | None
    place: Place


class Call(Struct, frozen=True, kw_only=True):
    """One call of a memory tool, with its result where the trace has it."""

    tool: str
    """The name without a prefix of the client."""
    arguments: Mapping[str, JsonValue]
    time: str | None
    place: Place
    """The place of the arguments."""
    partial: bool = False
    """Whether the trace has only some of the arguments, like the debug lines of a server."""
    result: str | None = None
    failed: bool = False

    def text(self, name: str) -> str | None:
        found = self.arguments.get(name)
        return found if isinstance(found, str) else None

    @property
    def memory(self) -> str | None:
        return self.text("memory_id")

    @property
    def stored_text(self) -> str | None:
        """What add_entry stores, by which its entry is known: the raw text; of a debug line the summary."""
        return self.text("summary" if self.partial else "raw_entry")


class TraceSession(Struct, frozen=True):
    """The calls of one session about one memory, with the messages between them, in order."""

    items: tuple[Call | TraceMessage, ...]
    ended: str
    """How it ended: `END_SESSION`, `initialize`, `gap` or `end of file`."""
    memory: str | None = None

    @property
    def calls(self) -> list[Call]:
        return [item for item in self.items if isinstance(item, Call)]


class BrokenLine(Struct, frozen=True):
    """A line that is not a record of its file, and why."""

    file: str
    problem: str
    line: HistoryLine


class MemoryBundle(Struct, frozen=True, kw_only=True, dict=True):
    """Everything that was read of a bundle. Records are in the order of their files."""

    files: Mapping[str, str]
    """The files that exist: their names in the bundle, and in origins."""
    memories: Sequence[MemoryRecord] = ()
    entries: Sequence[Entry] = ()
    snapshots: Sequence[ContextSnapshot] = ()
    outbox: Sequence[OutboxRow] = ()
    sessions: Sequence[TraceSession] = ()
    broken: Sequence[BrokenLine] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    """The files that were not read whole, and what was left out."""
    streams: Mapping[str, object] = field(default_factory=dict)
    """The streams that were read, so that a later look knows which of them changed."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """The number of lines of each file."""
    complete: bool = True
    """False after a first look at a large bundle, which read only the last lines."""

    @cached_property
    def calls(self) -> list[Call]:
        return [call for session in self.sessions for call in session.calls]

    @cached_property
    def titles(self) -> dict[str, str]:
        return {memory.id: memory.title or memory.id for memory in self.memories}
