"""What a session folder holds beside its two histories, as it was written: nothing is repaired or judged.

Readers build these values, rules look at them, `state` turns them into what a person sees. A value of the
wrong type stays what it is: the accessors answer None, and the rules say why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property

from ctxview.files.json_document import JsonDocument, JsonError, join
from ctxview.formats.session.folder import Entry, EntryKind, Part, SessionFolder
from ctxview.formats.session.names import digest_in
from ctxview.formats.session.records import RecordFile
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue, Origin


def whole(value: JsonValue) -> int | None:
    """`value` as a whole number by value (`2.0` is one); None for everything else, `true` included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


def text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


@dataclass(frozen=True)
class JsonPart:
    """A file that should be one JSON object."""

    part: Part
    document: JsonDocument | None = None
    error: JsonError | None = None

    @property
    def file(self) -> str:
        return self.part.file

    @property
    def members(self) -> dict[str, JsonValue]:
        value = self.document.value if self.document is not None else None
        return value if isinstance(value, dict) else {}

    @property
    def is_object(self) -> bool:
        return self.document is not None and isinstance(self.document.value, dict)

    def origin(self, *path: str | int) -> Origin:
        if self.document is not None:
            return self.document.origin(self.file, join("", *path))
        if self.error is not None:
            place = self.error.place
            return Origin(self.file, None, place.offset, place.offset, place.line, place.column)
        return Origin(self.file)


@dataclass(frozen=True)
class PackItem:
    """Whatever stands in the list of a pack, with typed looks at the fields that have the right type."""

    index: int
    value: JsonValue

    @property
    def members(self) -> dict[str, JsonValue]:
        return self.value if isinstance(self.value, dict) else {}

    @property
    def kind(self) -> str | None:
        return text(self.members.get("kind"))

    @property
    def source(self) -> str | None:
        return text(self.members.get("source"))

    @property
    def tokens(self) -> int | None:
        found = whole(self.members.get("tokens"))
        return found if found is not None and found >= 0 else None

    @property
    def range(self) -> str | None:
        return text(self.members.get("range"))

    @property
    def name(self) -> str:
        return self.source or self.kind or f"item {self.index + 1}"


@dataclass(frozen=True)
class Pack:
    """The working set as it was last written, as data and as text."""

    json: JsonPart
    markdown: Part

    @cached_property
    def items(self) -> tuple[PackItem, ...]:
        found = self.json.members.get("items")
        return tuple(PackItem(*pair) for pair in enumerate(found)) if isinstance(found, list) else ()

    def origin(self, item: PackItem, *path: str | int) -> Origin:
        return self.json.origin("items", item.index, *path)


@dataclass(frozen=True, slots=True)
class Blob:
    """A chunk of the swap or a blob of the dedup store: a file named after its content."""

    id: str
    name: str
    file: str
    entry: Entry

    @property
    def digest(self) -> str | None:
        """What the name says its SHA-256 is; None for a placeholder."""
        return digest_in(self.id)


@dataclass(frozen=True)
class BlobStore:
    """The swap area or the dedup area: an index and the files it names."""

    index: RecordFile
    blobs: tuple[Blob, ...] = ()

    def blob(self, id: str) -> Blob | None:  # noqa: A002 - the index's own word
        return self._by_id.get(id)

    @cached_property
    def _by_id(self) -> dict[str, Blob]:
        return {blob.id: blob for blob in self.blobs}


@dataclass(frozen=True)
class Child:
    """A channel between this session and a child agent."""

    name: str
    entries: tuple[Entry, ...]
    parts: Mapping[str, Part]
    refs: RecordFile
    artifacts: tuple[Entry, ...] = ()
    own_state: str | None = None
    """The state word of the child's own session, where that can be found."""
    own_session: bool | None = None
    """Whether the child's own session is there; None when nobody can tell where it would be."""

    def part(self, name: str) -> Part:
        return self.parts[name]

    @property
    def agent(self) -> str | None:
        return self.parts["agent"].value

    @property
    def session(self) -> str | None:
        return self.parts["session"].value

    @property
    def status(self) -> str | None:
        return self.parts["status"].value

    @property
    def result(self) -> Part:
        return self.parts["result.md"]

    def has(self, name: str, kind: EntryKind = EntryKind.FILE) -> bool:
        return any(entry.name == name and entry.kind is kind for entry in self.entries)


