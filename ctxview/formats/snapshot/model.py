"""What a v3 file holds, as it was written: nothing is repaired, dropped or judged here.

Readers build these values, rules look at them, `state` turns them into what a person sees. A value that
should be a number but is not stays what it is: the accessors answer None, and the rules say why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from enum import StrEnum
from functools import cached_property

from ctxview.files.json_document import JsonDocument, JsonError, join
from ctxview.origin import JsonValue, Origin
from ctxview.quick_dataclass import dataclass

TIERS = ("core", "working", "ephemeral", "longterm")
REQUIRED_BLOCK_FIELDS = ("id", "type", "decay", "confidence", "round", "tags", "content")
TERMINAL_STATUSES = ("done", "failed", "cancelled")
STATUSES = ("open", *TERMINAL_STATUSES)
PHASES = ("planning", "doing", "verifying", "blocked")
ACTIONS_WITH_TARGET = ("todo_update", "todo_complete", "todo_reopen", "todo_remove")
ACTIONS_WITHOUT_TARGET = ("none", "todo_list", "todo_add", "todo_clear_done")
SEPARATOR = "<<<CONTEXT>>>"


class Role(StrEnum):
    """Whose view of the state a snapshot is: this decides which rules apply."""

    STORED = "stored"
    INJECTED = "injected"
    EMITTED = "emitted"


def number(value: JsonValue) -> float | None:
    """`value` as a number; None for everything else, `true` included."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def integer(value: JsonValue) -> int | None:
    """`value` as an integer by value (`2.0` is one)."""
    found = number(value)
    return int(found) if found is not None and float(found).is_integer() else None


def text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def utf16_length(value: str) -> int:
    """Length as the runtime counts it: in UTF-16 units."""
    return len(value) if value.isascii() else len(value.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True)
class MemoryBlock:
    """Whatever stands in a tier's array, with typed looks at the fields that have the right type."""

    tier: str
    index: int
    pointer: str
    value: JsonValue

    @property
    def members(self) -> dict[str, JsonValue]:
        return self.value if isinstance(self.value, dict) else {}

    @property
    def id(self) -> str | None:
        return text(self.members.get("id"))

    @property
    def type(self) -> str | None:
        return text(self.members.get("type"))

    @property
    def decay(self) -> float | None:
        return number(self.members.get("decay"))

    @property
    def confidence(self) -> float | None:
        return number(self.members.get("confidence"))

    @property
    def round(self) -> int | None:
        return integer(self.members.get("round"))

    @property
    def content(self) -> str | None:
        return text(self.members.get("content"))

    @property
    def status(self) -> str | None:
        return text(self.members.get("status"))

    @property
    def content_state(self) -> str | None:
        return text(self.members.get("content_state"))

    @property
    def tag_id(self) -> str | None:
        return text(self.members.get("tag_id"))

    @property
    def tags(self) -> tuple[str, ...]:
        found = self.members.get("tags")
        return tuple(tag for tag in found if isinstance(tag, str)) if isinstance(found, list) else ()

    @property
    def name(self) -> str:
        """For messages: the id, or the place when there is none."""
        return self.id if self.id and self.id.strip() else f"{self.tier}[{self.index}]"


