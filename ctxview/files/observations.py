"""What was seen of a session at the last look, kept in the user's state folder, for the next look to compare.

Only remembers, recalls and forgets. What a difference means is for the rules of a format to say.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, field
from hashlib import sha256
from pathlib import Path
from threading import get_ident
from typing import Final

from ctxview.files.reading import Unreadable, read_bytes
from ctxview.files.undo_copies import write_new
from ctxview.files.user_folders import cache_folder, state_folder
from ctxview.quick_dataclass import dataclass

KEPT: Final = 5000

_LIMIT: Final = 4 * 1024 * 1024
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class StreamSeen:
    """How far a file that only grows had come: so many bytes with this SHA-256, so many lines."""

    length: int
    sha256: str
    lines: int


@dataclass(frozen=True, slots=True)
class Observation:
    """One look at a session: its streams by file name, and any other facts by names the format chooses."""

    seen_at: int
    """Seconds since 1970."""
    streams: Mapping[str, StreamSeen] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


def remember(session: str, observation: Observation) -> None:
    """Keep this as the last look at a session, instead of any before; raises `OSError` when that fails.

    `session` is whatever tells sessions apart, such as their real paths.
    """
    if Path(session).is_relative_to(cache_folder().resolve()):
        # A copy we laid out ourselves: it is never looked at again.
        return
    path = _path(session)
    first_look = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    content = json.dumps({"session": session, **asdict(observation)}, separators=(",", ":")).encode()
    draft = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}")
    draft.unlink(missing_ok=True)
    write_new(draft, content)
    draft.replace(path)
    if first_look:
        _prune(path.parent)


def recall(session: str) -> Observation | None:
    """The last look at a session; None when there was none, or nothing sound is left of it."""
    try:
        found = _mapping(json.loads(read_bytes(_path(session), _LIMIT)))
        if found.get("session") != session:
            return None
        return Observation(
            _number(found.get("seen_at")),
            {name: _stream(value) for name, value in _mapping(found.get("streams")).items()},
            {name: _text(value) for name, value in _mapping(found.get("facts")).items()},
        )
    except (Unreadable, ValueError, RecursionError):
        return None


def forget(session: str) -> None:
    """Let go of the last look at a session, if there was one; raises `OSError` when that fails."""
    _path(session).unlink(missing_ok=True)


def _path(session: str) -> Path:
    name = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return state_folder() / "observations" / f"{name}.json"


def _prune(folder: Path) -> None:
    """Let go of the sessions that were not looked at for longest."""
    entries = list(os.scandir(folder))
    if len(entries) <= KEPT:
        return
    with suppress(OSError):
        for entry in sorted(entries, key=lambda entry: entry.stat().st_mtime_ns)[:-KEPT]:
            Path(entry.path).unlink(missing_ok=True)


def _stream(value: object) -> StreamSeen:
    stream = _mapping(value)
    digest = _text(stream.get("sha256"))
    if not _DIGEST.fullmatch(digest):
        raise ValueError(digest)
    return StreamSeen(_number(stream.get("length")), digest, _number(stream.get("lines")))


def _mapping(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(value)
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(value)
    return value


def _number(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(value)
    return value
