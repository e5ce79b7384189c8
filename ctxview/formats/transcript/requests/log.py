"""Read requests into a log: a row for each tool, system prompt and message, a call for each request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from ctxview.analysis.wording import beginning
from ctxview.core.origin import JsonValue, Origin
from ctxview.formats.transcript.model import (
    Api,
    Dialect,
    LogPart,
    ModelCall,
    PartKind,
    Record,
    RequestBody,
    TodoChange,
    TranscriptLog,
    TranscriptRow,
)
from ctxview.formats.transcript.requests.parts import (
    PartBuilder,
    block_text,
    blocks_of,
    messages_of,
    system_of,
    tool_part,
    tools_of,
)
from ctxview.formats.transcript.requests.shapes import FoundRequest
from ctxview.formats.transcript.values import content_text, json_text, number, record, records, text

TODO_TOOLS = frozenset(("TodoWrite", "todowrite", "TaskCreate", "TaskUpdate", "update_plan"))
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
ANSWER = "answer"


class PlacedRequest(Struct, frozen=True):
    """A request, and the origins of the values in its file."""

    found: FoundRequest
    origin_of: Callable[[str], Origin]


class RequestLog:
    """A log that is read whole. `values` has for every row the blocks or the schema that its texts are in."""

    alone = False

    def __init__(self, file: str) -> None:
        self.log = TranscriptLog(Dialect.BODY, file)
        self.values: list[JsonValue] = []
        self._begun: dict[str, int] = {}
        self._waiting: dict[str | None, TodoChange] = {}
        """Changes of the list of tasks that have no result yet."""

    def add(self, placed: PlacedRequest) -> None:
        """Add the rows of one request and of its answer, and its call."""
        log, found = self.log, placed.found
        body, api = found.body, found.api
        request = RequestBody(api, len(log.rows), 0, placed.origin_of(found.pointer_of("")))
        builder = PartBuilder()
        self._waiting.clear()
        for pointer, tool in tools_of(body):
            row = self._row(placed, pointer, "tool", "tools", tool)
            log.rows[row].parts = (tool_part(tool, row),)
        if (system := system_of(api, body)) is not None:
            pointer, value = system
            _, blocks = blocks_of(api, {"role": "system", "content": value})
            row = self._row(placed, pointer, "system", "system", blocks)
            log.rows[row].parts = tuple(builder.parts("system", blocks, row))
            request.blank += tuple(_blanks(blocks, row))
        first = ""
        for pointer, item in messages_of(api, body):
            if not first and text(item, "role") == "user":
                first = json_text(item)[:4000]
            self._message(placed, pointer, item, builder, request)
        for pointer, kind in _server_members(api, body):
            request.on_server += ((request.first, kind, beginning(json_text(body[pointer]), 200)),)
        request.thinking = text(record(body, "thinking"), "type") == "enabled"
        request.edits = tuple(
            f"asked: {text(each, 'type')}" for each in records(record(body, "context_management"), "edits")
        )
        request.answer = self._answer(placed, request)
        log.requests.append(request)
        self._call(placed, request, f"{api.value} {first}")

    def _row(self, placed: PlacedRequest, pointer: str, sort: str, role: str | None, value: JsonValue) -> int:
        origin = placed.origin_of(placed.found.pointer_of(pointer))
        row = TranscriptRow(origin.start or 0, origin.end or 0, sort, id=pointer.strip("/"))
        row.origin, row.role = origin, role
        self.log.rows.append(row)
        self.values.append(value)
        return len(self.log.rows) - 1

    def _message(
        self, placed: PlacedRequest, pointer: str, item: JsonValue, builder: PartBuilder, request: RequestBody
    ) -> None:
        log = self.log
        role, blocks = blocks_of(request.api, item)
        row = self._row(placed, pointer, text(item, "type") or "message", role, list(blocks))
        parts = tuple(builder.parts(role, blocks, row))
        log.rows[row].parts = parts
        log.rows[row].prompt = role == "user" and any(part.kind is PartKind.PROMPT for part in parts)
        if log.rows[row].prompt:
            log.facts.setdefault("title", beginning(" ".join(_first_prompt(parts, blocks).split()), 80))
        self._note_todos(parts, builder)
        request.blank += tuple(_blanks(blocks, row))
        if not blocks and (role != "assistant" or "content" not in record({"item": item}, "item")):
            request.blank += ((row, "the message has no content"),)
        for block in blocks:
            if (file := _file_id(block)) is not None:
                request.on_server += ((row, "file_id", file),)
            if (link := _address(block)) is not None:
                request.links += ((row, *link),)
        if text(item, "type") == "item_reference":
            request.on_server += ((row, "item_reference", text(item, "id") or "?"),)

    def _note_todos(self, parts: Sequence[LogPart], builder: PartBuilder) -> None:
        log = self.log
        for part in parts:
            if part.kind is PartKind.CALL and part.tool in TODO_TOOLS and id(part) in builder.arguments:
                change = TodoChange(part.row, part.call_id, part.tool, builder.arguments[id(part)])
                log.todos.append(change)
                self._waiting[part.call_id] = change
            elif part.kind is PartKind.RESULT and part.call_id in self._waiting:
                change = self._waiting.pop(part.call_id)
                change.answered, change.failed = True, part.error is not None

    def _answer(self, placed: PlacedRequest, request: RequestBody) -> int:
        found = placed.found
        answer = found.answer or {}
        message = record(next(iter(records(answer, "choices")), {}), "message") or answer
        items: list[JsonValue] = list(records(answer, "output")) or [{"role": "assistant", **message}]
        blocks = [block for item in items for block in blocks_of(request.api, item)[1]]
        pointer = found.answer_pointer
        origin = placed.origin_of(pointer if pointer is not None else found.pointer)
        row = TranscriptRow(origin.start or 0, origin.end or 0, ANSWER, id=ANSWER)
        row.origin, row.role = origin, "assistant"
        index = len(self.log.rows)
        row.parts = tuple(PartBuilder().parts("assistant", blocks, index))
        self.log.rows.append(row)
        self.values.append(blocks)
        error = record(answer, "error")
        if error:
            request.error = text(error, "message") or beginning(json_text(error), 300)
            self.log.errors.append((index, request.error))
        done = records(record(answer, "context_management"), "applied_edits")
        request.edits += tuple(f"done: {text(each, 'type')}" for each in done)
        return index

    def _call(self, placed: PlacedRequest, request: RequestBody, begun: str) -> None:
        log, found = self.log, placed.found
        answer = found.answer or {}
        count = len(log.calls) + 1
        model = text(answer, "model") or text(found.body, "model")
        call = ModelCall(count, request.answer, f"request {count}", model, found.time)
        call.limit = next((size for name in _LIMITS if (size := number(found.body, name))), None)
        call.last_row, call.previous = request.answer, self._begun.get(begun)
        self._begun[begun] = count - 1
        _take_usage(call, request.api, record(answer, "usage"))
        log.calls.append(call)
        if model is not None:
            log.models.setdefault(model, request.first)


def _take_usage(call: ModelCall, api: Api, usage: Record) -> None:
    sent = number(usage, "prompt_tokens") or number(usage, "input_tokens")
    out = number(usage, "completion_tokens") or number(usage, "output_tokens")
    inside = record(usage, "prompt_tokens_details") or record(usage, "input_tokens_details")
    made = record(usage, "completion_tokens_details") or record(usage, "output_tokens_details")
    read, written = number(usage, "cache_read_input_tokens"), number(usage, "cache_creation_input_tokens")
    if api in (Api.ANTHROPIC, Api.BARE) and "prompt_tokens" not in usage:
        # Here the cached part is not in `input_tokens`.
        sent = (sent or 0) + (read or 0) + (written or 0)
    call.sent, call.out = sent or None, out
    call.cached = read if read is not None else number(inside, "cached_tokens")
    call.cache_written = written
    call.thinking = number(made, "reasoning_tokens") or number(made, "thinking_tokens")
    call.output_known = out is not None
    if number(record(usage, "cache_creation"), "ephemeral_1h_input_tokens"):
        call.cache_minutes = 60


def _server_members(api: Api, body: Record) -> Iterator[tuple[str, str]]:
    names = ("previous_response_id", "conversation", "prompt") if api is Api.RESPONSES else ("container",)
    yield from ((name, name) for name in names if body.get(name))


def _first_prompt(parts: Sequence[LogPart], blocks: Sequence[JsonValue]) -> str:
    place = next((part.place for part in parts if part.kind is PartKind.PROMPT), 0)
    return content_text([blocks[place]])


def _blanks(blocks: Sequence[JsonValue], row: int) -> Iterator[tuple[int, str]]:
    for block in blocks:
        kind = text(block, "type")
        if kind in ("text", "input_text", "output_text") and not block_text(block).strip():
            alone = len(blocks) == 1
            yield row, "its only text is empty or blank" if alone else "a text block is empty or blank"


def _file_id(block: JsonValue) -> str | None:
    for holder in (block, record(block, "source"), record(block, "file")):
        if (found := text(holder, "file_id")) is not None:
            return found
    return None


def _address(block: JsonValue) -> tuple[str, str] | None:
    kind = "image" if "image" in (text(block, "type") or "") else "document"
    for holder, name in (
        (record(block, "source"), "url"),
        (record(block, "image_url"), "url"),
        (block, "image_url"),
        (block, "file_url"),
    ):
        if (found := text(holder, name)) is not None and not found.startswith("data:"):
            return kind, found
    return None
