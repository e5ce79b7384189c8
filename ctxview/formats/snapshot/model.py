"""The content of a v3 file as it was written: nothing is repaired, dropped or judged here.

`parser` and `agent_store` build these values, the rules check them, and `state` turns them into the neutral
state. A value of the wrong type is kept: its accessor returns None, and the rules report why.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property

from msgspec import Struct, field

from ctxview.core.origin import JsonValue, Origin
from ctxview.files.strict_json.document import JsonDocument, JsonError
from ctxview.files.strict_json.tree import join

TIERS = ("core", "working", "ephemeral", "longterm")
REQUIRED_BLOCK_FIELDS = ("id", "type", "decay", "confidence", "round", "tags", "content")
TERMINAL_STATUSES = ("done", "failed", "cancelled")
STATUSES = ("open", *TERMINAL_STATUSES)
PHASES = ("planning", "doing", "verifying", "blocked")
ACTIONS_WITH_TARGET = ("todo_update", "todo_complete", "todo_reopen", "todo_remove")
ACTIONS_WITHOUT_TARGET = ("none", "todo_list", "todo_add", "todo_clear_done")
SEPARATOR = "<<<CONTEXT>>>"
SYSTEM_FIELDS: tuple[tuple[str, ...], ...] = (
    ("version",),
    ("runtime", "round"),
    ("runtime", "workspace"),
    ("runtime", "datetime"),
    ("runtime", "startup_at"),
    ("todo", "summary"),
    ("todo", "total"),
    ("todo", "step"),
)
"""The fields that the protocol reserves for the system: a model must send them back unchanged."""


class SnapshotRole(StrEnum):
    """Whose view of the state a snapshot is; the role decides which rules apply."""

    STORED = "stored"
    INJECTED = "injected"
    EMITTED = "emitted"


def number(value: JsonValue) -> float | None:
    """Return `value` if it is a number; None for everything else, `true` included."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def integer(value: JsonValue) -> int | None:
    """Return `value` as an integer if it is one by value (`2.0` is); None otherwise."""
    found = number(value)
    return int(found) if found is not None and float(found).is_integer() else None


def text(value: JsonValue) -> str | None:
    """Return `value` if it is a string; None otherwise."""
    return value if isinstance(value, str) else None


def utf16_length(value: str) -> int:
    """Return the length of `value` in UTF-16 units, as the runtime counts it."""
    return len(value) if value.isascii() else len(value.encode("utf-16-le", "surrogatepass")) // 2


def member_at(value: JsonValue, path: tuple[str, ...]) -> tuple[bool, JsonValue]:
    """Return whether the objects in `value` have a member at `path`, and that member."""
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return False, None
        value = value[key]
    return True, value


class MemoryBlock(Struct, frozen=True):
    """One element of a tier's array; a property is None when its field is absent or has the wrong type."""

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
        """The id, or the place in the tier when there is none; for messages."""
        return self.id if self.id and self.id.strip() else f"{self.tier}[{self.index}]"


class Snapshot(Struct, frozen=True, dict=True):
    """A snapshot object inside `document`, at `pointer` ("" when it is the whole document)."""

    file: str
    document: JsonDocument
    pointer: str
    value: dict[str, JsonValue]
    role: SnapshotRole
    answered_round: int | None = None
    """The round of the snapshot that a reply answers: the runtime discards the one that the reply states."""

    def at(self, *path: str | int) -> str:
        """Return the pointer, in the file's document, of the member at `path` of the snapshot."""
        return join(self.pointer, *path)

    def origin(self, *path: str | int) -> Origin:
        return self.document.origin(self.file, self.at(*path))

    def origin_of(self, pointer: str) -> Origin:
        """Return the origin of a pointer that is already absolute, such as a block's."""
        return self.document.origin(self.file, pointer)

    def section(self, name: str) -> dict[str, JsonValue]:
        """Return the member `name`, which should be an object; an empty one when it is not."""
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
        """The round that is answered, else the one at the place of the file's version (top level in 1.2)."""
        if self.answered_round is not None:
            return self.answered_round
        return integer(self.runtime.get("round", self.value.get("round")))

    @property
    def startup_at(self) -> int | None:
        return integer(self.runtime.get("startup_at"))

    @cached_property
    def blocks(self) -> tuple[MemoryBlock, ...]:
        """The elements of all tier arrays: known tiers in protocol order, then unknown ones."""
        memory = self.section("memory")
        names = [*(tier for tier in TIERS if tier in memory), *(name for name in memory if name not in TIERS)]
        return tuple(
            MemoryBlock(name, index, self.at("memory", name, index), item)
            for name in names
            if isinstance(items := memory[name], list)
            for index, item in enumerate(items)
        )

    def tier(self, name: str) -> tuple[MemoryBlock, ...]:
        return tuple(block for block in self.blocks if block.tier == name)


class Reply(Struct, frozen=True):
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


class SavedLog(Struct, frozen=True):
    """A log envelope: full (`context`, `injectedContext`, …) or lite (`modelContext`, `meta`)."""

    file: str
    document: JsonDocument
    pointer: str
    """Where the envelope is in the document: "", or `/data` inside an API response."""
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


class MemoryEntry(Struct, frozen=True):
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


class QueueLine(Struct, frozen=True):
    """One line of `memory-queue.wal`: a job, or the problem that makes it unreadable."""

    line: int
    start: int
    end: int
    job: dict[str, JsonValue] | None
    problem: str | None


class TodoRow(Struct, frozen=True):
    """A row of `todo_items`."""

    id: int
    title: str
    note: str
    status: str


class AgentStore(Struct, frozen=True):
    """The content of an `.agent` folder beside its logs; a part is None if its file cannot be read."""

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
    """(file, reason) for every part that exists but cannot be read."""
    invalid_texts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By file and table, the texts that are not UTF-8."""
