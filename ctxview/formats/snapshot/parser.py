"""Reads one file into model values: a reply, a bare snapshot, a saved log, an API response or a prompt.

Never raises and never judges: a part that cannot be read is None with the reason beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse, parse_once
from ctxview.files.strict_json.tree import join
from ctxview.formats.snapshot.model import SEPARATOR, Reply, SavedLog, Snapshot, SnapshotRole, member_at

if TYPE_CHECKING:
    from ctxview.formats.snapshot.toon import ToonDocument

SEPARATOR_BYTES = SEPARATOR.encode()
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CONTEXT_TAG = lazy_pattern(rb"<context>(.*?)</context>", re.DOTALL)
REPLY_NAME = lazy_pattern(r"(?<![^\W\d_])(?:reply|answer|completion)(?![^\W\d_])", re.IGNORECASE)
"""The name of a reply, which it is even if it is JSON without a separator."""


class SnapshotFileKind(StrEnum):
    """The kind of content that was recognised in a file."""

    REPLY = "reply"
    SNAPSHOT = "snapshot"
    FULL_LOG = "full log"
    LITE_LOG = "lite log"
    PROMPT = "prompt"
    API_ERROR = "API error"
    OTHER = "not a snapshot"


_IN_A_REPLY = (SnapshotFileKind.SNAPSHOT, SnapshotFileKind.OTHER)


class SnapshotFile(Struct, frozen=True):
    """The parsed content of one file; `snapshot` is the stored one, else the injected or emitted one."""

    file: str
    data: bytes
    kind: SnapshotFileKind
    document: JsonDocument | None = None
    error: JsonError | None = None
    reply: Reply | None = None
    log: SavedLog | None = None
    snapshot: Snapshot | None = None
    prose: str | None = None
    """A reply's text without its snapshot; None when the file is not a reply."""
    salvaged: str | None = None
    """How `snapshot` was found in a file that the runtime would refuse; None when it would accept it."""
    api_error: str | None = None

    def snapshots(self) -> Iterator[Snapshot]:
        if self.log is not None:
            yield from (found for found in (self.log.stored, self.log.injected) if found is not None)
        elif self.snapshot is not None:
            yield self.snapshot


def parse_file(file: str, data: bytes, enabled: bool = True) -> SnapshotFile:
    """Parse `data`; `enabled` is the mode in which a reply was written."""
    looks_like_json = data.removeprefix(BYTE_ORDER_MARK).lstrip(b" \t\r\n")[:1] in (b"{", b"[")
    if looks_like_json or (SEPARATOR_BYTES not in data and not CONTEXT_TAG.search(data)):
        try:
            found = _read_json(file, data, parse_once(data))
            if found.kind not in _IN_A_REPLY or not REPLY_NAME.search(PurePath(file).name):
                return found
        except JsonError as error:
            is_json = (looks_like_json or file.endswith(".json")) and SEPARATOR_BYTES not in data
            if is_json and not REPLY_NAME.search(PurePath(file).name):
                return _read_broken_json(file, data, error)
    if SEPARATOR_BYTES not in data and (tagged := CONTEXT_TAG.search(data)):
        return _read_tagged(file, data, enabled, tagged)
    return _read_reply(file, data, enabled)


# An edit parses the same bytes several times: to apply it, to check it and to review it.
parse_cached = lru_cache(maxsize=4)(parse_file)


def _read_reply(file: str, data: bytes, enabled: bool) -> SnapshotFile:
    """Split at the first separator, as the runtime does; only one JSON text may follow it."""
    prose_end = data.find(SEPARATOR_BYTES)
    if prose_end < 0:
        reply = Reply(file, data, enabled, len(data), None, None, None, None)
        return SnapshotFile(file, data, SnapshotFileKind.REPLY, reply=reply, prose=reply.prose)
    payload = prose_end + len(SEPARATOR_BYTES)
    document, error = _try_parse(data, payload, len(data))
    snapshot = _emitted(file, document)
    reply = Reply(file, data, enabled, prose_end, payload, document, error, snapshot)
    salvaged, source = (snapshot, None) if error is None else _salvage(file, data, payload)
    return SnapshotFile(
        file,
        data,
        SnapshotFileKind.REPLY,
        document=document or (salvaged.document if salvaged else None),
        error=error,
        reply=reply,
        snapshot=salvaged,
        prose=reply.prose,
        salvaged=source,
    )


def _salvage(file: str, data: bytes, payload: int) -> tuple[Snapshot | None, str | None]:
    """Find a snapshot to show in a reply that the runtime refuses, and say where it was found."""
    last = data.rfind(SEPARATOR_BYTES) + len(SEPARATOR_BYTES)
    if last > payload and (found := _emitted(file, _try_parse(data, last, len(data))[0])):
        return found, "it parses from the last separator, but the runtime cuts at the first"
    start, end = data.find(b"{", payload), data.rfind(b"}") + 1
    if 0 <= start < end and (found := _emitted(file, _try_parse(data, start, end)[0])):
        return found, "there is a snapshot, but it is surrounded by other text"
    return None, None


def _read_tagged(file: str, data: bytes, enabled: bool, tagged: re.Match[bytes]) -> SnapshotFile:
    """Read a `<context>` tag: JSON in a version 1.2 reply (at its top or bottom), TOON in a prompt."""
    start, end = tagged.span(1)
    document, error = _try_parse(data, start, end)
    if document is None and not data[start:end].lstrip().startswith(b"{"):
        from ctxview.formats.snapshot.toon import ToonDocument

        return _prompt(file, data, ToonDocument(data, start, end))
    snapshot = _emitted(file, document)
    reply = Reply(file, data, enabled, len(data), None, document, error, snapshot)
    prose = (data[: tagged.start()] + data[tagged.end() :]).decode("utf-8", "replace")
    return SnapshotFile(file, data, SnapshotFileKind.REPLY, document, error, reply, None, snapshot, prose)


