"""The content of a session folder beside its two histories, as it was written: not repaired, not checked.

The parser builds these values, rules check them, `state` turns them into a `ContextState`. For a value of the
wrong type the accessors return None, and the rules report it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct

from ctxview.core.origin import JsonValue, Origin
from ctxview.files.strict_json.values import as_text, as_texts, whole_number
from ctxview.formats.kit.folder import EntryKind, FolderEntry, FolderFile, SourceFolder
from ctxview.formats.kit.json_records import JsonObjectFile, JsonRecordFile
from ctxview.formats.session.grammar import digest_in

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
CHILD_FILES = ("agent", "session", "status", "handoff.md", "result.md", "refs.jsonl")


class ListedObject(Struct, frozen=True):
    """One element of a list in a file, with typed access to the members that have the right type."""

    index: int
    value: JsonValue

    @property
    def members(self) -> dict[str, JsonValue]:
        return self.value if isinstance(self.value, dict) else {}

    def word(self, name: str) -> str | None:
        return as_text(self.members.get(name))


class PackItem(ListedObject, frozen=True):
    """One item of a pack."""

    @property
    def kind(self) -> str | None:
        return self.word("kind")

    @property
    def source(self) -> str | None:
        return self.word("source")

    @property
    def tokens(self) -> int | None:
        found = whole_number(self.members.get("tokens"))
        return found if found is not None and found >= 0 else None

    @property
    def range(self) -> str | None:
        return self.word("range")

    @property
    def name(self) -> str:
        return self.source or self.kind or f"item {self.index + 1}"


class Pack(Struct, frozen=True, dict=True):
    """The pack as it was last written, as JSON and as Markdown."""

    json: JsonObjectFile
    markdown: FolderFile

    @cached_property
    def items(self) -> tuple[PackItem, ...]:
        found = self.json.members.get("items")
        return tuple(PackItem(*pair) for pair in enumerate(found)) if isinstance(found, list) else ()

    def origin(self, item: PackItem, *path: str | int) -> Origin:
        return self.json.origin("items", item.index, *path)


class Blob(Struct, frozen=True):
    """A chunk of the swap or a blob of the dedup store: a file named after its content."""

    id: str
    name: str
    file: str
    entry: FolderEntry

    @property
    def digest(self) -> str | None:
        """The SHA-256 in the name, or None for a placeholder."""
        return digest_in(self.id)


class BlobStore(Struct, frozen=True, dict=True):
    """The swap area or the dedup area: an index and the files it names."""

    index: JsonRecordFile
    blobs: tuple[Blob, ...] = ()

    def blob(self, id: str) -> Blob | None:  # noqa: A002 - the name of the field in the index
        return self._by_id.get(id)

    @cached_property
    def _by_id(self) -> dict[str, Blob]:
        return {blob.id: blob for blob in self.blobs}


class ChildChannel(Struct, frozen=True):
    """A channel between this session and a child agent."""

    name: str
    entries: tuple[FolderEntry, ...]
    parts: Mapping[str, FolderFile]
    refs: JsonRecordFile
    artifacts: tuple[FolderEntry, ...] = ()
    own_state: str | None = None
    """The state word of the child's session, when that session can be found."""
    own_session: bool | None = None
    """Whether the child's session exists; None when its place is unknown."""

    def part(self, name: str) -> FolderFile:
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
    def result(self) -> FolderFile:
        return self.parts["result.md"]

    def has(self, name: str, kind: EntryKind = EntryKind.FILE) -> bool:
        return any(entry.name == name and entry.kind is kind for entry in self.entries)


class PlanNode(ListedObject, frozen=True):
    """One node of the plan."""

    @property
    def id(self) -> str | None:
        return self.word("id")

    @property
    def child(self) -> str | None:
        return self.word("child")

    @property
    def deps(self) -> tuple[str, ...]:
        return as_texts(self.members.get("deps"))

    @property
    def name(self) -> str:
        return self.id or f"node {self.index + 1}"


class Plan(Struct, frozen=True, dict=True):
    """The plan of a parent agent: nodes that depend on each other."""

    json: JsonObjectFile

    @cached_property
    def nodes(self) -> tuple[PlanNode, ...]:
        found = self.json.members.get("nodes")
        return tuple(PlanNode(*pair) for pair in enumerate(found)) if isinstance(found, list) else ()


class GcPolicyLine(Struct, frozen=True):
    """One line of `gc.policy`; `key` is empty when the line is not a setting."""

    line: int
    start: int
    end: int
    key: str
    value: str


class GcPolicy(Struct, frozen=True):
    part: FolderFile
    settings: tuple[GcPolicyLine, ...] = ()

    def origin(self, setting: GcPolicyLine) -> Origin:
        return Origin(self.part.file, None, setting.start, setting.end, setting.line, 1)


