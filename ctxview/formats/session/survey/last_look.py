"""Observations of sessions, stored in the user's state folder so that the next look can be compared.

Stores, recalls, forgets and compares. The rules judge the differences.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import get_ident
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct, convert, field, to_builtins
from msgspec.structs import replace

from ctxview.files.reading import ReadError, read_bytes
from ctxview.files.undo_copies import write_new
from ctxview.files.user_folders import cache_folder, state_folder
from ctxview.formats.kit.folder import FolderFile
from ctxview.formats.kit.history import Cancelled
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.model import Session
from ctxview.formats.session.store.blobs import uses_by_child
from ctxview.formats.session.survey.facts import SessionFacts

MOST_OBSERVATIONS: Final = 20_000
"""As many sessions as one check finds."""
LOOKS: Final = "observations"
PLACES: Final = "places"
"""The folder with the last place of each session by its identity."""

_LARGEST_FILE: Final = 32 * 1024 * 1024
"""More than the look at the largest session that is read takes."""
_Count: TypeAlias = Annotated[int, Meta(ge=0)]
_Digest: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class StreamState(Struct, frozen=True):
    """The state of a history: its length in bytes, their SHA-256, and its records."""

    length: _Count
    sha256: _Digest
    lines: _Count


class Observation(Struct, frozen=True):
    """One look at a session: its histories by file name, and other facts by name."""

    seen_at: int
    """Seconds since 1970."""
    streams: Mapping[str, StreamState] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


class _StoredLook(Struct, frozen=True):
    session: str
    seen_at: _Count
    streams: dict[str, StreamState]
    facts: dict[str, str]


def remember(session: str, observation: Observation, identity: str | None = None) -> None:
    """Store the last look at a session in place of any earlier one; raises `OSError`.

    `session` is the key from `observation_key`; under `identity` its place is stored, for `recall_moved`.
    """
    if session.startswith(_real_folder(cache_folder())):
        # A copy that ctxview itself wrote to the cache: it is never opened again.
        return
    _store(_path(session), session, observation)
    if identity is not None:
        place = Observation(observation.seen_at, facts={"place": session})
        _store(_path(identity, PLACES), identity, place)


@cache
def _real_folder(folder: Path) -> str:
    return os.path.join(os.path.realpath(folder), "")  # noqa: PTH118 - with its slash


def _store(path: Path, session: str, observation: Observation) -> None:
    first_look = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    content = json.dumps({"session": session, **to_builtins(observation)}, separators=(",", ":")).encode()
    draft = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}")
    draft.unlink(missing_ok=True)
    # A crash of the machine may lose a first look, but never one that another replaces.
    write_new(draft, content, wait=not first_look)
    draft.replace(path)
    # Names are hashes, so a fixed share of the new ones lists the folder: all of them would take a long time.
    if first_look and int(path.stem, 16) % max(1, MOST_OBSERVATIONS // 64) == 0:
        with suppress(OSError):
            entries = list(os.scandir(path.parent))
            for entry in sorted(entries, key=lambda entry: entry.stat().st_mtime_ns)[:-MOST_OBSERVATIONS]:
                Path(entry.path).unlink(missing_ok=True)


def recall(session: str, folder: str = LOOKS) -> Observation | None:
    """Return the last look at a session, or None when there is none or its file is damaged."""
    try:
        stored = convert(json.loads(read_bytes(_path(session, folder), _LARGEST_FILE)), _StoredLook)
    except (ReadError, ValueError, RecursionError):
        return None
    same = stored.session == session
    return Observation(stored.seen_at, stored.streams, stored.facts) if same else None


def recall_moved(identity: str | None) -> Observation | None:
    """Return the last look at a session in the place that it has left since; None when there is none."""
    known = recall(identity, PLACES) if identity is not None else None
    place = known.facts.get("place") if known is not None else None
    return recall(place) if place is not None and not os.path.lexists(place) else None


def forget(session: str) -> None:
    """Delete the last look at a session, if there is one; raises `OSError`."""
    _path(session).unlink(missing_ok=True)


def _path(session: str, folder: str = LOOKS) -> Path:
    name = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return state_folder() / folder / f"{name}.json"


class LookComparison(Struct, frozen=True):
    """Two looks at one session. `prefixes` are the present hashes of as many bytes as there were before."""

    before: Observation
    now: Observation
    prefixes: Mapping[str, str | None]

    def changed(self, name: str) -> tuple[str, str] | None:
        """Return both values of a fact that differs between the looks, or None."""
        old, new = self.before.facts.get(name), self.now.facts.get(name)
        return (old, new) if old is not None and new is not None and old != new else None

    @property
    def to_remember(self) -> Observation:
        """The observation to store: this look, with the earlier state of unreadable histories."""
        return replace(self.now, streams={**self.before.streams, **self.now.streams})

    def gone(self, kind: str) -> Iterator[str]:
        """Yield the names of the facts of a kind that only the earlier look has."""
        for name in self.before.facts:
            if name.startswith(f"{kind}:") and name not in self.now.facts:
                yield name.partition(":")[2]


def observation_key(session: Session) -> str:
    """Return the key of a session from one look to the next: its real path."""
    return os.path.realpath(session.folder.root)


def identity_of(facts: SessionFacts) -> str | None:
    """Return what a session keeps when it is moved: its creation and its first message; None without both."""
    created, messages = facts.session.part("created_at").value, facts.history.messages
    first = messages.line(0).content if len(messages) else b""
    return f"{created} {sha256(first).hexdigest()}" if created is not None and first else None


def compare_looks(
    facts: SessionFacts, cancelled: Cancelled, before: Observation | None = None
) -> LookComparison | None:
    """Compare the session with the look `before`; None when cancelled or before the survey is done."""
    if facts.survey is None:
        return None
    streams: dict[str, StreamState] = {}
    prefixes: dict[str, str | None] = {}
    for name in (MESSAGES, EVENTS):
        stream, size = facts.history.stream(name), facts.survey.facts(name).size
        old = before.streams.get(name) if before is not None else None
        lengths = sorted({size, *([old.length] if old is not None and old.length <= size else [])})
        digests = stream.digests(lengths, cancelled)
        if cancelled():
            return None
        if digests is None:
            continue
        streams[name] = StreamState(size, digests[-1], facts.survey.facts(name).records)
        # Without an earlier look the session is compared with itself: nothing has changed.
        prefixes[name] = digests[0] if old is None or old.length <= size else None
    now = Observation(int(time.time()), streams, dict(_facts(facts)))
    return LookComparison(before or now, now, prefixes)


def _facts(facts: SessionFacts) -> Iterator[tuple[str, str]]:
    session = facts.session
    for name in ("created_at", "updated_at"):
        value = session.part(name).value
        if value is not None:
            yield name, value
    if session.scope is not None:
        yield "scope", session.scope
    if session.agent is not None:
        yield "agent", session.agent
    for name in ("summary.md", "pack.json", "pack.md"):
        part = session.part(f"context/{name}")
        if part.readable and not part.is_blank:
            yield f"file:{name}", _hash(part)
    for child in session.children:
        yield f"child:{child.name}", child.status or ""
        if not child.result.is_blank:
            yield f"result:{child.name}", _hash(child.result)
    yield from ((f"used:{name}", ", ".join(users)) for name, users in uses_by_child(session).items())
    for kind, records, member in (
        ("fact", session.facts, "text"),
        ("decision", session.decisions, "decision"),
    ):
        for record in records.records:
            if (own := record.text("id")) is not None:
                text = (record.text(member) or "").encode("utf-8", "surrogatepass")
                yield f"{kind}:{own}", hashlib.sha256(text).hexdigest()[:32]
    referred = {record.text("hash") for record in session.dedup.index.records if record.members.get("refs")}
    for blob in session.dedup.blobs:
        yield f"blob:{blob.id}", "referred" if blob.id in referred else "orphan"
    yield from ((f"chunk:{blob.id}", str(blob.entry.size)) for blob in session.swap.blobs)


def _hash(part: FolderFile) -> str:
    return hashlib.sha256(part.data or b"").hexdigest()[:32]
