"""A folder of sessions and its index: which sessions there are, and what the index says of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ctxview.formats.session.folder import Entry, EntryKind, Part, SessionFolder
from ctxview.formats.session.names import MESSAGES
from ctxview.formats.session.records import line_spans
from ctxview.quick_dataclass import dataclass
from ctxview.state import Origin

MOST_SESSIONS = 5000
SINGLE_NAMES = ("by-cwd", "by-hash", "by-uuid")
OUTSIDE = ("history", "memory", "context", "swap", "task")
"""Folders of context that belong into a session and nowhere else."""
LARGEST_PART = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Listed:
    """A name on a line of `index/list`."""

    name: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A session of the root, as far as its one-word files tell."""

    name: str
    state: str | None
    cwd: str | None
    updated_at: int | None
    complete: bool
    """Whether it has messages at all."""


@dataclass(frozen=True)
class SessionRoot:
    folder: SessionFolder
    list: Part
    current: Part
    listed: tuple[Listed, ...]
    pointers: tuple[Part, ...]
    """The files under by-cwd, by-hash and by-uuid, each with one session's name."""
    channels: tuple[Part, ...]
    sessions: tuple[KnownSession, ...]
    links: tuple[str, ...]
    """Entries of the index that are symbolic links."""
    outside: tuple[str, ...]
    """Folders of context beside or above the sessions, relative to where these are."""
    left_out: int = 0

    def session(self, name: str) -> KnownSession | None:
        return next((each for each in self.sessions if each.name == name), None)

    def origin(self, part: Part) -> Origin:
        return Origin(part.file, None, 0, len(part.data or b""), 1, 1)


def root_of(path: Path) -> Path | None:
    """The folder of sessions that `path` is, or whose `index` it is; None when it is neither."""
    if path.name == "index" and _is_index(SessionFolder(path)):
        return path.parent
    return path if _is_index(SessionFolder(path / "index")) else None


def read_root(path: Path) -> SessionRoot:
    folder = SessionFolder(path)
    listing = folder.read("index/list", LARGEST_PART)
    names = [entry.name for entry in folder.entries() if _may_be_session(entry)]
    return SessionRoot(
        folder=folder,
        list=listing,
        current=folder.read("index/current", LARGEST_PART),
        listed=tuple(_listed(listing)),
        pointers=tuple(_parts(folder, *SINGLE_NAMES)),
        channels=tuple(_parts(folder, "channel")),
        sessions=tuple(_known(folder, name) for name in names[:MOST_SESSIONS]),
        links=tuple(_links(folder)),
        outside=tuple(_outside(path)),
        left_out=max(0, len(names) - MOST_SESSIONS),
    )


def _is_index(folder: SessionFolder) -> bool:
    return any(folder.entry(name).kind is not EntryKind.ABSENT for name in ("current", "list"))


def _may_be_session(entry: Entry) -> bool:
    hidden = entry.name.startswith(".")
    return (
        entry.kind is EntryKind.FOLDER and entry.name != "index" and not hidden and entry.name not in OUTSIDE
    )


def _known(folder: SessionFolder, name: str) -> KnownSession:
    words = {
        word: folder.read(f"{name}/{word}", LARGEST_PART).value for word in ("state", "cwd", "updated_at")
    }
    updated = words["updated_at"] or ""
    number = int(updated) if updated.isascii() and updated.isdigit() and len(updated) < 20 else None
    complete = folder.entry(f"{name}/{MESSAGES}").kind is EntryKind.FILE
    return KnownSession(name, words["state"], words["cwd"], number, complete)


def _listed(part: Part) -> Iterator[Listed]:
    data = part.data or b""
    for index, start, end in line_spans(data):
        name = data[start:end].decode("utf-8", "replace").strip()
        if name:
            yield Listed(name, Origin(part.file, None, start, end, index + 1, 1))


def _parts(folder: SessionFolder, *places: str) -> Iterator[Part]:
    for place in places:
        for entry in folder.entries(f"index/{place}"):
            yield folder.read(f"index/{place}/{entry.name}", LARGEST_PART)


def _links(folder: SessionFolder) -> Iterator[str]:
    for place in ("index", *(f"index/{name}" for name in (*SINGLE_NAMES, "channel"))):
        for entry in folder.entries(place):
            if entry.kind is EntryKind.LINK:
                yield f"{place}/{entry.name}"


def _outside(path: Path) -> Iterator[str]:
    """Context folders beside the sessions and, where the place is a known one, above them."""
    whole = path.absolute()
    places = [(whole, "")]
    if whole.name == "session":
        places.append((whole.parent, "../"))
        if whole.parent.parent.name == "agent":
            places.append((whole.parent.parent.parent, "../../../"))
    for place, way in places:
        for entry in SessionFolder(place).entries():
            if entry.kind is EntryKind.FOLDER and entry.name in OUTSIDE:
                yield f"{way}{entry.name}"