@dataclass(frozen=True)
class Snapshot:
    """One snapshot object inside a JSON document, at `pointer` of it ("" when it is the whole document)."""

    file: str
    document: JsonDocument
    pointer: str
    value: dict[str, JsonValue]
    role: Role

    def at(self, *path: str | int) -> str:
        """The pointer, in the file's document, of something inside the snapshot."""
        return join(self.pointer, *path)

    def origin(self, *path: str | int) -> Origin:
        return self.document.origin(self.file, self.at(*path))

    def origin_of(self, pointer: str) -> Origin:
        """For a pointer that is already absolute, such as a block's."""
        return self.document.origin(self.file, pointer)

    def section(self, name: str) -> dict[str, JsonValue]:
        """A member that should be an object; empty when it is not."""
        found = self.value.get(name)
        return found if isinstance(found, dict) else {}

    @property
    def runtime(self) -> dict[str, JsonValue]:
        return self.section("runtime")

    @property
    def todo(self) -> dict[str, JsonValue]:
        return self.section("todo")

    @property
    def round(self) -> int | None:
        """The current round, where the file's own version keeps it (flat in 1.2)."""
        return integer(self.runtime.get("round", self.value.get("round")))

    @property
    def startup_at(self) -> int | None:
        return integer(self.runtime.get("startup_at"))

    @cached_property
    def blocks(self) -> tuple[MemoryBlock, ...]:
        """Everything in every tier array: known tiers first in protocol order, then unknown ones."""
        memory = self.section("memory")
        names = [*(tier for tier in TIERS if tier in memory), *(name for name in memory if name not in TIERS)]
        return tuple(self._blocks_of(names, memory))

    def tier(self, name: str) -> tuple[MemoryBlock, ...]:
        return tuple(block for block in self.blocks if block.tier == name)

    def _blocks_of(self, names: list[str], memory: dict[str, JsonValue]) -> Iterator[MemoryBlock]:
        for name in names:
            items = memory[name]
            if isinstance(items, list):
                for index, item in enumerate(items):
                    yield MemoryBlock(name, index, self.at("memory", name, index), item)


@dataclass(frozen=True)
class Reply:
    """A model's whole answer: prose, separator, payload."""

    file: str
    data: bytes
    enabled: bool
    prose_end: int
    """Byte offset of the first separator, or the end of the data when there is none."""
    payload_start: int | None
    """Byte offset just after the first separator; None when there is none."""
    document: JsonDocument | None
    error: JsonError | None
    snapshot: Snapshot | None

    @property
    def prose(self) -> str:
        return self.data[: self.prose_end].decode("utf-8", "replace")


@dataclass(frozen=True)
class SavedLog:
    """A log envelope: full (`context`, `injectedContext`, …) or lite (`modelContext`, `meta`)."""

    file: str
    document: JsonDocument
    pointer: str
    """Where the envelope stands in the document ("" or `/data` inside an API wrapper)."""
    value: dict[str, JsonValue]
    lite: bool
    stored: Snapshot | None
    injected: Snapshot | None
    injected_key: str
    """`injectedContext`, or `modelContext` in a lite log."""
    debug: dict[str, JsonValue]
    debug_path: tuple[str, ...]

    def origin(self, *path: str | int) -> Origin:
        return self.document.origin(self.file, join(self.pointer, *path))


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A row of `persistent_memory_entries`."""

    row: int
    block_id: str
    source_tier: str
    memory_type: str
    summary: str
    content: str
    content_state: str
    tag_id: str | None
    tag_summary: str | None
    confidence: float | None
    decay: float | None
    status: str
    content_hash: str
    first_seen_round: int | None
    last_seen_round: int | None
    recall_count: int
    updated_at: str | None


@dataclass(frozen=True, slots=True)
class QueueLine:
    """One line of `memory-queue.wal`: a job, or why it cannot be read."""

    line: int
    start: int
    end: int
    job: dict[str, JsonValue] | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class TodoRow:
    """A row of `todo_items`."""

    id: int
    title: str
    note: str
    status: str


@dataclass(frozen=True)
class AgentStore:
    """What an `.agent` folder holds beside its logs; a part is None when its file is absent or unreadable."""

    folder: str
    database: str | None = None
    entries: tuple[MemoryEntry, ...] | None = None
    payloads: dict[str, str] = field(default_factory=dict)
    """tag id → full content."""
    fts_rows: int | None = None
    queue: str | None = None
    queue_lines: tuple[QueueLine, ...] | None = None
    todo_database: str | None = None
    todo_rows: tuple[TodoRow, ...] | None = None
    problems: tuple[tuple[str, str], ...] = ()
    """(file, reason) for every part that is there but cannot be read."""
