"""From the bytes of one file to model values: a reply, a bare snapshot, a saved log, an API answer, a prompt.

Never raises and never judges: what cannot be read is None with the reason beside it; the rules say the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache

from ctxview.files.json_document import JsonDocument, JsonError, join, parse
from ctxview.formats.snapshot.model import SEPARATOR, Reply, Role, SavedLog, Snapshot
from ctxview.formats.snapshot.toon import ToonDocument
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass

SEPARATOR_BYTES = SEPARATOR.encode()
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CONTEXT_TAG = re.compile(rb"<context>(.*?)</context>", re.DOTALL)


class Kind(StrEnum):
    """What a file turned out to be."""

    REPLY = "reply"
    SNAPSHOT = "snapshot"
    FULL_LOG = "full log"
    LITE_LOG = "lite log"
    PROMPT = "prompt"
    API_ERROR = "API error"
    OTHER = "not a snapshot"


@dataclass(frozen=True)
class SnapshotFile:
    """One file, read. `snapshot` is the one to look at first: the stored one, else injected or emitted."""

    file: str
    data: bytes
    kind: Kind
    document: JsonDocument | None = None
    error: JsonError | None = None
    reply: Reply | None = None
    log: SavedLog | None = None
    snapshot: Snapshot | None = None
    prose: str | None = None
    """A reply's text without its snapshot; None when the file is no reply."""
    salvaged: str | None = None
    """How `snapshot` was found although the runtime would refuse the reply; None when it would not."""
    api_error: str | None = None

    def snapshots(self) -> Iterator[Snapshot]:
        """Every snapshot in the file."""
        if self.log is not None:
            yield from (found for found in (self.log.stored, self.log.injected) if found is not None)
        elif self.snapshot is not None:
            yield self.snapshot


def read(file: str, data: bytes, enabled: bool = True) -> SnapshotFile:
    """What `data` holds; `enabled` is the mode a reply was written in."""
    looks_like_json = data.removeprefix(BYTE_ORDER_MARK).lstrip(b" \t\r\n")[:1] in (b"{", b"[")
    if looks_like_json or (SEPARATOR_BYTES not in data and not CONTEXT_TAG.search(data)):
        try:
            return _read_json(file, data, parse(data))
        except JsonError as error:
            if looks_like_json and SEPARATOR_BYTES not in data:
                return _read_broken_json(file, data, error)
    if SEPARATOR_BYTES not in data and (tagged := CONTEXT_TAG.search(data)):
        return _read_tagged(file, data, enabled, tagged)
    return _read_reply(file, data, enabled)


# An edit asks about the same bytes several times: to make it, to prove it, to review it.
read_again = lru_cache(maxsize=4)(read)


# -- replies -----------------------------------------------------------------------------------------------


def _read_reply(file: str, data: bytes, enabled: bool) -> SnapshotFile:
    """The first separator cuts, as in the runtime: nothing after it but one JSON text."""
    prose_end = data.find(SEPARATOR_BYTES)
    if prose_end < 0:
        reply = Reply(file, data, enabled, len(data), None, None, None, None)
        return SnapshotFile(file, data, Kind.REPLY, reply=reply, prose=reply.prose)
    payload = prose_end + len(SEPARATOR_BYTES)
    document, error = _try_parse(data, payload, len(data))
    snapshot = _emitted(file, document)
    reply = Reply(file, data, enabled, prose_end, payload, document, error, snapshot)
    salvaged, how = (snapshot, None) if error is None else _salvage(file, data, payload)
    return SnapshotFile(
        file,
        data,
        Kind.REPLY,
        document=document or (salvaged.document if salvaged else None),
        error=error,
        reply=reply,
        snapshot=salvaged,
        prose=reply.prose,
        salvaged=how,
    )


def _salvage(file: str, data: bytes, payload: int) -> tuple[Snapshot | None, str | None]:
    """A snapshot a person may still want to see in a reply the runtime refuses, and where it was found."""
    last = data.rfind(SEPARATOR_BYTES) + len(SEPARATOR_BYTES)
    if last > payload and (found := _emitted(file, _try_parse(data, last, len(data))[0])):
        return found, "it parses from the last separator, but the runtime cuts at the first"
    start, end = data.find(b"{", payload), data.rfind(b"}") + 1
    if 0 <= start < end and (found := _emitted(file, _try_parse(data, start, end)[0])):
        return found, "there is a snapshot, but other characters stand around it"
    return None, None


def _read_tagged(file: str, data: bytes, enabled: bool, tagged: re.Match[bytes]) -> SnapshotFile:
    """`<context>` holds JSON in a version 1.2 reply (at its top or bottom), TOON in what a model is shown."""
    start, end = tagged.span(1)
    document, error = _try_parse(data, start, end)
    if document is None and not data[start:end].lstrip().startswith(b"{"):
        return _prompt(file, data, ToonDocument(data, start, end))
    snapshot = _emitted(file, document)
    reply = Reply(file, data, enabled, len(data), None, document, error, snapshot)
    prose = (data[: tagged.start()] + data[tagged.end() :]).decode("utf-8", "replace")
    return SnapshotFile(file, data, Kind.REPLY, document, error, reply, None, snapshot, prose)


