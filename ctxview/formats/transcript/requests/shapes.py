"""Find request bodies in JSON by their shape: alone, in pairs with answers, in lists and in HAR files."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

import orjson
from msgspec import Struct

from ctxview.core.origin import JsonValue
from ctxview.formats.transcript.model import Api, Record
from ctxview.formats.transcript.values import record, records, text

_DATED_TOOL = re.compile(r"_20\d{6}$")
_OWN_BLOCKS = frozenset(("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"))
_ITEMS = frozenset(("message", "function_call", "function_call_output", "reasoning", "item_reference"))
_TIMES = ("timestamp", "time", "created_at", "ts")


class FoundRequest(Struct, frozen=True):
    """A request body in a value, with its answer. Pointers are those of the value."""

    api: Api
    body: Record
    pointer: str
    answer: Record | None = None
    answer_pointer: str | None = None
    time: str | None = None
    whole: bool = False
    """Whether the pointer is that of everything in the body: a list of messages, or JSON inside a text."""
    listed: bool = False
    """Whether the value is the list of messages itself."""

    def pointer_of(self, inside: str) -> str:
        """Return the pointer of a value inside the body, or of the text that holds the body."""
        if self.listed:
            return self.pointer + inside.removeprefix("/messages")
        return self.pointer if self.whole else self.pointer + inside


def api_of(body: JsonValue) -> Api | None:
    """Return the interface that a body is written for; None when it is not a body."""
    if not isinstance(body, dict):
        return None
    messages = body.get("messages")
    if isinstance(messages, list):
        if not all(isinstance(each, dict) and isinstance(each.get("role"), str) for each in messages):
            return None
        found = records(body, "messages")
        if _is_chat(body, found):
            return Api.CHAT
        if _is_anthropic(body, found):
            return Api.ANTHROPIC
        return Api.CHAT if text(body, "model") is not None else None
    given, model = body.get("input"), text(body, "model")
    if model is None or "embed" in model:
        return None
    if isinstance(given, list) and given:
        kinds = (text(each, "type") in _ITEMS or text(each, "role") is not None for each in given)
        return Api.RESPONSES if any(kinds) else None
    return Api.RESPONSES if isinstance(given, str) else None


def _is_chat(body: Record, messages: list[Record]) -> bool:
    if any(record(tool, "function") for tool in records(body, "tools")):
        return True
    return any("tool_calls" in each or each.get("role") in ("tool", "developer") for each in messages)


def _is_anthropic(body: Record, messages: list[Record]) -> bool:
    if "anthropic_version" in body or isinstance(body.get("system"), str | list):
        return True
    for tool in records(body, "tools"):
        if "input_schema" in tool or _DATED_TOOL.search(text(tool, "type") or ""):
            return True
    blocks = [block for each in messages for block in records(each, "content")]
    if any(text(block, "type") in _OWN_BLOCKS for block in blocks):
        return True
    model = text(body, "model") or ""
    if "max_tokens" not in body or any(each.get("role") == "system" for each in messages):
        return False
    # Proxies put the name of the provider in front of the model.
    return model.startswith("claude") or (bool(blocks) and "claude" in model)


def is_message(value: JsonValue) -> bool:
    """Whether a value is a message with a role, and nothing else that has one."""
    return isinstance(value, dict) and isinstance(value.get("role"), str) and "content" in value


def requests_in(value: JsonValue) -> Iterator[FoundRequest]:
    """Yield the requests of a value in their order; none when it is something else."""
    if isinstance(value, list):
        if value and all(map(is_message, value)):
            yield FoundRequest(Api.BARE, {"messages": value}, "", listed=True)
            return
        for at, each in enumerate(value):
            yield from _request(each, f"/{at}")
        return
    entries = record(value, "log").get("entries")
    if isinstance(entries, list):
        for at, each in enumerate(entries):
            yield from _entry(each, f"/log/entries/{at}")
        return
    yield from _request(value, "")


def _request(value: JsonValue, pointer: str) -> Iterator[FoundRequest]:
    if not isinstance(value, dict):
        return
    api = api_of(value)
    if api is not None:
        yield FoundRequest(api, value, pointer, time=_time(value))
        return
    for path in (("request",), ("request", "body"), ("request", "json"), ("body",)):
        found = value.get(path[0])
        for step in path[1:]:
            found = found.get(step) if isinstance(found, dict) else None
        body = _decoded(found)
        if (api := api_of(body)) is None or not isinstance(body, dict):
            continue
        answer, place = _answer(value.get("response"))
        at = f"{pointer}/response{place}" if answer is not None else None
        inside = f"{pointer}/{'/'.join(path)}"
        embedded = isinstance(found, str)
        yield FoundRequest(api, body, inside, answer, at, _time(value), whole=embedded)
        return
    messages = value.get("messages")
    if isinstance(messages, list) and messages and all(map(is_message, messages)):
        yield FoundRequest(Api.BARE, value, pointer)


def _entry(value: JsonValue, pointer: str) -> Iterator[FoundRequest]:
    """Yield the request of an entry of a HAR file."""
    post = record(record(value, "request"), "postData").get("text")
    body = _decoded(post)
    if (api := api_of(body)) is None or not isinstance(body, dict):
        return
    content = record(record(value, "response"), "content")
    shown = text(content, "text")
    if shown is not None and content.get("encoding") == "base64":
        try:
            shown = base64.b64decode(shown, validate=True).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            shown = None
    answer, _ = _answer(shown)
    at = f"{pointer}/response/content/text" if answer is not None else None
    inside = f"{pointer}/request/postData/text"
    yield FoundRequest(api, body, inside, answer, at, text(value, "startedDateTime"), whole=True)


def _time(value: Record) -> str | None:
    return next((found for name in _TIMES if (found := text(value, name)) is not None), None)


def _decoded(value: JsonValue) -> JsonValue:
    """Return the JSON inside a text, or the value itself."""
    if not isinstance(value, str):
        return value
    try:
        found: JsonValue = orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
    return found


def _answer(value: JsonValue) -> tuple[Record | None, str]:
    """Return an answer and its place: an object, JSON in a text, or the events of a stream."""
    for name in ("body", "json"):
        if isinstance(value, dict) and isinstance(value.get(name), dict | str | list):
            return _answer(value[name])[0], f"/{name}"
    if isinstance(value, dict):
        return value, ""
    if isinstance(value, list):
        return _from_events([each for each in value if isinstance(each, dict)]), ""
    if not isinstance(value, str):
        return None, ""
    decoded = _decoded(value)
    if isinstance(decoded, dict):
        return decoded, ""
    lines = (line.removeprefix("data:").strip() for line in value.splitlines() if line.startswith("data:"))
    events = [each for line in lines if isinstance(each := _decoded(line), dict)]
    return _from_events(events), ""


def _from_events(events: list[Record]) -> Record | None:
    """Put the answer together that a stream of events was."""
    answer: Record = {}
    blocks: dict[int, Record] = {}
    said: list[str] = []
    for event in events:
        kind = text(event, "type")
        if whole := record(event, "response"):
            answer = whole
        elif kind == "message_start":
            answer = dict(record(event, "message"))
        elif kind == "content_block_start":
            blocks[len(blocks)] = dict(record(event, "content_block"))
        elif kind == "content_block_delta" and blocks:
            delta, block = record(event, "delta"), blocks[len(blocks) - 1]
            for name, target in (("text", "text"), ("thinking", "thinking"), ("partial_json", "input")):
                if (piece := text(delta, name)) is not None:
                    before = block.get(target)
                    block[target] = (before if isinstance(before, str) else "") + piece
        elif kind == "message_delta":
            answer["usage"] = {**record(answer, "usage"), **record(event, "usage")}
        elif "choices" in event:
            answer = {**answer, **{name: each for name, each in event.items() if each is not None}}
            said += [text(record(each, "delta"), "content") or "" for each in records(event, "choices")]
    if blocks:
        answer["content"] = list(blocks.values())
    elif "choices" in answer:
        answer["choices"] = [{"message": {"role": "assistant", "content": "".join(said)}}]
    return answer or None
