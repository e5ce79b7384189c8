"""Traces of tool calls, in four spellings, as sessions of calls and messages.

A line is one message: MCP JSON-RPC, blocks of `tool_use` and `tool_result`, OpenAI `tool_calls`, or a debug
line of a server. A session ends with the calls after a user message `<END_SESSION>`, at a JSON-RPC
`initialize`, after a long gap, or with the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.rfc3339 import parse_time
from ctxview.core.origin import JsonValue
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.memory.model import Call, Place, TraceMessage, TraceSession
from ctxview.formats.memory.profile import PROFILES, load_profile

KNOWN_TOOLS: Final = frozenset(tool for name in PROFILES for tool in load_profile(name).words.tools)
END: Final = re.compile(r"<END_SESSION>|\b(?:END_SESSION|SESSION_END)\b")
_DEBUG: Final = re.compile(r"handling (\w+) request")
_PREFIX: Final = re.compile(r"mcp__.+?__|mcp_[^_]+_")
_TIMES: Final = ("timestamp", "time", "ts", "created_at", "creationTime")
_SESSIONS: Final = ("session", "sessionId", "session_id")

Members = dict[str, JsonValue]


class Started(Struct, frozen=True):
    """The beginning of another session."""

    time: str | None


class Result(Struct, frozen=True):
    """The result of an earlier call."""

    id: str
    text: str
    failed: bool


class Traced(Struct, frozen=True):
    """A call, with the id that its result names."""

    id: str | None
    call: Call


Item = Traced | TraceMessage | Started | Result


def is_traced(value: Members) -> bool:
    """Whether a line has a call of a memory tool."""
    nowhere = Place(lambda: HistoryLine("", "", None, 0, 0, b""))
    found = (item.call.tool for item in _items(value, nowhere) if isinstance(item, Traced))
    return any(tool in KNOWN_TOOLS for tool in found)


def read_trace(
    lines: Iterable[tuple[HistoryLine, Callable[[], HistoryLine]]], gap_minutes: int
) -> list[TraceSession]:
    """Return the sessions of a trace, split by memory, in the order in which they began."""
    tracks: dict[str, _Track] = {}
    for line, again in lines:
        value = line.value
        if value is None:
            continue
        key = next((str(value[name]) for name in _SESSIONS if isinstance(value.get(name), str)), "")
        track = tracks.setdefault(key, _Track(timedelta(minutes=gap_minutes)))
        for item in _items(value, Place(again)):
            track.add(item)
    for track in tracks.values():
        track.end("end of file")
    found = [session for track in tracks.values() for session in track.sessions]
    found.sort(key=lambda session: session.items[0].time or "")
    return [part for session in found for part in _by_memory(session)]


def tool_name(name: str) -> str | None:
    """Return the name of a memory tool without the prefix of a client; None when it is none."""
    bare = _PREFIX.sub("", name, count=1)
    for tool in (name, bare, re.split(r"__|[./:]", name)[-1]):
        if tool in KNOWN_TOOLS:
            return tool
    return None


class _Track:
    """The sessions of one client."""

    def __init__(self, gap: timedelta) -> None:
        self._gap = gap
        self._items: list[Call | TraceMessage] = []
        self._waiting: dict[str, int] = {}
        self._last: datetime | None = None
        self.sessions: list[TraceSession] = []

    def add(self, item: Item) -> None:
        if isinstance(item, Result):
            if (place := self._waiting.pop(item.id, None)) is not None and place < len(self._items):
                call = self._items[place]
                if isinstance(call, Call):
                    self._items[place] = replace(call, result=item.text, failed=item.failed)
            return
        if isinstance(item, Started):
            self.end("initialize")
            return
        body = item.call if isinstance(item, Traced) else item
        when = parse_time(body.time)
        if when is not None and self._last is not None and when - self._last > self._gap:
            self.end("gap")
        elif isinstance(body, TraceMessage) and body.role == "user" and self._said_end:
            self.end("END_SESSION")
        self._last = when or self._last
        if isinstance(item, Traced) and item.id is not None:
            self._waiting[item.id] = len(self._items)
        self._items.append(body)

    @property
    def _said_end(self) -> bool:
        said = (item for item in self._items if isinstance(item, TraceMessage) and item.role == "user")
        return any(END.search(item.text) for item in said)

    def end(self, how: str) -> None:
        if any(isinstance(item, Call) for item in self._items):
            how = "END_SESSION" if self._said_end else how
            self.sessions.append(TraceSession(tuple(self._items), how))
        self._items, self._waiting, self._last = [], {}, None


def _by_memory(session: TraceSession) -> Iterator[TraceSession]:
    """Split a session by memory; calls about none, and messages, stay with the first."""
    memories = list(dict.fromkeys(call.memory for call in session.calls if call.memory is not None))
    if len(memories) < 2:
        yield replace(session, memory=memories[0] if memories else None)
        return
    for number, memory in enumerate(memories):
        items = tuple(
            item
            for item in session.items
            if isinstance(item, TraceMessage)
            or item.memory == memory
            or (item.memory is None and number == 0)
        )
        yield TraceSession(items, session.ended, memory)


def _items(value: Members, place: Place) -> Iterator[Item]:
    time = next((text for name in _TIMES if isinstance(text := value.get(name), str)), None)
    if "jsonrpc" in value:
        yield from _rpc_items(value, place, time)
        return
    said = value.get("message", value.get("msg"))
    if isinstance(said, str) and (found := _DEBUG.search(said)) is not None:
        if (tool := tool_name(found[1])) is not None or found[1].islower():
            call = Call(tool=tool or found[1], arguments=value, time=time, place=place, partial=True)
            yield Traced(None, call)
        return
    if isinstance(said, dict) and "role" in said:
        place = Place(place.line, ("message",))
        value = said
    role = value.get("role")
    if isinstance(role, str):
        yield from _message_items(value, role, place, time)


def _rpc_items(value: Members, place: Place, time: str | None) -> Iterator[Item]:
    method, params, id_ = value.get("method"), value.get("params"), value.get("id")
    name = None if id_ is None else str(id_)
    if method == "initialize":
        yield Started(time)
    elif method == "tools/call" and isinstance(params, dict) and isinstance(params.get("name"), str):
        arguments = params.get("arguments")
        called = str(params["name"])
        call = Call(
            tool=tool_name(called) or called,
            arguments=arguments if isinstance(arguments, dict) else {},
            time=time,
            place=Place(place.line, ("params", "arguments") if isinstance(arguments, dict) else ("params",)),
        )
        yield Traced(name, call)
    elif name is not None and isinstance(result := value.get("result"), dict):
        yield Result(name, _text(result.get("content")), result.get("isError") is True)
    elif name is not None and isinstance(error := value.get("error"), dict):
        yield Result(name, _text(error.get("message")), True)


def _message_items(value: Members, role: str, place: Place, time: str | None) -> Iterator[Item]:
    content = value.get("content")
    if role == "tool" and isinstance(called := value.get("tool_call_id"), str):
        text = _text(content)
        yield Result(called, text, text.lower().startswith("error"))
        return
    text = _text(content)
    if text.strip() and role in ("user", "assistant", "human"):
        yield TraceMessage("user" if role == "human" else role, text, time, place)
    for number, block in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool_use" and isinstance(name := block.get("name"), str):
            if (tool := tool_name(name)) is not None:
                found = block.get("input")
                call = Call(
                    tool=tool,
                    arguments=found if isinstance(found, dict) else {},
                    time=time,
                    place=Place(place.line, (*place.path, "content", number, "input")),
                )
                yield Traced(str(block.get("id")), call)
        elif block.get("type") == "tool_result":
            failed = block.get("is_error") is True
            yield Result(str(block.get("tool_use_id")), _text(block.get("content")), failed)
    tools = value.get("tool_calls")
    for number, each in enumerate(tools if isinstance(tools, list) else ()):
        function = each.get("function") if isinstance(each, dict) else None
        if not isinstance(each, dict) or not isinstance(function, dict):
            continue
        if (tool := tool_name(str(function.get("name")))) is not None:
            path = (*place.path, "tool_calls", number, "function", "arguments")
            arguments = _decoded(function.get("arguments"))
            call = Call(tool=tool, arguments=arguments, time=time, place=Place(place.line, path))
            yield Traced(str(each.get("id")), call)


def _decoded(arguments: JsonValue) -> Members:
    if isinstance(arguments, str):
        try:
            arguments = orjson.loads(arguments)
        except orjson.JSONDecodeError:
            return {}
    return arguments if isinstance(arguments, dict) else {}


def _text(content: JsonValue) -> str:
    """Return the text of a message, without its tool blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (
        block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text"
    )
    return "\n".join(text for text in texts if isinstance(text, str))
