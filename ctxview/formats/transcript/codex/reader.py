"""Read the rows of Codex rollouts, and rebuild the context that the program holds at one moment."""

from __future__ import annotations

from collections.abc import Callable
from sys import intern

import orjson

from ctxview.analysis.wording import beginning
from ctxview.core.origin import JsonValue
from ctxview.formats.transcript.codex.context import REPLACED
from ctxview.formats.transcript.codex.forks import CopiedBeginning
from ctxview.formats.transcript.format import CODEX_TYPES, LEGACY_ITEMS, is_legacy_meta
from ctxview.formats.transcript.model import (
    MADE_BY_MODEL,
    SUBAGENT_OF,
    LineProblem,
    LoggedCompaction,
    LogPart,
    Mark,
    ModelCall,
    PartKind,
    Record,
    TodoChange,
    TranscriptLog,
    TranscriptRow,
)
from ctxview.formats.transcript.values import (
    about_of,
    content_text,
    cut_output,
    image_count,
    json_text,
    number,
    record,
    records,
    text,
)

CONTEXT_USER = (
    *(
        "<environment_context>",
        "<user_instructions>",
        "# AGENTS.md instructions",
        "<skill>",
        "<turn_aborted>",
    ),
    *("<user_shell_command>", "<subagent_notification>", "<hook_prompt", "<recommended_plugins>"),
    *("<codex_internal_context", "<goal_context>"),
)
_MEMORY = ("<user_instructions>", "# AGENTS.md instructions")
_SERVER_CALLS = frozenset(("web_search_call", "image_generation_call"))
_CALLS = _SERVER_CALLS | {"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"}
_OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "tool_search_output"))
_SCREEN_EVENTS = frozenset(("user_message", "agent_message", "agent_reasoning"))
ENCRYPTED_DETAIL = "encrypted"
LEGACY_STATE = "record_type state"


class _Sorts(dict[str, str]):
    """The sort of a row by the type of its payload; all rows of a kind share one text."""

    def __init__(self, envelope: str) -> None:
        self._envelope = envelope

    def __missing__(self, kind: str) -> str:
        return self.setdefault(kind, f"{self._envelope} {kind}")


