"""Reads a session folder with any of its parts missing or broken: the small files, never the histories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ctxview.files.json_document import JsonError, parse
from ctxview.files.stamps import stamp_of
from ctxview.formats.session.folder import Entry, EntryKind, Part, SessionFolder
from ctxview.formats.session.model import (
    CHILD_FILES,
    CONTEXT_FILES,
    SESSION_FILES,
    Blob,
    BlobStore,
    Child,
    GcPolicy,
    JsonPart,
    Pack,
    Plan,
    Session,
    Setting,
)
from ctxview.formats.session.names import EVENTS, MESSAGES, is_name
from ctxview.formats.session.records import RecordFile, line_spans, read_records

MOST_CHILDREN = 2000
MOST_PINNED = 2000
LARGEST_PART = 8 * 1024 * 1024
"""A derived file beyond this is told as unreadable rather than loaded."""
DEEPEST = 6
MOST_WALKED = 20_000
UNCHECKED = ("terminal", "workspace", "workspace-overlay")
"""What the runtime keeps beside the session for its own use."""


def read_session(folder: SessionFolder) -> Session:
    """Everything small in the folder; raises nothing."""
    parts = {name: folder.read(name, LARGEST_PART) for name in _known_names()}
    parts |= {name: _unread(folder, name) for name in (MESSAGES, EVENTS)}
    links, wide_open = _walk(folder)
    children = [entry for entry in folder.entries("context/child") if entry.kind is EntryKind.FOLDER]
    odd = [entry for entry in folder.entries("context/child") if entry.kind is not EntryKind.FOLDER]
    return Session(
        folder=folder,
        name=folder.root.absolute().name,
        agent=agent_of(folder.root),
        entries=folder.entries(),
        context_entries=folder.entries("context"),
        parts=parts,
        meta=read_json(parts["meta.json"]),
        runtime_state=read_json(parts["state.json"]),
        facts=read_records(parts["context/facts.jsonl"]),
        decisions=read_records(parts["context/decisions.jsonl"]),
        refs=read_records(parts["context/refs.jsonl"]),
        pinned=tuple(_pinned(folder)),
        swap=_blob_store(folder, "swap", "chunk", parts),
        dedup=_blob_store(folder, "dedup", "blob", parts),
        pack=Pack(read_json(parts["context/pack.json"]), parts["context/pack.md"]),
        plan=Plan(read_json(parts["context/plan.json"])),
        gc=_gc_policy(parts["context/gc.policy"]),
        children=tuple(_child(folder, entry.name) for entry in children[:MOST_CHILDREN]),
        odd_children=tuple(odd),
        links=links,
        wide_open=wide_open,
        manifest=_manifest(folder),
    )


def read_again(session: Session) -> Session:
    """The same folder as it is now. Only what changed is read, which often is nothing but the histories."""
    folder = session.folder
    if not folder.seen.still_true():
        return read_session(folder.again())
    parts = {**session.parts, **{name: _unread(folder, name) for name in (MESSAGES, EVENTS)}}
    return session if parts == session.parts else replace(session, parts=parts)


def agent_of(root: Path) -> str | None:
    """The agent a session folder belongs to by its place `…/AGENT/session/NAME`; None elsewhere."""
    path = root.absolute()
    return path.parent.parent.name or None if path.parent.name == "session" else None


def read_json(part: Part) -> JsonPart:
    if part.data is None or not part.data.strip():
        return JsonPart(part)
    try:
        return JsonPart(part, parse(part.data))
    except JsonError as error:
        return JsonPart(part, None, error)


def _known_names() -> Iterator[str]:
    yield from SESSION_FILES
    yield from (f"context/{name}" for name in CONTEXT_FILES)


def _unread(folder: SessionFolder, name: str) -> Part:
    """A history: whether it is there, without its bytes."""
    entry = folder.entry(name)
    problem = None if entry.kind is EntryKind.FILE else f"this is {entry.kind.told}"
    if entry.kind is EntryKind.ABSENT:
        problem = "there is no such file"
    return Part(name, folder.file(name), entry.kind, None, problem, entry.modified)


def _pinned(folder: SessionFolder) -> Iterator[Part]:
    for entry in folder.entries("context/pinned")[:MOST_PINNED]:
        yield folder.read(f"context/pinned/{entry.name}", LARGEST_PART)


def _blob_store(folder: SessionFolder, area: str, kind: str, parts: dict[str, Part]) -> BlobStore:
    place = f"context/{area}/{kind}"
    blobs = (_blob(folder, place, entry) for entry in folder.entries(place))
    return BlobStore(read_records(parts[f"context/{area}/index.jsonl"]), tuple(blobs))


def _blob(folder: SessionFolder, place: str, entry: Entry) -> Blob:
    name = f"{place}/{entry.name}"
    return Blob(entry.name, name, folder.file(name), entry)


def _gc_policy(part: Part) -> GcPolicy:
    data = part.data or b""
    settings = []
    for index, start, end in line_spans(data):
        line = data[start:end].decode("utf-8", "replace").strip()
        if line and not line.startswith("#"):
            key, equals, value = line.partition("=")
            settings.append(
                Setting(index + 1, start, end, key.strip() if equals else "", value.strip() or line)
            )
    return GcPolicy(part, tuple(settings))


def _child(folder: SessionFolder, name: str) -> Child:
    place = f"context/child/{name}"
    parts = {file: folder.read(f"{place}/{file}", LARGEST_PART) for file in CHILD_FILES}
    refs: RecordFile = read_records(parts["refs.jsonl"])
    state, exists = _own_session(folder, parts["agent"].value, parts["session"].value)
    return Child(
        name=name,
        entries=folder.entries(place),
        parts=parts,
        refs=refs,
        artifacts=folder.entries(f"{place}/artifact"),
        own_state=state,
        own_session=exists,
    )


def _own_session(
    folder: SessionFolder, agent: str | None, session: str | None
) -> tuple[str | None, bool | None]:
    """State and existence of a child's own session, where the place of this one tells where it would be."""
    root = folder.root
    agents = root.absolute().parent.parent.parent
    if agent_of(root) is None or agents.name != "agent":
        return None, None
    if not agent or not session or not is_name(agent) or not is_name(session):
        return None, None
    home = SessionFolder(agents)
    place = f"{agent}/session/{session}"
    folder.seen.note(agents / place / "state", stamp_of(agents / place / "state"))
    if home.entry(place).kind is not EntryKind.FOLDER:
        return None, False
    return home.read(f"{place}/state", LARGEST_PART).value, True


def _manifest(folder: SessionFolder) -> JsonPart | None:
    part = folder.read(".store/manifest.json", LARGEST_PART)
    return read_json(part) if part.exists else None


def _walk(folder: SessionFolder) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Every link, and everything open to others than the owner, within bounds."""
    links: list[str] = []
    wide: list[str] = []
    waiting = [("", 0)]
    walked = 0
    while waiting and walked < MOST_WALKED:
        place, depth = waiting.pop()
        for entry in folder.entries(place):
            walked += 1
            name = f"{place}/{entry.name}" if place else entry.name
            if name in UNCHECKED:
                continue
            if entry.kind is EntryKind.LINK:
                links.append(name)
            elif entry.mode & 0o077:
                wide.append(name)
            if entry.kind is EntryKind.FOLDER and depth < DEEPEST:
                waiting.append((name, depth + 1))
    return tuple(sorted(links)), tuple(sorted(wide))
