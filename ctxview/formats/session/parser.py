"""Read a session folder into a `Session`, and its `gc.policy` into limits. Histories are not read here."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ctxview.files.change_detector import stamp_of
from ctxview.files.reading import is_leftover
from ctxview.formats.kit.folder import EntryKind, FolderFile, FolderWalk, SourceFolder
from ctxview.formats.kit.json_records import JsonRecordFile, line_spans, read_object, read_records
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.grammar import duration, is_name
from ctxview.formats.session.model import (
    CHILD_FILES,
    CONTEXT_FILES,
    SESSION_FILES,
    Blob,
    BlobStore,
    ChildChannel,
    GcPolicy,
    GcPolicyLine,
    Pack,
    Plan,
    Session,
)
from ctxview.formats.session.profile import Profile

MOST_CHILDREN = 2000
MOST_PINNED = 2000
LARGEST_PART = 8 * 1024 * 1024
"""A larger derived file is reported as unreadable instead of loaded."""
DEEPEST = 6
MOST_WALKED = 20_000
UNCHECKED = ("terminal", "workspace", "workspace-overlay")
"""Folders of the runtime beside the session that are not searched for links and open permissions."""


def read_session(folder: SourceFolder) -> Session:
    """Read everything small in the folder; raises nothing."""
    walked = folder.walk("", DEEPEST, MOST_WALKED, _is_unchecked)
    names = (*SESSION_FILES, *(f"context/{name}" for name in CONTEXT_FILES))
    parts = {name: folder.read(name, LARGEST_PART, walked) for name in names}
    parts |= {name: _unread(folder, name) for name in (MESSAGES, EVENTS)}
    files = (entry.name for entry in folder.entries("context/pinned", walked) if not is_leftover(entry.name))
    pinned = [f"context/pinned/{name}" for name in files]
    manifest = folder.read(".store/manifest.json", LARGEST_PART, walked)
    links = (name for name, entry in walked.entries if entry.kind is EntryKind.LINK)
    wide = (name for name, each in walked.entries if each.mode & 0o077 and each.kind is not EntryKind.LINK)
    channels = folder.entries("context/child", walked)
    # A FIFO or a socket in the place of a channel is a channel that cannot be read.
    kinds = (EntryKind.FOLDER, EntryKind.OTHER)
    children = [entry for entry in channels if entry.kind in kinds]
    odd = [entry for entry in channels if entry.kind not in kinds]
    return Session(
        folder=folder,
        name=folder.root.absolute().name,
        agent=agent_of(folder.root),
        entries=folder.entries("", walked),
        context_entries=folder.entries("context", walked),
        parts=parts,
        meta=read_object(parts["meta.json"]),
        runtime_state=read_object(parts["state.json"]),
        facts=read_records(parts["context/facts.jsonl"]),
        decisions=read_records(parts["context/decisions.jsonl"]),
        refs=read_records(parts["context/refs.jsonl"]),
        pinned=tuple(folder.read(name, LARGEST_PART) for name in pinned[:MOST_PINNED]),
        swap=_blob_store(folder, walked, "swap", "chunk", parts),
        dedup=_blob_store(folder, walked, "dedup", "blob", parts),
        pack=Pack(read_object(parts["context/pack.json"]), parts["context/pack.md"]),
        plan=Plan(read_object(parts["context/plan.json"])),
        gc=_gc_policy(parts["context/gc.policy"]),
        children=tuple(_child(folder, walked, entry.name) for entry in children[:MOST_CHILDREN]),
        odd_children=tuple(odd),
        unread_children=frozenset(entry.name for entry in children[MOST_CHILDREN:]),
        unread_pinned=max(0, len(pinned) - MOST_PINNED),
        links=tuple(sorted(links)),
        wide_open=tuple(sorted(wide)),
        unsearched=walked.unsearched,
        manifest=read_object(manifest) if manifest.exists else None,
    )


def read_again(session: Session) -> Session:
    """Read the same folder again, but only the changed files; often only the histories have changed."""
    folder = session.folder
    if not folder.seen.still_true():
        return read_session(folder.again())
    parts = {**session.parts, **{name: _unread(folder, name) for name in (MESSAGES, EVENTS)}}
    return session if parts == session.parts else replace(session, parts=parts)


def agent_of(root: Path) -> str | None:
    """Return the agent of a session folder at `…/AGENT/session/NAME`, or None elsewhere."""
    path = root.absolute()
    return path.parent.parent.name or None if path.parent.name == "session" else None


class GcLimits(Struct, frozen=True):
    """The settings of `gc.policy`; an invalid value is None, so that a mistake never deletes anything."""

    pack_ttl: int | None
    swap_ttl: int | None
    dedup_min_refs: int | None
    keep_messages: bool
    keep_events: bool
    written: dict[str, str]
    """The values as written, defaults included."""
    problems: tuple[str, ...] = ()
    defaults: frozenset[str] = frozenset()
    """The settings that the session does not have, so that the profile's default holds."""

    def setting(self, key: str) -> str:
        by_default = " by default" if key in self.defaults else ""
        return f"{key}={self.written.get(key, '?')}{by_default}"