class CodexReader:
    """Adds the records of a rollout to a log, one after the other."""

    alone = False

    def __init__(self, log: TranscriptLog) -> None:
        self.log = log
        self._made: dict[str, LogPart] = {}
        """The calls that may have an output, by their ids."""
        self._todos: dict[str, TodoChange] = {}
        self._total: JsonValue = None
        self._open: list[int] = []
        """Rows that the model wrote since the last call."""
        self._model: str | None = None
        self._turn = 0
        self._copied = CopiedBeginning()
        self._item_sorts, self._event_sorts = _Sorts("response_item"), _Sorts("event_msg")
        self._takers: dict[str, Callable[[Record, TranscriptRow, int], None]] = {
            "session_meta": self._take_session_meta,
            "turn_context": self._take_turn_context,
            "response_item": self._take_response_item,
            "inter_agent_communication": self._take_inter_agent_communication,
            "compacted": self._take_compacted,
            "event_msg": self._take_event_msg,
        }

    def copy(self, log: TranscriptLog) -> CodexReader:
        """Return a reader that continues in `log`, a copy of this one's."""
        made = CodexReader(log)
        made._made, made._todos, made._total = dict(self._made), dict(self._todos), self._total
        made._open, made._model = list(self._open), self._model
        made._turn, made._copied = self._turn, self._copied.copy()
        return made

    def add(self, value: Record, start: int, end: int, line: int | None) -> None:
        log = self.log
        index = len(log.rows)
        sort, payload = row_of(value)
        row = TranscriptRow(start, end, sort, line, None, None, text(value, "timestamp"))
        log.rows.append(row)
        if self._copied.is_likely and self._copied.reaches(value, payload, row.time):
            log.copied = index + 1
        take = self._takers.get(sort)
        if take is not None and isinstance(payload, dict):
            take(payload, row, index)
        elif sort not in CODEX_TYPES and sort != LEGACY_STATE:
            count, first = log.unknown.get(sort, (0, index))
            log.unknown[sort] = count + 1, first
        elif not isinstance(payload, dict):
            message = f"this {sort} record has no payload"
            log.problems.append(LineProblem("TRF007", log.origin(index), message))

    def _take_session_meta(self, payload: Record, row: TranscriptRow, index: int) -> None:
        log = self.log
        if self._copied.take_meta(payload, row.time):
            row.sort = "session_meta of the parent"
            log.copied = index + 1
            return
        if (base := text(record(payload, "history_base"), "thread_id")) is not None:
            log.facts["history base"] = base
        for fact, name in (("cwd", "cwd"), ("originator", "originator")):
            if (found := text(payload, name)) is not None:
                log.facts[fact] = found
        if (version := text(payload, "cli_version")) is not None:
            log.versions.setdefault(version, index)
        if (parent := text(payload, "forked_from_id") or text(payload, "parent_thread_id")) is not None:
            log.facts["forked from"] = parent
        spawn = record(record(record(payload, "source"), "subagent"), "thread_spawn")
        if (parent := text(spawn, "parent_thread_id")) is not None:
            log.facts[SUBAGENT_OF] = parent
        if (session := text(payload, "id")) is not None:
            log.sessions[session] += 1
        words = text(record(payload, "base_instructions"), "text") or text(payload, "instructions") or ""
        tools = json_text(payload.get("dynamic_tools")) if payload.get("dynamic_tools") else ""
        parts = []
        if words:
            parts.append(LogPart(index, 0, PartKind.SYSTEM, "system", len(words), about="base instructions"))
        if tools:
            parts.append(LogPart(index, 1, PartKind.SCHEMA, "tools", len(tools), about="dynamic tools"))
        row.parts, row.role = tuple(parts), "system"

    def _take_turn_context(self, payload: Record, _row: TranscriptRow, index: int) -> None:
        if (model := text(payload, "model")) is not None:
            self._model = model
            self.log.models.setdefault(model, index)
        if (cwd := text(payload, "cwd")) is not None:
            self.log.facts["cwd"] = cwd

    def _take_response_item(self, payload: Record, row: TranscriptRow, index: int) -> None:
        kind = text(payload, "type")
        row.sort = self._item_sorts[kind or "?"]
        part = self._item_part(kind, payload, row, index, 0)
        if part is None:
            return
        row.parts = (part,)
        if row.prompt:
            self._turn += 1
            if "title" not in self.log.facts:
                shown = content_text(payload.get("content"))
                self.log.facts["title"] = beginning(" ".join(shown.split()), 80)
        if part.kind in MADE_BY_MODEL:
            self._open.append(index)

    def _item_part(
        self, kind: str | None, item: Record, row: TranscriptRow, index: int, place: int
    ) -> LogPart | None:
        """Return the part of one item of the history, if it has one; notes prompts on the row."""
        if kind in _OUTPUTS:
            return self._output(item, row, index, place)
        if kind in _CALLS:
            return self._call(kind, item, row, index, place)
        if kind == "message" or (kind is None and "role" in item):
            return self._message(item, row, index, place)
        if kind == "reasoning":
            row.role = "assistant"
            hidden = text(item, "encrypted_content")
            if hidden is not None:
                part = LogPart(index, place, PartKind.THINKING, "thinking", len(hidden))
                part.mark, part.detail = Mark.ENCRYPTED, ENCRYPTED_DETAIL
                return part
            shown = " ".join(filter(None, (text(each, "text") for each in records(item, "summary"))))
            return LogPart(index, place, PartKind.THINKING, "thinking", len(shown))
        if kind in ("compaction", "context_compaction"):
            row.role = "user"
            hidden = text(item, "encrypted_content") or ""
            part = LogPart(index, place, PartKind.SUMMARY, "summary", len(hidden))
            part.mark, part.detail = Mark.ENCRYPTED, ENCRYPTED_DETAIL
            return part
        if kind == "agent_message":
            row.role, row.prompt = "user", True
            return LogPart(index, place, PartKind.PROMPT, "user", len(json_text(item.get("content"))))
        return None

    def _message(self, item: Record, row: TranscriptRow, index: int, place: int) -> LogPart | None:
        role, words = text(item, "role"), content_text(item.get("content"))
        images = image_count(item.get("content"))
        if role == "system":
            return None
        row.role = role
        part = LogPart(index, place, PartKind.PROMPT, "user", len(words), images=images)
        if role == "assistant":
            part.kind, part.segment = PartKind.ANSWER, "assistant"
        elif role == "developer":
            part.kind, part.segment = PartKind.SYSTEM, "system"
        elif words.startswith(_MEMORY):
            part.kind, part.segment, part.about = PartKind.MEMORY, "memory", "AGENTS.md"
        elif words.startswith(CONTEXT_USER):
            part.kind, part.segment = PartKind.REMINDER, "system"
            if words.startswith("<turn_aborted>"):
                part.mark, part.detail = Mark.REFUSED, beginning(words, 200)
        else:
            row.prompt = True
        return part

    def _call(self, kind: str, item: Record, row: TranscriptRow, index: int, place: int) -> LogPart:
        row.role = "assistant"
        arguments = item.get("arguments", item.get("input", item.get("action")))
        shown = json_text(arguments)
        tool = intern(text(item, "name") or kind.removesuffix("_call"))
        call_id = text(item, "call_id") or text(item, "id")
        parsed: JsonValue = arguments
        if isinstance(arguments, str) and arguments.startswith("{"):
            try:
                parsed = orjson.loads(arguments)
            except orjson.JSONDecodeError:
                parsed = arguments
        part = LogPart(index, place, PartKind.CALL, "tool calls", len(shown) + len(tool), call_id, tool)
        part.about = about_of(parsed)
        if kind in _SERVER_CALLS:
            part.call_id = None
        elif call_id is not None:
            self._made[call_id] = part
        if tool == "update_plan" and isinstance(parsed, dict):
            change = TodoChange(index, call_id, tool, parsed)
            self._todos[call_id or ""] = change
            self.log.todos.append(change)
        return part

    def _output(self, item: Record, row: TranscriptRow, index: int, place: int) -> LogPart:
        row.role = "tool"
        output = item.get("output", item.get("tools"))
        words, call_id = content_text(output), text(item, "call_id")
        part = LogPart(index, place, PartKind.RESULT, "tool results", len(words), call_id)
        if (call := self._made.get(call_id or "")) is not None:
            # The same texts, not equal ones: they take less room.
            part.call_id, part.tool, part.about = call.call_id, call.tool, call.about
        part.images = image_count(output)
        if (cut := cut_output(words)) is not None:
            part.mark, part.detail = Mark.CUT, cut
        elif words.startswith("aborted"):
            part.mark, part.detail = Mark.REFUSED, beginning(words, 200)
        if (change := self._todos.get(call_id or "")) is not None:
            change.answered = True
        return part

    def _take_inter_agent_communication(self, payload: Record, row: TranscriptRow, index: int) -> None:
        row.role, row.prompt = "user", True
        row.parts = (LogPart(index, 0, PartKind.PROMPT, "user", len(json_text(payload))),)

    def _take_compacted(self, payload: Record, row: TranscriptRow, index: int) -> None:
        row.boundary = True
        history = payload.get("replacement_history")
        parts: list[LogPart] = []
        if isinstance(history, list):
            row.source = REPLACED
            for place, item in enumerate(history):
                if isinstance(item, dict):
                    part = self._item_part(text(item, "type"), item, row, index, place)
                    parts += (part,) if part is not None else ()
            for part in parts:
                if part.kind in (PartKind.PROMPT, PartKind.ANSWER):
                    part.kind, part.segment = PartKind.SUMMARY, "summary"
        elif (message := text(payload, "message")) is not None:
            parts.append(LogPart(index, 0, PartKind.SUMMARY, "summary", len(message)))
        row.parts, row.prompt, row.role = tuple(parts), False, "compacted"
        self._open.clear()
        self.log.compactions.append(LoggedCompaction(index, "compacted"))

    def _take_event_msg(self, payload: Record, row: TranscriptRow, index: int) -> None:
        kind = text(payload, "type") or "?"
        row.sort = self._event_sorts[kind]
        if kind == "token_count":
            self._token_count(record(payload, "info"), row, index)
        elif kind in ("thread_rolled_back", "turn_aborted"):
            row.source = str(number(payload, "num_turns") or 0)
            self.log.turn_ends.append(index)
        elif kind == "task_started" and (window := number(payload, "model_context_window")):
            self.log.window, self.log.window_from = window, "written by the program"
        elif kind == "error":
            self.log.errors.append((index, text(payload, "message") or "error"))

    def _token_count(self, info: Record, row: TranscriptRow, index: int) -> None:
        log, last, total = self.log, record(info, "last_token_usage"), info.get("total_token_usage")
        if window := number(info, "model_context_window"):
            log.window, log.window_from = window, "written by the program"
        sent, out = number(last, "input_tokens") or 0, number(last, "output_tokens") or 0
        if not last or total == self._total or not (sent or out):
            return
        self._total = total
        first = self._open[0] if self._open else index
        call = ModelCall(len(log.calls) + 1, first, f"call {index}", self._model, row.time)
        call.sent, call.out, call.cached = sent, out, number(last, "cached_input_tokens")
        call.thinking, call.turn, call.last_row = number(last, "reasoning_output_tokens"), self._turn, index
        call.previous = call.number - 2 if call.number > 1 else None
        log.calls.append(call)
        for each in self._open:
            log.rows[each].message = call.id
        self._open.clear()

    def drop_copied(self) -> None:
        """Leave out the calls and plans that were copied from the parent; its rows stay context."""
        log = self.log
        if not log.copied:
            return
        log.calls = [call for call in log.calls if call.row >= log.copied]
        for at, call in enumerate(log.calls):
            call.number, call.previous = at + 1, at - 1 if at else None
        log.todos = [change for change in log.todos if change.row >= log.copied]