def _prompt(file: str, data: bytes, document: ToonDocument) -> SnapshotFile:
    value = document.value
    found = (
        Snapshot(file, document, "", value, SnapshotRole.INJECTED)
        if isinstance(value, dict) and value
        else None
    )
    return SnapshotFile(file, data, SnapshotFileKind.PROMPT, document, snapshot=found)


def _emitted(file: str, document: JsonDocument | None) -> Snapshot | None:
    return _snapshot(file, document, "", SnapshotRole.EMITTED) if document is not None else None


def _read_broken_json(file: str, data: bytes, error: JsonError) -> SnapshotFile:
    """Return the error; parse the JSON as well if only a byte order mark makes it invalid."""
    broken = SnapshotFile(file, data, SnapshotFileKind.SNAPSHOT, error=error)
    if not data.startswith(BYTE_ORDER_MARK):
        return broken
    document, _ = _try_parse(data, len(BYTE_ORDER_MARK), len(data))
    if document is None:
        return broken
    found = _read_json(file, data, document)
    return replace(
        found, error=error, salvaged="it parses without the byte order mark; JSON.parse refuses it"
    )


def _read_json(file: str, data: bytes, document: JsonDocument) -> SnapshotFile:
    pointer, value = "", document.value
    if isinstance(value, dict) and value.get("ok") is True and isinstance(value.get("data"), dict):
        pointer, value = "/data", value["data"]  # an API response `{ok, data}`
    if not isinstance(value, dict):
        return SnapshotFile(file, data, SnapshotFileKind.OTHER, document)
    if (code := _api_error(value)) is not None:
        return SnapshotFile(file, data, SnapshotFileKind.API_ERROR, document, api_error=code)
    if (log := _saved_log(file, document, pointer, value)) is not None:
        kind = SnapshotFileKind.LITE_LOG if log.lite else SnapshotFileKind.FULL_LOG
        return SnapshotFile(file, data, kind, document, log=log, snapshot=log.stored or log.injected)
    if (prompt := _prompt_in_messages(document, pointer, value)) is not None:
        return _prompt(file, data, prompt)
    if is_snapshot(value):
        found = _snapshot(file, document, pointer, SnapshotRole.STORED)
        return SnapshotFile(file, data, SnapshotFileKind.SNAPSHOT, document, snapshot=found)
    return SnapshotFile(file, data, SnapshotFileKind.OTHER, document)


def is_snapshot(value: JsonValue) -> bool:
    """Whether `value` has the shape of a snapshot of any version."""
    if not isinstance(value, dict):
        return False
    known = sum(key in value for key in ("version", "runtime", "memory", "todo", "round", "active_task"))
    return isinstance(value.get("memory"), dict) or ("version" in value and known >= 2)


def is_log(value: JsonValue) -> bool:
    """Whether `value` has the shape of a saved log, or of a log in an API response."""
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("modelContext"), dict) or (
        is_snapshot(value.get("context"))
        and bool(value.keys() & {"saved_at", "injectedContext", "projectionDebug"})
    )


def _api_error(value: dict[str, JsonValue]) -> str | None:
    if value.get("ok") is not False:
        return None
    error = value.get("error")
    parts = [error.get("code"), error.get("message")] if isinstance(error, dict) else [error]
    return ": ".join(str(part) for part in parts if part) or "no reason given"


def _saved_log(
    file: str, document: JsonDocument, pointer: str, value: dict[str, JsonValue]
) -> SavedLog | None:
    if not is_log(value):
        return None
    lite = "context" not in value
    injected_key = "modelContext" if "modelContext" in value else "injectedContext"
    debug_path: tuple[str, ...] = ("meta", "projectionDebug") if lite else ("projectionDebug",)
    _, debug = member_at(value, debug_path)
    return SavedLog(
        file=file,
        document=document,
        pointer=pointer,
        value=value,
        lite=lite,
        stored=_snapshot(file, document, join(pointer, "context"), SnapshotRole.STORED),
        injected=_snapshot(file, document, join(pointer, injected_key), SnapshotRole.INJECTED),
        injected_key=injected_key,
        debug=debug if isinstance(debug, dict) else {},
        debug_path=debug_path,
    )


def _prompt_in_messages(
    document: JsonDocument, pointer: str, value: dict[str, JsonValue]
) -> ToonDocument | None:
    """Find the first context tag in a saved list of messages."""
    messages = value.get("messages")
    for index, message in enumerate(messages if isinstance(messages, list) else ()):
        content = message.get("content") if isinstance(message, dict) else None
        text = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else b""
        if tagged := CONTEXT_TAG.search(text):
            place = join(pointer, "messages", index, "content")
            from ctxview.formats.snapshot.toon import ToonDocument

            return ToonDocument(text, *tagged.span(1), inside=(document, place))
    return None


def _snapshot(file: str, document: JsonDocument, pointer: str, role: SnapshotRole) -> Snapshot | None:
    # These pointers are made of plain object keys.
    _, value = member_at(document.value, tuple(pointer.split("/")[1:]))
    return Snapshot(file, document, pointer, value, role) if isinstance(value, dict) else None


def _try_parse(data: bytes, start: int, end: int) -> tuple[JsonDocument | None, JsonError | None]:
    try:
        return parse(data, start, end), None
    except JsonError as error:
        return None, error
