"""The small grammars of a session: names, hash ids, source ranges, durations, keys. Reads no file."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from ctxview.quick_dataclass import dataclass

MESSAGES: Final = "messages.jsonl"
EVENTS: Final = "events.jsonl"

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}", re.ASCII)
_HASH_NAME: Final = re.compile(r"sha256[-_.][A-Za-z0-9._+-]{1,121}", re.ASCII)
_DIGEST: Final = re.compile(r"sha256[-_.:]([0-9a-f]{64})")
_RANGE: Final = re.compile(r"(messages|events):([0-9]{1,18})(?:-([0-9]{1,18}))?")
_BARE_RANGE: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
_TAIL: Final = re.compile(r"tail:([0-9]{1,18})")
_DURATION: Final = re.compile(r"([0-9]{1,12})([smhdw])")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def is_name(text: str) -> bool:
    """Whether a session, agent, child, record, run or call may be called so."""
    return _NAME.fullmatch(text) is not None and not text.endswith((".sock", ".d"))


def is_hash_id(text: str) -> bool:
    """Whether this has the form of a content address; a true one is longer than any other name may be."""
    return _HASH_NAME.fullmatch(text) is not None


def digest_in(text: str) -> str | None:
    """The SHA-256 that a hash id or a `sha256:` word spells out; None for a placeholder."""
    found = _DIGEST.fullmatch(text)
    return found[1] if found is not None else None


def has_control(text: str) -> bool:
    return _CONTROL.search(text) is not None


def duration(text: str) -> int | None:
    """The seconds of `30d`, `12h` …; None when it is none."""
    found = _DURATION.fullmatch(text)
    return int(found[1]) * _SECONDS[found[2]] if found is not None else None


def cwd_key(path: str) -> str:
    """The name under `index/by-cwd` for a working directory: FNV-1a of its bytes, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in path.encode("utf-8", "surrogateescape"):
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"cwd-{value:016x}"


def is_clean_path(path: str) -> bool:
    """Whether this is an absolute path without empty, `.` or `..` parts and without control characters."""
    if not path.startswith("/") or has_control(path):
        return False
    return path == "/" or all(part not in ("", ".", "..") for part in path[1:].split("/"))


class SourceKind(StrEnum):
    """What a fact or a reference cites."""

    MESSAGES = "messages"
    EVENTS = "events"
    LATEST_USER = "user:latest"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Cited:
    """A parsed `source`: which lines of which stream, from 1, both ends included, blank lines not counted."""

    kind: SourceKind
    first: int | None = None
    last: int | None = None

    @property
    def reversed(self) -> bool:
        return self.first is not None and self.last is not None and self.first > self.last

    @property
    def is_range(self) -> bool:
        return self.first is not None


def cited(text: str) -> Cited:
    """What `messages:12-18`, `events:4`, `user:latest` or anything else cites."""
    if text == SourceKind.LATEST_USER:
        return Cited(SourceKind.LATEST_USER)
    found = _RANGE.fullmatch(text)
    if found is None:
        return Cited(SourceKind.OTHER)
    first = int(found[2])
    return Cited(SourceKind(found[1]), first, int(found[3]) if found[3] else first)


def cited_range(stream: str, text: str) -> Cited:
    """A swap index's `range`, such as `1-120`, of the stream its `source` names."""
    found = _BARE_RANGE.fullmatch(text)
    kinds = {MESSAGES: SourceKind.MESSAGES, EVENTS: SourceKind.EVENTS}
    if found is None or stream not in kinds:
        return Cited(SourceKind.OTHER)
    return Cited(kinds[stream], int(found[1]), int(found[2]))


def looks_like_range(text: str) -> bool:
    """Whether somebody meant a range of lines, whether or not it is well written."""
    return text.startswith(("messages:", "events:", "messages.jsonl", "events.jsonl", "message:", "event:"))


def tail_count(text: str) -> int | None:
    """The 40 of `tail:40`."""
    found = _TAIL.fullmatch(text)
    return int(found[1]) if found is not None else None