def row_of(value: Record) -> tuple[str, JsonValue]:
    """Return type and payload of a record; those of a legacy rollout have no envelope."""
    if "payload" in value:
        return text(value, "type") or "?", value["payload"]
    if "record_type" in value:
        return LEGACY_STATE, {}
    if is_legacy_meta(value):
        return "session_meta", value
    kind = text(value, "type") or "?"
    return ("response_item", value) if kind in LEGACY_ITEMS else (kind, value.get("payload"))


def part_text(value: Record, part: LogPart) -> str:
    """Return the text of a part of a record; that of an encrypted one is empty."""
    sort, payload = row_of(value)
    if not isinstance(payload, dict):
        return ""
    if sort == "session_meta":
        if part.kind is PartKind.SCHEMA:
            return json_text(payload.get("dynamic_tools"))
        return text(record(payload, "base_instructions"), "text") or text(payload, "instructions") or ""
    item = payload
    if sort == "compacted":
        history = payload.get("replacement_history")
        if not isinstance(history, list):
            return text(payload, "message") or ""
        found = history[part.place] if part.place < len(history) else None
        item = found if isinstance(found, dict) else {}
    if part.kind is PartKind.CALL:
        return json_text(item.get("arguments", item.get("input", item.get("action"))))
    if part.kind is PartKind.RESULT:
        return content_text(item.get("output", item.get("tools")))
    if part.kind is PartKind.THINKING:
        return "\n".join(filter(None, (text(each, "text") for each in records(item, "summary"))))
    return "" if part.mark is Mark.ENCRYPTED else content_text(item.get("content"))
