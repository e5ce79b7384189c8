"""A workspace as written: its files by role, the documents of its sessions, and its settings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from msgspec import Struct

from ctxview.analysis.rfc3339 import parse_time
from ctxview.core.origin import JsonValue, Origin
from ctxview.formats.kit.folder import FolderFile, SourceFolder
from ctxview.formats.workspace.database import SessionDatabase, WorkingMemoryRow
from ctxview.formats.workspace.markdown import MarkdownDocument

BOOTSTRAP = ("AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md")
"""The files that a nanobot loads at every start, in prompt order."""
STATUSES = ("active", "completed", "archived")
DEFAULT_BUDGET = 600
"""The working memory budget in config.json that means: use the formula."""


class Role(StrEnum):
    """What a Markdown file of a workspace is for."""

    BOOTSTRAP = "bootstrap"
    MEMORY = "memory"
    UNREAD_MEMORY = "memory that is never read"
    CONTEXT = "context"
    SESSION = "session"
    ARCHIVED = "archived session"
    HEARTBEAT = "heartbeat"
    NOTE = "note"
    INSTRUCTIONS = "instructions"
    """A file of an ordinary repository that an agent loads in every turn."""
    ON_DEMAND = "on demand"
    """A file of an ordinary repository that an agent loads only sometimes."""


class WorkspaceFile(Struct, frozen=True, dict=True, eq=False):
    """One Markdown file with its role. `name` is relative to the opened folder."""

    part: FolderFile
    role: Role
    readers: tuple[str, ...] = ()
    """The agents that load it in every turn, in an ordinary repository."""
    scope: str = ""
    """The files that it is about, in an ordinary repository; empty for all."""

    @property
    def name(self) -> str:
        return self.part.name

    @property
    def short(self) -> str:
        return self.name.rpartition("/")[2]

    @property
    def file(self) -> str:
        return self.part.file

    @cached_property
    def document(self) -> MarkdownDocument:
        return MarkdownDocument(self.part.file, self.part.data or b"")


class ContextDocument(Struct, frozen=True, dict=True, eq=False):
    """A compacted document: a CONTEXT file, the body of a SESSION file or a working memory row."""

    name: str
    role: Role
    markdown: MarkdownDocument
    row: WorkingMemoryRow | None = None
    part: FolderFile | None = None

    def front(self, name: str) -> str | None:
        found = self.markdown.front
        return found.text(name) if found is not None else None

    @cached_property
    def key(self) -> str | None:
        return self.row.session_key if self.row is not None else self.front("session_key")

    @property
    def channel(self) -> str | None:
        """The part of the session key before the colon, or of the file name after the hyphen."""
        if self.role is Role.CONTEXT:
            name = self.name.rpartition("/")[2]
            return name[len("CONTEXT-") : -len(".md")] if name.startswith("CONTEXT-") else None
        return self.key.partition(":")[0] if self.key else None

    @cached_property
    def status(self) -> str:
        """The status as the program reads it: an unknown one means active."""
        written = self.row.status if self.row is not None else self.front("status")
        return written if written in (*STATUSES, "reflected") else "active"

    @property
    def updated(self) -> datetime | None:
        return parse_time(self.row.updated_at if self.row is not None else self.front("updated"))

    @property
    def body(self) -> str:
        return self.markdown.body


class WorkspaceSettings(Struct, frozen=True):
    """The settings of config.json that may be shown, and the model ids that only rules compare."""

    memory: Mapping[str, JsonValue]
    provenance: Mapping[str, JsonValue]
    models: frozenset[str]
    known: bool
    """Whether there is a config.json that could be read."""

    @property
    def verifies(self) -> bool:
        """Whether the program injects its verification rules; they are on unless switched off."""
        return self.provenance.get("enabled") is not False and (
            self.provenance.get("systemPromptRules") is not False
        )

    def number(self, name: str, default: int) -> int:
        found = self.memory.get(name)
        return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else default


class Workspace(Struct, frozen=True, dict=True, eq=False):
    """A workspace as read. `base` is the folder of its Markdown files: `workspace/` or empty."""

    folder: SourceFolder
    base: str
    is_home: bool
    """Whether this is the workspace of a nanobot; otherwise an ordinary repository."""
    files: tuple[WorkspaceFile, ...]
    histories: tuple[str, ...]
    """The names of the raw histories, oldest first; they are read as streams."""
    audits: tuple[str, ...]
    turns: tuple[str, ...]
    learnings: str | None
    events: str | None
    skills: tuple[str, ...]
    leftovers: tuple[str, ...]
    """Temporary and lock files."""
    database: SessionDatabase | None
    settings: WorkspaceSettings
    unreadable: tuple[tuple[str, str], ...] = ()
    """Files and folders that could not be read, each with the reason."""
    imports_left_out: Mapping[str, str] = {}
    """The imported files that were not read because there are too many, each with a file that imports it."""
    links: Mapping[str, str] = {}
    """Prompt files and folders of rules that are links to others, and the name that the link gives."""

    def of(self, *roles: Role) -> Iterator[WorkspaceFile]:
        return (each for each in self.files if each.role in roles)

    def file(self, name: str) -> WorkspaceFile | None:
        return next((each for each in self.files if each.name == name), None)

    @cached_property
    def bootstrap(self) -> tuple[WorkspaceFile, ...]:
        """The bootstrap files in prompt order; blank ones are skipped."""
        found = {each.short: each for each in self.of(Role.BOOTSTRAP) if not each.document.is_blank}
        return tuple(found[name] for name in BOOTSTRAP if name in found)

    @property
    def memory(self) -> WorkspaceFile | None:
        return next(self.of(Role.MEMORY), None)

    @cached_property
    def documents(self) -> tuple[ContextDocument, ...]:
        """The documents that a compaction wrote, without archived ones."""
        found = [
            ContextDocument(each.name, each.role, each.document, part=each.part)
            for each in self.of(Role.CONTEXT, Role.SESSION)
        ]
        if self.database is not None:
            for row in self.database.working_memory:
                place = Origin(self.database.file, f"/working_memory/{row.session_id}")
                text = MarkdownDocument(self.database.file, row.content.encode("utf-8", "replace"), place)
                found.append(ContextDocument(f"working memory of {row.name}", Role.SESSION, text, row))
        return tuple(found)

    @cached_property
    def current(self) -> ContextDocument | None:
        """The document of the session that is active now: the active one that was updated last."""
        active = [each for each in self.documents if each.role is Role.SESSION and each.status == "active"]
        rows = [each for each in active if each.row is not None]
        return max(rows or active, key=_age_key, default=None)

    @cached_property
    def era(self) -> str | None:
        """The storage era by the files that exist; None for an ordinary repository."""
        if not self.is_home:
            return None
        if self.database is not None:
            return "D" if self.database.has_working_memory else "C"
        return "B" if next(self.of(Role.CONTEXT), None) is not None else "A"


def session_hash(key: str) -> str:
    """Return the eight hexadecimal digits in the name of a SESSION file."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:8]


def _age_key(document: ContextDocument) -> tuple[float, str]:
    updated = document.updated
    return updated.timestamp() if updated is not None else 0.0, document.name
