"""Reads the files of a workspace, each once and within bounds. Histories and logs are only named here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ctxview.core.origin import JsonValue
from ctxview.files.change_detector import stamp_of
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.formats.kit.folder import EntryKind, FolderFile, SourceFolder
from ctxview.formats.peek import Peek
from ctxview.formats.workspace.database import SessionDatabase, read_database
from ctxview.formats.workspace.format import (
    CONTEXT,
    NOTE,
    REPOSITORY_FILES,
    REPOSITORY_FOLDERS,
    SESSION,
    WorkspaceLayout,
    layout_of,
)
from ctxview.formats.workspace.markdown import MarkdownDocument
from ctxview.formats.workspace.model import BOOTSTRAP, Role, Workspace, WorkspaceFile, WorkspaceSettings

LARGEST_DOCUMENT = 2 * 1024 * 1024
LARGEST_CONFIG = 1024 * 1024
MOST_DOCUMENTS = 3000
MOST_IMPORTS = 50
DATABASE = "sessions.db"
CONFIG = "config.json"
_LEFTOVER = re.compile(r".*\.(?:tmp|lock)|.*~|\.#.*")
IMPORT = re.compile(r"(?<![\w`@/])@((?:\./)?[\w./-]*\w\.\w{1,6})\b")


def read_workspace(folder: SourceFolder, before: Workspace | None = None) -> Workspace:
    """Read the workspace in `folder`; never raises. `before` is an earlier reading of the same files."""
    layout = layout_of(Peek(folder.root)) or WorkspaceLayout("", True, 0, "")
    reader = _Reader(folder, layout.base, before)
    if layout.is_home:
        reader.read_home()
    else:
        reader.read_repository()
    database = None
    entry = folder.entry(DATABASE)
    if entry.kind is EntryKind.FILE and layout.is_home:
        database = _database(folder, before)
    elif entry.kind is EntryKind.LINK and layout.is_home:
        reader.unreadable.append((folder.file(DATABASE), "this is a symbolic link, which is not followed"))
    settings = WorkspaceSettings({}, {}, frozenset(), False)
    if layout.is_home:
        part = folder.read(CONFIG, LARGEST_CONFIG)
        settings = _settings(part)
        if part.exists and not part.readable:
            reader.unreadable.append((part.file, part.problem or "it cannot be read"))
    closed = [(folder.file(name), reason) for name, reason in sorted(folder.seen.closed.items())]
    return Workspace(
        folder=folder,
        base=layout.base,
        is_home=layout.is_home,
        files=tuple(reader.files),
        histories=tuple(sorted(reader.histories, key=_by_date)),
        audits=tuple(reader.audits),
        turns=tuple(reader.turns),
        learnings=reader.learnings,
        events=reader.events,
        skills=tuple(reader.skills),
        leftovers=tuple(reader.leftovers),
        database=database,
        settings=settings,
        unreadable=(*reader.unreadable, *closed),
        imports_left_out=reader.imports_left_out,
        links=reader.links,
    )


def _by_date(name: str) -> tuple[str, str]:
    dates = re.findall(r"\d{4}-\d{2}-\d{2}", name)
    return dates[-1] if dates else "", name


def _database(folder: SourceFolder, before: Workspace | None) -> SessionDatabase:
    for name in (DATABASE, f"{DATABASE}-wal"):
        folder.seen.note(folder.file(name), stamp_of(folder.file(name)))
    if before is not None and before.database is not None and folder.overlay:
        return before.database
    return read_database(folder.root / DATABASE)


class _Reader:
    def __init__(self, folder: SourceFolder, base: str, before: Workspace | None) -> None:
        self.folder = folder
        self._before = {each.name: each for each in before.files} if before is not None else {}
        self.base = base
        self.files: list[WorkspaceFile] = []
        self.histories: list[str] = []
        self.audits: list[str] = []
        self.turns: list[str] = []
        self.learnings: str | None = None
        self.events: str | None = None
        self.skills: list[str] = []
        self.leftovers: list[str] = []
        self.unreadable: list[tuple[str, str]] = []
        self.imports_left_out: dict[str, str] = {}
        self.links: dict[str, str] = {}

    def read_home(self) -> None:
        base = self.base
        for name in self._names(base):
            if name in BOOTSTRAP:
                self._add(base + name, Role.BOOTSTRAP)
            elif name == "HEARTBEAT.md":
                self._add(base + name, Role.HEARTBEAT)
            elif CONTEXT.fullmatch(name):
                self._add(base + name, Role.CONTEXT)
            elif name == "MEMORY.md":
                inner = self.folder.entry(f"{base}memory/MEMORY.md").kind is EntryKind.FILE
                self._add(base + name, Role.UNREAD_MEMORY if inner else Role.MEMORY)
            elif name == "events.jsonl":
                self.events = base + name
        for name in self._names(f"{base}memory/"):
            if name == "MEMORY.md":
                self._add(f"{base}memory/{name}", Role.MEMORY)
            elif NOTE.fullmatch(name):
                self._add(f"{base}memory/{name}", Role.NOTE)
            elif name == "learnings.jsonl":
                self.learnings = f"{base}memory/{name}"
        for folder, role in (("sessions", Role.SESSION), ("sessions/archived", Role.ARCHIVED)):
            for name in self._names(f"{base}memory/{folder}/"):
                if SESSION.fullmatch(name):
                    self._add(f"{base}memory/{folder}/{name}", role)
        for name in self._names(f"{base}memory/audit/"):
            if name.endswith(".turns.jsonl"):
                self.turns.append(f"{base}memory/audit/{name}")
            elif name.endswith(".jsonl"):
                self.audits.append(f"{base}memory/audit/{name}")
        self.skills += [f"{base}skills/{name}" for name in self._names(f"{base}skills/")]
        self.histories += [f"sessions/{name}" for name in self._names("sessions/") if name.endswith(".jsonl")]

    def read_repository(self) -> None:
        for name, readers in REPOSITORY_FILES.items():
            self._add(name, Role.INSTRUCTIONS, readers)
        for folder, (kind, readers) in REPOSITORY_FOLDERS.items():
            for name in self._below(folder):
                if name.endswith((".md", ".mdc")) and (kind != "skill" or name.endswith("/SKILL.md")):
                    self._add_rule(name, kind, readers)
        self._resolve_links()
        self._add_imports()

    def _names(self, folder: str) -> list[str]:
        # A FIFO or a socket in the place of a folder is a folder that cannot be listed.
        kinds = (EntryKind.FOLDER, EntryKind.OTHER)
        if folder and self.folder.entry(folder.rstrip("/")).kind not in kinds:
            return []
        names = [each.name for each in self.folder.entries(folder.rstrip("/"))]
        self.leftovers += [f"{folder}{name}" for name in names if folder and _LEFTOVER.fullmatch(name)]
        return names

    def _below(self, folder: str, depth: int = 0) -> Iterator[str]:
        kind = self.folder.entry(folder).kind
        if kind is EntryKind.LINK:
            self.links[folder] = _target(self.folder, folder)
        if kind in (EntryKind.ABSENT, EntryKind.LINK):
            return
        entries = self.folder.entries(folder)
        if depth > 3:
            if entries:
                self.folder.seen.capped[folder] = len(entries)
            return
        for each in entries:
            if each.kind is EntryKind.FOLDER:
                yield from self._below(f"{folder}/{each.name}", depth + 1)
            else:
                yield f"{folder}/{each.name}"

    def _add(
        self, name: str, role: Role, readers: tuple[str, ...] = (), scope: str = ""
    ) -> WorkspaceFile | None:
        part = self._read(name)
        if part is None:
            return None
        self.files.append(self._made(part, role, readers, scope))
        return self.files[-1]

    def _made(
        self, part: FolderFile, role: Role, readers: tuple[str, ...] = (), scope: str = ""
    ) -> WorkspaceFile:
        """Return the file; with the same bytes the one of the earlier reading, which is parsed already."""
        known = self._before.get(part.name)
        same = known is not None and (known.role, known.readers, known.scope) == (role, readers, scope)
        if known is not None and same and known.part.data == part.data:
            return known
        return WorkspaceFile(part, role, readers, scope)

    def _add_rule(self, name: str, kind: str, readers: tuple[str, ...]) -> None:
        """Add a file with a scope: one without any is loaded in every turn."""
        part = self._read(name)
        if part is None:
            return
        front = MarkdownDocument(part.file, part.data or b"").front
        scopes = [front.items(key) for key in ("globs", "paths", "applyTo")] if front is not None else []
        scope = ", ".join(each for items in scopes for each in items)
        always = front is None or front.text("alwaysApply") == "true" or (scope in ("", "**", "**/*"))
        if front is not None and name.endswith(".mdc"):
            always = front.text("alwaysApply") == "true"
        if kind != "rule" or not always:
            self.files.append(self._made(part, Role.ON_DEMAND, (), scope or kind))
        else:
            self.files.append(self._made(part, Role.INSTRUCTIONS, readers))

    def _read(self, name: str) -> FolderFile | None:
        part = self.folder.read(name, LARGEST_DOCUMENT)
        if part.kind is EntryKind.LINK:
            self.links[name] = _target(self.folder, name)
            return None
        if not part.exists or len(self.files) >= MOST_DOCUMENTS:
            return None
        if not part.readable:
            self.unreadable.append((part.file, part.problem or "it cannot be read"))
            return None
        return part

    def _resolve_links(self) -> None:
        """Let the agents that read a link read its target, when that is a file of this folder."""
        for name, target in list(self.links.items()):
            readers = REPOSITORY_FILES.get(name, ())
            known = self._add_readers(target, readers)
            if readers and not known and self.folder.entry(target).kind is EntryKind.FILE:
                self._add(target, Role.INSTRUCTIONS, readers)

    def _add_imports(self) -> None:
        """Add the files that CLAUDE.md imports with `@name`, below the opened folder only."""
        waiting = [each for each in self.files if "Claude Code" in each.readers]
        for file in waiting:
            for line in file.document.prose:
                for found in IMPORT.finditer(re.sub(r"`[^`]*`", "", line)):
                    place = os.path.join(os.path.dirname(file.name), found[1])  # noqa: PTH118, PTH120
                    name = os.path.normpath(place)
                    if self._add_readers(name, file.readers):
                        continue
                    if self.folder.entry(name).kind is not EntryKind.FILE:
                        continue
                    if len(waiting) >= MOST_IMPORTS:
                        self.imports_left_out.setdefault(name, file.file)
                    else:
                        added = self._add(name, Role.INSTRUCTIONS, file.readers)
                        waiting += [added] if added is not None else []

    def _add_readers(self, name: str, readers: tuple[str, ...]) -> bool:
        for at, each in enumerate(self.files):
            if each.name == name:
                everyone = tuple(dict.fromkeys((*each.readers, *readers)))
                role = Role.INSTRUCTIONS if everyone else each.role
                self.files[at] = self._made(each.part, role, everyone, each.scope)
                return True
        return False


def _target(folder: SourceFolder, name: str) -> str:
    """The name in the folder that a link gives, or the empty text."""
    try:
        given = os.readlink(folder.root / name)  # noqa: PTH115 - the text of the link, not a path
    except OSError:
        return ""
    return os.path.normpath(os.path.join(os.path.dirname(name), given))  # noqa: PTH118, PTH120


_SHOWN_MEMORY = frozenset(
    (
        *("enabled", "model", "workingMemoryBudget", "reflectionThreshold", "sessionCompleteAfterSecs"),
        *("staleMemoryTurnThreshold", "compactionThresholdPercent", "compactionThresholdTokens"),
        *("maxMessageAgeTurns", "maxHistoryTurns"),
    )
)


def _settings(part: FolderFile) -> WorkspaceSettings:
    """Return the settings that may be shown. All other values, such as keys, are dropped here."""
    try:
        value: JsonValue = parse(part.data).value if part.data is not None else None
    except JsonError:
        value = None
    config = value if isinstance(value, dict) else {}
    memory, provenance = config.get("memory"), config.get("provenance")
    return WorkspaceSettings(
        {key: each for key, each in memory.items() if key in _SHOWN_MEMORY}
        if isinstance(memory, dict)
        else {},
        {key: each for key, each in provenance.items() if isinstance(each, bool)}
        if isinstance(provenance, dict)
        else {},
        frozenset(_models(config)),
        isinstance(value, dict),
    )


def _models(value: JsonValue, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _models(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from _models(each, key)
    elif isinstance(value, str) and "model" in key.lower():
        yield value.casefold()