def _prompt(file: str, data: bytes, document: ToonDocument) -> SnapshotFile:
    value = document.value
    found = Snapshot(file, document, "", value, Role.INJECTED) if isinstance(value, dict) and value else None
    return SnapshotFile(file, data, Kind.PROMPT, document, snapshot=found)


def _emitted(file: str, document: JsonDocument | None) -> Snapshot | None:
    return _snapshot(file, document, "", Role.EMITTED) if document is not None else None


def _read_broken_json(file: str, data: bytes, error: JsonError) -> SnapshotFile:
    """Nothing can be read of it, unless only a byte order mark stands in the way."""
    broken = SnapshotFile(file, data, Kind.SNAPSHOT, error=error)
    if not data.startswith(BYTE_ORDER_MARK):
        return broken
    document, _ = _try_parse(data, len(BYTE_ORDER_MARK), len(data))
    if document is None:
        return broken
    found = _read_json(file, data, document)
    return replace(found, error=error, salvaged="it parses behind a byte order mark; JSON.parse refuses it")


# -- JSON files --------------------------------------------------------------------------------------------


def _read_json(file: str, data: bytes, document: JsonDocument) -> SnapshotFile:
    pointer, value = _unwrapped(document.value)
    if not isinstance(value, dict):
        return SnapshotFile(file, data, Kind.OTHER, document)
    if (code := _api_error(value)) is not None:
        return SnapshotFile(file, data, Kind.API_ERROR, document, api_error=code)
    if (log := _saved_log(file, document, pointer, value)) is not None:
        kind = Kind.LITE_LOG if log.lite else Kind.FULL_LOG
        return SnapshotFile(file, data, kind, document, log=log, snapshot=log.stored or log.injected)
    if (prompt := _prompt_in_messages(document, pointer, value)) is not None:
        return _prompt(file, data, prompt)
    if is_snapshot(value):
        found = _snapshot(file, document, pointer, Role.STORED)
        return SnapshotFile(file, data, Kind.SNAPSHOT, document, snapshot=found)
    return SnapshotFile(file, data, Kind.OTHER, document)


def is_snapshot(value: JsonValue) -> bool:
    """Whether an object has the shape of a snapshot of any version."""
    if not isinstance(value, dict):
        return False
    known = sum(key in value for key in ("version", "runtime", "memory", "todo", "round", "active_task"))
    return isinstance(value.get("memory"), dict) or ("version" in value and known >= 2)


def is_log(value: JsonValue) -> bool:
    """Whether an object has the shape of a saved log or of the same thing from the API."""
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("modelContext"), dict) or (
        is_snapshot(value.get("context"))
        and bool(value.keys() & {"saved_at", "injectedContext", "projectionDebug"})
    )


def _unwrapped(value: JsonValue) -> tuple[str, JsonValue]:
    """What stands inside an API answer `{ok, data}`; the value itself when it is none."""
    if isinstance(value, dict) and value.get("ok") is True and isinstance(value.get("data"), dict):
        return "/data", value["data"]
    return "", value


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
    debug_path = ("meta", "projectionDebug") if lite else ("projectionDebug",)
    debug: JsonValue = value
    for key in debug_path:
        debug = debug.get(key) if isinstance(debug, dict) else None
    return SavedLog(
        file=file,
        document=document,
        pointer=pointer,
        value=value,
        lite=lite,
        stored=_snapshot(file, document, join(pointer, "context"), Role.STORED),
        injected=_snapshot(file, document, join(pointer, injected_key), Role.INJECTED),
        injected_key=injected_key,
        debug=debug if isinstance(debug, dict) else {},
        debug_path=debug_path,
    )


def _prompt_in_messages(
    document: JsonDocument, pointer: str, value: dict[str, JsonValue]
) -> ToonDocument | None:
    """The context block in the first system message of a saved list of messages."""
    messages = value.get("messages")
    for index, message in enumerate(messages if isinstance(messages, list) else ()):
        content = message.get("content") if isinstance(message, dict) else None
        text = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else b""
        if tagged := CONTEXT_TAG.search(text):
            place = join(pointer, "messages", index, "content")
            return ToonDocument(text, *tagged.span(1), inside=(document, place))
    return None


def _snapshot(file: str, document: JsonDocument, pointer: str, role: Role) -> Snapshot | None:
    value = value_at(document.value, pointer)
    return Snapshot(file, document, pointer, value, role) if isinstance(value, dict) else None


def value_at(value: JsonValue, pointer: str) -> JsonValue:
    """What a pointer of plain object keys leads to; None when it leads nowhere."""
    for key in pointer.split("/")[1:]:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _try_parse(data: bytes, start: int, end: int) -> tuple[JsonDocument | None, JsonError | None]:
    try:
        return parse(data, start, end), None
    except JsonError as error:
        return None, error
