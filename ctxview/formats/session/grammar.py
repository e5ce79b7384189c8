"""The small grammars of a session: names, hash ids, cited ranges, durations, keys, times. Reads no files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from ctxview.core.origin import JsonValue
from ctxview.formats.session import EVENTS, MESSAGES

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}", re.ASCII)
_HASH_NAME: Final = re.compile(r"sha256[-_.][A-Za-z0-9._+-]{1,121}", re.ASCII)
_DIGEST: Final = re.compile(r"sha256[-_.:]([0-9a-f]{64})")
_RANGE: Final = re.compile(r"(messages|events):([0-9]{1,18})(?:-([0-9]{1,18}))?")
_BARE_RANGE: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
_TAIL: Final = re.compile(r"tail:([0-9]{1,18})")
_DURATION: Final = re.compile(r"([0-9]{1,12})([smhdw])")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_BOX: Final = re.compile(
    r"^[ \t]{0,32}(?:[-*+]|\d{1,4}[.)])[ \t]{1,8}\[(?P<mark>[ xX~/-])\][ \t]{1,8}(?P<title>\S.{0,1000})"
)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_MILLISECONDS: Final = 100_000_000_000
"""Numbers from here on are milliseconds: as seconds they would be thousands of years away."""


def is_name(text: str) -> bool:
    """Return whether a session, agent, child, record, run or call may have this name."""
    return _NAME.fullmatch(text) is not None and not text.endswith((".sock", ".d"))


def is_hash_id(text: str) -> bool:
    """Return whether `text` has the form of a content address; a full one is too long for a name."""
    return _HASH_NAME.fullmatch(text) is not None


def digest_in(text: str) -> str | None:
    """Return the SHA-256 in a hash id or a `sha256:` word, or None for a placeholder."""
    found = _DIGEST.fullmatch(text)
    return found[1] if found is not None else None


def has_control(text: str) -> bool:
    return _CONTROL.search(text) is not None


def duration(text: str) -> int | None:
    """Return the seconds of `30d`, `12h` …, or None when `text` is not a duration."""
    found = _DURATION.fullmatch(text)
    return int(found[1]) * _SECONDS[found[2]] if found is not None else None


def cwd_key(path: str) -> str:
    """Return the name under `index/by-cwd` for a working directory: 64-bit FNV-1a of its bytes."""
    value = 0xCBF29CE484222325
    for byte in path.encode("utf-8", "surrogateescape"):
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"cwd-{value:016x}"


def is_clean_path(path: str) -> bool:
    """Return whether `path` is absolute, without empty, `.` or `..` parts and without control characters."""
    if not path.startswith("/") or has_control(path):
        return False
    return path == "/" or all(part not in ("", ".", "..") for part in path[1:].split("/"))


class SourceKind(StrEnum):
    """The kind of source that a fact or a reference cites."""

    MESSAGES = "messages"
    EVENTS = "events"
    LATEST_USER = "user:latest"
    OTHER = "other"


class CitedRange(Struct, frozen=True):
    """A parsed `source`: lines of one history, from 1, both ends included, blank lines not counted."""

    kind: SourceKind
    first: int | None = None
    last: int | None = None

    @property
    def reversed(self) -> bool:
        return self.first is not None and self.last is not None and self.first > self.last

    @property
    def is_range(self) -> bool:
        return self.first is not None


def parse_citation(text: str) -> CitedRange:
    """Parse `messages:12-18`, `events:4` or `user:latest`; any other text is `OTHER`."""
    if text == SourceKind.LATEST_USER:
        return CitedRange(SourceKind.LATEST_USER)
    found = _RANGE.fullmatch(text)
    if found is None:
        return CitedRange(SourceKind.OTHER)
    first = int(found[2])
    return CitedRange(SourceKind(found[1]), first, int(found[3]) if found[3] else first)


def cited_range(stream: str, text: str) -> CitedRange:
    """Parse the `range` of a swap index record, such as `1-120`, for the history in its `source`."""
    found = _BARE_RANGE.fullmatch(text)
    kinds = {MESSAGES: SourceKind.MESSAGES, EVENTS: SourceKind.EVENTS}
    if found is None or stream not in kinds:
        return CitedRange(SourceKind.OTHER)
    return CitedRange(kinds[stream], int(found[1]), int(found[2]))


def looks_like_range(text: str) -> bool:
    """Return whether `text` was meant as a range of lines, even if it is badly written."""
    return text.startswith(("messages:", "events:", "messages.jsonl", "events.jsonl", "message:", "event:"))


def tail_count(text: str) -> int | None:
    """Return the number in `tail:40`, or None."""
    found = _TAIL.fullmatch(text)
    return int(found[1]) if found is not None else None


def session_time(value: JsonValue) -> datetime | None:
    """Return the time that a number, a text of digits or an ISO date gives, or None."""
    if isinstance(value, str):
        text = value.strip()
        if not text.isascii() or not text.isdigit():
            with suppress(ValueError):
                return datetime.fromisoformat(text) if len(text) > 10 else None
            return None
        value = int(text) if len(text) <= 15 else None
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS else value, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def iso(value: JsonValue) -> str | None:
    """Return the time of `value` as revisions and events carry it, or None."""
    time = session_time(value)
    if time is None:
        return None
    spec = "milliseconds" if time.microsecond else "seconds"
    return time.isoformat(timespec=spec).replace("+00:00", "Z")


def todo_boxes(text: str) -> Iterator[tuple[int, int, int, str, str]]:
    """Yield each line with a box such as `- [x] title`: its number, its span in bytes, the mark and title."""
    offset = 0
    for number, line in enumerate(text.split("\n"), 1):
        end = offset + len(line.encode("utf-8", "surrogatepass"))
        if (found := _BOX.match(line)) is not None:
            yield number, offset, end, found["mark"], found["title"].rstrip()
        offset = end + 1