CHILD_FILES = ("agent", "session", "status", "handoff.md", "result.md", "refs.jsonl")


@dataclass(frozen=True)
class PlanNode:
    """One node of the schedule, with typed looks at its fields."""

    index: int
    value: JsonValue

    @property
    def members(self) -> dict[str, JsonValue]:
        return self.value if isinstance(self.value, dict) else {}

    def word(self, name: str) -> str | None:
        return text(self.members.get(name))

    @property
    def id(self) -> str | None:
        return self.word("id")

    @property
    def child(self) -> str | None:
        return self.word("child")

    @property
    def deps(self) -> tuple[str, ...]:
        found = self.members.get("deps")
        return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()

    @property
    def name(self) -> str:
        return self.id or f"node {self.index + 1}"


@dataclass(frozen=True)
class Plan:
    json: JsonPart

    @cached_property
    def nodes(self) -> tuple[PlanNode, ...]:
        found = self.json.members.get("nodes")
        return tuple(PlanNode(*pair) for pair in enumerate(found)) if isinstance(found, list) else ()


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of `gc.policy`; `key` is empty when the line is none."""

    line: int
    start: int
    end: int
    key: str
    value: str


@dataclass(frozen=True)
class GcPolicy:
    part: Part
    settings: tuple[Setting, ...] = ()

    def origin(self, setting: Setting) -> Origin:
        return Origin(self.part.file, None, setting.start, setting.end, setting.line, 1)


@dataclass(frozen=True)
class Session:
    """One session folder; `parts` are its known files by relative name, the histories without their bytes."""

    folder: SessionFolder
    name: str
    agent: str | None
    entries: tuple[Entry, ...]
    context_entries: tuple[Entry, ...]
    parts: Mapping[str, Part]
    meta: JsonPart
    runtime_state: JsonPart
    facts: RecordFile
    decisions: RecordFile
    refs: RecordFile
    pinned: tuple[Part, ...]
    swap: BlobStore
    dedup: BlobStore
    pack: Pack
    plan: Plan
    gc: GcPolicy
    children: tuple[Child, ...]
    odd_children: tuple[Entry, ...]
    """Entries of the child folder that are no folders."""
    links: tuple[str, ...] = ()
    """Every symbolic link in the session, by relative name."""
    wide_open: tuple[str, ...] = field(default=())
    """Everything that others than the owner may read or write."""
    manifest: JsonPart | None = None
    """The manifest of the columnar store, when there is one."""

    def part(self, name: str) -> Part:
        return self.parts[name]

    def file(self, name: str) -> str:
        return self.folder.file(name)

    def origin(self, name: str = "") -> Origin:
        """A file of the session as a place; the folder itself without a name."""
        return Origin(self.file(name) if name else str(self.folder.root))

    @property
    def title(self) -> str:
        return f"{self.agent}/{self.name}" if self.agent else self.name

    @property
    def state(self) -> str | None:
        return self.parts["state"].value

    @property
    def scope(self) -> str | None:
        return text(self.meta.members.get("scope"))

    @property
    def budget(self) -> int | None:
        """The budget as the builder reads it: None when blank, absent or no single number."""
        lines = [line for line in self.parts["context/budget"].text.split("\n") if line.strip()]
        if len(lines) != 1 or not lines[0].isascii() or not lines[0].isdigit() or len(lines[0]) > 19:
            return None
        return int(lines[0])

    def child(self, name: str) -> Child | None:
        return next((child for child in self.children if child.name == name), None)

    def problems(self) -> Iterator[Part]:
        """Every part that is there but cannot be read."""
        for part in (*self.parts.values(), *self.pinned):
            if part.exists and part.data is None and part.problem is not None:
                yield part
        for child in self.children:
            yield from (part for part in child.parts.values() if part.exists and part.data is None)


SESSION_FILES = (
    "latest.md",
    "state",
    "cwd",
    "created_at",
    "updated_at",
    "meta.json",
    "current_run",
    "state.json",
)
CONTEXT_FILES = (
    "budget",
    "pack.json",
    "pack.md",
    "summary.md",
    "facts.jsonl",
    "decisions.jsonl",
    "todo.md",
    "refs.jsonl",
    "gc.policy",
    "plan.json",
    "swap/index.jsonl",
    "dedup/index.jsonl",
)
