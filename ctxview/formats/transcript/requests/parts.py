"""The parts of one request body. All interfaces are read into the blocks of the Messages API first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from ctxview.analysis.wording import beginning
from ctxview.core.origin import JsonValue
from ctxview.formats.transcript.model import (
    Api,
    LiveContext,
    LogPart,
    Mark,
    ModelCall,
    PartKind,
    Record,
    TranscriptLog,
)
from ctxview.formats.transcript.values import (
    about_of,
    content_text,
    cut_output,
    digest_of,
    image_count,
    is_image,
    json_text,
    persisted_output,
    record,
    records,
    text,
)

SUMMARY_START = "This session is being continued from a previous conversation"
_REMINDERS = ("<system-reminder>", "<environment_context>", "<user_instructions>", "# AGENTS.md instructions")
_SYSTEM_ROLES = ("system", "developer")
_TEXTS = frozenset(("text", "input_text", "output_text", "refusal", "summary_text"))
_CALLS = frozenset(("tool_use", "server_tool_use", "mcp_tool_use"))
_HIDDEN = "encrypted"
UNSIGNED = "no signature"


def messages_of(api: Api, body: Record) -> Iterator[tuple[str, JsonValue]]:
    """Yield the messages or items of a body with their pointers."""
    name = "input" if api is Api.RESPONSES else "messages"
    found = body.get(name)
    if isinstance(found, list):
        yield from ((f"/{name}/{at}", each) for at, each in enumerate(found))
    elif isinstance(found, str):
        yield f"/{name}", {"type": "message", "role": "user", "content": found}


def tools_of(body: Record) -> Iterator[tuple[str, Record]]:
    """Yield the tool schemas of a body with their pointers, and the schema of its answer."""
    for name in ("tools", "functions"):
        found = body.get(name)
        for at, each in enumerate(found if isinstance(found, list) else ()):
            if isinstance(each, dict):
                yield f"/{name}/{at}", each
    for path in (("response_format",), ("text", "format"), ("output_config", "format")):
        value: JsonValue = body
        for step in path:
            value = record(value, step)
        if isinstance(value, dict) and text(value, "type") == "json_schema":
            yield "/" + "/".join(path), value


def system_of(api: Api, body: Record) -> tuple[str, JsonValue] | None:
    """Return the system prompt that stands outside the messages, with its pointer."""
    name = "instructions" if api is Api.RESPONSES else "system"
    found = body.get(name)
    return (f"/{name}", found) if found is not None and api is not Api.CHAT else None


def tool_name(tool: Record) -> str:
    named = record(tool, "function") or record(tool, "custom") or record(tool, "json_schema") or tool
    return text(named, "name") or text(tool, "server_label") or text(tool, "type") or "?"


def tool_part(tool: Record, row: int) -> LogPart:
    """Return the part of a tool schema."""
    shown = {name: each for name, each in tool.items() if name != "cache_control"}
    size = len(json_text(shown))
    return LogPart(row, 0, PartKind.SCHEMA, "tools", size, tool=tool_name(tool), cache=cache_minutes(tool))


def blocks_of(api: Api, item: JsonValue) -> tuple[str | None, list[JsonValue]]:
    """Return role and content of a message or item, as blocks of the Messages API."""
    if not isinstance(item, dict):
        return None, []
    kind = text(item, "type")
    if api is Api.RESPONSES and kind not in (None, "message"):
        return _item_blocks(item, kind or "")
    role, content = text(item, "role"), item.get("content")
    blocks: list[JsonValue] = []
    if role in ("tool", "function"):
        answered = text(item, "tool_call_id") or text(item, "name")
        if isinstance(content, list) and any(text(each, "type") == "tool_result" for each in content):
            return role, [_renamed(each) for each in content]
        return role, [{"type": "tool_result", "tool_use_id": answered, "content": content}]
    if (thought := text(item, "reasoning_content") or text(item, "reasoning")) is not None:
        blocks.append({"type": "thinking", "thinking": thought, "signature": "none"})
    if isinstance(content, str) and (content or not item.get("tool_calls")):
        blocks.append({"type": "text", "text": content})
    elif isinstance(content, list):
        blocks += content
    blocks += [_chat_call(each) for each in records(item, "tool_calls")]
    if legacy := record(item, "function_call"):
        call = {"type": "tool_use", "id": text(legacy, "name"), "name": text(legacy, "name")}
        blocks.append({**call, "input": legacy.get("arguments")})
    return role, blocks


def _renamed(block: JsonValue) -> JsonValue:
    if isinstance(block, dict) and "tool_use_id" not in block and "tool_call_id" in block:
        return {**block, "tool_use_id": block["tool_call_id"]}
    return block


def _chat_call(call: Record) -> JsonValue:
    named = record(call, "function") or record(call, "custom")
    arguments = named.get("arguments", named.get("input"))
    return {"type": "tool_use", "id": call.get("id"), "name": named.get("name"), "input": arguments}


def _item_blocks(item: Record, kind: str) -> tuple[str | None, list[JsonValue]]:
    if kind == "reasoning":
        shown = content_text(item.get("summary") or item.get("content") or [])
        signature = text(item, "encrypted_content")
        return "assistant", [{"type": "thinking", "thinking": shown, "signature": signature or "none"}]
    if kind in ("compaction", "context_compaction"):
        return "user", [{"type": "compaction", "data": text(item, "encrypted_content")}]
    if kind.endswith("_output"):
        output = item.get("output", item.get("tools"))
        return "tool", [{"type": "tool_result", "tool_use_id": item.get("call_id"), "content": output}]
    if kind.endswith("_call"):
        answered = kind in ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call")
        answered = answered or kind in ("computer_call", "shell_call", "apply_patch_call")
        arguments = item.get("arguments", item.get("input", item.get("action")))
        call_id = text(item, "call_id") or text(item, "id") if answered else None
        name = text(item, "name") or kind.removesuffix("_call")
        return "assistant", [{"type": "tool_use", "id": call_id, "name": name, "input": arguments}]
    return text(item, "role"), [item]


def cache_minutes(block: JsonValue) -> int:
    """Return the minutes that a cache breakpoint on this block asks for; 0 without one."""
    mark = block.get("cache_control") if isinstance(block, dict) else None
    if not isinstance(mark, dict):
        return 0
    return 60 if mark.get("ttl") == "1h" else 5


class PartBuilder:
    """Turns the blocks of one request into parts; it remembers the tools that results belong to."""

    def __init__(self) -> None:
        self.calls: dict[str, LogPart] = {}
        self.arguments: dict[int, Record] = {}
        """The arguments of each call that has an object of them, by the identity of its part."""

    def parts(self, role: str | None, blocks: Sequence[JsonValue], row: int) -> Iterator[LogPart]:
        for place, block in enumerate(blocks):
            part = self._part(role, block, row, place)
            part.cache = cache_minutes(block)
            inner = block.get("content") if isinstance(block, dict) else None
            if not part.cache and isinstance(inner, list):
                part.cache = max(map(cache_minutes, inner), default=0)
            yield part

    def _part(self, role: str | None, block: JsonValue, row: int, place: int) -> LogPart:
        kind = text(block, "type") or "text"
        if kind in _CALLS:
            return self._call(block, row, place)
        if kind == "tool_result" or kind.endswith("_tool_result"):
            return self._result(block, row, place)
        if kind in ("thinking", "redacted_thinking"):
            return _thinking(block, row, place)
        if kind == "compaction":
            words = text(block, "content")
            part = LogPart(row, place, PartKind.SUMMARY, "summary", len(words or text(block, "data") or ""))
            if words is None:
                part.mark, part.detail = Mark.ENCRYPTED, _HIDDEN
            return part
        words = block_text(block)
        if not words and kind not in _TEXTS:
            return LogPart(row, place, PartKind.IMAGE, "images", 0, about=_file_name(block), images=1)
        part = LogPart(row, place, PartKind.PROMPT, "user", len(words), digest=digest_of(words))
        if role == "assistant":
            part.kind, part.segment = PartKind.ANSWER, "assistant"
        elif role in _SYSTEM_ROLES:
            part.kind, part.segment = PartKind.SYSTEM, "system"
        elif words.startswith(SUMMARY_START):
            part.kind, part.segment = PartKind.SUMMARY, "summary"
        elif words.startswith(_REMINDERS):
            part.kind, part.segment = PartKind.REMINDER, "attachments"
        elif kind not in _TEXTS:
            part.kind, part.segment, part.about = PartKind.REMINDER, "attachments", _file_name(block)
        return part

    def _call(self, block: JsonValue, row: int, place: int) -> LogPart:
        given = block.get("input") if isinstance(block, dict) else None
        tool, call_id = text(block, "name") or "?", text(block, "id")
        size = len(json_text(given)) + len(tool)
        part = LogPart(row, place, PartKind.CALL, "tool calls", size, call_id, tool)
        parsed = arguments_of(given)
        part.about = about_of(parsed)
        if isinstance(parsed, dict):
            self.arguments[id(part)] = parsed
            ranged = [str(parsed[name]) for name in ("offset", "limit", "pages") if name in parsed]
            part.detail = " ".join(ranged) or None
        if text(block, "type") != "tool_use":
            # The provider runs the tool and puts the result into the same message.
            part.call_id = None
        elif call_id is not None:
            self.calls[call_id] = part
        return part

    def _result(self, block: JsonValue, row: int, place: int) -> LogPart:
        content = block.get("content") if isinstance(block, dict) else None
        words, call_id = result_text(content), text(block, "tool_use_id")
        call = self.calls.get(call_id or "")
        tool, about = (call.tool, call.about) if call is not None else (None, None)
        part = LogPart(row, place, PartKind.RESULT, "tool results", len(words), call_id, tool, about)
        part.images, part.digest = image_count(content), digest_of(words)
        if part.images and not words:
            part.segment = "images"
        if text(block, "type") != "tool_result":
            part.call_id = None
        if isinstance(block, dict) and block.get("is_error") is True:
            part.error = beginning(words, 200)
        if (persisted := persisted_output(words)) is not None:
            part.mark, part.detail = Mark.PERSISTED, persisted[1]
        elif words.startswith("[Old tool result content cleared]"):
            part.mark = Mark.CLEARED
        elif (cut := cut_output(words)) is not None:
            part.mark, part.detail = Mark.CUT, cut
        return part


def arguments_of(given: JsonValue) -> JsonValue:
    """Return the arguments of a call: those of the OpenAI interfaces are JSON in a text."""
    if isinstance(given, str) and given.startswith("{"):
        try:
            parsed: JsonValue = orjson.loads(given)
        except orjson.JSONDecodeError:
            return given
        return parsed
    return given


def _thinking(block: JsonValue, row: int, place: int) -> LogPart:
    words, signature = text(block, "thinking"), text(block, "signature") or text(block, "data")
    part = LogPart(row, place, PartKind.THINKING, "thinking", len(words or signature or ""))
    if words is None:
        part.mark, part.detail = Mark.ENCRYPTED, _HIDDEN
    elif signature is None:
        part.detail = UNSIGNED
    return part


def _file_name(block: JsonValue) -> str | None:
    return text(block, "title") or text(block, "filename") or text(record(block, "file"), "filename")


def block_text(block: JsonValue) -> str:
    """Return the text of a block; data in base64 is not text."""
    if isinstance(block, str):
        return block
    kind, source = text(block, "type"), record(block, "source")
    if kind == "document" and source:
        found = source.get("content") if source.get("type") == "content" else None
        return content_text(found) if found is not None else _plain(source)
    if is_image(block) or kind in ("input_file", "file", "input_audio", "container_upload", "audio"):
        return ""
    return content_text([block])


def result_text(content: JsonValue) -> str:
    """Return the text of a result: documents and images in it are not text."""
    return (
        "\n".join(filter(None, map(block_text, content)))
        if isinstance(content, list)
        else content_text(content)
    )


def _plain(source: Record) -> str:
    return (text(source, "data") or "") if source.get("type") == "text" else ""


def part_text(value: JsonValue, part: LogPart) -> str:
    """Return the text of a part, given the blocks or the schema of its row."""
    if part.kind is PartKind.SCHEMA:
        shown = value if isinstance(value, dict) else {}
        return json_text({name: each for name, each in shown.items() if name != "cache_control"})
    blocks = value if isinstance(value, list) else []
    if part.place >= len(blocks):
        return ""
    block = blocks[part.place]
    if part.kind is PartKind.CALL:
        return json_text(block.get("input")) if isinstance(block, dict) else ""
    if part.kind is PartKind.RESULT:
        return result_text(block.get("content")) if isinstance(block, dict) else ""
    if part.kind is PartKind.THINKING:
        return text(block, "thinking") or ""
    if part.mark is Mark.ENCRYPTED:
        return ""
    return block_text(block)


def live_context(log: TranscriptLog, call: ModelCall | None) -> LiveContext:
    """Return what a request sends: all of its rows, in the order of the prompt."""
    if call is None or not log.requests:
        return LiveContext((), {}, ())
    request = log.requests[call.number - 1]
    rows = range(request.first, request.answer)
    parts = [part for row in rows for part in log.rows[row].parts]
    results = {part.call_id for part in parts if part.kind is PartKind.RESULT}
    calls = {part.call_id for part in parts if part.kind is PartKind.CALL}
    open_calls = [
        part for part in parts if part.kind is PartKind.CALL and part.call_id and part.call_id not in results
    ]
    lost = [
        part for part in parts if part.kind is PartKind.RESULT and part.call_id and part.call_id not in calls
    ]
    return LiveContext(
        parts=parts,
        absent={},
        calls=(call,),
        lineage=[row for row in rows if log.rows[row].parts],
        missing_results=open_calls,
        missing_calls=lost,
    )