def parse_gc_policy(session: Session, profile: Profile) -> GcLimits:
    """Return the session's policy, with the profile's defaults for missing settings."""
    part = session.gc.part
    if part.exists and part.data is None:
        problem = f"gc.policy cannot be read ({part.problem}), so nothing is collected"
        return GcLimits(None, None, None, True, True, {}, (problem,))
    written = dict(profile.gc_defaults or {})
    problems: list[str] = []
    known = profile.words.gc_keys
    for setting in session.gc.settings:
        if not setting.key or (known and setting.key not in known):
            problems.append(f"line {setting.line} of gc.policy is not understood and has no effect")
        else:
            written[setting.key] = setting.value

    def refuse(key: str, expected: str) -> None:
        if key in written:
            problems.append(f"{key}={written[key]} is not a {expected}: nothing is collected by it")

    times: dict[str, int | None] = {}
    for key in ("pack_ttl", "swap_ttl"):
        times[key] = duration(written.get(key, ""))
        if times[key] is None:
            refuse(key, "duration such as 30d")
    refs = written.get("dedup_min_refs", "")
    least = int(refs) if refs.isascii() and refs.isdigit() and len(refs) < 10 else None
    if least is None:
        refuse("dedup_min_refs", "number")
    return GcLimits(
        pack_ttl=times["pack_ttl"],
        swap_ttl=times["swap_ttl"],
        dedup_min_refs=least,
        keep_messages=written.get("keep_messages") != "0",
        keep_events=written.get("keep_events") != "0",
        written=written,
        defaults=frozenset(written) - {setting.key for setting in session.gc.settings},
        problems=tuple(problems),
    )


def _unread(folder: SourceFolder, name: str) -> FolderFile:
    """Return a history without its bytes: only whether it exists."""
    entry = folder.entry(name)
    problem = None if entry.kind is EntryKind.FILE else f"this is {entry.kind.description}"
    if entry.kind is EntryKind.ABSENT:
        problem = "there is no such file"
    return FolderFile(name, folder.file(name), entry.kind, None, problem, entry.modified)


def _blob_store(
    folder: SourceFolder, walked: FolderWalk, area: str, kind: str, parts: dict[str, FolderFile]
) -> BlobStore:
    place = f"context/{area}/{kind}"
    # A file that ctxview is writing, or was writing when it was killed, is neither a chunk nor a blob.
    found = (entry for entry in folder.entries(place, walked) if not is_leftover(entry.name))
    names = ((entry, f"{place}/{entry.name}") for entry in found)
    blobs = (Blob(entry.name, name, folder.file(name), entry) for entry, name in names)
    return BlobStore(read_records(parts[f"context/{area}/index.jsonl"]), tuple(blobs))


def _gc_policy(part: FolderFile) -> GcPolicy:
    data = part.data or b""
    settings = []
    for index, start, end in line_spans(data):
        line = data[start:end].decode("utf-8", "replace").strip()
        if line and not line.startswith("#"):
            key, equals, value = line.partition("=")
            settings.append(
                GcPolicyLine(index + 1, start, end, key.strip() if equals else "", value.strip() or line)
            )
    return GcPolicy(part, tuple(settings))


def _child(folder: SourceFolder, walked: FolderWalk, name: str) -> ChildChannel:
    place = f"context/child/{name}"
    parts = {file: folder.read(f"{place}/{file}", LARGEST_PART, walked) for file in CHILD_FILES}
    refs: JsonRecordFile = read_records(parts["refs.jsonl"])
    state, exists = _own_session(folder, parts["agent"].value, parts["session"].value)
    return ChildChannel(
        name=name,
        entries=folder.entries(place, walked),
        parts=parts,
        refs=refs,
        artifacts=folder.entries(f"{place}/artifact", walked),
        own_state=state,
        own_session=exists,
    )


def _own_session(
    folder: SourceFolder, agent: str | None, session: str | None
) -> tuple[str | None, bool | None]:
    """Return state and existence of a child's session, each None when its place is unknown."""
    root = folder.root
    agents = root.absolute().parent.parent.parent
    if agent_of(root) is None or agents.name != "agent":
        return None, None
    if not agent or not session or not is_name(agent) or not is_name(session):
        return None, None
    home = SourceFolder(agents)
    place = f"{agent}/session/{session}"
    state = home.file(f"{place}/state")
    folder.seen.note(state, stamp_of(state))
    kind = home.entry(place).kind
    if kind is not EntryKind.FOLDER:
        return None, None if kind is EntryKind.UNKNOWN else False
    return home.read(f"{place}/state", LARGEST_PART).value, True


def _is_unchecked(name: str) -> bool:
    return name in UNCHECKED or is_leftover(name.rpartition("/")[2])
