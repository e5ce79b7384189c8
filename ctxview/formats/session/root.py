"""A folder of sessions and its index: the sessions that exist, and those that the index lists."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from ctxview.core.origin import Origin
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.formats.kit.folder import EntryKind, FolderFile, SourceFolder
from ctxview.formats.kit.json_records import line_spans
from ctxview.formats.session import MESSAGES

SINGLE_NAMES = ("by-cwd", "by-hash", "by-uuid")
OUTSIDE = ("history", "memory", "context", "swap", "task")
"""Folders of context that belong inside a session only."""
LARGEST_PART = 1024 * 1024


class IndexEntry(Struct, frozen=True):
    """A name on a line of `index/list`."""

    name: str
    origin: Origin


class KnownSession(Struct, frozen=True):
    """A session of the root, as described by its one-word files."""

    name: str
    state: str | None
    cwd: str | None
    updated_at: int | None
    complete: bool
    """Whether it has a messages.jsonl."""


class SessionRoot(Struct, frozen=True, dict=True):
    """A folder of sessions with its index."""

    folder: SourceFolder
    list: FolderFile
    current: FolderFile
    listed: tuple[IndexEntry, ...]
    pointers: tuple[FolderFile, ...]
    """The files under by-cwd, by-hash and by-uuid, each with one session's name."""
    channels: tuple[FolderFile, ...]
    sessions: tuple[KnownSession, ...]
    links: tuple[str, ...]
    """Entries of the index that are symbolic links."""
    outside: tuple[str, ...]
    """Folders of context beside or above the sessions, relative to the root."""

    def session(self, name: str) -> KnownSession | None:
        return self._by_name.get(name)

    @cached_property
    def listed_names(self) -> frozenset[str]:
        return frozenset(each.name for each in self.listed)

    @cached_property
    def _by_name(self) -> dict[str, KnownSession]:
        return {each.name: each for each in self.sessions}

    @property
    def index(self) -> tuple[FolderFile, ...]:
        """All files of the index."""
        return self.list, self.current, *self.pointers, *self.channels

    def origin(self, part: FolderFile) -> Origin:
        return Origin(part.file, None, 0, len(part.data or b""), 1, 1)


def root_of(path: Path) -> Path | None:
    """Return the folder of sessions for `path`, which is that folder or its `index`, or None."""
    if path.name == "index" and _is_index(SourceFolder(path)):
        return path.parent
    return path if _is_index(SourceFolder(path / "index")) else None


def read_root(path: Path) -> SessionRoot:
    folder = SourceFolder(path)
    listing = folder.read("index/list", LARGEST_PART)
    data = listing.data or b""
    listed = []
    for index, start, end in line_spans(data):
        if name := data[start:end].decode("utf-8", "replace").strip():
            listed.append(IndexEntry(name, Origin(listing.file, None, start, end, index + 1, 1)))
    folders = (entry.name for entry in folder.entries() if entry.kind is EntryKind.FOLDER)
    names = [
        name
        for name in folders
        if not name.startswith(".") and name != "index" and not _is_context(folder, name)
    ]
    places = ("index", *(f"index/{name}" for name in (*SINGLE_NAMES, "channel")))
    found = ((place, entry) for place in places for entry in folder.entries(place))
    return SessionRoot(
        folder=folder,
        list=listing,
        current=folder.read("index/current", LARGEST_PART),
        listed=tuple(listed),
        pointers=tuple(_parts(folder, *SINGLE_NAMES)),
        channels=tuple(_parts(folder, "channel")),
        # Read through a folder of its own, which remembers no bytes: there may be many thousands.
        sessions=tuple(_known(SourceFolder(path), name) for name in names),
        links=tuple(f"{place}/{entry.name}" for place, entry in found if entry.kind is EntryKind.LINK),
        outside=tuple(_outside(path)),
    )


def channel_session(part: FolderFile) -> str | None:
    """Return the session that a channel leads to; None when it names none, or cannot be read."""
    try:
        value = parse(part.data or b"").value
    except JsonError:
        return None
    name = value.get("session") if isinstance(value, dict) else value
    return name if isinstance(name, str) and name else None


def _is_index(folder: SourceFolder) -> bool:
    return any(folder.entry(name).kind is not EntryKind.ABSENT for name in ("current", "list"))


def _known(folder: SourceFolder, name: str) -> KnownSession:
    words = {
        word: folder.read(f"{name}/{word}", LARGEST_PART).value for word in ("state", "cwd", "updated_at")
    }
    updated = words["updated_at"] or ""
    number = int(updated) if updated.isascii() and updated.isdigit() and len(updated) < 20 else None
    complete = folder.entry(f"{name}/{MESSAGES}").kind is EntryKind.FILE
    return KnownSession(name, words["state"], words["cwd"], number, complete)


def _parts(folder: SourceFolder, *places: str) -> Iterator[FolderFile]:
    for place in places:
        for entry in folder.entries(f"index/{place}"):
            yield folder.read(f"index/{place}/{entry.name}", LARGEST_PART)


def _outside(path: Path) -> Iterator[str]:
    """Yield context folders beside the sessions and, in a known layout, above them."""
    whole = path.absolute()
    places = [(whole, "")]
    if whole.name == "session":
        places.append((whole.parent, "../"))
        if whole.parent.parent.name == "agent":
            places.append((whole.parent.parent.parent, "../../../"))
    for place, prefix in places:
        folder = SourceFolder(place)
        for entry in folder.entries():
            if entry.kind is EntryKind.FOLDER and _is_context(folder, entry.name):
                yield f"{prefix}{entry.name}"


def _is_context(folder: SourceFolder, name: str) -> bool:
    """Whether a folder holds context outside a session; a session may have one of these names."""
    return name in OUTSIDE and folder.entry(f"{name}/{MESSAGES}").kind is EntryKind.ABSENT