class Session(Struct, frozen=True):
    """One session folder; `parts` are its known files by relative name, the histories without their bytes."""

    folder: SourceFolder
    name: str
    agent: str | None
    entries: tuple[FolderEntry, ...]
    context_entries: tuple[FolderEntry, ...]
    parts: Mapping[str, FolderFile]
    meta: JsonObjectFile
    runtime_state: JsonObjectFile
    facts: JsonRecordFile
    decisions: JsonRecordFile
    refs: JsonRecordFile
    pinned: tuple[FolderFile, ...]
    swap: BlobStore
    dedup: BlobStore
    pack: Pack
    plan: Plan
    gc: GcPolicy
    children: tuple[ChildChannel, ...]
    odd_children: tuple[FolderEntry, ...]
    """Entries of the child folder that are not folders."""
    unread_children: frozenset[str] = frozenset()
    """The names of the children that were not read, because there are too many."""
    unread_pinned: int = 0
    links: tuple[str, ...] = ()
    """Every symbolic link in the session, by relative name."""
    wide_open: tuple[str, ...] = ()
    """Relative names of everything that others than the owner may read or write."""
    unsearched: tuple[str, ...] = ()
    """The folders that were not searched for these two, because there are too many entries or too deep."""
    manifest: JsonObjectFile | None = None
    """The manifest of the columnar store, when there is one."""

    @property
    def record_files(self) -> tuple[JsonRecordFile, ...]:
        """The files of records, without those of children."""
        return self.facts, self.decisions, self.refs, self.swap.index, self.dedup.index

    def part(self, name: str) -> FolderFile:
        return self.parts[name]

    def file(self, name: str) -> str:
        return self.folder.file(name)

    def origin(self, name: str = "") -> Origin:
        """Return the origin of a file of the session, or of the folder without a `name`."""
        return Origin(self.file(name) if name else str(self.folder.root))

    @property
    def title(self) -> str:
        return title_of(self.agent, self.name)

    @property
    def state(self) -> str | None:
        return self.parts["state"].value

    @property
    def scope(self) -> str | None:
        return as_text(self.meta.members.get("scope"))

    @property
    def budget(self) -> int | None:
        """The budget as the builder reads it, or None when blank, absent or not a single number."""
        lines = [line for line in self.parts["context/budget"].text.split("\n") if line.strip()]
        if len(lines) != 1 or not lines[0].isascii() or not lines[0].isdigit() or len(lines[0]) > 19:
            return None
        return int(lines[0])

    def has_child(self, name: str) -> bool:
        return name in self.unread_children or self.child(name) is not None

    def child(self, name: str) -> ChildChannel | None:
        return next((child for child in self.children if child.name == name), None)

    @property
    def closed(self) -> Mapping[str, str]:
        """The folders that cannot be listed or searched, by relative name, each with the reason."""
        return self.folder.seen.closed

    def problems(self) -> Iterator[FolderFile]:
        """Yield every part that exists but cannot be read; for those in a closed folder see `closed`."""
        channels = (part for child in self.children for part in child.parts.values())
        for part in (*self.parts.values(), *self.pinned, *channels):
            unread = part.data is None and part.problem is not None
            if unread and part.kind not in (EntryKind.ABSENT, EntryKind.UNKNOWN):
                yield part


def title_of(agent: str | None, name: str) -> str:
    return f"{agent}/{name}" if agent else name


def node_states(session: Session) -> dict[int, str]:
    """Return the state of each node by index: done, error, cancelled, active, pending, ready or blocked.

    A node without a child is work of this session. Its completion is not recorded, so it is ready when all
    its dependencies are done, and blocked before. The state is unknown when the channel cannot be read.
    """
    statuses: dict[str, str | None] = {}
    for child in session.children:
        part = child.part("status")
        statuses[child.name] = "unknown" if part.exists and not part.readable else child.status
    unlisted = "unknown" if "context/child" in session.closed else None
    reported = {
        node.index: statuses.get(node.child, unlisted) if node.child is not None else None
        for node in session.plan.nodes
    }
    done = {node.id for node in session.plan.nodes if reported[node.index] == "done" and node.id is not None}
    return {
        node.index: reported[node.index] or ("ready" if all(dep in done for dep in node.deps) else "blocked")
        for node in session.plan.nodes
    }


def nodes_in_cycle(plan: Plan) -> list[PlanNode]:
    """Return the nodes that wait for each other; empty when the plan can be carried out."""
    waiting = {node.id: set(node.deps) for node in plan.nodes if node.id is not None}
    known = set(waiting)
    free = [name for name, deps in waiting.items() if not deps & known]
    while free:
        name = free.pop()
        known.discard(name)
        free += [other for other in known if name in waiting[other] and not waiting[other] & known]
    return [node for node in plan.nodes if node.id in known]
